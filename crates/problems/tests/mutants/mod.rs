//! Problems with one rule broken on purpose. A law that no mutant can break proves nothing.

use std::marker::PhantomData;

use bqnco_core::laws::{Verdict, verify};
use bqnco_core::{Fragment, Frame, Generate, Infeasible, Observe, Problem, Rebuild, Relations, SolutionSpace};
use bqnco_problems::{Atsp, Cvrp, Knapsack, Op, Tsp, cvrp, knapsack, op, tsp};
use rand::Rng;

/// The roles that the laws check.
pub trait Lawful: Observe + Rebuild + Generate {}

impl<P: Observe + Rebuild + Generate> Lawful for P {}

/// A change of some rules of `P`; the other rules stay as they are.
pub trait Mutation<P: Lawful>: Send + Sync + 'static {
    fn allowed(instance: &P::Instance, tail: &P::Tail) -> Vec<(usize, P::Step)> {
        P::allowed(instance, tail).collect()
    }
    fn may_stop(instance: &P::Instance, tail: &P::Tail) -> bool {
        P::may_stop(instance, tail)
    }
    fn reward(instance: &P::Instance, tail: &P::Tail, step: P::Step) -> f64 {
        P::reward(instance, tail, step)
    }
    fn advance(instance: &P::Instance, tail: &mut P::Tail, step: P::Step) {
        P::advance(instance, tail, step);
    }
    fn observe_into(instance: &P::Instance, tail: &P::Tail, frame: Frame, features: &mut [f32]) -> Relations {
        P::observe_into(instance, tail, frame, features)
    }
    fn shortlist(instance: &P::Instance, tail: &P::Tail, k: usize) -> P::Tail {
        P::shortlist(instance, tail, k)
    }
    fn extract(instance: &P::Instance, tail: &P::Tail) -> P::Instance {
        P::extract(instance, tail)
    }
    fn reverse(instance: &P::Instance, tail: &mut P::Tail) -> bool {
        P::reverse(instance, tail)
    }
    fn cost(instance: &P::Instance, partial: &[P::Step]) -> f64 {
        P::cost(instance, partial)
    }
    fn spoil(_: &P::Instance, _: &mut Fragment<P>) {}
    fn rejoin(instance: &P::Instance, fragments: &[Fragment<P>]) -> Vec<P::Step> {
        P::rejoin(instance, fragments)
    }
}

/// `P` with the rules of `M`.
struct Mutant<P, M>(PhantomData<(P, M)>);

impl<P: Lawful, M: Mutation<P>> SolutionSpace for Mutant<P, M> {
    type Instance = P::Instance;
    type Step = P::Step;

    fn steps(instance: &P::Instance) -> Vec<P::Step> {
        P::steps(instance)
    }
    fn horizon(instance: &P::Instance) -> usize {
        P::horizon(instance)
    }
    fn compose(partial: &[P::Step], step: P::Step) -> Vec<P::Step> {
        P::compose(partial, step)
    }
    fn cost(instance: &P::Instance, partial: &[P::Step]) -> f64 {
        M::cost(instance, partial)
    }
    fn check(instance: &P::Instance, solution: &[P::Step]) -> Result<(), Infeasible> {
        P::check(instance, solution)
    }
}

impl<P: Lawful, M: Mutation<P>> Problem for Mutant<P, M> {
    const NAME: &'static str = "mutant";
    const OBJECTIVE: (&'static str, f64) = P::OBJECTIVE;
    const KINDS: usize = P::KINDS;
    type Tail = P::Tail;

    fn whole(instance: &P::Instance) -> P::Tail {
        P::whole(instance)
    }
    fn allowed(instance: &P::Instance, tail: &P::Tail) -> impl Iterator<Item = (usize, P::Step)> {
        M::allowed(instance, tail).into_iter()
    }
    fn may_stop(instance: &P::Instance, tail: &P::Tail) -> bool {
        M::may_stop(instance, tail)
    }
    fn reward(instance: &P::Instance, tail: &P::Tail, step: P::Step) -> f64 {
        M::reward(instance, tail, step)
    }
    fn advance(instance: &P::Instance, tail: &mut P::Tail, step: P::Step) {
        M::advance(instance, tail, step);
    }
    fn shortlist(instance: &P::Instance, tail: &P::Tail, k: usize) -> P::Tail {
        M::shortlist(instance, tail, k)
    }
    fn extract(instance: &P::Instance, tail: &P::Tail) -> P::Instance {
        M::extract(instance, tail)
    }
    fn reverse(instance: &P::Instance, tail: &mut P::Tail) -> bool {
        M::reverse(instance, tail)
    }
    fn symmetries(instance: &P::Instance) -> Vec<P::Instance> {
        P::symmetries(instance)
    }
}

impl<P: Lawful, M: Mutation<P>> Observe for Mutant<P, M> {
    const FEATURES: usize = P::FEATURES;

    fn tokens(instance: &P::Instance, tail: &P::Tail) -> usize {
        P::tokens(instance, tail)
    }
    fn observe_into(instance: &P::Instance, tail: &P::Tail, frame: Frame, features: &mut [f32]) -> Relations {
        M::observe_into(instance, tail, frame, features)
    }
}

impl<P: Lawful, M: Mutation<P>> Rebuild for Mutant<P, M> {
    fn fragments(
        instance: &P::Instance,
        solution: &[P::Step],
        length: usize,
        rng: &mut impl Rng,
    ) -> Vec<Fragment<Self>> {
        let mut fragments = P::fragments(instance, solution, length, rng);
        fragments.iter_mut().for_each(|fragment| M::spoil(instance, fragment));
        fragments.into_iter().map(renamed).collect()
    }
    fn rejoin(instance: &P::Instance, fragments: &[Fragment<Self>]) -> Vec<P::Step> {
        let copy = |f: &Fragment<Self>| Fragment::<P> {
            before: f.before.clone(),
            tail: f.tail.clone(),
            steps: f.steps.clone(),
            after: f.after.clone(),
        };
        M::rejoin(instance, &fragments.iter().map(copy).collect::<Vec<_>>())
    }
}

impl<P: Lawful, M: Mutation<P>> Generate for Mutant<P, M> {
    fn generate(size: usize, rng: &mut impl Rng) -> P::Instance {
        P::generate(size, rng)
    }
}

/// The same fragment of a problem with the same steps and tails.
fn renamed<P: Problem, Q: Problem<Tail = P::Tail, Step = P::Step>>(fragment: Fragment<P>) -> Fragment<Q> {
    let Fragment { before, tail, steps, after } = fragment;
    Fragment { before, tail, steps, after }
}

/// The laws that the mutant breaks must include the expected one. A law that was not tried is not broken.
fn assert_caught<P: Lawful, M: Mutation<P>>(size: usize, expected: &str) {
    let verdicts = verify::<Mutant<P, M>>(12, size, 1);
    let is_broken = |v: &&Verdict| v.counterexample.as_ref().is_some_and(|why| why.starts_with("instance "));
    let broken: Vec<&str> = verdicts.iter().filter(is_broken).map(|v| v.claim).collect();
    assert!(broken.contains(&expected), "expected {expected}, broken were {broken:?}");
}

/// The vehicle is not filled again at the depot.
struct ForgetsToRefill;
impl Mutation<Cvrp> for ForgetsToRefill {
    fn advance(instance: &cvrp::Instance, tail: &mut cvrp::Tail, step: cvrp::Step) {
        Cvrp::advance(instance, tail, cvrp::Step { via_depot: false, ..step });
    }
}

#[test]
fn a_depot_that_does_not_refill_is_caught() {
    assert_caught::<Cvrp, ForgetsToRefill>(4, "bisimulation: same allowed steps");
    assert_caught::<Cvrp, ForgetsToRefill>(4, "bisimulation: the square commutes");
}

/// Serves customers whatever they demand.
struct IgnoresCapacity;
impl Mutation<Cvrp> for IgnoresCapacity {
    fn allowed(instance: &cvrp::Instance, tail: &cvrp::Tail) -> Vec<(usize, cvrp::Step)> {
        Cvrp::allowed(instance, &cvrp::Tail { left: instance.capacity(), ..tail.clone() }).collect()
    }
}

#[test]
fn an_overloaded_vehicle_is_caught() {
    assert_caught::<Cvrp, IgnoresCapacity>(4, "bisimulation: same allowed steps");
}

/// The way through the depot is not paid for.
struct FreeDetour;
impl Mutation<Cvrp> for FreeDetour {
    fn reward(instance: &cvrp::Instance, tail: &cvrp::Tail, step: cvrp::Step) -> f64 {
        Cvrp::reward(instance, tail, cvrp::Step { via_depot: false, ..step })
    }
}

#[test]
fn a_free_detour_is_caught() {
    assert_caught::<Cvrp, FreeDetour>(4, "bisimulation: same rewards");
}

/// The extracted instance starts with a full vehicle.
struct ExtractsAFullVehicle;
impl Mutation<Cvrp> for ExtractsAFullVehicle {
    fn extract(instance: &cvrp::Instance, tail: &cvrp::Tail) -> cvrp::Instance {
        Cvrp::extract(instance, &cvrp::Tail { left: instance.capacity(), ..tail.clone() })
    }
}

#[test]
fn an_instance_that_is_not_the_tail_is_caught() {
    assert_caught::<Cvrp, ExtractsAFullVehicle>(4, "tail recursion: a tail is an instance");
}

/// The last leg home is not paid for.
struct NeverReturns;
impl Mutation<Tsp> for NeverReturns {
    fn reward(instance: &tsp::Instance, tail: &tsp::Tail, step: usize) -> f64 {
        -instance.geometry().distance(tail.origin, step)
    }
}

#[test]
fn a_tour_that_is_not_closed_is_caught() {
    assert_caught::<Tsp, NeverReturns>(5, "bisimulation: same rewards");
    assert_caught::<Tsp, NeverReturns>(5, "soundness of the BQ-MDP");
}

/// Nodes can be visited again.
struct Revisits;
impl Mutation<Atsp> for Revisits {
    fn advance(_: &bqnco_problems::atsp::Instance, tail: &mut tsp::Tail, step: usize) {
        tail.origin = step;
    }
}

#[test]
fn a_construction_that_never_ends_is_caught() {
    assert_caught::<Atsp, Revisits>(3, "property (3): every trajectory comes to rest");
}

/// The way back is forgotten when nodes are checked against the limit.
struct Stranded;
impl Mutation<Op> for Stranded {
    fn allowed(instance: &op::Instance, tail: &op::Tail) -> Vec<(usize, usize)> {
        let reachable = |node: &usize| instance.geometry().distance(tail.origin, *node) <= tail.left;
        tail.rest
            .iter()
            .map(|&node| node as usize)
            .enumerate()
            .map(|(k, node)| (k + 1, node))
            .filter(|(_, n)| reachable(n))
            .collect()
    }
}

#[test]
fn a_route_that_cannot_return_is_caught() {
    assert_caught::<Op, Stranded>(4, "bisimulation: same allowed steps");
}

/// Cannot end before everything is visited.
struct MustVisitAll;
impl Mutation<Op> for MustVisitAll {
    fn may_stop(_: &op::Instance, tail: &op::Tail) -> bool {
        tail.rest.is_empty()
    }
}

#[test]
fn a_wrong_neutral_action_is_caught() {
    assert_caught::<Op, MustVisitAll>(4, "bisimulation: same neutral action");
}

/// The shortlist may hold only items that do not fit.
struct HeaviestFirst;
impl Mutation<Knapsack> for HeaviestFirst {
    fn shortlist(instance: &knapsack::Instance, tail: &knapsack::Tail, k: usize) -> knapsack::Tail {
        let mut rest = tail.rest.clone();
        rest.sort_by(|&a, &b| instance.weights()[b as usize].total_cmp(&instance.weights()[a as usize]));
        rest.truncate(k);
        rest.sort_unstable();
        knapsack::Tail { rest, left: tail.left }
    }
}

#[test]
fn a_shortlist_without_an_allowed_step_is_caught() {
    assert_caught::<Knapsack, HeaviestFirst>(6, "a shortlist offers only allowed steps");
}

/// Two items share a slot.
struct SharedSlot;
impl Mutation<Knapsack> for SharedSlot {
    fn allowed(instance: &knapsack::Instance, tail: &knapsack::Tail) -> Vec<(usize, usize)> {
        Knapsack::allowed(instance, tail).map(|(slot, item)| (slot / 2, item)).collect()
    }
}

#[test]
fn a_shared_slot_is_caught() {
    assert_caught::<Knapsack, SharedSlot>(6, "slots are unique and inside the observation");
}

/// The last feature of the depot keeps what was there before.
struct UnwrittenFeature;
impl Mutation<Cvrp> for UnwrittenFeature {
    fn observe_into(instance: &cvrp::Instance, tail: &cvrp::Tail, frame: Frame, features: &mut [f32]) -> Relations {
        let before = features.last().copied().unwrap_or_default();
        let relations = Cvrp::observe_into(instance, tail, frame, features);
        features.iter_mut().next_back().into_iter().for_each(|last| *last = before);
        relations
    }
}

#[test]
fn an_unwritten_feature_is_caught() {
    assert_caught::<Cvrp, UnwrittenFeature>(4, "slots are unique and inside the observation");
}

/// The objective forgets what the tail's rewards count.
struct ForgetsTheFirstItem;
impl Mutation<Knapsack> for ForgetsTheFirstItem {
    fn cost(instance: &knapsack::Instance, partial: &[usize]) -> f64 {
        Knapsack::cost(instance, partial.get(1..).unwrap_or(&[]))
    }
}

#[test]
fn an_objective_that_disagrees_with_the_rewards_is_caught() {
    assert_caught::<Knapsack, ForgetsTheFirstItem>(6, "return of a trajectory = f(ε) - f(outcome)");
}

/// Routes are rebuilt from their middle with a full vehicle.
struct FullAtTheCut;
impl Mutation<Cvrp> for FullAtTheCut {
    fn spoil(instance: &cvrp::Instance, fragment: &mut Fragment<Cvrp>) {
        fragment.tail.left = instance.capacity();
    }
}

#[test]
fn a_cut_that_forgets_the_load_is_caught() {
    assert_caught::<Cvrp, FullAtTheCut>(4, "fragments can be rebuilt in any way");
}

/// The length that the rest of the route takes is spent twice.
struct SpendsTwice;
impl Mutation<Op> for SpendsTwice {
    fn spoil(instance: &op::Instance, fragment: &mut Fragment<Op>) {
        fragment.tail.left = instance.limit();
    }
}

#[test]
fn a_part_that_takes_the_whole_length_is_caught() {
    assert_caught::<Op, SpendsTwice>(4, "fragments can be rebuilt in any way");
}

/// A tour put together as if it had been cut at its origin.
struct ForgetsTheRotation;
impl Mutation<Tsp> for ForgetsTheRotation {
    fn rejoin(_: &tsp::Instance, fragments: &[Fragment<Tsp>]) -> Vec<usize> {
        fragments.iter().flat_map(Fragment::all_steps).skip(1).collect()
    }
}

#[test]
fn a_tour_that_starts_elsewhere_is_caught() {
    assert_caught::<Tsp, ForgetsTheRotation>(5, "fragments can be rebuilt in any way");
}

/// Costs differ in the two directions.
struct ReversesOneWayStreets;
impl Mutation<Atsp> for ReversesOneWayStreets {
    fn reverse(_: &bqnco_problems::atsp::Instance, tail: &mut tsp::Tail) -> bool {
        std::mem::swap(&mut tail.origin, &mut tail.destination);
        true
    }
}

#[test]
fn a_reversal_that_changes_costs_is_caught() {
    assert_caught::<Atsp, ReversesOneWayStreets>(5, "a reversed tail has the reversed solutions");
    assert_caught::<Atsp, ReversesOneWayStreets>(5, "steps at both ends build solutions");
}

/// The reversed route may be as long as the whole one.
struct RefillsTheLength;
impl Mutation<Op> for RefillsTheLength {
    fn reverse(instance: &op::Instance, tail: &mut op::Tail) -> bool {
        tail.left = instance.limit();
        Op::reverse(instance, tail)
    }
}

#[test]
fn a_reversal_that_forgets_what_was_spent_is_caught() {
    assert_caught::<Op, RefillsTheLength>(4, "a reversed tail has the reversed solutions");
}
