//! The theory as executable tests: what the paper proves in general is checked in every state of random tiny instances.
//!
//! The direct MDP is enumerated from cost and membership alone ([`DirectMdp`]); everything a [`Problem`] says about its
//! tails is compared with it. A problem with a wrong rule breaks at least one law, with a counterexample.
//!
//! [`verify`] checks all laws. A problem without some roles is checked by the laws of those it has: [`of_mdp`],
//! [`of_observations`], [`of_fragments`], each with [`judge`].

mod behaviour;
mod direct;
mod fragments;
mod quotient;
mod reversal;

use crate::{DirectMdp, Generate, Observe, Problem, Rebuild, random};

/// A law with the place in the paper that states it.
pub struct Law<P: Problem> {
    /// What is claimed.
    pub claim: &'static str,
    /// Where the paper claims it.
    pub source: &'static str,
    check: fn(&Case<P>) -> Outcome,
}

/// The result of one law.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// What is claimed.
    pub claim: &'static str,
    /// Where the paper claims it.
    pub source: &'static str,
    /// Number of comparisons made; zero if a problem has nothing to compare, such as no symmetries.
    pub facts: usize,
    /// The first counterexample.
    pub counterexample: Option<String>,
}

/// An instance with its enumerated direct MDP.
struct Case<'a, P: Problem> {
    instance: &'a P::Instance,
    direct: DirectMdp<'a, P>,
}

/// The number of comparisons made, or the counterexample.
type Outcome = Result<usize, String>;

impl<P: Problem> Case<'_, P> {
    /// Φ(x): the tail after a partial solution.
    fn tail(&self, x: &[P::Step]) -> P::Tail {
        let mut tail = P::whole(self.instance);
        x.iter().for_each(|&step| P::advance(self.instance, &mut tail, step));
        tail
    }
}

const TRAJECTORIES_END: &str = "property (3): every trajectory comes to rest";

fn law<P: Problem>(claim: &'static str, source: &'static str, check: fn(&Case<P>) -> Outcome) -> Law<P> {
    Law { claim, source, check }
}

/// The laws of the MDP, in the order of the paper.
pub fn of_mdp<P: Problem>() -> Vec<Law<P>> {
    vec![
        law("property (1): finitely many allowed actions", "section 2.2", direct::finitely_many_actions),
        law("property (2): no dead ends", "section 2.2", direct::no_dead_ends),
        law(TRAJECTORIES_END, "section 2.2", direct::trajectories_end),
        law("return of a trajectory = f(ε) - f(outcome)", "appendix F.2", direct::returns_are_cost_differences),
        law("soundness of the direct MDP", "proposition 1", direct::soundness),
        law("bisimulation: same allowed steps", "appendix F.3", quotient::same_steps),
        law("bisimulation: same rewards", "appendix F.3", quotient::same_rewards),
        law("bisimulation: same neutral action", "appendix F.3", quotient::same_neutral_action),
        law("bisimulation: the square commutes", "appendix F.3", quotient::square_commutes),
        law("soundness of the BQ-MDP", "proposition 2", quotient::soundness),
        law("equal tails are indistinguishable", "section 3.1", quotient::equal_tails_have_equal_futures),
        law("tail recursion: a tail is an instance", "section 3.3", behaviour::tails_are_instances),
        law("a shortlist offers only allowed steps", "appendix D", behaviour::shortlists_are_allowed),
        law("symmetric images have the same solutions", "section 4", behaviour::symmetries_keep_costs),
        law("a reversed tail has the reversed solutions", "section 3.3", reversal::reversed_tails),
        law("steps at both ends build solutions", "section 3.3", reversal::both_ends),
    ]
}

/// The laws of what networks see.
pub fn of_observations<P: Observe>() -> Vec<Law<P>> {
    vec![law("slots are unique and inside the observation", "section 4", behaviour::slots_fit_observations)]
}

/// The laws of solutions that are taken apart and rebuilt.
pub fn of_fragments<P: Rebuild>() -> Vec<Law<P>> {
    vec![law("fragments can be rebuilt in any way", "section 3.3", fragments::fragments_can_be_rebuilt)]
}

/// All laws.
pub fn all<P: Observe + Rebuild>() -> Vec<Law<P>> {
    of_mdp().into_iter().chain(of_observations()).chain(of_fragments()).collect()
}

/// Checks every law on `instances` random instances of sizes up to `size`. The effort is exponential in the size.
pub fn verify<P: Observe + Rebuild + Generate>(instances: usize, size: usize, seed: u64) -> Vec<Verdict> {
    let instance = |index: usize| {
        let size = 2 + index % size.saturating_sub(1).max(1);
        P::generate(size, &mut random(seed, &[index as u64]))
    };
    judge(&all::<P>(), &(0..instances).map(instance).collect::<Vec<_>>())
}

/// Checks laws on given instances. The effort is exponential in their size.
pub fn judge<P: Problem>(laws: &[Law<P>], instances: &[P::Instance]) -> Vec<Verdict> {
    let cases: Vec<Case<P>> =
        instances.iter().map(|instance| Case { instance, direct: DirectMdp::enumerate(instance) }).collect();
    let mut verdicts: Vec<Verdict> = Vec::new();
    for law in laws {
        // The laws after property (3) follow all trajectories to their ends.
        let endless = verdicts.iter().any(|v| v.claim == TRAJECTORIES_END && v.counterexample.is_some());
        verdicts.push(if endless {
            law.untried("not tried, because trajectories do not end")
        } else {
            law.judge(&cases)
        });
    }
    verdicts
}

impl<P: Problem> Law<P> {
    fn untried(&self, why: &str) -> Verdict {
        Verdict { claim: self.claim, source: self.source, facts: 0, counterexample: Some(why.into()) }
    }

    fn judge(&self, cases: &[Case<P>]) -> Verdict {
        let (mut facts, mut counterexample) = (0, None);
        for (index, case) in cases.iter().enumerate() {
            match (self.check)(case) {
                Ok(more) => facts += more,
                Err(why) => {
                    counterexample = Some(format!("instance {index}: {why}"));
                    break;
                }
            }
        }
        Verdict { claim: self.claim, source: self.source, facts, counterexample }
    }
}

/// Equality of sums that were added up in different orders.
fn equal(a: f64, b: f64) -> bool {
    a == b || (a - b).abs() <= 1e-9 * (1.0 + a.abs().max(b.abs()))
}

/// One compared fact, or the counterexample.
fn fact(holds: bool, counterexample: impl FnOnce() -> String) -> Outcome {
    if holds { Ok(1) } else { Err(counterexample()) }
}
