//! Which instruction sets the kernels use: what the CPU has, and what `BQNCO_CPU` asks for.

use std::fmt;
use std::sync::OnceLock;

use crate::simd;

/// A code path: the instruction sets it uses. Best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CpuPath {
    /// [`CpuPath::Amx`] or [`CpuPath::Avx512`] with single bf16 products (AMX or AVX-512-BF16) in place of f32
    /// products: faster, accurate to about three digits. Never chosen by default; a forward pass can use its products on
    /// its own ([`ProductPrecision`]).
    Bf16,
    /// 512-bit vectors, matrix products by AMX.
    Amx,
    /// 512-bit vectors.
    Avx512,
    /// 256-bit vectors with fused multiply-add.
    Avx2,
    /// Plain loops, vectorised by the compiler.
    Portable,
}

impl CpuPath {
    const ALL: [CpuPath; 5] = [CpuPath::Bf16, CpuPath::Amx, CpuPath::Avx512, CpuPath::Avx2, CpuPath::Portable];

    /// Its value of `BQNCO_CPU`.
    pub fn name(self) -> &'static str {
        match self {
            CpuPath::Bf16 => "bf16",
            CpuPath::Amx => "amx",
            CpuPath::Avx512 => "avx512",
            CpuPath::Avx2 => "avx2",
            CpuPath::Portable => "portable",
        }
    }

    /// The instruction set as its vendor writes it.
    fn instructions(self) -> &'static str {
        match self {
            CpuPath::Bf16 => "bf16",
            CpuPath::Amx => "AMX",
            CpuPath::Avx512 => "AVX-512",
            CpuPath::Avx2 => "AVX2",
            CpuPath::Portable => "portable instructions",
        }
    }
}

impl fmt::Display for CpuPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The precision of the matrix products in a forward pass that is not trained.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProductPrecision {
    /// That of the path in use: f32, or what `BQNCO_CPU` asks for.
    #[default]
    F32,
    /// Products of bf16 values, added up in f32, where the CPU has them; elsewhere as [`ProductPrecision::F32`].
    Bf16,
}

impl ProductPrecision {
    /// [`ProductPrecision::Bf16`] if this CPU has bf16 products and `BQNCO_CPU` does not ask for another path.
    pub fn fastest() -> Self {
        let is_free = std::env::var_os("BQNCO_CPU").is_none() || best_path() == CpuPath::Bf16;
        if is_free && simd::is_available(CpuPath::Bf16) { ProductPrecision::Bf16 } else { ProductPrecision::F32 }
    }
}

impl fmt::Display for ProductPrecision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ProductPrecision::F32 => "f32",
            ProductPrecision::Bf16 => "bf16",
        })
    }
}

/// Why the path that `BQNCO_CPU` asks for cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CpuError {
    /// The value names no path.
    #[error("BQNCO_CPU is {found:?}; expected {}, or no such variable at all", list(&CpuPath::ALL))]
    UnknownPath {
        /// The value.
        found: String,
    },
    /// This CPU does not have the path.
    #[error("this CPU has no {}: BQNCO_CPU={asked} cannot be used; it has {}", .asked.instructions(), list(.available))]
    AbsentPath {
        /// The path asked for.
        asked: CpuPath,
        /// The paths that this CPU has, best first.
        available: Vec<CpuPath>,
    },
}

fn list(paths: &[CpuPath]) -> String {
    paths.iter().map(|path| path.name()).collect::<Vec<_>>().join(", ")
}

/// The paths that this CPU has, best first.
pub fn available_paths() -> Vec<CpuPath> {
    CpuPath::ALL.into_iter().filter(|&path| simd::is_available(path)).collect()
}

/// The path to use: the one that `BQNCO_CPU` names (`bf16`, `amx`, `avx512`, `avx2`, `portable`), by default the best
/// of this CPU other than [`CpuPath::Bf16`].
///
/// # Errors
/// When `BQNCO_CPU` names no path, or one that this CPU does not have.
pub fn wanted_path() -> Result<CpuPath, CpuError> {
    choose(std::env::var_os("BQNCO_CPU").map(|found| found.to_string_lossy().into_owned()), available_paths())
}

fn choose(asked: Option<String>, available: Vec<CpuPath>) -> Result<CpuPath, CpuError> {
    let Some(found) = asked else {
        return Ok(available.into_iter().find(|&path| path != CpuPath::Bf16).unwrap_or(CpuPath::Portable));
    };
    match CpuPath::ALL.into_iter().find(|path| path.name() == found) {
        None => Err(CpuError::UnknownPath { found }),
        Some(asked) if !available.contains(&asked) => Err(CpuError::AbsentPath { asked, available }),
        Some(asked) => Ok(asked),
    }
}

/// [`wanted_path`], determined once per process: the path that all kernels use.
///
/// # Panics
/// When [`wanted_path`] gives an error. Programs call that first and report it.
pub fn best_path() -> CpuPath {
    static PATH: OnceLock<CpuPath> = OnceLock::new();
    *PATH.get_or_init(|| wanted_path().unwrap_or_else(|error| panic!("{error}")))
}

#[cfg(test)]
mod tests {
    use super::CpuPath::*;
    use super::*;

    #[test]
    fn the_best_path_but_bf16_is_the_default() {
        assert_eq!(choose(None, vec![Bf16, Amx, Avx512, Avx2, Portable]), Ok(Amx));
        assert_eq!(choose(None, vec![Bf16, Avx512, Avx2, Portable]), Ok(Avx512));
        assert_eq!(choose(None, vec![Portable]), Ok(Portable));
    }

    #[test]
    fn a_path_that_is_asked_for_is_used_or_refused() {
        let paths = vec![Avx2, Portable];
        assert_eq!(choose(Some("avx2".into()), paths.clone()), Ok(Avx2));
        let absent = choose(Some("avx512".into()), paths.clone()).expect_err("absent");
        let message = "this CPU has no AVX-512: BQNCO_CPU=avx512 cannot be used; it has avx2, portable";
        assert_eq!(absent.to_string(), message);
        let unknown = choose(Some("sse9".into()), paths).expect_err("unknown");
        let message = "BQNCO_CPU is \"sse9\"; expected bf16, amx, avx512, avx2, portable, or no such variable at all";
        assert_eq!(unknown.to_string(), message);
    }

    #[test]
    fn every_cpu_has_the_portable_path() {
        eprintln!("paths of this CPU: {}", list(&available_paths()));
        assert_eq!(available_paths().last(), Some(&Portable));
    }
}
