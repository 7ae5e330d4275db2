//! CPUs without bf16 products: the interface of `bf16`, with types that have no values.

use super::{Products, Rows, SplitTile};
use crate::cpu::CpuPath;

/// There is no such unit, hence no session.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bf16Unit(Never);

#[derive(Clone, Copy, Debug)]
enum Never {}

pub(crate) fn is_available(_: CpuPath) -> bool {
    false
}

impl Bf16Unit {
    pub(crate) fn get() -> Option<Bf16Unit> {
        None
    }
    pub(crate) fn high() -> Option<Bf16Unit> {
        None
    }
    pub(crate) fn split(self) -> Option<Bf16Unit> {
        match self.0 {}
    }
    pub(crate) fn pack_rows(self, _: Rows<'_>, _: [usize; 2], _: [usize; 2], _: &mut SplitTile) {
        match self.0 {}
    }
    pub(crate) fn pack_columns(self, _: Rows<'_>, _: [usize; 2], _: [usize; 2], _: &mut SplitTile) {
        match self.0 {}
    }
    pub(crate) fn transpose(self, _: &mut SplitTile) {
        match self.0 {}
    }
    pub(crate) fn start(self) -> Bf16Unit {
        match self.0 {}
    }
    pub(crate) fn multiply(&self, _: [&[SplitTile]; 2], _: [&[SplitTile]; 2], _: &mut Products) {
        match self.0 {}
    }
    pub(crate) fn multiply_one(&self, _: &[SplitTile], _: usize, _: [&[SplitTile]; 2], _: &mut Products) {
        match self.0 {}
    }
}
