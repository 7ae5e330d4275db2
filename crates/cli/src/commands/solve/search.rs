//! How solutions are searched for.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use bqnco::core::{Effort, Expert, ExpertError, Solution};
use bqnco::net::Network;
use bqnco::{Builtin, Deadline};
use indicatif::ProgressBar;
use rayon::prelude::*;

use super::batch::Batch;
use super::options::{Method, Search};
use crate::external;
use crate::failure::Failure;

/// How long a search may take.
#[derive(Clone, Copy)]
pub struct Limit<'a> {
    /// Per instance.
    pub time: Option<Duration>,
    /// Becomes true when somebody is no longer willing to wait.
    pub interrupted: &'a AtomicBool,
}

/// A solution, how long it took, and whether the search was stopped before it had done what was asked for.
pub struct Timed<S> {
    pub solution: Solution<S>,
    pub seconds: f64,
    pub cut_short: bool,
    pub rebuilt: Option<Rebuilt>,
    /// Augmentations of the instance that were tried.
    pub images: usize,
}

/// What a reconstruction did.
#[derive(Clone, Copy)]
pub struct Rebuilt {
    /// What it started from.
    pub start: &'static str,
    /// Parts that were replaced by better ones.
    pub improvements: u64,
}

/// Takes the solution of an instance, or why there is none.
pub type Emit<'a, S> = &'a mut dyn FnMut(usize, Result<Timed<S>, ExpertError>) -> Result<(), Failure>;

/// Instances that are solved together when no time limits them.
const TOGETHER: usize = 256;

/// Instances to solve, with what every search needs.
pub struct Job<'a, P: Builtin> {
    pub search: &'a Search,
    pub instances: &'a [Arc<P::Instance>],
    /// The first one's index in the set that they are part of: each is solved as it would be within the whole.
    pub first: usize,
    /// The solution to begin with, where there is one.
    pub start: Option<Solution<P::Step>>,
    pub limit: Limit<'a>,
    pub progress: &'a ProgressBar,
}

impl<P: Builtin> Job<'_, P> {
    /// Solves all instances and hands every solution over as soon as it is there.
    pub fn run(&self, emit: Emit<'_, P::Step>) -> Result<(), Failure> {
        match self.search.method() {
            Method::Expert => self.ask(&Polish { start: self.start.clone() }, emit),
            Method::External => {
                let command = self.search.command.as_deref().unwrap_or_default();
                self.ask(&external::expert::<P>(command, self.limit.time), emit)
            }
            _ => match self.search.model::<P>() {
                Some(model) => {
                    let (network, _) = model.load(&self.search.device.open()?)?;
                    self.follow(Some(&network), emit)
                }
                None => self.follow(None, emit),
            },
        }
    }

    /// Searches around a network, or around a policy that needs none.
    pub fn follow(&self, network: Option<&Network>, emit: Emit<'_, P::Step>) -> Result<(), Failure> {
        // With a time limit one after the other, so that each has the whole machine for its time.
        let together = if self.limit.time.is_some() { 1 } else { TOGETHER };
        for first in (0..self.instances.len()).step_by(together) {
            if self.limit.interrupted.load(Ordering::Relaxed) {
                break;
            }
            let instances = &self.instances[first..self.instances.len().min(first + together)];
            Batch::new(self, network, instances, first).solve(emit)?;
        }
        Ok(())
    }

    /// Experts work on one thread each, so there are as many at work as there are threads.
    pub fn ask(&self, expert: &dyn Expert<P>, emit: Emit<'_, P::Step>) -> Result<(), Failure> {
        let (send, receive) = mpsc::channel();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let send = send; // dropped when all is done, which ends the loop below
                let _ = (0..self.instances.len()).into_par_iter().try_for_each_with(send, |send, index| {
                    if self.limit.interrupted.load(Ordering::Relaxed) {
                        return None; // what was not begun is not answered
                    }
                    send.send((index, self.ask_one(expert, index))).ok()
                });
            });
            for (index, answer) in receive {
                self.progress.inc(1);
                emit(index, answer)?;
            }
            Ok(())
        })
    }

    fn ask_one(&self, expert: &dyn Expert<P>, index: usize) -> Result<Timed<P::Step>, ExpertError> {
        let started = Instant::now();
        // A program of the user's knows its time limit and is given some grace after it.
        let time = if self.search.method() == Method::External { None } else { self.limit.time };
        let deadline = Deadline::after(time, self.limit.interrupted);
        let instance = &self.instances[index];
        let rounds = self.search.effort::<P>(instance, self.limit.time.is_some());
        let stop = || deadline.has_passed();
        let seed = self.search.seed.wrapping_add((self.first + index) as u64);
        let solution = expert.solve(instance, &Effort { seed, rounds, stop: &stop })?;
        let cut_short = self.limit.interrupted.load(Ordering::Relaxed);
        Ok(Timed { solution, seconds: started.elapsed().as_secs_f64(), cut_short, rebuilt: None, images: 1 })
    }
}

/// The expert, from a start where there is one.
struct Polish<S> {
    start: Option<Solution<S>>,
}

impl<P: Builtin> Expert<P> for Polish<P::Step> {
    fn solve(&self, instance: &P::Instance, effort: &Effort<'_>) -> Result<Solution<P::Step>, ExpertError> {
        match &self.start {
            Some(start) => {
                P::expertise().expect("every problem has an expert").expert.improve(instance, start.clone(), effort)
            }
            None => P::expertise().expect("every problem has an expert").expert.solve(instance, effort),
        }
    }
}
