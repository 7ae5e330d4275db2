//! Matrix products of bf16 tiles, by AMX or by AVX-512-BF16.
//!
//! Both multiply bf16 values and add up in f32. A float is the sum of two bf16 values, its high and its low part, up to
//! a relative error of 2^-17. So three bf16 products (high * high, high * low, low * high) give one f32 product to
//! about five digits; AMX does that several times as fast as vectors multiply floats. The high parts alone
//! ([`CpuPath::Bf16`]) take one product and give about three digits, which is enough for training. AVX-512-BF16 is only
//! faster than f32 with high parts alone, so without AMX it serves that path only.

mod amx;
mod avx512_bf16;
mod pack;

use std::sync::LazyLock;

use self::amx::{Amx, TileRegisters};
use self::avx512_bf16::Avx512Bf16;
use super::{Block, Products, Rows, SplitTile, TILE_ROWS};
use crate::cpu::{CpuPath, best_path};

/// Proof that the CPU has AVX-512F and one of the engines; and how many parts of a float it multiplies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bf16Unit {
    parts: usize, // 1: high, 2: high and low
    engine: Engine,
}

/// The instructions that multiply tiles.
#[derive(Clone, Copy, Debug)]
enum Engine {
    Amx(Amx),
    /// High parts only.
    Avx512Bf16(Avx512Bf16),
}

/// The faster engine of this CPU, if it has any and AVX-512F to pack tiles with.
static ENGINE: LazyLock<Option<Engine>> = LazyLock::new(|| {
    let engine = Amx::detect().map(Engine::Amx).or_else(|| Avx512Bf16::detect().map(Engine::Avx512Bf16));
    engine.filter(|_| is_x86_feature_detected!("avx512f"))
});

/// Whether this CPU has a path of bf16 products.
pub(crate) fn is_available(path: CpuPath) -> bool {
    match path {
        CpuPath::Bf16 => ENGINE.is_some(),
        CpuPath::Amx => matches!(*ENGINE, Some(Engine::Amx(_))),
        _ => false,
    }
}

impl Bf16Unit {
    /// The unit of the path in use, if that path has bf16 products.
    pub(crate) fn get() -> Option<Bf16Unit> {
        let parts = match best_path() {
            CpuPath::Bf16 => 1,
            CpuPath::Amx => 2,
            _ => return None,
        };
        ENGINE.map(|engine| Bf16Unit { parts, engine })
    }

    /// The unit that multiplies high parts alone, if this CPU has one and the path in use has vectors to pack them with.
    pub(crate) fn high() -> Option<Bf16Unit> {
        let has_vectors = matches!(best_path(), CpuPath::Bf16 | CpuPath::Amx | CpuPath::Avx512);
        ENGINE.filter(|_| has_vectors).map(|engine| Bf16Unit { parts: 1, engine })
    }

    /// The same engine with both parts (about five digits), where that is faster than f32 vectors.
    pub(crate) fn split(self) -> Option<Bf16Unit> {
        matches!(self.engine, Engine::Amx(_)).then_some(Bf16Unit { parts: 2, ..self })
    }

    /// Packs sixteen rows by thirty-two columns of a `[rows, columns]` matrix, from `at` (row, column) on; zeros beyond
    /// the matrix.
    pub(crate) fn pack_rows(self, matrix: Rows<'_>, at: [usize; 2], size: [usize; 2], to: &mut SplitTile) {
        // SAFETY: `self` proves AVX-512F.
        unsafe { pack::pack_rows(matrix, at, size, &mut to[..self.parts]) }
    }

    /// Packs thirty-two rows by sixteen columns likewise, as sixteen rows of pairs: row k and row 16 + k.
    pub(crate) fn pack_columns(self, matrix: Rows<'_>, at: [usize; 2], size: [usize; 2], to: &mut SplitTile) {
        // SAFETY: `self` proves AVX-512F.
        unsafe { pack::pack_columns(matrix, at, size, &mut to[..self.parts]) }
    }

    /// Transposes a tile, word by word.
    pub(crate) fn transpose(self, tile: &mut SplitTile) {
        // SAFETY: `self` proves AVX-512F.
        tile[..self.parts].iter_mut().for_each(|part| unsafe { pack::transpose(part) });
    }

    /// Starts products on this thread; AMX allows one session per thread at a time.
    pub(crate) fn start(self) -> Session {
        Session {
            parts: self.parts,
            engine: match self.engine {
                Engine::Amx(amx) => Started::Amx(TileRegisters::configure(amx)),
                Engine::Avx512Bf16(vectors) => Started::Avx512Bf16(vectors),
            },
        }
    }
}

/// An engine that is ready to multiply on this thread.
pub(crate) struct Session {
    parts: usize,
    engine: Started,
}

enum Started {
    Amx(TileRegisters),
    Avx512Bf16(Avx512Bf16),
}

impl Session {
    /// Two left sides (sixteen rows each) times two right sides (sixteen columns each), summed over the depth.
    pub(crate) fn multiply(&self, left: [&[SplitTile]; 2], right: [&[SplitTile]; 2], to: &mut Products) {
        let depth = left[0].len();
        assert!([left[1], right[0], right[1]].iter().all(|side| side.len() == depth), "sides of the same depth");
        match (depth, &self.engine, self.parts) {
            (0, ..) => to.as_flattened_mut().as_flattened_mut().fill(Block::ZERO),
            (_, Started::Avx512Bf16(vectors), _) => vectors.multiply_high(&left, 2 * TILE_ROWS, right, to),
            (_, Started::Amx(tiles), 1) => tiles.multiply_high(left, right, to),
            (_, Started::Amx(tiles), _) => tiles.multiply_split(left, right, to),
        }
    }

    /// [`Session::multiply`] with the first `rows` rows of one left side; the rest of the products holds anything.
    pub(crate) fn multiply_one(&self, left: &[SplitTile], rows: usize, right: [&[SplitTile]; 2], to: &mut Products) {
        let depth = left.len();
        assert!(right.iter().all(|side| side.len() == depth), "sides of the same depth");
        match (depth, &self.engine, self.parts) {
            (0, ..) => to.as_flattened_mut().as_flattened_mut().fill(Block::ZERO),
            (_, Started::Avx512Bf16(vectors), _) => vectors.multiply_high(&[left], rows, right, to),
            (_, Started::Amx(tiles), 1) => tiles.multiply_high([left; 2], right, to),
            (_, Started::Amx(tiles), _) => tiles.multiply_split_one(left, right, to),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::ZERO_TILE;
    use super::*;

    /// Small integers have no low parts, so high parts alone must give their products exactly.
    fn products_of_integers_are_exact(unit: Bf16Unit) {
        const DEPTH: usize = 41; // one tile and a part of another
        let value = |row: usize, column: usize, salt: usize| ((7 * row + 3 * column + salt) % 31) as f32 - 15.0;
        let matrix = |rows: usize, columns: usize, salt: usize| -> Vec<f32> {
            (0..rows * columns).map(|k| value(k / columns, k % columns, salt)).collect()
        };
        let (left, right) = (matrix(2 * TILE_ROWS, DEPTH, 1), matrix(DEPTH, 2 * TILE_ROWS, 5));
        let mut sides = [[[ZERO_TILE; 2]; 2]; 2]; // left and right, two blocks each, two tiles deep
        for (block, tile) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let (outer, inner) = (block * TILE_ROWS, tile * 32);
            let (rows, columns) = (Rows { data: &left, stride: DEPTH }, Rows { data: &right, stride: 32 });
            unit.pack_rows(rows, [outer, inner], [32, DEPTH], &mut sides[0][block][tile]);
            unit.pack_columns(columns, [inner, outer], [DEPTH, 32], &mut sides[1][block][tile]);
        }
        let mut found: Products = [[[Block::ZERO; TILE_ROWS]; 2]; 2];
        let [[a, b], [c, d]] = &sides;
        unit.start().multiply([a, b], [c, d], &mut found);
        let mut one: Products = [[[Block::ZERO; TILE_ROWS]; 2]; 2];
        unit.start().multiply_one(b, TILE_ROWS, [c, d], &mut one);
        for (i, j) in (0..32).flat_map(|i| (0..32).map(move |j| (i, j))) {
            let expected: f32 = (0..DEPTH).map(|k| left[i * DEPTH + k] * right[k * 32 + j]).sum();
            assert_eq!(found[i / 16][j / 16][i % 16].0[j % 16], expected, "row {i}, column {j}");
            if i >= 16 {
                assert_eq!(one[0][j / 16][i % 16].0[j % 16], expected, "row {i} alone, column {j}");
            }
        }
    }

    #[test]
    fn avx512_bf16_products_of_integers_are_exact() {
        let Some(vectors) = Avx512Bf16::detect() else {
            return bqnco_testing::skip(bqnco_testing::Absent::Cpu, "no AVX-512 BF16");
        };
        products_of_integers_are_exact(Bf16Unit { parts: 1, engine: Engine::Avx512Bf16(vectors) });
    }

    #[test]
    fn amx_products_of_integers_are_exact() {
        let Some(engine @ Engine::Amx(_)) = *ENGINE else {
            return bqnco_testing::skip(bqnco_testing::Absent::Cpu, "no AMX");
        };
        for parts in [1, 2] {
            products_of_integers_are_exact(Bf16Unit { parts, engine });
        }
    }
}
