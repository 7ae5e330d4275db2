//! Every file format of `bqnco`: instances, solutions and datasets.
//!
//! Formats and problems do not know each other. A format decodes to and encodes from [`RawInstance`], named arrays of
//! numbers; a problem ([`InstanceIo`]) converts these to and from its instances. Which problems there are is told by
//! the caller: [`decode`] chooses among given [`Recogniser`]s. Formats are detected by content, never by the file's name
//! alone; every error names the file, the place, what was expected and what was found.
//!
//! An example with a problem is in the documentation of `bqnco-problems`.

mod error;
mod field;
mod format;
mod formats;
mod instance_io;
mod metric;
mod raw_instance;
mod read;
mod recogniser;
mod source;
mod text;
mod variants;
mod write;

pub use bqnco_files::{create_folder, write_atomically};
pub use error::{FieldError, Place, ReadError, WriteError};
pub use field::{Field, Shape};
pub use format::{Format, NativeFormats};
pub use instance_io::{InstanceIo, Record, Route, SolutionFile};
pub use metric::Metric;
pub use raw_instance::{Array, RawInstance};
pub use read::{Decoded, Detected, ReadOptions, decode, detect, read, read_solution};
pub use recogniser::Recogniser;
pub use source::Source;
pub use variants::problem_hint;
pub use write::{write, write_solution};
