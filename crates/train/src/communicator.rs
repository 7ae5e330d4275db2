//! Processes that train one network communicator.

use std::ops::Range;

/// What a process must know of the others. All of them call [`Communicator::sum`] at the same places of the program.
pub trait Communicator: Send + Sync {
    /// This process's number, from 0; the first one leads: it writes files and speaks.
    fn rank(&self) -> usize;

    /// How many processes there are.
    fn size(&self) -> usize;

    /// Replaces every number by its sum over all processes.
    fn sum(&self, numbers: &mut [f32]);
}

impl dyn Communicator + '_ {
    /// Whether this process writes files and speaks.
    pub fn is_root(&self) -> bool {
        self.rank() == 0
    }

    /// This process's part of so many things.
    pub fn share(&self, count: usize) -> Range<usize> {
        let start = |rank: usize| count * rank / self.size();
        start(self.rank())..start(self.rank() + 1)
    }

    /// Waits until all processes are here.
    pub fn barrier(&self) {
        self.sum(&mut [0.0]);
    }
}

/// One process.
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
