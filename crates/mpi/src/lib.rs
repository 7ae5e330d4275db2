//! The processes of an MPI job, for training, labelling and evaluation. Without the feature `mpi` there is nothing here.

#[cfg(feature = "mpi")]
mod ranks;

#[cfg(feature = "mpi")]
pub use ranks::Ranks;
