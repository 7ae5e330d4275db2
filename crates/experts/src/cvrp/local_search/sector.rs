//! Sectors of the circle around the depot.

/// The directions from `start` counter-clockwise to `end`, in units of 2^-16 of the circle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sector {
    start: u16,
    end: u16,
}

impl Sector {
    /// A single direction.
    pub fn of(angle: u16) -> Self {
        Sector { start: angle, end: angle }
    }

    /// The sector extended to contain a direction, on the side that needs the smaller extension.
    #[must_use]
    pub fn with(self, angle: u16) -> Self {
        if self.contains(angle) {
            self
        } else if angle.wrapping_sub(self.end) <= self.start.wrapping_sub(angle) {
            Sector { end: angle, ..self }
        } else {
            Sector { start: angle, ..self }
        }
    }

    fn contains(self, angle: u16) -> bool {
        angle.wrapping_sub(self.start) <= self.end.wrapping_sub(self.start)
    }

    /// Whether two sectors overlap.
    pub fn overlaps(self, other: Self) -> bool {
        self.contains(other.start) || other.contains(self.start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sectors_grow_on_the_nearer_side_and_wrap() {
        let sector = Sector::of(65000).with(400);
        assert_eq!(sector, Sector { start: 65000, end: 400 });
        assert!(sector.contains(0) && !sector.contains(30000));
        assert_eq!(sector.with(64000), Sector { start: 64000, end: 400 });
        assert!(sector.overlaps(Sector::of(65500)) && Sector::of(65500).overlaps(sector));
        assert!(!sector.overlaps(Sector::of(1000).with(30000)));
    }
}
