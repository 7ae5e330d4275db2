//! The knapsack expert against brute force, dynamic programming and published optima.

use std::sync::atomic::{AtomicUsize, Ordering};

use bqnco_core::{
    Effort, Expert, ExpertError, Generate, Problem, Random, Solution, SolutionSpace, last_steps, random, replay,
};
use bqnco_experts::KnapsackExpert;
use bqnco_experts::knapsack::Outcome;
use bqnco_problems::Knapsack;
use bqnco_problems::knapsack::Instance;
use bqnco_testing::shared_data;
use rand::RngExt;

fn solve(instance: &Instance) -> Solution<usize> {
    let solution = KnapsackExpert.solve(instance, &Effort::rounds(0, 0)).expect("small instances are proven");
    Knapsack::check(instance, &solution.steps).expect("feasible");
    assert_eq!(solution.cost, Knapsack::cost(instance, &solution.steps));
    solution
}

fn instance(items: &[(f64, f64)], capacity: f64) -> Instance {
    let (values, weights) = items.iter().copied().unzip();
    Instance::new(values, weights, capacity).expect("valid")
}

/// The best value over all subsets.
fn brute_force(items: &[(f64, f64)], capacity: f64) -> f64 {
    let subsets = (0u32..1 << items.len()).filter_map(|subset| {
        let chosen = || items.iter().enumerate().filter(|(item, _)| subset >> item & 1 == 1).map(|(_, pair)| pair);
        (chosen().map(|pair| pair.1).sum::<f64>() <= capacity).then(|| chosen().map(|pair| pair.0).sum::<f64>())
    });
    subsets.fold(0.0, f64::max)
}

/// The textbook dynamic program over integer capacities.
fn dynamic_program(items: &[(f64, f64)], capacity: usize) -> f64 {
    let mut best = vec![0.0f64; capacity + 1];
    for &(value, weight) in items {
        for room in (weight as usize..=capacity).rev() {
            best[room] = best[room].max(best[room - weight as usize] + value);
        }
    }
    best[capacity]
}

/// Items of Pisinger's classes and degenerate ones, with integers up to `range`.
fn integer_items(kind: u32, n: usize, range: u32, rng: &mut Random) -> Vec<(f64, f64)> {
    let items = (0..n).map(|_| {
        let weight = rng.random_range(1..=range);
        let value = match kind {
            0 => rng.random_range(1..=range),
            1 => (weight + rng.random_range(0..=range / 5)).saturating_sub(range / 10).max(1), // weakly correlated
            2 => weight + range / 10,                                                          // strongly
            3 => weight,                                                                       // subset sum
            4 => 3 * weight.div_ceil(3),                                                       // profit ceiling
            5 => rng.random_range(0..=2),                                                      // many ties and zeros
            _ => weight * 7,
        };
        let weight = if kind >= 5 && rng.random_bool(0.2) { 0 } else { weight };
        (f64::from(value), f64::from(weight))
    });
    items.collect()
}

#[test]
fn equals_brute_force_on_small_integer_instances() {
    for round in 0..3000u32 {
        let mut rng = random(1, &[u64::from(round)]);
        let n = rng.random_range(1..=11);
        let range = [3, 10, 100, 100_000][round as usize % 4];
        let items = integer_items(round / 4 % 7, n, range, &mut rng);
        let total: f64 = items.iter().map(|item| item.1).sum();
        let capacity = (total * rng.random_range(0.0..1.1)).floor();
        let found = solve(&instance(&items, capacity));
        assert_eq!(-found.cost, brute_force(&items, capacity), "{items:?} {capacity}");
    }
}

#[test]
fn equals_brute_force_on_small_real_instances() {
    for round in 0..3000u64 {
        let mut rng = random(2, &[round]);
        let scale = [1.0, 1e-6, 1e9][round as usize % 3];
        let items: Vec<(f64, f64)> = (0..rng.random_range(1..=11))
            .map(|_| {
                let weight = scale * rng.random::<f64>();
                let value = match round % 4 {
                    0 => rng.random(),
                    1 => weight + 0.1 * scale,
                    2 => weight,
                    _ => (10.0 * rng.random::<f64>()).floor(),
                };
                (value, weight)
            })
            .collect();
        let capacity = items.iter().map(|item| item.1).sum::<f64>() * rng.random_range(0.05..1.05);
        let (found, best) = (-solve(&instance(&items, capacity)).cost, brute_force(&items, capacity));
        assert!((found - best).abs() <= 1e-8 * best, "{found} instead of {best}: {items:?} {capacity}");
    }
}

#[test]
fn equals_the_dynamic_program_on_larger_integer_instances() {
    for round in 0..280u32 {
        let mut rng = random(3, &[u64::from(round)]);
        let n = rng.random_range(20..=150); // cores of more than 64 items occur
        let items = integer_items(round % 7, n, [10, 50, 300][round as usize % 3], &mut rng);
        let total: f64 = items.iter().map(|item| item.1).sum();
        let capacity = (total * rng.random_range(0.1..0.9)).floor();
        assert_eq!(-solve(&instance(&items, capacity)).cost, dynamic_program(&items, capacity as usize));
    }
}

#[test]
fn decimal_weights_that_sum_to_the_capacity_fit_despite_rounding() {
    // 0.1 + 0.2 exceeds 0.3 in binary.
    assert_eq!(-solve(&instance(&[(1.0, 0.1), (1.0, 0.2), (1.5, 0.3)], 0.3)).cost, 2.0);
}

#[test]
fn degenerate_instances_are_solved() {
    type Case<'a> = (&'a [(f64, f64)], f64, &'a [usize]);
    let cases: [Case; 6] = [
        (&[(5.0, 0.0), (3.0, 1.0)], 0.0, &[0]),    // capacity 0: only weightless items
        (&[(5.0, 7.0)], 6.0, &[]),                 // heavier than the capacity
        (&[(5.0, 2.0), (3.0, 4.0)], 6.0, &[0, 1]), // everything fits
        (&[(0.0, 1.0), (0.0, 0.0), (2.0, 1.0)], 1.0, &[2]), // worthless items are not packed
        (&[(0.0, 1.0)], 0.5, &[]),
        (&[(1.0, 3.0), (1.0, 3.0), (1.0, 2.5)], 5.5, &[0, 2]),
    ];
    for (items, capacity, packed) in cases {
        let found = solve(&instance(items, capacity));
        let value = |items_: &[usize]| items_.iter().map(|&item| items[item].0).sum::<f64>();
        assert_eq!(-found.cost, value(packed), "{items:?} {capacity}");
    }
}

#[test]
fn tails_are_solved_and_solutions_replay() {
    let mut rng = random(4, &[]);
    for _ in 0..50 {
        let whole = std::sync::Arc::new(Knapsack::generate(60, &mut rng));
        let solution = solve(&whole);
        replay::<Knapsack>(&whole, &solution.steps).expect("replayable");
        let half = solution.steps.len() / 2;
        let (tail, _) = last_steps::<Knapsack>(&whole, &solution.steps, solution.steps.len() - half);
        let tail = Knapsack::extract(&whole, &tail);
        let packed: f64 = solution.steps[..half].iter().map(|&item| whole.values()[item]).sum();
        assert!((packed - solve(&tail).cost + solution.cost).abs() < 1e-8, "the tail of an optimum is optimal");
    }
}

#[test]
fn numbers_too_large_for_exact_sums_are_rejected() {
    let huge = 2f64.powi(53);
    for (items, capacity) in [([(1.0, huge), (1.0, huge), (2.0, 1.0)], huge), ([(1.0, 1e-200); 3], 2e-200)] {
        let error = KnapsackExpert.solve(&instance(&items, capacity), &Effort::rounds(0, 0)).expect_err("refused");
        assert!(matches!(error, ExpertError::Unsupported { .. }), "{error}");
    }
}

#[test]
fn stopping_gives_a_feasible_packing_with_a_bound() {
    let mut rng = random(5, &[]);
    let items: Vec<(f64, f64)> = (0..60)
        .map(|_| {
            let weight: f64 = rng.random();
            (weight, weight)
        })
        .collect();
    let hard = instance(&items, 15.0); // real subset sums: no proof in reasonable time
    let asked = AtomicUsize::new(0);
    let stop = || asked.fetch_add(1, Ordering::Relaxed) >= 20;
    let solution = KnapsackExpert
        .solve(&hard, &Effort { seed: 0, rounds: None, patience: None, stop: &stop })
        .expect("the best so far");
    Knapsack::check(&hard, &solution.steps).expect("feasible");
    let calls = asked.load(Ordering::Relaxed);
    assert_eq!(calls, 21, "polled again after the stop");

    let packing = KnapsackExpert.search(&hard, &|| true).expect("feasible");
    Knapsack::check(&hard, &packing.solution.steps).expect("feasible");
    assert_eq!(packing.outcome, Outcome::Stopped);
    assert!(packing.bound >= -packing.solution.cost && packing.bound <= 15.0 + 1e-6);
}

#[test]
fn finds_the_published_optima() {
    let Some(data) = shared_data() else { return };
    let folder = data.join("kp");
    let mut solved = 0;
    for list in ["kplib_optimal.csv", "instances_01_KP_optimal.csv"] {
        let text = std::fs::read_to_string(folder.join(list)).expect("a list");
        for line in text.lines().skip(1) {
            let fields: Vec<&str> = line.split(',').collect();
            let numbers = std::fs::read_to_string(folder.join(fields[0])).expect("listed file");
            let numbers: Vec<f64> = numbers.split_whitespace().map(|word| word.parse().expect("number")).collect();
            let n = numbers[0] as usize;
            let items: Vec<(f64, f64)> = numbers[2..2 + 2 * n].chunks(2).map(|pair| (pair[0], pair[1])).collect();
            let optimum: f64 = fields[fields.len() - 1].parse().expect("number");
            let found = -solve(&instance(&items, numbers[1])).cost;
            assert!((found - optimum).abs() < 1e-4, "{}: {found} instead of {optimum}", fields[0]); // one is rounded
            solved += 1;
        }
    }
    assert_eq!(solved, 408);
}
