//! TSPLIB and its relatives CVRPLIB and OPLib: `.tsp`, `.atsp`, `.vrp`, `.oplib`.

mod document;
mod matrix;
mod read;
mod write;

pub(crate) use document::{TsplibDocument, hint, sniff};
pub(crate) use read::decode;
pub(crate) use write::encode;
