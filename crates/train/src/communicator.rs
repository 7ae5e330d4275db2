//! Processes that train one network together.

use std::ops::Range;

/// The processes of a job. All of them call [`Communicator::sum`] at the same places of the program.
pub trait Communicator: Send + Sync {
    /// This process's number, from 0. The first one, the root, writes files and reports progress.
    fn rank(&self) -> usize;

    /// How many processes there are.
    fn size(&self) -> usize;

    /// Replaces every number by its sum over all processes.
    fn sum(&self, numbers: &mut [f32]);
}

impl dyn Communicator + '_ {
    /// Whether this process writes files and reports progress.
    pub fn is_root(&self) -> bool {
        self.rank() == 0
    }

    /// This process's share of so many pieces of work.
    pub fn share(&self, count: usize) -> Range<usize> {
        let start = |rank: usize| count * rank / self.size();
        start(self.rank())..start(self.rank() + 1)
    }

    /// Waits until all processes have got here.
    pub fn barrier(&self) {
        self.sum(&mut [0.0]);
    }
}

/// A single process.
pub struct SingleProcess;

impl Communicator for SingleProcess {
    fn rank(&self) -> usize {
        0
    }

    fn size(&self) -> usize {
        1
    }

    fn sum(&self, _: &mut [f32]) {}
}
