use std::panic::{AssertUnwindSafe, catch_unwind};

use mpi::Threading;
use mpi::collective::SystemOperation;
use mpi::environment::Universe;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator as _, CommunicatorCollectives as _};

use bqnco_train::Communicator;

/// The exit code of a job with a process that panicked: that of an internal error.
const PANICKED: i32 = 3;

/// All processes that `mpirun` started; without it, this one.
pub struct Ranks {
    rank: usize,
    size: usize,
    _universe: Universe, // finalizes MPI when dropped
}

impl Ranks {
    /// Initializes MPI, which is possible once. From then on this thread calls [`Communicator::sum`].
    pub fn join() -> Option<Self> {
        let (universe, _) = mpi::initialize_with_threading(Threading::Funneled)?;
        let world = universe.world();
        Some(Ranks { rank: world.rank() as usize, size: world.size() as usize, _universe: universe })
    }

    /// Runs the work of this process. If it fails or panics, the job ends: the others would wait for it forever.
    ///
    /// # Errors
    /// Those of the work.
    pub fn run<T, E>(self, work: impl FnOnce(&Ranks) -> Result<T, E>) -> Result<T, E> {
        match catch_unwind(AssertUnwindSafe(|| work(&self))) {
            Ok(Ok(done)) => Ok(done),
            Ok(Err(error)) => {
                // If a process exits without finalizing MPI, MPI aborts the others.
                std::mem::forget(self);
                Err(error)
            }
            // The message is on standard error. Unwinding would finalize MPI, which waits for the others.
            Err(_) => SimpleCommunicator::world().abort(PANICKED),
        }
    }
}

impl Communicator for Ranks {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn sum(&self, numbers: &mut [f32]) {
        if self.size > 1 {
            let mine = numbers.to_vec();
            SimpleCommunicator::world().all_reduce_into(&mine[..], numbers, SystemOperation::sum());
        }
    }
}
