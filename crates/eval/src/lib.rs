//! Evaluations: networks and baselines on the same instances and the same machine, beside the paper's figures.
//!
//! A [`Suite`] says which instances and which searches, an [`Evaluation`] who is compared and with how much time. The result
//! is a [`Report`]: tables, charts, and [`Results`] with every instance. Two of them make a [`Comparison`].
//!
//! ```
//! use bqnco_eval::{Baseline, Evaluation, Event, Suite};
//!
//! let folder = tempfile::tempdir()?;
//! let suite = Suite::of_problem(bqnco::ProblemName::Tsp).with_sizes(&[10]);
//! let evaluation = Evaluation {
//!     shipped_networks: false,
//!     baselines: vec![Baseline::Heuristic],
//!     instances: Some(2),
//!     ..Evaluation::new(folder.path())
//! };
//! let report = suite.run(&evaluation, &mut |event| {
//!     if let Event::Progress { done, total, task } = event {
//!         println!("{done} of {total}: {task}");
//!     }
//! })?;
//! report.write(folder.path())?;
//! assert_eq!(report.results().rows.len(), 2);
//! assert!(report.summary().contains("nearest neighbour"));
//! assert!(folder.path().join("report.html").is_file());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Finished work is kept in journals in the evaluation's folder: the same call goes on after an interruption. Nothing here
//! prints or ends the process.

mod comparison;
mod evaluation;
mod files;
mod journals;
mod method;
mod model;
mod published;
mod report;
mod results;
mod run;
mod set;
mod solve;
mod statistics;
mod suite;
mod timed_search;

use std::io;
use std::path::PathBuf;

pub use bqnco::{Error, Result};

pub use comparison::{Comparison, Difference, Unit};
pub use evaluation::{Contender, Evaluation, Event};
pub use method::Baseline;
pub use report::Report;
pub use results::{Machine, MethodInfo, Results, Row, SetInfo, Summary};
pub use statistics::{Paired, wilcoxon};
pub use suite::{Groups, Library, RandomSet, Suite};
pub use timed_search::TimedSearch;

/// For `map_err` on the system's errors.
fn file_error(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Error {
    let path = path.into();
    move |source| Error::File { action, path, source }
}
