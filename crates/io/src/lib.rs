//! Every file format of `bqnco`: instances, solutions and datasets.
//!
//! Formats and problems do not know each other. A format decodes to and encodes from [`RawInstance`], named numbers; a problem
//! ([`Files`]) makes its instances from such fields and describes them by such fields. Reading goes by content, never by
//! the file's name alone; every error names the file, the place, what was expected and what was found.
//!
//! ```
//! use bqnco_io::{Format, ReadOptions, Source, detect, read, write};
//! use bqnco_problems::Tsp;
//!
//! let source = Source::new("triangle.csv", "x,y\n0,0\n3,0\n0,4\n");
//! assert_eq!(detect(&source)?.problem, "tsp");
//! let records = read::<Tsp>(&source, &ReadOptions::default())?;
//! let tsplib = write::<Tsp>(&records, Format::Tsplib)?;
//! assert!(String::from_utf8_lossy(&tsplib).contains("EDGE_WEIGHT_TYPE : EXACT_2D"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod atomic;
mod error;
mod fields;
mod files;
mod format;
mod formats;
mod problems;
mod read;
mod source;
mod text;
mod write;

pub use atomic::write_atomically;
pub use error::{FieldError, Place, ReadError, WriteError};
pub use fields::{Array, RawInstance};
pub use files::{Files, Record, SolutionFile};
pub use format::{Format, NativeFormats};
pub use read::{Decoded, Detected, ReadOptions, decode, detect, read, read_solution};
pub use source::Source;
pub use write::{write, write_solution};
