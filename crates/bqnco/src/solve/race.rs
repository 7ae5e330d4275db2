//! Several searches for the same instance, of which the best solution counts.

use super::Found;
use crate::Result;

/// The results so far of searches that are still under way.
pub struct Race<S> {
    searches: usize,                              // per instance
    arrived: Vec<Vec<(usize, Result<Found<S>>)>>, // per instance, with the number of the search
}

impl<S> Race<S> {
    /// A race of `searches` searches for each of `instances` instances.
    pub fn new(instances: usize, searches: usize) -> Self {
        Race { searches, arrived: std::iter::repeat_with(Vec::new).take(instances).collect() }
    }

    /// Adds the result of one search. Returns the best of all when the last one arrives.
    pub fn add(&mut self, index: usize, search: usize, answer: Result<Found<S>>) -> Option<Result<Found<S>>> {
        let arrived = &mut self.arrived[index];
        arrived.push((search, answer));
        if arrived.len() == self.searches { best(std::mem::take(arrived)) } else { None }
    }

    /// The best results of instances of which not all searches have arrived, cut short.
    pub fn unfinished(self) -> impl Iterator<Item = (usize, Result<Found<S>>)> {
        let cut = |found| Found { cut_short: true, ..found };
        self.arrived.into_iter().enumerate().filter_map(move |(index, arrived)| Some((index, best(arrived)?.map(cut))))
    }
}

/// The cheapest solution, of equal ones that of the first search, with the time of the longest; an error only if there
/// is no solution.
fn best<S>(mut arrived: Vec<(usize, Result<Found<S>>)>) -> Option<Result<Found<S>>> {
    arrived.sort_by_key(|(search, _)| *search); // whatever the order in which they arrived
    arrived.into_iter().map(|(_, answer)| answer).reduce(|one, other| match (one, other) {
        (Ok(one), Ok(other)) => {
            let (seconds, cut_short) = (one.seconds.max(other.seconds), one.cut_short || other.cut_short);
            let best = if other.solution.cost < one.solution.cost { other } else { one };
            Ok(Found { seconds, cut_short, ..best })
        }
        (Ok(found), Err(_)) | (Err(_), Ok(found)) => Ok(found),
        (Err(error), Err(_)) => Err(error),
    })
}

#[cfg(test)]
mod tests {
    use bqnco_core::Solution;

    use super::*;
    use crate::Error;

    fn found(step: usize, cost: f64, seconds: f64) -> Result<Found<usize>> {
        let solution = Solution { steps: vec![step], cost };
        let (construction, rebuilt, passes, optimal) = (None, None, None, None);
        Ok(Found { solution, seconds, cut_short: false, construction, rebuilt, symmetries: 1, passes, optimal })
    }

    #[test]
    fn the_best_counts_and_the_order_of_arrival_does_not() {
        for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2]] {
            let mut race = Race::new(1, 3);
            let answers = [(5.0, 1.0), (4.0, 3.0), (4.0, 2.0)];
            let add = |search: usize| race.add(0, search, found(search, answers[search].0, answers[search].1));
            let results: Vec<_> = order.map(add).into_iter().flatten().collect();
            let [Ok(best)] = &results[..] else { panic!("one result when all have arrived") };
            assert_eq!((best.solution.steps[0], best.seconds), (1, 3.0), "{order:?}");
        }
    }

    #[test]
    fn an_error_counts_only_if_no_search_has_a_solution() {
        let error = || Err(Error::NothingToWrite);
        let mut race = Race::new(2, 2);
        assert!(race.add(0, 0, error()).is_none());
        assert!(race.add(0, 1, found(1, 1.0, 0.0)).is_some_and(|best| best.is_ok()));
        assert!(race.add(1, 0, error()).is_none());
        let unfinished: Vec<_> = race.unfinished().collect();
        assert!(matches!(&unfinished[..], [(1, Err(_))]));
    }
}
