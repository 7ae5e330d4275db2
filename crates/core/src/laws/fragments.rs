//! Laws of solutions that are taken apart and rebuilt.

use rand::RngExt;

use super::{Case, Outcome, equal, fact};
use crate::{DirectMdp, Fragment, Problem, Random, Rebuild, random};

/// How often each solution is taken apart, and how many solutions of an instance are checked.
const CUTS: usize = 6;
const SOLUTIONS: usize = 24;

/// Rejoined fragments are the solution. If any of them are solved in another way, the result is still a solution, whose
/// cost differs by the difference of the returns. Checked on the instance and on tails of it.
pub(super) fn fragments_can_be_rebuilt<P: Rebuild>(case: &Case<P>) -> Outcome {
    let mut random = random(1, &[P::horizon(case.instance) as u64]);
    let mut facts = for_all_solutions::<P>(case.instance, &case.direct, &mut random)?;
    for &step in case.direct.allowed(&[]).iter().take(2) {
        let tail = P::extract(case.instance, &case.tail(&[step]));
        facts += for_all_solutions::<P>(&tail, &DirectMdp::enumerate(&tail), &mut random)?;
    }
    Ok(facts)
}

fn for_all_solutions<P: Rebuild>(instance: &P::Instance, direct: &DirectMdp<'_, P>, random: &mut Random) -> Outcome {
    let stride = direct.solutions().count().div_ceil(SOLUTIONS).max(1);
    let mut facts = 0;
    // Only solutions at which trajectories end: a route that can be extended is rebuilt to a longer one.
    for x in direct.solutions().filter(|x| direct.allowed(x).is_empty()).step_by(stride) {
        for _ in 0..CUTS {
            let length = random.random_range(0..=x.len() + 1);
            let fragments = P::fragments(instance, x, length, random);
            facts += joins_to::<P>(instance, &fragments, x, P::cost(instance, x))?;
            facts += any_way_fits::<P>(instance, fragments, x, random)?;
        }
    }
    Ok(facts)
}

fn joins_to<P: Rebuild>(instance: &P::Instance, fragments: &[Fragment<P>], x: &[P::Step], expected: f64) -> Outcome {
    let joined = P::rejoin(instance, fragments);
    let cost = P::cost(instance, &joined);
    let feasible = P::check(instance, &joined);
    fact(feasible.is_ok() && equal(cost, expected), || {
        format!("{x:?} in fragments {fragments:?} becomes {joined:?}: {feasible:?}, cost {cost}, expected {expected}")
    })
}

/// A fragment's own steps are allowed, and so is every other way to its end, alone and together with other fragments'.
fn any_way_fits<P: Rebuild>(
    instance: &P::Instance,
    mut fragments: Vec<Fragment<P>>,
    x: &[P::Step],
    random: &mut Random,
) -> Outcome {
    let mut expected = P::cost(instance, x);
    let mut facts = 0;
    for k in 0..fragments.len() {
        let fragment = &fragments[k];
        let ways = ways_from::<P>(instance, &fragment.tail);
        // If a construction may stop early, a fragment's own steps may end before a way does.
        facts += fact(ways.iter().any(|way| way.starts_with(&fragment.steps)), || {
            format!("{x:?}: the steps of {fragment:?} are not allowed there; allowed are {ways:?}")
        })?;
        let own = fragment.earned(instance, &fragment.steps);
        let gains: Vec<f64> = ways.iter().map(|way| fragment.earned(instance, way) - own).collect();
        for (way, gain) in ways.iter().zip(&gains).take(SOLUTIONS) {
            fragments[k].steps.clone_from(way);
            facts += joins_to(instance, &fragments, x, expected - gain)?;
        }
        let chosen = random.random_range(0..ways.len());
        fragments[k].steps.clone_from(&ways[chosen]); // so that the next fragments have a changed neighbour
        expected -= gains[chosen];
    }
    Ok(facts)
}

/// All sequences of steps to the end of a tail.
fn ways_from<P: Problem>(instance: &P::Instance, tail: &P::Tail) -> Vec<Vec<P::Step>> {
    let mut ways = Vec::new();
    for (_, step) in P::allowed(instance, tail) {
        let mut next = tail.clone();
        P::advance(instance, &mut next, step);
        for mut way in ways_from::<P>(instance, &next) {
            way.insert(0, step);
            ways.push(way);
        }
    }
    if ways.is_empty() { vec![Vec::new()] } else { ways }
}
