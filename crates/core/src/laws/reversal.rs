//! Laws of tails that can be built from either end.

use super::{Case, Outcome, equal, fact};
use crate::Problem;

/// Turning a tail twice changes nothing, and the ways to its end are those of the turned tail in reverse order, with the
/// same returns.
pub(super) fn reversed_tails<P: Problem>(case: &Case<P>) -> Outcome {
    let mut facts = 0;
    for (x, _) in case.direct.states() {
        let tail = case.tail(x);
        let mut reversed = tail.clone();
        if !P::reverse(case.instance, &mut reversed) {
            facts +=
                fact(reversed == tail, || format!("after {x:?} the tail is not reversible, but {reversed:?} now"))?;
            continue;
        }
        let mut twice = reversed.clone();
        facts += fact(P::reverse(case.instance, &mut twice) && twice == tail, || {
            format!("after {x:?} the tail {tail:?}, reversed twice, is {twice:?}")
        })?;
        let mut ways = ways::<P>(case.instance, &tail);
        let mut others = self::ways::<P>(case.instance, &reversed);
        others.iter_mut().for_each(|(way, _)| way.reverse());
        for ways in [&mut ways, &mut others] {
            ways.sort_by(|a, b| a.0.cmp(&b.0));
        }
        let same =
            |((one, earned), (other, other_earned)): (&Way<P>, &Way<P>)| one == other && equal(*earned, *other_earned);
        facts += fact(ways.len() == others.len() && ways.iter().zip(&others).all(same), || {
            format!("after {x:?} the tail has the solutions {ways:?}, reversed twice {others:?}")
        })?;
    }
    Ok(facts)
}

/// Steps taken at either end in turns come to a solution whose return is the sum of their rewards.
pub(super) fn both_ends<P: Problem>(case: &Case<P>) -> Outcome {
    let mut facts = 0;
    let mut tail = P::whole(case.instance);
    if !P::reverse(case.instance, &mut tail) {
        return Ok(0);
    }
    let mut start = vec![(P::whole(case.instance), Vec::new(), Vec::new(), 0.0)];
    while let Some((tail, front, behind, earned)) = start.pop() {
        for at_back in [false, true] {
            let mut seen = tail.clone();
            if at_back {
                P::reverse(case.instance, &mut seen);
            }
            for (_, step) in P::allowed(case.instance, &seen) {
                let mut next = seen.clone();
                let earned = earned + P::reward(case.instance, &seen, step);
                P::advance(case.instance, &mut next, step);
                let (mut front, mut behind) = (front.clone(), behind.clone());
                if at_back {
                    P::reverse(case.instance, &mut next);
                    behind.insert(0, step);
                } else {
                    front.push(step);
                }
                start.push((next, front, behind, earned));
            }
        }
        if P::allowed(case.instance, &tail).next().is_none() {
            let solution: Vec<P::Step> = front.iter().chain(&behind).copied().collect();
            let expected = P::cost(case.instance, &[]) - P::cost(case.instance, &solution);
            facts += fact(P::check(case.instance, &solution).is_ok() && equal(earned, expected), || {
                format!("{front:?} at the front and {behind:?} at the back earn {earned}, expected {expected}")
            })?;
        }
        if facts > MOST {
            break;
        }
    }
    Ok(facts)
}

/// Solutions checked per instance.
const MOST: usize = 200;

/// Steps to the end of a tail, and their return.
type Way<P> = (Vec<<P as crate::SolutionSpace>::Step>, f64);

/// All ways to the end of a tail, also those that could be extended, if the construction may stop there.
fn ways<P: Problem>(instance: &P::Instance, tail: &P::Tail) -> Vec<Way<P>> {
    let mut ways = Vec::new();
    if P::may_stop(instance, tail) {
        ways.push((Vec::new(), 0.0));
    }
    for (_, step) in P::allowed(instance, tail) {
        let reward = P::reward(instance, tail, step);
        let mut next = tail.clone();
        P::advance(instance, &mut next, step);
        for (mut way, earned) in self::ways::<P>(instance, &next) {
            way.insert(0, step);
            ways.push((way, reward + earned));
        }
    }
    ways
}
