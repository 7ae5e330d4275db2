//! Nodes to look at: the don't-look bits of Bentley (1992) with an order.

use std::collections::VecDeque;

/// First in, first out, each node at most once.
pub(crate) struct Queue {
    nodes: VecDeque<u32>,
    queued: Vec<bool>,
}

impl Queue {
    /// An empty queue for nodes below a number.
    pub(crate) fn new(nodes: usize) -> Self {
        Queue { nodes: VecDeque::new(), queued: vec![false; nodes] }
    }

    /// Adds a node, unless it waits already.
    pub(crate) fn push(&mut self, node: u32) {
        if !std::mem::replace(&mut self.queued[node as usize], true) {
            self.nodes.push_back(node);
        }
    }

    /// Takes the node that waited longest.
    pub(crate) fn pop(&mut self) -> Option<u32> {
        let node = self.nodes.pop_front()?;
        self.queued[node as usize] = false;
        Some(node)
    }

    /// Sends everyone home.
    pub(crate) fn clear(&mut self) {
        while self.pop().is_some() {}
    }
}
