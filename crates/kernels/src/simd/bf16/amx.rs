//! AMX: one instruction multiplies sixteen rows by sixteen columns of bf16, thirty-two deep, and adds the products in
//! f32.
//!
//! The AMX intrinsics are unstable in Rust, hence inline assembly.

use std::arch::asm;
use std::arch::x86_64::{__cpuid, __cpuid_count};
use std::cell::Cell;
use std::marker::PhantomData;

use super::super::{Products, SplitTile, TILE_ROWS, TileRow};

/// Proof that the CPU has AMX for bf16 and that the operating system lets this process use it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Amx(());

impl Amx {
    /// Asks CPU and operating system; on Linux, requests the permission.
    pub(super) fn detect() -> Option<Amx> {
        const TILES_AND_BF16: u32 = 1 << 24 | 1 << 22; // in EDX of leaf 7
        let leaves = __cpuid(0).eax;
        let found = leaves >= 7 && __cpuid_count(7, 0).edx & TILES_AND_BF16 == TILES_AND_BF16 && is_permitted();
        found.then_some(Amx(()))
    }
}

/// Linux allocates the 8 KiB of tile registers only to processes that request them.
#[cfg(target_os = "linux")]
fn is_permitted() -> bool {
    const ARCH_PRCTL: usize = 158;
    const ARCH_REQ_XCOMP_PERM: usize = 0x1023;
    const XFEATURE_XTILEDATA: usize = 18;
    let result: isize;
    // SAFETY: this system call accesses no memory of the process; rcx and r11, which `syscall` overwrites, are
    // declared.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") ARCH_PRCTL as isize => result,
            in("rdi") ARCH_REQ_XCOMP_PERM,
            in("rsi") XFEATURE_XTILEDATA,
            out("rcx") _,
            out("r11") _,
            options(nostack),
        );
    }
    result == 0
}

#[cfg(not(target_os = "linux"))]
fn is_permitted() -> bool {
    false
}

/// Two left times two right sides, summed over the depth: zeroes the four results tmm0 to tmm3, repeats the given
/// instructions for every tile of the sides at `a0`, `a1`, `b0` and `b1`, and stores the results.
macro_rules! two_by_two {
    ($left:expr, $right:expr, $to:expr, $($instruction:literal),* $(,)?) => {{
        let ([a0, a1], [b0, b1]): ([&[SplitTile]; 2], [&[SplitTile]; 2]) = ($left, $right);
        asm!(
            "tilezero tmm0", "tilezero tmm1", "tilezero tmm2", "tilezero tmm3",
            "2:",
            $($instruction,)*
            "add {a0}, 2048", "add {a1}, 2048", "add {b0}, 2048", "add {b1}, 2048",
            "dec {depth}",
            "jnz 2b",
            "tilestored [{to} + {row}*1], tmm0",
            "tilestored [{to} + {row}*1 + 1024], tmm1",
            "tilestored [{to} + {row}*1 + 2048], tmm2",
            "tilestored [{to} + {row}*1 + 3072], tmm3",
            a0 = inout(reg) a0.as_ptr() => _,
            a1 = inout(reg) a1.as_ptr() => _,
            b0 = inout(reg) b0.as_ptr() => _,
            b1 = inout(reg) b1.as_ptr() => _,
            depth = inout(reg) common_depth(&[a0, a1, b0, b1]) => _,
            row = in(reg) size_of::<TileRow>(),
            to = in(reg) $to.as_mut_ptr(),
            out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _,
            out("tmm4") _, out("tmm5") _, out("tmm6") _, out("tmm7") _,
            options(nostack),
        );
    }};
}

thread_local! {
    static CONFIGURED: Cell<bool> = const { Cell::new(false) };
}

/// The eight tile registers of this thread, configured as 16 rows of 64 bytes until dropped. Not `Send`: they belong to
/// the thread.
pub(super) struct TileRegisters {
    not_send: PhantomData<*const ()>,
}

impl TileRegisters {
    /// Configures the registers.
    ///
    /// # Panics
    /// When this thread already holds them.
    pub(super) fn configure(_: Amx) -> Self {
        assert!(!CONFIGURED.replace(true), "one AMX product per thread at a time");
        #[repr(C, align(64))]
        struct TileConfig([u8; 64]);
        let mut config = TileConfig([0; 64]);
        config.0[0] = 1; // palette 1: eight tiles of 1 KiB
        for tile in 0..8 {
            config.0[16 + 2 * tile] = size_of::<TileRow>() as u8; // bytes per row
            config.0[48 + tile] = TILE_ROWS as u8;
        }
        // SAFETY: the argument proves AMX; the operand points to 64 readable bytes, a valid configuration of palette 1.
        // The thread-local flag guarantees that no other code of this thread is using the registers.
        unsafe { asm!("ldtilecfg [{}]", in(reg) &config, options(readonly, nostack, preserves_flags)) };
        TileRegisters { not_send: PhantomData }
    }

    /// High parts only: one product. Two left times two right sides, sixteen rows or columns each, summed over the
    /// depth.
    pub(super) fn multiply_high(&self, left: [&[SplitTile]; 2], right: [&[SplitTile]; 2], to: &mut Products) {
        // SAFETY: as in `multiply_split`.
        unsafe {
            two_by_two!(
                left,
                right,
                to,
                "tileloadd tmm4, [{a0} + {row}*1]",
                "tileloadd tmm6, [{b0} + {row}*1]",
                "tdpbf16ps tmm0, tmm4, tmm6",
                "tileloadd tmm7, [{b1} + {row}*1]",
                "tdpbf16ps tmm1, tmm4, tmm7",
                "tileloadd tmm5, [{a1} + {row}*1]",
                "tdpbf16ps tmm2, tmm5, tmm6",
                "tdpbf16ps tmm3, tmm5, tmm7",
            );
        }
    }

    /// Both parts: three products (low * high, high * high, high * low) of the same sides.
    pub(super) fn multiply_split(&self, left: [&[SplitTile]; 2], right: [&[SplitTile]; 2], to: &mut Products) {
        // SAFETY: `self` proves that the CPU has AMX and that the registers are configured and ours. The loop runs
        // `depth >= 1` times and reads one SplitTile of 2048 bytes per side and round; every side has `depth` of them.
        // The four results are stored in `to`, 1024 bytes each: all of its 4096 bytes.
        unsafe {
            two_by_two!(
                left,
                right,
                to,
                // low * high
                "tileloadd tmm4, [{a0} + {row}*1 + 1024]",
                "tileloadd tmm6, [{b0} + {row}*1]",
                "tdpbf16ps tmm0, tmm4, tmm6",
                "tileloadd tmm7, [{b1} + {row}*1]",
                "tdpbf16ps tmm1, tmm4, tmm7",
                "tileloadd tmm5, [{a1} + {row}*1 + 1024]",
                "tdpbf16ps tmm2, tmm5, tmm6",
                "tdpbf16ps tmm3, tmm5, tmm7",
                // high * high
                "tileloadd tmm4, [{a0} + {row}*1]",
                "tdpbf16ps tmm0, tmm4, tmm6",
                "tdpbf16ps tmm1, tmm4, tmm7",
                "tileloadd tmm5, [{a1} + {row}*1]",
                "tdpbf16ps tmm2, tmm5, tmm6",
                "tdpbf16ps tmm3, tmm5, tmm7",
                // high * low
                "tileloadd tmm6, [{b0} + {row}*1 + 1024]",
                "tdpbf16ps tmm0, tmm4, tmm6",
                "tdpbf16ps tmm2, tmm5, tmm6",
                "tileloadd tmm7, [{b1} + {row}*1 + 1024]",
                "tdpbf16ps tmm1, tmm4, tmm7",
                "tdpbf16ps tmm3, tmm5, tmm7",
            );
        }
    }

    /// [`TileRegisters::multiply_split`] with one left side; writes the first half of `to`.
    pub(super) fn multiply_split_one(&self, left: &[SplitTile], right: [&[SplitTile]; 2], to: &mut Products) {
        let depth = common_depth(&[left, right[0], right[1]]);
        // SAFETY: as in `multiply_split`; two results are stored, the first 2048 bytes of `to`.
        unsafe {
            asm!(
                "tilezero tmm0", "tilezero tmm1",
                "2:",
                "tileloadd tmm4, [{a} + {row}*1 + 1024]",
                "tileloadd tmm6, [{b0} + {row}*1]",
                "tdpbf16ps tmm0, tmm4, tmm6",
                "tileloadd tmm7, [{b1} + {row}*1]",
                "tdpbf16ps tmm1, tmm4, tmm7",
                "tileloadd tmm5, [{a} + {row}*1]",
                "tdpbf16ps tmm0, tmm5, tmm6",
                "tdpbf16ps tmm1, tmm5, tmm7",
                "tileloadd tmm6, [{b0} + {row}*1 + 1024]",
                "tdpbf16ps tmm0, tmm5, tmm6",
                "tileloadd tmm7, [{b1} + {row}*1 + 1024]",
                "tdpbf16ps tmm1, tmm5, tmm7",
                "add {a}, 2048", "add {b0}, 2048", "add {b1}, 2048",
                "dec {depth}",
                "jnz 2b",
                "tilestored [{to} + {row}*1], tmm0",
                "tilestored [{to} + {row}*1 + 1024], tmm1",
                a = inout(reg) left.as_ptr() => _,
                b0 = inout(reg) right[0].as_ptr() => _,
                b1 = inout(reg) right[1].as_ptr() => _,
                depth = inout(reg) depth => _,
                row = in(reg) size_of::<TileRow>(),
                to = in(reg) to.as_mut_ptr(),
                out("tmm0") _, out("tmm1") _, out("tmm4") _, out("tmm5") _, out("tmm6") _, out("tmm7") _,
                options(nostack),
            );
        }
    }
}

impl Drop for TileRegisters {
    fn drop(&mut self) {
        // SAFETY: `self` proves AMX; no code of this thread uses the registers any more. Once released, they need not
        // be saved at context switches.
        unsafe { asm!("tilerelease", options(nomem, nostack, preserves_flags)) };
        CONFIGURED.set(false);
    }
}

/// The length that all sides have: at least 1.
#[inline]
fn common_depth(sides: &[&[SplitTile]]) -> usize {
    let depth = sides[0].len();
    assert!(depth > 0 && sides.iter().all(|side| side.len() == depth), "sides of the same depth");
    depth
}

const _: () = assert!(size_of::<SplitTile>() == 2048 && size_of::<Products>() == 4096); // as the assembly assumes
