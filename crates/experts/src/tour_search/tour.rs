//! A cyclic tour as an array, with a journal so that a failed attempt costs only what it changed.

use super::exchange::Segment;

/// A cyclic order of the nodes 0..n.
pub(crate) struct Tour {
    order: Vec<u32>,           // node at each position
    position: Vec<u32>,        // position of each node
    journal: Vec<(u32, u32)>,  // (position, node that stood there), in the order of the writes since `commit`
    scratch: Vec<u32>,         // nodes on the move
}

impl Tour {
    /// The tour that visits the nodes in this order.
    pub(crate) fn new(order: Vec<u32>) -> Self {
        let mut position = vec![0; order.len()];
        for (place, &node) in order.iter().enumerate() {
            position[node as usize] = place as u32;
        }
        Tour { order, position, journal: Vec::new(), scratch: Vec::new() }
    }

    /// Number of nodes.
    pub(crate) fn len(&self) -> usize {
        self.order.len()
    }

    /// The nodes by position.
    pub(crate) fn order(&self) -> &[u32] {
        &self.order
    }

    /// The node at a position, which may run one lap beyond the end.
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

    /// Cuts the tour after the given positions (ascending) and joins the segments anew. Segment `i` ends at cut `i`;
    /// segment 0 begins after the last cut. The longest segment stays where it is, so the others pay.
    pub(crate) fn rearrange(&mut self, cuts: &[u32], arrangement: &[Segment]) {
        let n = self.order.len();
        let begin = |segment: usize| cuts[if segment == 0 { cuts.len() - 1 } else { segment - 1 }] as usize + 1;
        let length = |segment: usize| match segment {
            0 => n + 1 + cuts[0] as usize - begin(0),
            _ => cuts[segment] as usize + 1 - begin(segment),
        };
        let count = arrangement.len();
        let stays = (0..count).max_by_key(|&i| length(arrangement[i].index)).unwrap_or(0);
        let turned = arrangement[stays].reversed;
        let mut target = begin(arrangement[stays].index) + length(arrangement[stays].index);
        self.scratch.clear();
        let first = target;
        for offset in 1..count {
            // If the segment that stays was to be reversed, the others go round the other way instead.
            let Segment { index, reversed } = arrangement[(stays + if turned { count - offset } else { offset }) % count];
            let (from, len) = (begin(index), length(index));
            if reversed == turned {
                self.scratch.extend((from..from + len).map(|position| self.order[position % n]));
            } else {
                self.scratch.extend((from..from + len).rev().map(|position| self.order[position % n]));
            }
        }
        target = first % n;
        for &node in &self.scratch {
            let old = self.order[target];
            if old != node {
                self.journal.push((target as u32, old));
                self.order[target] = node;
                self.position[node as usize] = target as u32;
            }
            target = if target + 1 == n { 0 } else { target + 1 };
        }
    }

    /// Makes the changes since the last commit final.
    pub(crate) fn commit(&mut self) {
        self.journal.clear();
    }

    /// Copies the order as it was at the last commit.
    pub(crate) fn undo_copy(&self, to: &mut Vec<u32>) {
        to.clone_from(&self.order);
        for &(position, node) in self.journal.iter().rev() {
            to[position as usize] = node;
        }
    }

    /// Takes back the changes since the last commit.
    pub(crate) fn undo(&mut self) {
        while let Some((position, node)) = self.journal.pop() {
            self.order[position as usize] = node;
            self.position[node as usize] = position;
        }
    }
}
