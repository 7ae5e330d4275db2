//! Large buffers that go from one training step to the next: fresh memory costs a page fault every 4 KiB.

use std::sync::Mutex;

/// Buffers nobody uses. Two steps of the deepest network need no more than this many.
static POOL: Mutex<Vec<Vec<f32>>> = Mutex::new(Vec::new());
const MOST: usize = 128;
const SMALLEST: usize = 1 << 12;

/// A buffer of this length, holding anything.
pub fn take(len: usize) -> Vec<f32> {
    let mut pool = POOL.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let fits = |buffer: &Vec<f32>| buffer.capacity() >= len && buffer.capacity() / 2 <= len;
    match pool.iter().position(fits) {
        Some(k) => {
            let mut buffer = pool.swap_remove(k);
            drop(pool);
            buffer.resize(len, 0.0);
            buffer
        }
        None => vec![0.0; len],
    }
}

/// A buffer of zeros.
pub fn zeros(len: usize) -> Vec<f32> {
    let mut buffer = take(len);
    buffer.fill(0.0);
    buffer
}

/// Gives a buffer back. Small ones are not worth keeping.
pub fn give(buffer: Vec<f32>) {
    if buffer.capacity() < SMALLEST {
        return;
    }
    let mut pool = POOL.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    pool.push(buffer);
    if pool.len() > MOST {
        pool.remove(0); // the oldest: sizes that training has moved on from
    }
}
