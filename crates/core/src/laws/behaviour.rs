//! Laws of tails as instances, observations, shortlists and symmetries.

use super::{Case, Outcome, equal, fact};
use crate::{Costs, DirectMdp, Frame, Observe, Problem};

/// The extracted instance behaves like the tail, slot by slot, and has the tail's optimum.
pub(super) fn tails_are_instances<P: Problem>(case: &Case<P>) -> Outcome {
    let mut facts = 0;
    for (x, _) in case.direct.states() {
        let tail = case.tail(x);
        let extracted = P::extract(case.instance, &tail);
        facts += same_behaviour::<P>((case.instance, &tail), (&extracted, &P::whole(&extracted)), x)?;
        let (within, alone) =
            (case.direct.optimal_return(x), DirectMdp::<P>::enumerate(&extracted).optimal_return(&[]));
        facts += fact(equal(within, alone), || format!("after {x:?} the best return is {within}, extracted {alone}"))?;
    }
    Ok(facts)
}

/// Both states allow the same slots with the same rewards, now and after every step.
fn same_behaviour<P: Problem>(
    (instance, tail): (&P::Instance, &P::Tail),
    (other_instance, other_tail): (&P::Instance, &P::Tail),
    x: &[P::Step],
) -> Outcome {
    let steps: Vec<_> = P::allowed(instance, tail).collect();
    let others: Vec<_> = P::allowed(other_instance, other_tail).collect();
    let slots = |steps: &[(usize, P::Step)]| steps.iter().map(|&(slot, _)| slot).collect::<Vec<_>>();
    let stops = P::may_stop(instance, tail) == P::may_stop(other_instance, other_tail);
    let mut facts = fact(stops && slots(&steps) == slots(&others), || {
        format!("after {x:?} the tail offers {steps:?}, the extracted instance {others:?}")
    })?;
    for (&(_, step), &(_, other_step)) in steps.iter().zip(&others) {
        let (one, two) = (P::reward(instance, tail, step), P::reward(other_instance, other_tail, other_step));
        facts += fact(equal(one, two), || format!("after {x:?}, {step:?} earns {one}, extracted {two}"))?;
        let (mut next, mut other_next) = (tail.clone(), other_tail.clone());
        P::advance(instance, &mut next, step);
        P::advance(other_instance, &mut other_next, other_step);
        facts += same_behaviour::<P>((instance, &next), (other_instance, &other_next), x)?;
    }
    Ok(facts)
}

pub(super) fn slots_fit_observations<P: Observe>(case: &Case<P>) -> Outcome {
    let mut facts = 0;
    for (x, _) in case.direct.states() {
        let tail = case.tail(x);
        let slots: Vec<usize> = P::allowed(case.instance, &tail).map(|(slot, _)| slot).collect();
        let ascending = slots.is_sorted_by(|a, b| a < b);
        facts += fact(ascending, || format!("slots {slots:?} after {x:?} are not ascending"))?;
        for frame in [Frame::Instance, Frame::Subproblem, Frame::Origin] {
            let seen = P::observe(case.instance, &tail, frame);
            let mut written = vec![f32::NAN; seen.features.len()];
            P::observe_into(case.instance, &tail, frame, &mut written);
            let inside = slots.last().is_none_or(|&slot| slot < seen.tokens * P::KINDS);
            let costs = if let Costs::Matrix(costs) = &seen.costs { costs.as_slice() } else { &[] };
            let shapes = seen.features.len() == seen.tokens * P::FEATURES
                && (costs.is_empty() || costs.len() == seen.tokens * seen.tokens)
                && seen.origin.into_iter().chain(seen.destination).all(|token| token < seen.tokens);
            let finite = seen.features.iter().chain(costs).all(|number| number.is_finite());
            let complete = written == seen.features; // nothing is left of what was there before
            facts += fact(inside && shapes && finite && complete, || {
                format!("slots {slots:?} do not fit {seen:?} after {x:?}")
            })?;
        }
    }
    Ok(facts)
}

pub(super) fn shortlists_are_allowed<P: Problem>(case: &Case<P>) -> Outcome {
    let mut facts = 0;
    for (x, allowed) in case.direct.states().filter(|(_, allowed)| !allowed.is_empty()) {
        let tail = case.tail(x);
        for restrict in [P::shortlist, P::nearest] {
            let cuts = restrict(case.instance, &tail, 1) != tail; // the default is the whole tail
            for k in 1..=P::horizon(case.instance) {
                let cut = restrict(case.instance, &tail, k);
                let offered: Vec<P::Step> = P::allowed(case.instance, &cut).map(|(_, step)| step).collect();
                let sound = !offered.is_empty() && offered.iter().all(|step| allowed.contains(step));
                // A step that ends the construction may be offered in addition to the k candidates.
                let short = !cuts || offered.len() <= (k + 1) * P::KINDS;
                facts += fact(sound && short, || {
                    format!("after {x:?} the shortlist of {k} offers {offered:?} of {allowed:?}")
                })?;
            }
        }
    }
    Ok(facts)
}

pub(super) fn symmetries_keep_costs<P: Problem>(case: &Case<P>) -> Outcome {
    let mut facts = 0;
    for image in P::symmetries(case.instance) {
        for x in case.direct.solutions() {
            let same = P::check(&image, x).is_ok() && P::cost(&image, x) == P::cost(case.instance, x);
            facts += fact(same, || format!("{x:?} costs something else in a symmetric image"))?;
        }
    }
    Ok(facts)
}
