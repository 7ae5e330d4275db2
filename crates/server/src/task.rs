//! One instance to solve, alone or together with others.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bqnco::{CancelToken, Decoding, Event, Instance, Search, Solution, Solver};
use tokio::sync::{mpsc, oneshot};

use crate::answer::{Answer, Improved};
use crate::error::Problem;
use crate::metrics::Metrics;
use crate::pool::guarded;

/// What to solve, and how.
pub struct Task {
    /// The instance.
    pub instance: Instance,
    /// The search.
    pub search: Search,
    /// The time that was asked for.
    pub asked: Duration,
    /// What is left of it for the search.
    pub seconds: Duration,
    /// Random seed.
    pub seed: u64,
    /// The solution to start from.
    pub start: Option<Solution>,
}

/// Told of every improvement.
pub type Observer<'a> = &'a (dyn Fn(Improved) + Sync);

/// Instances above this size are not solved together: one alone fills the cores' registers and caches.
const LARGEST_MEMBER: usize = 200;
/// Requests with less time are solved alone, under a deadline of their own.
const LEAST_TIME: Duration = Duration::from_secs(1);
/// So are requests whose bodies took longer to parse: the others would lose as much of their time.
const MOST_SPENT: Duration = Duration::from_millis(100);
/// How often the deadline of a batch, and whether its clients are still there, is looked at.
const LOOK: Duration = Duration::from_millis(20);

/// Bytes that a solve may need: the parsed body, the network's activations and the experts' neighbour lists (measured:
/// 1 to 3 KB per node for `auto` and `reconstruct`), and the states of a beam.
pub fn estimate(size: usize, body: usize, search: &Search) -> u64 {
    let breadth = match search {
        Search::Construct { decoding: Decoding::Beam { width, .. }, .. } => *width,
        Search::Construct { decoding: Decoding::Sample { count, .. }, .. } => *count,
        _ => 1,
    };
    let (size, body, breadth) = (size as u64, body as u64, breadth as u64);
    (32 << 20) + 8 * body + 4096 * size + 64 * size * breadth
}

impl Task {
    /// Refuses what the search cannot solve, before it waits for a core.
    pub fn check(&self, solver: &Solver) -> Result<(), Problem> {
        Ok(self.on(solver).check(std::slice::from_ref(&self.instance))?)
    }

    fn on(&self, solver: &Solver) -> Solver {
        let solver = solver.clone().search(self.search.clone()).seed(self.seed);
        match &self.start {
            Some(start) => solver.start(start.clone()),
            None => solver,
        }
    }

    /// Solves it; a cancelled token ends the search with its best so far.
    pub fn run(&self, solver: &Solver, cancel: &CancelToken, observer: Observer<'_>) -> Result<Answer, Problem> {
        let solver = self.on(solver).time_limit(self.seconds).cancel_token(cancel);
        let notify = |event: &Event<'_>| {
            if let Event::Improved { improvement, .. } = event {
                observer(improved(improvement));
            }
        };
        Ok(Answer::new(&solver.solve_observed(&self.instance, &notify)?, self.seed))
    }

    /// Requests with equal keys can be solved together: greedy constructions of small instances by the same network, with
    /// the same time limit.
    pub fn key(&self) -> Option<String> {
        let in_time = self.asked >= LEAST_TIME && self.asked - self.seconds <= MOST_SPENT;
        let small = self.instance.size() <= LARGEST_MEMBER && in_time;
        match &self.search {
            Search::Construct { guide, decoding: Decoding::Greedy } if small && self.start.is_none() => {
                let has_places = self.instance.places().is_some(); // others may need another network
                Some(format!("{} {has_places} {:?} {guide:?}", self.instance.problem(), self.asked))
            }
            _ => None,
        }
    }
}

fn improved(improvement: &bqnco::Improvement<'_>) -> Improved {
    Improved {
        value: improvement.value,
        seconds: improvement.elapsed.as_secs_f64(),
        solution: improvement.solution().numbers(),
    }
}

/// A task that can be solved together with others, and who waits for it.
pub struct Member {
    /// The task.
    pub task: Task,
    /// Cancelled when the client leaves.
    pub cancel: CancelToken,
    /// Improvements.
    pub events: mpsc::Sender<Improved>,
    /// Counts the solve.
    pub metrics: Arc<Metrics>,
    /// The answer.
    pub answer: oneshot::Sender<Result<Answer, Problem>>,
}

/// Solves tasks of one [`Task::key`] together: they share the network's passes. Nobody waits for the time limit of
/// another, or is cut short by it: all have the same, up to `MOST_SPENT`.
pub fn together(solver: &Solver, members: Vec<Member>) {
    let members: Vec<Member> = members.into_iter().filter(|member| !member.cancel.is_cancelled()).collect();
    let Some(first) = members.first() else { return };
    let seconds = members.iter().map(|member| member.task.seconds).fold(first.task.seconds, Duration::min);
    let deadline = Instant::now() + seconds;
    let (batch, done) = (CancelToken::new(), CancelToken::new());
    let instances: Vec<Instance> = members.iter().map(|member| member.task.instance.clone()).collect();
    let solver = first.task.on(solver).cancel_token(&batch);
    let clients: Vec<CancelToken> = members.iter().map(|member| member.cancel.clone()).collect();
    let notify = |event: &Event<'_>| {
        if let Event::Improved { index, improvement } = event {
            let _ = members[*index].events.try_send(improved(improvement)); // a slow reader misses some
        }
    };
    let solved = std::thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            while !done.is_cancelled() {
                if Instant::now() >= deadline || clients.iter().all(CancelToken::is_cancelled) {
                    batch.cancel();
                    return;
                }
                std::thread::park_timeout(LOOK);
            }
        });
        let solved = guarded(|| solver.solve_all(&instances, &notify));
        done.cancel();
        watcher.thread().unpark();
        solved
    });
    let solved = solved.and_then(|solved| Ok(solved?));
    match solved {
        Ok(solved) => {
            for (member, solution) in members.into_iter().zip(solved) {
                member.metrics.solve(solution.as_ref().map_or(0.0, Solution::seconds));
                let answer = solution.map(|solution| Answer::new(&solution, member.task.seed));
                let _ = member.answer.send(answer.map_err(Problem::from)); // the client may have left
            }
        }
        Err(problem) => {
            members.into_iter().for_each(|member| drop(member.answer.send(Err(problem.clone()))));
        }
    }
}
