//! Nodes to process: the don't-look bits of Bentley (1992), as a queue.

use std::collections::VecDeque;

/// A FIFO queue that contains each node at most once.
pub(crate) struct Queue {
    nodes: VecDeque<u32>,
    queued: Vec<bool>,
}

impl Queue {
    /// An empty queue for nodes `0..nodes`.
    pub(crate) fn new(nodes: usize) -> Self {
        Queue { nodes: VecDeque::new(), queued: vec![false; nodes] }
    }

    /// Adds a node, unless it is already queued.
    pub(crate) fn push(&mut self, node: u32) {
        if !std::mem::replace(&mut self.queued[node as usize], true) {
            self.nodes.push_back(node);
        }
    }

    /// Removes the oldest node.
    pub(crate) fn pop(&mut self) -> Option<u32> {
        let node = self.nodes.pop_front()?;
        self.queued[node as usize] = false;
        Some(node)
    }

    /// Empties the queue.
    pub(crate) fn clear(&mut self) {
        while self.pop().is_some() {}
    }
}
