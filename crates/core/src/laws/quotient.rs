//! The bisimulation between the direct MDP and the BQ-MDP, and Proposition 2.

use super::{Case, Outcome, equal, fact};
use crate::Problem;

pub(super) fn same_steps<P: Problem>(case: &Case<P>) -> Outcome {
    let mut facts = 0;
    for (x, allowed) in case.direct.states() {
        facts += offers_exactly(case, &case.tail(x), allowed, x)?;
    }
    Ok(facts)
}

pub(super) fn same_rewards<P: Problem>(case: &Case<P>) -> Outcome {
    let mut facts = 0;
    for (x, allowed) in case.direct.states() {
        let tail = case.tail(x);
        for &step in allowed {
            let (direct, quotient) = (case.direct.reward(x, step), P::reward(case.instance, &tail, step));
            facts += fact(equal(direct, quotient), || {
                format!("{step:?} after {x:?} earns {direct} in the direct MDP, {quotient} in the BQ-MDP")
            })?;
        }
    }
    Ok(facts)
}

pub(super) fn same_neutral_action<P: Problem>(case: &Case<P>) -> Outcome {
    let mut facts = 0;
    for (x, _) in case.direct.states() {
        let (direct, quotient) = (case.direct.is_solution(x), P::may_stop(case.instance, &case.tail(x)));
        facts += fact(direct == quotient, || format!("{x:?} is a solution: {direct}; its tail may stop: {quotient}"))?;
    }
    Ok(facts)
}

/// Advance then quotient = quotient then advance: both ways round lead to states with the same steps, rewards and stop.
pub(super) fn square_commutes<P: Problem>(case: &Case<P>) -> Outcome {
    let mut facts = 0;
    for (x, allowed) in case.direct.states() {
        let quotient_first = case.tail(x);
        for &step in allowed {
            let longer = P::compose(x, step);
            let mut tail = quotient_first.clone();
            P::advance(case.instance, &mut tail, step);
            let after = case.direct.allowed(&longer);
            facts += offers_exactly(case, &tail, after, &longer)?;
            let stops = P::may_stop(case.instance, &tail) == case.direct.is_solution(&longer);
            facts += fact(stops, || format!("{x:?} then {step:?} may stop one way round and not the other"))?;
            for &next in after {
                let (direct, quotient) = (case.direct.reward(&longer, next), P::reward(case.instance, &tail, next));
                facts += fact(equal(direct, quotient), || {
                    format!("{next:?} after {longer:?} earns {direct} one way round, {quotient} the other")
                })?;
            }
        }
    }
    Ok(facts)
}

fn offers_exactly<P: Problem>(case: &Case<P>, tail: &P::Tail, allowed: &[P::Step], x: &[P::Step]) -> Outcome {
    let mut offered: Vec<P::Step> = P::allowed(case.instance, tail).map(|(_, step)| step).collect();
    let mut allowed = allowed.to_vec();
    offered.sort_unstable();
    allowed.sort_unstable();
    fact(offered == allowed, || format!("after {x:?} the tail offers {offered:?}, solutions go on with {allowed:?}"))
}

pub(super) fn soundness<P: Problem>(case: &Case<P>) -> Outcome {
    let whole = P::whole(case.instance);
    let best = optimal_return::<P>(case.instance, &whole);
    let expected = P::cost(case.instance, &[]) - case.direct.optimum();
    let mut facts = fact(equal(best, expected), || format!("optimal return {best}, optimum says {expected}"))?;
    let mut outcomes = Vec::new();
    optimal_outcomes::<P>(case.instance, &whole, Vec::new(), &mut outcomes);
    for x in case.direct.solutions() {
        let is_optimal = equal(P::cost(case.instance, x), case.direct.optimum());
        let is_outcome = outcomes.iter().any(|outcome| outcome == x);
        facts += fact(is_optimal == is_outcome, || format!("{x:?}: optimal {is_optimal}, outcome {is_outcome}"))?;
    }
    Ok(facts)
}

/// Bellman's equation in the BQ-MDP.
fn optimal_return<P: Problem>(instance: &P::Instance, tail: &P::Tail) -> f64 {
    let stop = if P::may_stop(instance, tail) { 0.0 } else { f64::NEG_INFINITY };
    P::allowed(instance, tail).map(|(_, step)| return_by::<P>(instance, tail, step)).fold(stop, f64::max)
}

fn return_by<P: Problem>(instance: &P::Instance, tail: &P::Tail, step: P::Step) -> f64 {
    let mut next = tail.clone();
    P::advance(instance, &mut next, step);
    P::reward(instance, tail, step) + optimal_return::<P>(instance, &next)
}

/// What optimal policies of the BQ-MDP can arrive at.
fn optimal_outcomes<P: Problem>(
    instance: &P::Instance,
    tail: &P::Tail,
    x: Vec<P::Step>,
    outcomes: &mut Vec<Vec<P::Step>>,
) {
    let best = optimal_return::<P>(instance, tail);
    if P::may_stop(instance, tail) && equal(best, 0.0) {
        outcomes.push(x.clone());
    }
    for (_, step) in P::allowed(instance, tail) {
        if equal(return_by::<P>(instance, tail, step), best) {
            let mut next = tail.clone();
            P::advance(instance, &mut next, step);
            optimal_outcomes::<P>(instance, &next, P::compose(&x, step), outcomes);
        }
    }
}

/// Partial solutions with equal tails have, in the direct MDP, the same completions at the same additional costs.
pub(super) fn equal_tails_have_equal_futures<P: Problem>(case: &Case<P>) -> Outcome {
    let states: Vec<(&[P::Step], P::Tail)> = case.direct.states().map(|(x, _)| (x, case.tail(x))).collect();
    let mut facts = 0;
    for (k, (x, tail)) in states.iter().enumerate() {
        for (y, _) in states[..k].iter().filter(|(_, other)| other == tail) {
            facts += same_future(case, x, y)?;
        }
    }
    Ok(facts)
}

fn same_future<P: Problem>(case: &Case<P>, x: &[P::Step], y: &[P::Step]) -> Outcome {
    let (after_x, after_y) = (case.direct.allowed(x), case.direct.allowed(y));
    let mut facts = fact(after_x == after_y && case.direct.is_solution(x) == case.direct.is_solution(y), || {
        format!("{x:?} and {y:?} have equal tails but go on with {after_x:?} and {after_y:?}")
    })?;
    for &step in after_x {
        let (by_x, by_y) = (case.direct.reward(x, step), case.direct.reward(y, step));
        facts += fact(equal(by_x, by_y), || format!("{step:?} earns {by_x} after {x:?}, {by_y} after {y:?}"))?;
        facts += same_future(case, &P::compose(x, step), &P::compose(y, step))?;
    }
    Ok(facts)
}
