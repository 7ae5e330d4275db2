//! Random places in the unit square.

use std::f64::consts::TAU;

use bqnco_core::Distribution;
use rand::seq::SliceRandom;
use rand::{Rng, RngExt};

/// `count` places of a distribution.
pub(crate) fn scatter(distribution: Distribution, count: usize, rng: &mut impl Rng) -> Vec<[f64; 2]> {
    match distribution {
        Distribution::Uniform => (0..count).map(|_| rng.random()).collect(),
        Distribution::Clustered => clustered(count, rng),
        Distribution::Mixed => {
            let mut places = clustered(count / 2, rng);
            places.extend(scatter(Distribution::Uniform, count - count / 2, rng));
            shuffled(places, rng)
        }
        Distribution::Grid => turned(grid(count, rng), rng),
        Distribution::Boards => turned(boards(count, rng), rng),
        Distribution::Ring => ring(count, rng),
        Distribution::Any => {
            let others: Vec<_> = Distribution::ALL.iter().filter(|&&other| other != Distribution::Any).collect();
            scatter(*others[rng.random_range(0..others.len())], count, rng)
        }
    }
}

/// A number whose logarithm is uniform: small and large ones are equally likely.
pub(crate) fn log_uniform(low: f64, high: f64, rng: &mut impl Rng) -> f64 {
    rng.random_range(low.ln()..high.ln()).exp()
}

/// Around two to a twelfth as many centres (at most 30). The density falls exponentially with the distance from the centre,
/// as in Uchoa et al. (2017), with a range of its own for every centre.
fn clustered(count: usize, rng: &mut impl Rng) -> Vec<[f64; 2]> {
    let most = (count as f64 / 12.0).clamp(3.0, 30.0);
    let centres = log_uniform(2.0, most, rng).round() as usize;
    let width = log_uniform(0.01, 0.1, rng);
    let centres: Vec<([f64; 2], f64)> =
        (0..centres).map(|_| (rng.random(), width * rng.random_range(0.5..1.5))).collect();
    let mut place = || loop {
        let (centre, width) = centres[rng.random_range(0..centres.len())];
        let radius =
            -width * (rng.random_range(f64::MIN_POSITIVE..1.0) * rng.random_range(f64::MIN_POSITIVE..1.0)).ln();
        let place = around(centre, radius, rng);
        if place.iter().all(|x| (0.0..=1.0).contains(x)) {
            return place;
        }
    };
    (0..count).map(|_| place()).collect()
}

fn around([x, y]: [f64; 2], radius: f64, rng: &mut impl Rng) -> [f64; 2] {
    let (sine, cosine) = rng.random_range(0.0..TAU).sin_cos();
    [x + radius * cosine, y + radius * sine]
}

/// Different points of a lattice, of which a quarter to all are taken; in half of the instances up to a third of a cell off.
fn grid(count: usize, rng: &mut impl Rng) -> Vec<[f64; 2]> {
    let points = (count as f64 / rng.random_range(0.25..1.0)).max(count as f64);
    let aspect = log_uniform(1.0, 4.0, rng);
    let columns = ((points * aspect).sqrt().round() as usize).max(1);
    let rows = (points / columns as f64).ceil() as usize;
    let cell = 1.0 / columns.max(rows) as f64;
    let off = if rng.random() { rng.random_range(0.0..1.0 / 3.0) } else { 0.0 };
    let taken = rand::seq::index::sample(rng, columns * rows, count);
    let mut at = |index: usize| cell * (index as f64 + 0.5 + off * rng.random_range(-1.0..1.0));
    taken.into_iter().map(|point| [at(point % columns), at(point / columns)]).collect()
}

/// Copies of a block of 4 to 40 places, side by side.
fn boards(count: usize, rng: &mut impl Rng) -> Vec<[f64; 2]> {
    let block = (log_uniform(4.0, 40.0, rng).round() as usize).min(count.max(1));
    let blocks = count.div_ceil(block);
    let columns = (blocks as f64 * log_uniform(0.25, 4.0, rng)).sqrt().round().max(1.0) as usize;
    let cell = 1.0 / columns.max(blocks.div_ceil(columns)) as f64;
    let pins = grid(block, rng);
    let filled = rng.random_range(0.4..1.0); // of a cell, in each direction
    let place = |index: usize| {
        let (copy, [x, y]) = (index / block, pins[index % block]);
        [cell * ((copy % columns) as f64 + filled * x), cell * ((copy / columns) as f64 + filled * y)]
    };
    shuffled((0..blocks * block).map(place).collect(), rng)[..count].to_vec()
}

/// Near up to three circles around the same centre.
fn ring(count: usize, rng: &mut impl Rng) -> Vec<[f64; 2]> {
    let rings: Vec<f64> = (0..rng.random_range(1..=3)).map(|_| rng.random_range(0.1..0.45)).collect();
    let thickness = log_uniform(0.002, 0.05, rng);
    let mut place = || {
        let radius = rings[rng.random_range(0..rings.len())] + thickness * rng.random_range(-1.0..1.0);
        around([0.5, 0.5], radius, rng)
    };
    (0..count).map(|_| place()).collect()
}

/// Half of the time on their side.
fn turned(mut places: Vec<[f64; 2]>, rng: &mut impl Rng) -> Vec<[f64; 2]> {
    if rng.random() {
        places.iter_mut().for_each(|place| place.reverse());
    }
    places
}

fn shuffled(mut places: Vec<[f64; 2]>, rng: &mut impl Rng) -> Vec<[f64; 2]> {
    places.shuffle(rng);
    places
}
