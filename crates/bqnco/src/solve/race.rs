//! Several searches for the same instance, of which the best solution counts.

use super::Found;
use crate::Result;

/// The best results so far of searches that are still under way.
pub struct Race<S> {
    searches: usize,             // per instance
    instances: Vec<Standing<S>>, // in order
}

struct Standing<S> {
    arrived: usize,
    best: Option<Result<Found<S>>>,
}

impl<S> Race<S> {
    /// A race of `searches` searches for each of `instances` instances.
    pub fn new(instances: usize, searches: usize) -> Self {
        let standings = std::iter::repeat_with(|| Standing { arrived: 0, best: None });
        Race { searches, instances: standings.take(instances).collect() }
    }

    /// Adds the result of one search. Returns the best of all when the last one arrives.
    pub fn add(&mut self, index: usize, answer: Result<Found<S>>) -> Option<Result<Found<S>>> {
        let standing = &mut self.instances[index];
        standing.arrived += 1;
        standing.best = Some(match standing.best.take() {
            None => answer,
            Some(best) => better(best, answer),
        });
        if standing.arrived == self.searches { standing.best.take() } else { None }
    }

    /// The best results of instances of which not all searches have arrived.
    pub fn unfinished(self) -> impl Iterator<Item = (usize, Result<Found<S>>)> {
        self.instances.into_iter().enumerate().filter_map(|(index, standing)| Some((index, standing.best?)))
    }
}

/// The cheaper solution, with the time of the longer search; a solution rather than an error.
fn better<S>(one: Result<Found<S>>, other: Result<Found<S>>) -> Result<Found<S>> {
    let (one, other) = match (one, other) {
        (Ok(one), Ok(other)) => (one, other),
        (Ok(found), Err(_)) | (Err(_), Ok(found)) => return Ok(found),
        (Err(error), Err(_)) => return Err(error),
    };
    let (seconds, cut_short) = (one.seconds.max(other.seconds), one.cut_short || other.cut_short);
    let best = if other.solution.cost < one.solution.cost { other } else { one };
    Ok(Found { seconds, cut_short, ..best })
}
