//! Results do not depend on the number of threads, bit by bit.

use bqnco::net::device;
use bqnco::{Event, GeneratedSet, ModelSource, ProblemName, Search, Solver};

/// Instances per problem; campaigns ask for more.
fn count() -> u64 {
    std::env::var("BQNCO_INSTANCES").ok().and_then(|count| count.parse().ok()).unwrap_or(6)
}

/// Numbers of the solutions and the bits of their values.
type Outcome = Vec<(Vec<usize>, u64)>;

#[test]
fn solutions_are_equal_bit_by_bit_at_any_number_of_threads() {
    for &problem in ProblemName::ALL {
        let (size, count) = (13, count());
        let set = GeneratedSet { seed: 5, ..GeneratedSet::new(problem, size, count) };
        let instances = set.instances(0..count).expect("instances");
        for search in ["greedy", "greedy8", "beam4", "sample4", "reconstruct"] {
            let search: Search = search.parse().expect("a search");
            let outcome = |threads: usize| -> Outcome {
                let solver = Solver::new().search(search.clone()).seed(3).threads(threads).expect("threads");
                let found = solver.solve_all(&instances, &|_: &Event<'_>| ()).expect("a search that fits");
                let solutions = found.into_iter().map(|solution| solution.expect("a solution"));
                solutions.map(|solution| (solution.numbers(), solution.value().to_bits())).collect()
            };
            let one = outcome(1);
            for threads in [2, 3, 8] {
                assert!(outcome(threads) == one, "{problem}, {search:?}, {threads} threads");
            }
        }
    }
}

/// The scores behind the solutions, of batches of different sizes.
#[test]
fn scores_are_equal_bit_by_bit_at_any_number_of_threads() {
    use bqnco::core::{Policy, Subproblem, random};
    use bqnco::problems::Tsp;
    let model: ModelSource = "tsp".parse().expect("a built-in network");
    let (network, _) = model.load(&device("cpu").expect("every build has it")).expect("it loads");
    let states: Vec<Subproblem<Tsp>> = (0..count().min(64))
        .map(|k| {
            let size = 5 + k as usize * 7 % 60;
            Subproblem::whole(std::sync::Arc::new(<Tsp as bqnco::core::Generate>::generate(size, &mut random(9, &[k]))))
        })
        .collect();
    let batch: Vec<&Subproblem<Tsp>> = states.iter().collect();
    let scores = |threads: usize| -> Vec<Vec<u32>> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        let scores = pool.install(|| Policy::<Tsp>::scores(&network, &batch)).expect("scores");
        scores.into_iter().map(|scores| scores.into_iter().map(f32::to_bits).collect()).collect()
    };
    let one = scores(1);
    for threads in [2, 3, 8] {
        assert!(scores(threads) == one, "{threads} threads");
    }
}

/// The bits of the scores of all states, in batches of so many, on so many threads.
fn score_bits<P: bqnco::core::Observe>(
    network: &bqnco::net::Network,
    states: &[bqnco::core::Subproblem<P>],
    batch: usize,
    threads: usize,
) -> Vec<Vec<u32>> {
    use bqnco::core::{Policy, Subproblem};
    let states: Vec<&Subproblem<P>> = states.iter().collect();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    let scores = |batch: &[&Subproblem<P>]| pool.install(|| Policy::<P>::scores(network, batch)).expect("scores");
    let all: Vec<Vec<f32>> = states.chunks(batch).flat_map(scores).collect();
    all.into_iter().map(|scores| scores.into_iter().map(f32::to_bits).collect()).collect()
}

fn scores_are_equal_in_every_batch<P: bqnco::core::Observe + bqnco::core::Generate>() {
    use bqnco::core::{Subproblem, random};
    let model: ModelSource = P::NAME.parse().expect("a built-in network");
    let (network, _) = model.load(&device("cpu").expect("every build has it")).expect("it loads");
    let state =
        |size: usize| Subproblem::<P>::whole(std::sync::Arc::new(P::generate(size, &mut random(9, &[size as u64]))));
    let states: Vec<Subproblem<P>> = [5, 60, 17, 130, 48, 199].into_iter().map(state).collect();
    let alone = score_bits(&network, &states, 1, 1);
    for (batch, threads) in [(1, 8), (2, 1), (2, 8), (6, 1), (6, 8)] {
        let found = score_bits(&network, &states, batch, threads);
        assert!(found == alone, "{} in batches of {batch}, {threads} threads", P::NAME);
    }
}

/// Transformers score a state alone as they do among others, which the server's batches rest on. Not perceivers, whose
/// sums run over the padding; and with more than 256 tokens the tensor library adds up a score in another order.
#[test]
fn scores_do_not_depend_on_the_batch() {
    use bqnco::problems::{Atsp, Cvrp, Knapsack, Op, Pctsp, Tsp};
    scores_are_equal_in_every_batch::<Tsp>();
    scores_are_equal_in_every_batch::<Atsp>();
    scores_are_equal_in_every_batch::<Cvrp>();
    scores_are_equal_in_every_batch::<Op>();
    scores_are_equal_in_every_batch::<Knapsack>();
    scores_are_equal_in_every_batch::<Pctsp>();
}
