//! Orthogonalised matrices, the heart of Muon (Jordan et al., 2024).

use bqnco_kernels::{Factor, multiply};

const ITERATIONS: usize = 5;
const QUINTIC: (f32, f32, f32) = (3.4445, -4.775, 2.0315);

/// Brings the singular values of a row-major matrix of norm 1 near 1, by Newton-Schulz iterations: `[m, n]`, m <= n.
///
/// An iteration multiplies x by a polynomial p of a = x * transpose(x). All these polynomials commute, so where m is
/// small the product q of them is formed from m x m matrices and x is multiplied once: a <- p * a * p, q <- p * q.
pub(crate) fn orthogonalised(x: &[f32], [m, n]: [usize; 2]) -> Vec<f32> {
    if n < 2 * m {
        return (0..ITERATIONS)
            .fold(x.to_vec(), |x, _| multiply(&polynomial(&gram(&x, n), m), m, &Factor::new(&x, n), n));
    }
    let square = |left: &[f32], right: &[f32]| multiply(left, m, &Factor::new(right, m), m);
    let mut a = gram(x, n);
    let mut p = polynomial(&a, m);
    let mut q = p.clone();
    for _ in 1..ITERATIONS {
        a = square(&square(&p, &a), &p);
        p = polynomial(&a, m);
        q = square(&p, &q);
    }
    multiply(&q, m, &Factor::new(x, n), n)
}

/// x * transpose(x): `[m, m]`.
fn gram(x: &[f32], n: usize) -> Vec<f32> {
    multiply(x, n, &Factor::transposed(x, n), x.len() / n)
}

/// The quintic's polynomial of a symmetric matrix, `[m, m]`.
fn polynomial(a: &[f32], m: usize) -> Vec<f32> {
    let mut p = multiply(a, m, &Factor::new(a, m), m);
    p.iter_mut().zip(a).for_each(|(p, a)| *p = *p * QUINTIC.2 + a * QUINTIC.1);
    p.iter_mut().step_by(m + 1).for_each(|diagonal| *diagonal += QUINTIC.0);
    p
}

/// A row-major matrix with rows and columns exchanged.
pub(crate) fn transposed(x: &[f32], [rows, columns]: [usize; 2]) -> Vec<f32> {
    (0..columns).flat_map(|column| (0..rows).map(move |row| x[row * columns + column])).collect()
}

#[cfg(test)]
mod tests {
    use bqnco_core::random;
    use rand::RngExt;

    use super::*;

    /// The iteration as Jordan et al. write it, in double precision.
    fn slowly(x: &[f32], [m, n]: [usize; 2]) -> Vec<f64> {
        let mut x: Vec<f64> = x.iter().map(|&x| f64::from(x)).collect();
        for _ in 0..ITERATIONS {
            let sum = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
            let row = |i: usize| &x[i * n..(i + 1) * n];
            let a: Vec<f64> = (0..m * m).map(|k| sum(row(k / m), row(k % m))).collect();
            let (b, c) = (f64::from(QUINTIC.1), f64::from(QUINTIC.2));
            let a2 = |k: usize| (0..m).map(|j| a[k / m * m + j] * a[j * m + k % m]).sum::<f64>();
            let p: Vec<f64> = (0..m * m).map(|k| b * a[k] + c * a2(k)).collect();
            let px = |k: usize| (0..m).map(|j| p[k / n * m + j] * x[j * n + k % n]).sum::<f64>();
            x = (0..m * n).map(|k| f64::from(QUINTIC.0) * x[k] + px(k)).collect();
        }
        x
    }

    #[test]
    fn both_ways_are_the_iteration_of_the_paper() {
        for [m, n] in [[8, 8], [8, 12], [8, 32], [5, 40], [17, 19], [1, 3]] {
            let mut rng = random(1, &[m as u64, n as u64]);
            let mut x: Vec<f32> = (0..m * n).map(|_| rng.random_range(-1.0..1.0)).collect();
            let norm = x.iter().map(|x| x * x).sum::<f32>().sqrt();
            x.iter_mut().for_each(|x| *x /= norm);
            let pairs = orthogonalised(&x, [m, n]).into_iter().zip(slowly(&x, [m, n]));
            let far = pairs.map(|(a, b)| (f64::from(a) - b).abs()).fold(0.0, f64::max);
            assert!(far < 1e-4, "{m}x{n}: {far}");
            assert_eq!(transposed(&transposed(&x, [m, n]), [n, m]), x);
        }
    }
}
