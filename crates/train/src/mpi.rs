//! The processes of an MPI job.

use mpi::Threading;
use mpi::collective::SystemOperation;
use mpi::environment::Universe;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, CommunicatorCollectives};

use crate::Communicator;

/// All processes that `mpirun` started; one process that was started without it is alone.
pub struct Ranks {
    rank: usize,
    size: usize,
    _universe: Universe, // says farewell when it is dropped
}

impl Ranks {
    /// Joins the other processes; possible once. From then on the thread that joined calls [`Communicator::sum`].
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
