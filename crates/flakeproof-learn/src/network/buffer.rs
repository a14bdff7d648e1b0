//! Room for many numbers, used again and again.
//!
//! A batch needs dozens of vectors of up to megabytes. Asking the system for them each time takes
//! as long as computing with them, because it hands out and takes back memory page by page. So each
//! thread keeps the room of vectors that are no longer needed. What is computed does not depend on
//! it.

use std::cell::RefCell;
use std::ops::{Deref, DerefMut};

/// The most numbers for which a thread keeps room: 256 megabytes.
const MOST_KEPT: usize = 1 << 26;

/// The most vectors whose room a thread keeps.
const MOST_VECTORS: usize = 64;

thread_local! {
    static KEPT: RefCell<Vec<Vec<f32>>> = const { RefCell::new(Vec::new()) };
}

/// A vector of numbers whose room is kept when it is dropped.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Buffer(Vec<f32>);

impl Buffer {
    /// So many zeros.
    pub(super) fn zeros(length: usize) -> Self {
        let mut room = room_for(length);
        room.clear();
        room.resize(length, 0.0);
        Self(room)
    }

    /// So many numbers that mean nothing, each of which is to be overwritten.
    pub(super) fn unset(length: usize) -> Self {
        let mut room = room_for(length);
        room.resize(length, 0.0);
        Self(room)
    }

    /// A row so many times.
    pub(super) fn repeated(row: &[f32], times: usize) -> Self {
        let mut buffer = Self::unset(row.len() * times);
        for place in buffer.chunks_exact_mut(row.len().max(1)) {
            place.copy_from_slice(row);
        }
        buffer
    }

    /// The rows with these numbers, in this order.
    pub(super) fn gathered(rows: &[f32], numbers: &[u32], width: usize) -> Self {
        let mut buffer = Self::unset(numbers.len() * width);
        for (place, number) in buffer.chunks_exact_mut(width).zip(numbers) {
            place.copy_from_slice(&rows[*number as usize * width..][..width]);
        }
        buffer
    }
}

/// The smallest kept room that is large enough, or new room.
fn room_for(length: usize) -> Vec<f32> {
    KEPT.with_borrow_mut(|kept| {
        let enough = (0..kept.len()).filter(|at| kept[*at].capacity() >= length);
        let best = enough.min_by_key(|at| kept[*at].capacity());
        best.map_or_else(|| Vec::with_capacity(length), |at| kept.swap_remove(at))
    })
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let room = std::mem::take(&mut self.0);
        // At the end of a thread there is nothing left to keep it in.
        let _ = KEPT.try_with(|kept| {
            let mut kept = kept.borrow_mut();
            let numbers: usize = kept.iter().map(Vec::capacity).sum();
            if kept.len() < MOST_VECTORS && numbers + room.capacity() <= MOST_KEPT {
                kept.push(room);
            }
        });
    }
}

impl Deref for Buffer {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        &self.0
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [f32] {
        &mut self.0
    }
}

impl From<Vec<f32>> for Buffer {
    fn from(values: Vec<f32>) -> Self {
        Self(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_are_zero_in_used_room_too() {
        for length in [5, 9, 3] {
            let mut buffer = Buffer::zeros(length);
            assert_eq!(*buffer, vec![0.0; length]);
            buffer.fill(7.0);
        }
        assert_eq!(Buffer::unset(4).len(), 4);
    }

    #[test]
    fn rows_are_gathered_and_repeated() {
        assert_eq!(
            *Buffer::gathered(&[1.0, 2.0, 3.0, 4.0], &[1, 0, 1], 2),
            [3.0, 4.0, 1.0, 2.0, 3.0, 4.0]
        );
        assert_eq!(*Buffer::repeated(&[1.0, 2.0], 2), [1.0, 2.0, 1.0, 2.0]);
        assert!(Buffer::repeated(&[], 2).is_empty());
    }
}
