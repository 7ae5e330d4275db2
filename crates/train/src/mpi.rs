//! The processes of an MPI job.

use mpi::Threading;
use mpi::collective::SystemOperation;
use mpi::environment::Universe;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator as _, CommunicatorCollectives as _};

use crate::Communicator;

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
