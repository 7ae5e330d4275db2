//! Ordered crossover (OX) of giant tours.

use bqnco_core::Random;
use rand::RngExt;

/// A random segment of one tour, then the remaining customers in the order of the other, both read cyclically.
pub(super) fn ordered(mother: &[u32], father: &[u32], taken: &mut Vec<bool>, rng: &mut Random) -> Vec<u32> {
    let n = mother.len();
    let (start, length) = (rng.random_range(0..n), rng.random_range(1..=n));
    taken.clear();
    taken.resize(n + 1, false);
    let mut child = vec![0; n];
    for k in start..start + length {
        child[k % n] = mother[k % n];
        taken[mother[k % n] as usize] = true;
    }
    let mut free = start + length;
    for k in start + length..start + length + n {
        let customer = father[k % n];
        if !taken[customer as usize] {
            child[free % n] = customer;
            free += 1;
        }
    }
    child
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_are_permutations_with_a_stretch_of_the_mother() {
        let mut rng = bqnco_core::random(7, &[]);
        let (mother, father) = ([1, 2, 3, 4, 5, 6, 7], [7, 5, 3, 1, 2, 4, 6]);
        for _ in 0..100 {
            let child = ordered(&mother, &father, &mut Vec::new(), &mut rng);
            let mut sorted = child.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, mother);
            assert!(child.iter().zip(&mother).any(|(a, b)| a == b), "{child:?} keeps nothing in its place");
        }
        assert_eq!(ordered(&[1], &[1], &mut Vec::new(), &mut rng), [1]);
    }
}
