//! Matrix products on the path in use: bf16 tiles where it has them, f32 vectors elsewhere.

use crate::cpu::{CpuPath, ProductPrecision, best_path};
use crate::epilogue::StoreColumns;
use crate::matmul::{Epilogue, Panels, matmul, matmul_transposed};
use crate::simd::{Bf16Unit, Kernel, Rows, Simd, TILE_ROWS, TileRows, dispatch};
use crate::tiles::{Layout, Side, Tiles, multiply_tiles, with_left};

/// The right side of products, packed for the path in use.
#[derive(Clone, Debug)]
pub(crate) enum PackedRhs {
    /// For f32 vectors.
    Panels(Panels),
    /// For bf16 products; with the number of columns.
    Tiles(Bf16Unit, Tiles, usize),
}

impl Default for PackedRhs {
    fn default() -> Self {
        Self::for_unit(Bf16Unit::get())
    }
}

impl PackedRhs {
    /// For products that must be the same on different CPUs: f32 vectors. On [`CpuPath::Bf16`] AMX with both parts, if the
    /// CPU has it; never high parts alone, with which the iteration of Muon diverges.
    pub(crate) fn deterministic() -> Self {
        Self::for_unit(Bf16Unit::get().filter(|_| best_path() == CpuPath::Bf16).and_then(Bf16Unit::split))
    }

    fn for_unit(unit: Option<Bf16Unit>) -> Self {
        match unit {
            Some(unit) => PackedRhs::Tiles(unit, Tiles::default(), 0),
            None => PackedRhs::Panels(Panels::default()),
        }
    }

    /// Rows of the left side that are multiplied at a time.
    pub(crate) fn tile_rows(&self) -> usize {
        match self {
            PackedRhs::Panels(_) => dispatch(TileRows),
            PackedRhs::Tiles(..) => TILE_ROWS,
        }
    }

    /// Packs a row-major matrix `[depth, columns]` for products of this precision.
    pub(crate) fn pack(matrix: &[f32], columns: usize, precision: ProductPrecision) -> Self {
        let unit = match precision {
            ProductPrecision::F32 => Bf16Unit::get(),
            ProductPrecision::Bf16 => Bf16Unit::high().or_else(Bf16Unit::get),
        };
        let mut packed = Self::for_unit(unit);
        packed.repack(matrix, columns);
        packed
    }

    /// [`PackedRhs::pack`], reusing the memory.
    pub(crate) fn repack(&mut self, matrix: &[f32], columns: usize) {
        let depth = matrix.len() / columns.max(1);
        match self {
            PackedRhs::Panels(panels) => panels.repack(matrix, columns, columns, depth),
            PackedRhs::Tiles(unit, tiles, count) => {
                *count = columns;
                let rows = Rows { data: matrix, stride: columns };
                tiles.repack(*unit, rows, (Side::Right, Layout::DepthInColumns), columns, depth);
            }
        }
    }

    /// Packs the transpose of a row-major matrix `[columns, depth]`.
    pub(crate) fn pack_transposed(matrix: &[f32], depth: usize) -> Self {
        let mut packed = PackedRhs::default();
        packed.repack_transposed(matrix, depth);
        packed
    }

    /// [`PackedRhs::pack_transposed`], reusing the memory.
    pub(crate) fn repack_transposed(&mut self, matrix: &[f32], depth: usize) {
        let columns = matrix.len() / depth.max(1);
        match self {
            PackedRhs::Panels(panels) => panels.repack_transposed(matrix, depth, depth, columns),
            PackedRhs::Tiles(unit, tiles, count) => {
                *count = columns;
                let rows = Rows { data: matrix, stride: depth };
                tiles.repack(*unit, rows, (Side::Right, Layout::DepthInRows), columns, depth);
            }
        }
    }
}

/// The right side of [`multiply`], packed.
pub struct Factor(PackedRhs);

impl Factor {
    /// Packs a row-major matrix `[depth, columns]`.
    pub fn new(matrix: &[f32], columns: usize) -> Self {
        let mut packed = PackedRhs::deterministic();
        packed.repack(matrix, columns);
        Factor(packed)
    }

    /// Packs the transpose of a row-major matrix `[columns, depth]`.
    pub fn transposed(matrix: &[f32], depth: usize) -> Self {
        let mut packed = PackedRhs::deterministic();
        packed.repack_transposed(matrix, depth);
        Factor(packed)
    }
}

/// `left * right` as a row-major matrix `[rows, columns]`, on one thread; `left` is `[rows, depth]`.
///
/// By f32 vectors, so that processes on different CPUs get the same result; by AMX on [`CpuPath::Bf16`] only.
pub fn multiply(left: &[f32], depth: usize, right: &Factor, columns: usize) -> Vec<f32> {
    let mut result = vec![0.0; left.len() / depth * columns];
    product(left, depth, &right.0, StoreColumns { to: &mut result, columns });
    result
}

/// `left * right` into an epilogue; `left` is `[rows, depth]`.
pub(crate) fn product<E: Epilogue>(left: &[f32], depth: usize, right: &PackedRhs, epilogue: E) {
    match right {
        PackedRhs::Panels(right) => {
            let rows = left.len() / depth;
            dispatch(Product { left: Rows { data: left, stride: depth }, rows, right, epilogue });
        }
        PackedRhs::Tiles(unit, right, columns) => with_left(|tiles| {
            let rows = left.len() / depth;
            let matrix = Rows { data: left, stride: depth };
            tiles.repack(*unit, matrix, (Side::Left, Layout::DepthInRows), rows, depth);
            dispatch(TileProduct { unit: *unit, left: tiles, right, size: [rows, *columns], epilogue });
        }),
    }
}

/// `transpose(left) * right` into an epilogue; `left` is `[depth, rows]`; `copy` is scratch memory.
pub(crate) fn product_transposed<E: Epilogue>(left: Rows<'_>, right: &PackedRhs, copy: &mut Vec<f32>, epilogue: E) {
    let (rows, depth) = (left.stride, left.data.len() / left.stride);
    match right {
        PackedRhs::Panels(right) => dispatch(TransposedProduct { left, right, epilogue, copy }),
        PackedRhs::Tiles(unit, right, columns) => with_left(|tiles| {
            tiles.repack(*unit, left, (Side::Left, Layout::DepthInColumns), rows, depth);
            dispatch(TileProduct { unit: *unit, left: tiles, right, size: [rows, *columns], epilogue });
        }),
    }
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
    unit: Bf16Unit,
    left: &'a Tiles,
    right: &'a Tiles,
    size: [usize; 2],
    epilogue: E,
}

impl<E: Epilogue> Kernel for TileProduct<'_, E> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(mut self, s: S) {
        multiply_tiles(s, (self.unit, self.left, self.right), self.size, &mut self.epilogue);
    }
}

#[cfg(test)]
mod tests {
    use bqnco_core::random;
    use rand::RngExt;

    use super::*;

    /// Both products against sums in double precision, relative to the norms of the factors.
    #[test]
    fn products_are_exact_to_about_five_digits() {
        for (k, [m, depth, n]) in
            [[1, 1, 1], [5, 3, 16], [17, 33, 15], [12, 64, 33], [33, 31, 48], [100, 192, 40], [47, 100, 7]]
                .into_iter()
                .enumerate()
        {
            let mut rng = random(3, &[k as u64]);
            let mut values = |len: usize| -> Vec<f32> { (0..len).map(|_| rng.random_range(-1.0..1.0)).collect() };
            let (a, b) = (values(m * depth), values(depth * n));
            let transpose = |x: &[f32], rows: usize, columns: usize| -> Vec<f32> {
                (0..columns).flat_map(|j| (0..rows).map(move |i| x[i * columns + j])).collect()
            };
            let (a_transposed, b_transposed) = (transpose(&a, m, depth), transpose(&b, depth, n));
            let mut found = [vec![0.0; m * n], vec![0.0; m * n], vec![0.0; m * n]];
            let [plain, packed_transposed, transposed] = &mut found;
            let store = |to| StoreColumns { to, columns: n };
            product(&a, depth, &PackedRhs::pack(&b, n, ProductPrecision::F32), store(plain));
            product(&a, depth, &PackedRhs::pack_transposed(&b_transposed, depth), store(packed_transposed));
            let left = Rows { data: &a_transposed, stride: m };
            product_transposed(
                left,
                &PackedRhs::pack(&b, n, ProductPrecision::F32),
                &mut Vec::new(),
                store(transposed),
            );
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

    /// Packing into memory that held a larger matrix leaves nothing of it behind.
    #[test]
    fn repacking_leaves_no_traces() {
        let mut right = PackedRhs::default();
        for (rows, columns) in [(64, 96), (5, 20), (40, 33)] {
            let matrix: Vec<f32> = (0..rows * columns).map(|k| (k % 7) as f32).collect();
            right.repack(&matrix, columns);
            let mut found = vec![0.0; columns];
            product(&vec![1.0; rows], rows, &right, StoreColumns { to: &mut found, columns });
            let expected = |column: usize| (0..rows).map(|row| matrix[row * columns + column]).sum::<f32>();
            assert_eq!(found, (0..columns).map(expected).collect::<Vec<f32>>());
        }
    }
}
