//! The processes of one command: those of an MPI job, or only this one.

use bqnco::train::Communicator;

use crate::failure::Failure;

/// Runs work that may use the other processes.
#[cfg(feature = "mpi")]
pub fn together(work: impl FnOnce(&dyn Communicator) -> Result<(), Failure>) -> Result<(), Failure> {
    let ranks = bqnco_mpi::Ranks::join().ok_or_else(|| anyhow::anyhow!("MPI cannot be used a second time"))?;
    ranks.run(|ranks| work(ranks))
}

/// Runs work in this process only.
#[cfg(not(feature = "mpi"))]
pub fn together(work: impl FnOnce(&dyn Communicator) -> Result<(), Failure>) -> Result<(), Failure> {
    work(&bqnco::train::SingleProcess)
}
