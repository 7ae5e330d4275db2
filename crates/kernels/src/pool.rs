//! Reuse of large buffers from one training step to the next: fresh memory costs a page fault per 4 KiB.

use std::sync::Mutex;

/// Free buffers.
static POOL: Mutex<Vec<Vec<f32>>> = Mutex::new(Vec::new());
/// At most this many are kept: two training steps of the deepest network need no more.
const MAX_BUFFERS: usize = 128;
/// Floats of the smallest buffer that is kept.
const MIN_CAPACITY: usize = 1 << 12;

/// A buffer of this length with arbitrary contents.
pub(crate) fn take(len: usize) -> Vec<f32> {
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
pub(crate) fn zeros(len: usize) -> Vec<f32> {
    let mut buffer = take(len);
    buffer.fill(0.0);
    buffer
}

/// Keeps the memory of a buffer for results of later passes; small buffers are freed.
pub fn recycle(buffer: Vec<f32>) {
    if buffer.capacity() < MIN_CAPACITY {
        return;
    }
    let mut pool = POOL.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    pool.push(buffer);
    if pool.len() > MAX_BUFFERS {
        pool.remove(0); // the oldest: probably of a size that is no longer used
    }
}
