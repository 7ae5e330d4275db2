//! k-opt moves under construction: which edges are removed, how the open ends are joined, and whether the result is a
//! tour.

/// The largest k.
pub(crate) const LARGEST: usize = 6;

/// Which end of a removed edge, in the direction of the tour.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// The node the edge comes from.
    Tail,
    /// The node the edge goes to.
    Head,
}

impl Side {
    /// The other end.
    pub(crate) fn opposite(self) -> Self {
        match self {
            Side::Tail => Side::Head,
            Side::Head => Side::Tail,
        }
    }
}

/// A piece of the tour between two cuts.
#[derive(Clone, Copy, Default)]
pub(crate) struct Segment {
    pub(crate) index: usize,
    pub(crate) reversed: bool,
}

/// A sequential exchange. Edge `i` is removed at cut `i`; its first end is joined to the second end of edge `i - 1`,
/// and the second end of the last edge to the first end of edge 0.
#[derive(Default)]
pub(crate) struct Exchange {
    len: usize,
    cuts: [u32; LARGEST],            // position of each removed edge's tail
    head_first: [bool; LARGEST],     // whether the first end is the head
    sorted: [u32; LARGEST],          // the cuts, ascending; valid after `closes`
    arrangement: [Segment; LARGEST], // of the new tour; valid after `closes`
}

impl Exchange {
    /// An exchange without removed edges.
    pub(crate) fn clear(&mut self) {
        self.len = 0;
    }

    /// Removes one more edge.
    #[inline]
    pub(crate) fn push(&mut self, cut: u32, first: Side) {
        self.cuts[self.len] = cut;
        self.head_first[self.len] = first == Side::Head;
        self.len += 1;
    }

    /// Puts the last edge back.
    #[inline]
    pub(crate) fn pop(&mut self) {
        self.len -= 1;
    }

    /// Whether the edge at this cut is already removed.
    #[inline]
    pub(crate) fn removes(&self, cut: u32) -> bool {
        self.cuts[..self.len].contains(&cut)
    }

    /// The cuts in the order of removal.
    pub(crate) fn cuts(&self) -> &[u32] {
        &self.cuts[..self.len]
    }

    /// Whether joining the last open end to the first gives one tour, and not several cycles.
    ///
    /// Ends are numbered along the tour: cut of rank r has tail 2r and head 2r + 1. Segment s runs from end 2s - 1 to
    /// end 2s (modulo 2k). Following segments and joins from segment 0 must meet all k of them.
    pub(crate) fn closes(&mut self) -> bool {
        let k = self.len;
        let mut rank = [0; LARGEST];
        for i in 0..k {
            for j in 0..i {
                let later = (self.cuts[j] > self.cuts[i]) as usize;
                rank[j] += later;
                rank[i] += 1 - later;
            }
        }
        let mut mate = [0; 2 * LARGEST];
        let end = |i: usize, first: bool| 2 * rank[i] + (self.head_first[i] == first) as usize;
        for i in 0..k {
            let (open, to) = (end(i, false), end(if i + 1 < k { i + 1 } else { 0 }, true));
            mate[open] = to;
            mate[to] = open;
        }
        self.arrangement[0] = Segment { index: 0, reversed: false };
        let (mut exit, mut count) = (0, 1);
        loop {
            let enter = mate[exit];
            let reversed = enter % 2 == 0;
            let index = if reversed {
                enter / 2
            } else if enter + 1 == 2 * k {
                0
            } else {
                enter.div_ceil(2)
            };
            if index == 0 {
                break;
            }
            self.arrangement[count] = Segment { index, reversed };
            count += 1;
            exit = if reversed { enter - 1 } else { enter + 1 };
        }
        if count == k {
            for (&place, &cut) in rank[..k].iter().zip(&self.cuts) {
                self.sorted[place] = cut;
            }
        }
        count == k
    }

    /// Cuts (ascending) and segments of the new tour; valid after [`Exchange::closes`] returned true.
    pub(crate) fn result(&self) -> (&[u32], &[Segment]) {
        (&self.sorted[..self.len], &self.arrangement[..self.len])
    }

    /// Reverses the orientation of the new tour.
    pub(crate) fn turn(&mut self) {
        let arrangement = &mut self.arrangement[..self.len];
        arrangement.reverse();
        arrangement.iter_mut().for_each(|segment| segment.reversed = !segment.reversed);
    }
}
