//! The library from Python: types and functions of the module `bqnco._bqnco`, on which the package in `python/bqnco` is
//! built. No solving logic is here: every function translates its arguments, makes one call of the library on a thread
//! of its own, and translates the result.
//!
//! The macros of PyO3 expand to unsafe code; there is none in this crate itself.

mod arrays;
mod batch;
mod call;
mod environments;
mod errors;
mod evaluation;
mod instance;
mod learning;
mod model;
mod policy;
mod search;
mod solution;
mod solving;

use pyo3::prelude::*;

/// The compiled part of the package.
#[pymodule]
mod _bqnco {
    #[pymodule_export]
    use crate::environments::Environments;
    #[pymodule_export]
    use crate::evaluation::{Report, evaluate};
    #[pymodule_export]
    use crate::instance::{Instance, instance, read, write};
    #[pymodule_export]
    use crate::learning::{Tails, generate, train};
    #[pymodule_export]
    use crate::model::{Model, models};
    #[pymodule_export]
    use crate::solution::Solution;
    #[pymodule_export]
    use crate::solving::solve;

    use super::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        module.add("PROBLEMS", bqnco::ProblemName::names())
    }
}
