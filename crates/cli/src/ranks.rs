//! The processes that work on one command: those of an MPI job, or this one alone.

use bqnco::train::Communicator;

use crate::failure::Failure;

/// Runs work that knows the other processes.
#[cfg(feature = "mpi")]
pub fn together(work: impl FnOnce(&dyn Communicator) -> Result<(), Failure>) -> Result<(), Failure> {
    let ranks = bqnco::train::Ranks::join().ok_or_else(|| anyhow::anyhow!("MPI cannot be used a second time"))?;
    let result = work(&ranks);
    if result.is_err() {
        // A process that ends without a farewell makes MPI end the others, which would wait for it for ever.
        std::mem::forget(ranks);
    }
    result
}

/// Runs work that knows the other processes.
#[cfg(not(feature = "mpi"))]
pub fn together(work: impl FnOnce(&dyn Communicator) -> Result<(), Failure>) -> Result<(), Failure> {
    work(&bqnco::train::SingleProcess)
}
