//! Products of a layer's matrices, by the best means of this CPU: matrix units where it has them, vectors elsewhere.

use super::cpu::{CpuPath as Path, best_path};
use super::epilogue::StoreSome;
use super::matmul::{Epilogue, Panels, matmul, matmul_transposed};
use super::simd::{Amx, Kernel, Rows, Simd, dispatch};
use super::tiles::{self, Lie, Side, Tiles, with_left};

/// The right side of products, packed for this CPU.
#[derive(Clone, Debug)]
pub enum Right {
    /// For vectors.
    Panels(Panels),
    /// For matrix units, with the number of columns.
    Tiles(Amx, Tiles, usize),
}

impl Default for Right {
    fn default() -> Self {
        match Amx::get() {
            Some(amx) => Right::Tiles(amx, Tiles::default(), 0),
            None => Right::Panels(Panels::default()),
        }
    }
}

impl Right {
    /// For products that must be exact, and equal on different CPUs: by vectors, unless 16 bits were asked for.
    pub fn steady() -> Self {
        let amx = Amx::get().filter(|_| best_path() == Path::Bf16).and_then(Amx::exact);
        amx.map_or_else(|| Right::Panels(Panels::default()), |amx| Right::Tiles(amx, Tiles::default(), 0))
    }

    /// Packs a row-major matrix `[depth, columns]`.
    pub fn pack(matrix: &[f32], columns: usize) -> Self {
        let mut right = Right::default();
        right.repack(matrix, columns);
        right
    }

    /// [`Right::pack`] into the memory at hand.
    pub fn repack(&mut self, matrix: &[f32], columns: usize) {
        let depth = matrix.len() / columns.max(1);
        match self {
            Right::Panels(panels) => panels.repack(matrix, columns, columns, depth),
            Right::Tiles(amx, tiles, count) => {
                *count = columns;
                let rows = Rows { numbers: matrix, stride: columns };
                tiles.fill(*amx, rows, (Side::Right, Lie::Across), columns, depth);
            }
        }
    }

    /// Packs the transpose of a row-major matrix `[columns, depth]`.
    pub fn pack_transposed(matrix: &[f32], depth: usize) -> Self {
        let mut right = Right::default();
        right.repack_transposed(matrix, depth);
        right
    }

    /// [`Right::pack_transposed`] into the memory at hand.
    pub fn repack_transposed(&mut self, matrix: &[f32], depth: usize) {
        let columns = matrix.len() / depth.max(1);
        match self {
            Right::Panels(panels) => panels.repack_transposed(matrix, depth, depth, columns),
            Right::Tiles(amx, tiles, count) => {
                *count = columns;
                let rows = Rows { numbers: matrix, stride: depth };
                tiles.fill(*amx, rows, (Side::Right, Lie::Along), columns, depth);
            }
        }
    }
}

/// `left * right` into an epilogue; `left` is `[rows, depth]`.
pub(super) fn product<E: Epilogue>(left: &[f32], depth: usize, right: &Right, epilogue: E) {
    match right {
        Right::Panels(right) => {
            let rows = left.len() / depth;
            dispatch(Product { left: Rows { numbers: left, stride: depth }, rows, right, epilogue });
        }
        Right::Tiles(amx, right, columns) => with_left(|tiles| {
            let rows = left.len() / depth;
            tiles.fill(*amx, Rows { numbers: left, stride: depth }, (Side::Left, Lie::Along), rows, depth);
            dispatch(TileProduct { amx: *amx, left: tiles, right, size: [rows, *columns], epilogue });
        }),
    }
}

/// `transpose(left) * right` into an epilogue; `left` is `[depth, columns]`; `copy` is memory to use.
pub(super) fn product_transposed<E: Epilogue>(left: Rows<'_>, right: &Right, copy: &mut Vec<f32>, epilogue: E) {
    let (rows, depth) = (left.stride, left.numbers.len() / left.stride);
    match right {
        Right::Panels(right) => dispatch(TransposedProduct { left, right, epilogue, copy }),
        Right::Tiles(amx, right, columns) => with_left(|tiles| {
            tiles.fill(*amx, left, (Side::Left, Lie::Across), rows, depth);
            dispatch(TileProduct { amx: *amx, left: tiles, right, size: [rows, *columns], epilogue });
        }),
    }
}

/// The right side of [`multiply`].
pub struct Factor(Right);

impl Factor {
    /// A row-major matrix `[depth, columns]`.
    pub fn new(matrix: &[f32], columns: usize) -> Self {
        let mut right = Right::steady();
        right.repack(matrix, columns);
        Factor(right)
    }

    /// The transpose of a row-major matrix `[columns, depth]`.
    pub fn transposed(matrix: &[f32], depth: usize) -> Self {
        let mut right = Right::steady();
        right.repack_transposed(matrix, depth);
        Factor(right)
    }
}

/// The product of `left`, `[rows, depth]`, and a matrix of `columns` columns: `[rows, columns]`, on one thread. By vectors,
/// so that processes on different CPUs get equal results; by matrix units only on [`Path::Bf16`].
pub fn multiply(left: &[f32], depth: usize, right: &Factor, columns: usize) -> Vec<f32> {
    let mut found = vec![0.0; left.len() / depth * columns];
    product(left, depth, &right.0, StoreSome { to: &mut found, columns });
    found
}

struct Product<'a, E> {
    left: Rows<'a>,
    rows: usize,
    right: &'a Panels,
    epilogue: E,
}

impl<E: Epilogue> Kernel for Product<'_, E> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(mut self, s: S) {
        matmul(s, self.left, self.rows, self.right, &mut self.epilogue);
    }
}

struct TransposedProduct<'a, E> {
    left: Rows<'a>,
    right: &'a Panels,
    epilogue: E,
    copy: &'a mut Vec<f32>,
}

impl<E: Epilogue> Kernel for TransposedProduct<'_, E> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(mut self, s: S) {
        matmul_transposed(s, self.left, self.left.stride, self.right, (self.copy, &mut self.epilogue));
    }
}

struct TileProduct<'a, E> {
    amx: Amx,
    left: &'a Tiles,
    right: &'a Tiles,
    size: [usize; 2],
    epilogue: E,
}

impl<E: Epilogue> Kernel for TileProduct<'_, E> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(mut self, s: S) {
        tiles::multiply(s, (self.amx, self.left, self.right), self.size, &mut self.epilogue);
    }
}

#[cfg(test)]
mod tests {
    use bqnco_core::random;
    use rand::RngExt;

    use super::*;

    /// Both products against sums in double precision, by the norms of what is multiplied.
    #[test]
    fn products_are_exact_to_about_five_digits() {
        for (k, [m, depth, n]) in
            [[1, 1, 1], [5, 3, 16], [17, 33, 15], [12, 64, 33], [33, 31, 48], [100, 192, 40], [47, 100, 7]]
                .into_iter()
                .enumerate()
        {
            let mut rng = random(3, &[k as u64]);
            let mut numbers = |len: usize| -> Vec<f32> { (0..len).map(|_| rng.random_range(-1.0..1.0)).collect() };
            let (a, b) = (numbers(m * depth), numbers(depth * n));
            let turned = |x: &[f32], rows: usize, columns: usize| -> Vec<f32> {
                (0..columns).flat_map(|j| (0..rows).map(move |i| x[i * columns + j])).collect()
            };
            let (a_turned, b_turned) = (turned(&a, m, depth), turned(&b, depth, n));
            let mut found = [vec![0.0; m * n], vec![0.0; m * n], vec![0.0; m * n]];
            let [plain, packed_turned, transposed] = &mut found;
            let store = |to| StoreSome { to, columns: n };
            product(&a, depth, &Right::pack(&b, n), store(plain));
            product(&a, depth, &Right::pack_transposed(&b_turned, depth), store(packed_turned));
            let left = Rows { numbers: &a_turned, stride: m };
            product_transposed(left, &Right::pack(&b, n), &mut Vec::new(), store(transposed));
            for i in 0..m * n {
                let pairs = || (0..depth).map(|p| (f64::from(a[i / n * depth + p]), f64::from(b[p * n + i % n])));
                let expected: f64 = pairs().map(|(a, b)| a * b).sum();
                let size =
                    pairs().map(|(a, _)| a * a).sum::<f64>().sqrt() * pairs().map(|(_, b)| b * b).sum::<f64>().sqrt();
                for found in &found {
                    let error = (f64::from(found[i]) - expected).abs();
                    assert!(error <= 2e-5 * size, "{m}x{depth}x{n}: {} for {expected}", found[i]);
                }
            }
        }
    }

    /// Matrix units that are used for one product after another, of other sizes, do not mix them up.
    #[test]
    fn memory_is_used_again_without_traces() {
        let mut right = Right::default();
        for (rows, columns) in [(64, 96), (5, 20), (40, 33)] {
            let matrix: Vec<f32> = (0..rows * columns).map(|k| (k % 7) as f32).collect();
            right.repack(&matrix, columns);
            let mut found = vec![0.0; columns];
            product(&vec![1.0; rows], rows, &right, StoreSome { to: &mut found, columns });
            let expected = |column: usize| (0..rows).map(|row| matrix[row * columns + column]).sum::<f32>();
            assert_eq!(found, (0..columns).map(expected).collect::<Vec<f32>>());
        }
    }
}
