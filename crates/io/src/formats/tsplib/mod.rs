//! TSPLIB and its relatives CVRPLIB and OPLib: `.tsp`, `.atsp`, `.vrp`, `.oplib`.

mod document;
mod keywords;
mod matrix;
mod numbering;
mod read;
mod write;

pub(crate) use document::{TsplibDocument, sniff};
pub(crate) use keywords::hint;
pub(crate) use read::decode;
pub(crate) use write::encode;
