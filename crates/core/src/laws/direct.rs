//! Properties of the direct MDP and Proposition 1.

use super::{Case, Outcome, equal, fact};
use crate::{Problem, SolutionSpace};

pub(super) fn finitely_many_actions<P: Problem>(case: &Case<P>) -> Outcome {
    let steps = P::steps(case.instance);
    let mut facts = 0;
    for (x, _) in case.direct.states() {
        let mut offered: Vec<P::Step> = P::allowed(case.instance, &case.tail(x)).map(|(_, step)| step).collect();
        let count = offered.len();
        offered.sort_unstable();
        offered.dedup();
        facts += fact(offered.len() == count, || format!("a step twice after {x:?}"))?;
        let foreign = offered.iter().find(|step| !steps.contains(step));
        facts += fact(foreign.is_none(), || format!("after {x:?}, {foreign:?} is not one of the steps"))?;
    }
    Ok(facts)
}

pub(super) fn no_dead_ends<P: Problem>(case: &Case<P>) -> Outcome {
    let mut facts = fact(case.direct.solutions().next().is_some(), || "X is empty".into())?;
    for (x, _) in case.direct.states() {
        let tail = case.tail(x);
        let goes_on = P::may_stop(case.instance, &tail) || P::allowed(case.instance, &tail).next().is_some();
        facts += fact(goes_on, || format!("nothing is allowed after {x:?}, which is no solution"))?;
    }
    Ok(facts)
}

pub(super) fn trajectories_end<P: Problem>(case: &Case<P>) -> Outcome {
    fn walk<P: Problem>(instance: &P::Instance, tail: &P::Tail, left: usize) -> Outcome {
        let mut facts = 1;
        for (_, step) in P::allowed(instance, tail) {
            if left == 0 {
                return Err(format!("a trajectory goes beyond the horizon with {step:?}"));
            }
            let mut next = tail.clone();
            P::advance(instance, &mut next, step);
            facts += walk::<P>(instance, &next, left - 1)?;
        }
        Ok(facts)
    }
    walk::<P>(case.instance, &P::whole(case.instance), P::horizon(case.instance))
}

pub(super) fn returns_are_cost_differences<P: Problem>(case: &Case<P>) -> Outcome {
    let start = P::cost(case.instance, &[]);
    let mut facts = 0;
    for x in case.direct.solutions() {
        let mut tail = P::whole(case.instance);
        let mut earned = 0.0;
        for &step in x {
            earned += P::reward(case.instance, &tail, step);
            P::advance(case.instance, &mut tail, step);
        }
        let expected = start - P::cost(case.instance, x);
        facts += fact(equal(earned, expected), || format!("{x:?} earns {earned}, its cost says {expected}"))?;
    }
    Ok(facts)
}

pub(super) fn soundness<P: Problem>(case: &Case<P>) -> Outcome {
    let best = case.direct.optimal_return(&[]);
    let expected = P::cost(case.instance, &[]) - case.direct.optimum();
    let mut facts = fact(equal(best, expected), || format!("optimal return {best}, optimum says {expected}"))?;
    // The set of optimal solutions is the set of outcomes of optimal policies.
    for x in case.direct.solutions() {
        let is_optimal = equal(P::cost(case.instance, x), case.direct.optimum());
        let is_outcome = (0..x.len()).all(|t| {
            let (before, after) = (prefix::<P>(x, t), prefix::<P>(x, t + 1));
            let return_by_x = case.direct.reward(&before, x[t]) + case.direct.optimal_return(&after);
            equal(return_by_x, case.direct.optimal_return(&before))
        }) && equal(case.direct.optimal_return(x), 0.0);
        facts += fact(is_optimal == is_outcome, || format!("{x:?}: optimal {is_optimal}, outcome {is_outcome}"))?;
    }
    Ok(facts)
}

fn prefix<P: SolutionSpace>(x: &[P::Step], length: usize) -> Vec<P::Step> {
    x[..length].iter().fold(Vec::new(), |partial, &step| P::compose(&partial, step))
}
