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
