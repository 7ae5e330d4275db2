//! Training examples: instances with expert solutions.

use std::sync::Arc;

use bqnco_core::{Infeasible, Problem};

/// Why examples could not be loaded.
pub type LoadError = Box<dyn std::error::Error + Send + Sync>;

/// An instance with an expert's solution.
pub struct Example<P: Problem> {
    instance: Arc<P::Instance>,
    steps: Vec<P::Step>,
}

impl<P: Problem> Example<P> {
    /// An example; the solution is checked.
    ///
    /// # Errors
    /// The first rule that the solution breaks.
    pub fn new(instance: Arc<P::Instance>, steps: Vec<P::Step>) -> Result<Self, Infeasible> {
        P::check(&instance, &steps)?;
        Ok(Example { instance, steps })
    }

    /// The instance.
    pub fn instance(&self) -> &Arc<P::Instance> {
        &self.instance
    }

    /// The expert's steps.
    pub fn steps(&self) -> &[P::Step] {
        &self.steps
    }

    /// The cost of the expert's solution.
    pub fn cost(&self) -> f64 {
        P::cost(&self.instance, &self.steps)
    }
}

/// Examples in parts, of which at most two are in memory at a time.
pub trait Examples<P: Problem>: Send + Sync {
    /// Number of parts, at least one.
    fn parts(&self) -> usize;

    /// The examples of a part, which is used for [`Training::part_every`](crate::Training::part_every) updates.
    ///
    /// # Errors
    /// When they cannot be read.
    fn load(&self, part: usize) -> Result<Arc<[Example<P>]>, LoadError>;
}

/// All in memory.
impl<P: Problem> Examples<P> for Arc<[Example<P>]> {
    fn parts(&self) -> usize {
        1
    }

    fn load(&self, _: usize) -> Result<Arc<[Example<P>]>, LoadError> {
        Ok(Arc::clone(self))
    }
}
