//! CPUs without matrix units: what [`super::amx`] has elsewhere, where nobody can call it.

use super::{Products, Rows, SplitTile};

/// There is none, and so there are no units.
#[derive(Clone, Copy, Debug)]
pub struct Amx(Never);

#[derive(Clone, Copy, Debug)]
enum Never {}

/// Matrix units.
pub type Units = Amx;

#[allow(missing_docs, clippy::needless_pass_by_ref_mut)] // as in `amx`
impl Amx {
    pub fn get() -> Option<Amx> {
        None
    }
    pub fn exact(self) -> Option<Amx> {
        match self.0 {}
    }
    pub fn along(self, _: Rows<'_>, _: [usize; 2], _: [usize; 2], _: &mut SplitTile) {
        match self.0 {}
    }
    pub fn across(self, _: Rows<'_>, _: [usize; 2], _: [usize; 2], _: &mut SplitTile) {
        match self.0 {}
    }
    pub fn transpose(self, _: &mut SplitTile) {
        match self.0 {}
    }
    pub fn open(self) -> Units {
        match self.0 {}
    }
    pub fn multiply(&self, _: [&[SplitTile]; 2], _: [&[SplitTile]; 2], _: &mut Products) {
        match self.0 {}
    }
    pub fn multiply_one(&self, _: &[SplitTile], _: [&[SplitTile]; 2], _: &mut Products) {
        match self.0 {}
    }
}
