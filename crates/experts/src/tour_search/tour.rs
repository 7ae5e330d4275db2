//! A cyclic tour as an array, with an undo log so that a rejected move costs only what it changed.

use std::ops::Range;

use super::exchange::{LARGEST, Segment};

/// A cyclic order of the nodes 0..n.
pub(crate) struct Tour {
    order: Vec<u32>,          // node at each position
    position: Vec<u32>,       // position of each node
    journal: Vec<(u32, u32)>, // (position, previous node there), in the order of the writes since `commit`
    scratch: Vec<u32>,        // nodes being moved
    changed: Range<usize>,    // positions outside have not changed since the last query
}

impl Tour {
    /// The tour that visits the nodes in this order.
    pub(crate) fn new(order: Vec<u32>) -> Self {
        let mut position = vec![0; order.len()];
        for (place, &node) in order.iter().enumerate() {
            position[node as usize] = place as u32;
        }
        let changed = 0..order.len();
        Tour { order, position, journal: Vec::new(), scratch: Vec::new(), changed }
    }

    /// Number of nodes.
    pub(crate) fn len(&self) -> usize {
        self.order.len()
    }

    /// The nodes by position.
    pub(crate) fn order(&self) -> &[u32] {
        &self.order
    }

    /// The nodes by position, consuming the tour.
    pub(crate) fn into_order(self) -> Vec<u32> {
        self.order
    }

    /// The node at a position, which may wrap around once.
    #[inline]
    pub(crate) fn at(&self, position: usize) -> u32 {
        let n = self.order.len();
        self.order[if position < n { position } else { position - n }]
    }

    /// The position of a node.
    #[inline]
    pub(crate) fn position(&self, node: u32) -> u32 {
        self.position[node as usize]
    }

    /// The node after a node.
    #[inline]
    pub(crate) fn next(&self, node: u32) -> u32 {
        self.at(self.position[node as usize] as usize + 1)
    }

    /// The node before a node.
    #[inline]
    pub(crate) fn prev(&self, node: u32) -> u32 {
        let position = self.position[node as usize] as usize;
        self.order[if position == 0 { self.order.len() - 1 } else { position - 1 }]
    }

    /// Cuts the tour after the given positions (ascending) and rejoins the segments. Segment `i` ends at cut `i`;
    /// segment 0 starts after the last cut. The longest segment that keeps its direction is not moved.
    pub(crate) fn rearrange(&mut self, cuts: &[u32], arrangement: &[Segment]) {
        let n = self.order.len();
        let count = arrangement.len();
        let spans: [(usize, usize); LARGEST] =
            std::array::from_fn(|i| if i < count { span(cuts, i, n) } else { (0, 0) });
        let unturned = (0..count).filter(|&i| !arrangement[i].reversed);
        let stays = unturned.max_by_key(|&i| spans[arrangement[i].index].1).unwrap_or(0);
        self.scratch.clear();
        for offset in 1..count {
            let Segment { index, reversed } = arrangement[(stays + offset) % count];
            let (begin, length) = spans[index];
            let positions = (begin..begin + length).map(|position| if position < n { position } else { position - n });
            if reversed {
                self.scratch.extend(positions.rev().map(|position| self.order[position]));
            } else {
                self.scratch.extend(positions.map(|position| self.order[position]));
            }
        }
        let (begin, length) = spans[arrangement[stays].index];
        self.write((begin + length) % n);
    }

    /// Writes the nodes being moved, starting at a position.
    fn write(&mut self, begin: usize) {
        let mut target = begin;
        for &node in &self.scratch {
            let old = self.order[target];
            if old != node {
                self.journal.push((target as u32, old));
                self.order[target] = node;
                self.position[node as usize] = target as u32;
            }
            target = if target + 1 == self.order.len() { 0 } else { target + 1 };
        }
        let end = begin + self.scratch.len();
        self.note_change(if end > self.order.len() { 0..self.order.len() } else { begin..end });
    }

    fn note_change(&mut self, range: Range<usize>) {
        self.changed = self.changed.start.min(range.start)..self.changed.end.max(range.end);
    }

    /// The positions that may have changed since the last call.
    pub(crate) fn take_changed(&mut self) -> Range<usize> {
        std::mem::replace(&mut self.changed, self.order.len()..0)
    }

    /// Makes the changes since the last commit final.
    pub(crate) fn commit(&mut self) {
        self.journal.clear();
    }

    /// Copies the order as it was at the last commit.
    pub(crate) fn copy_committed(&self, to: &mut Vec<u32>) {
        to.clone_from(&self.order);
        for &(position, node) in self.journal.iter().rev() {
            to[position as usize] = node;
        }
    }

    /// Reverts the changes since the last commit.
    pub(crate) fn undo(&mut self) {
        while let Some((position, node)) = self.journal.pop() {
            self.order[position as usize] = node;
            self.position[node as usize] = position;
            self.note_change(position as usize..position as usize + 1);
        }
    }
}

/// Where segment `index` starts (its positions may wrap around once) and how many nodes it has.
pub(crate) fn span(cuts: &[u32], index: usize, nodes: usize) -> (usize, usize) {
    match index {
        0 => {
            let begin = cuts[cuts.len() - 1] as usize + 1;
            (begin, nodes + 1 + cuts[0] as usize - begin)
        }
        _ => (cuts[index - 1] as usize + 1, (cuts[index] - cuts[index - 1]) as usize),
    }
}
