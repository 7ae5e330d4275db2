//! TSPLIB and its relatives CVRPLIB and OPLib: `.tsp`, `.atsp`, `.vrp`, `.oplib`.

mod matrix;
mod outline;
mod read;
mod write;

pub(crate) use outline::{TsplibDocument, hint, sniff};
pub(crate) use read::decode;
pub(crate) use write::encode;
