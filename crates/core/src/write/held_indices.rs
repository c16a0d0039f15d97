//! Indices into a dictionary that are not in pages yet, in as few bytes each as possible: a column may hold those of a
//! whole row group.

use std::collections::VecDeque;
use std::ops::Range;

/// A queue of indices, in the order in which they came.
///
/// PERF: most dictionaries have at most 256 values, or 65,536. Touching memory that is fresh from the system costs more
/// than all other work on an index, so that using a quarter of it matters.
#[derive(Debug, Default)]
pub(super) struct HeldIndices {
    blocks: VecDeque<Block>,
    /// The number of the first index in the queue.
    start: usize,
    end: usize,
}

#[derive(Debug)]
struct Block {
    /// The number of the block's first index.
    start: usize,
    indices: Packed,
}

#[derive(Debug)]
enum Packed {
    U8(Vec<u8>),
    U16(Vec<u16>),
    U32(Vec<u32>),
}

impl Packed {
    /// Creates an empty vector for indices up to `largest`.
    fn up_to(largest: u32) -> Self {
        match largest {
            0..=0xff => Packed::U8(Vec::new()),
            0x100..=0xffff => Packed::U16(Vec::new()),
            _ => Packed::U32(Vec::new()),
        }
    }

    fn len(&self) -> usize {
        match self {
            Packed::U8(indices) => indices.len(),
            Packed::U16(indices) => indices.len(),
            Packed::U32(indices) => indices.len(),
        }
    }

    fn has_room_for(&self, largest: u32) -> bool {
        match self {
            Packed::U8(_) => largest <= 0xff,
            Packed::U16(_) => largest <= 0xffff,
            Packed::U32(_) => true,
        }
    }

    /// Appends indices, which must fit.
    fn extend(&mut self, new: &[u32]) {
        match self {
            Packed::U8(indices) => indices.extend(new.iter().map(|&index| index as u8)),
            Packed::U16(indices) => indices.extend(new.iter().map(|&index| index as u16)),
            Packed::U32(indices) => indices.extend_from_slice(new),
        }
    }

    fn read(&self, range: Range<usize>, out: &mut Vec<u32>) {
        match self {
            Packed::U8(indices) => out.extend(indices[range].iter().map(|&index| u32::from(index))),
            Packed::U16(indices) => out.extend(indices[range].iter().map(|&index| u32::from(index))),
            Packed::U32(indices) => out.extend_from_slice(&indices[range]),
        }
    }

    fn memory(&self) -> usize {
        match self {
            Packed::U8(indices) => indices.capacity(),
            Packed::U16(indices) => 2 * indices.capacity(),
            Packed::U32(indices) => 4 * indices.capacity(),
        }
    }
}

impl HeldIndices {
    /// The number of indices in the queue.
    pub(super) fn len(&self) -> usize {
        self.end - self.start
    }

    /// The numbers of the indices in the queue.
    pub(super) fn range(&self) -> Range<usize> {
        self.start..self.end
    }

    /// Returns the bytes in memory.
    pub(super) fn memory(&self) -> usize {
        self.blocks.iter().map(|block| block.indices.memory()).sum()
    }

    /// Appends indices.
    pub(super) fn extend(&mut self, mut new: &[u32]) {
        while !new.is_empty() {
            let (first, rest) = new.split_at(new.len().min(BLOCK));
            let largest = first.iter().copied().fold(0, u32::max);
            match self.blocks.back_mut() {
                Some(Block { indices, .. }) if indices.len() < BLOCK && indices.has_room_for(largest) => {
                    indices.extend(first);
                }
                _ => {
                    let mut indices = Packed::up_to(largest);
                    indices.extend(first);
                    self.blocks.push_back(Block { start: self.end, indices });
                }
            }
            self.end += first.len();
            new = rest;
        }
    }

    /// Appends the indices in `range`, which must be in the queue, to `out`.
    pub(super) fn read(&self, range: Range<usize>, out: &mut Vec<u32>) {
        out.reserve(range.len());
        let first = self.blocks.partition_point(|block| block.start + block.indices.len() <= range.start);
        for Block { start, indices } in self.blocks.range(first..) {
            if *start >= range.end {
                break;
            }
            indices.read(range.start.saturating_sub(*start)..indices.len().min(range.end - start), out);
        }
    }

    /// Drops the indices before this number, and frees their memory.
    pub(super) fn forget_before(&mut self, number: usize) {
        while self.blocks.front().is_some_and(|block| block.start + block.indices.len() <= number) {
            self.blocks.pop_front();
        }
        self.start = number.clamp(self.start, self.end);
    }
}

/// Approximate number of indices in a block.
const BLOCK: usize = 32 << 10;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn reads_what_was_appended(
            runs in prop::collection::vec((prop::sample::select(vec![1, 200, 256, 257, 65_536, 65_537, u32::MAX]), 0usize..40_000), 0..6),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 3),
        ) {
            let (mut held, mut all) = (HeldIndices::default(), Vec::new());
            for (below, n) in runs {
                let new: Vec<u32> = (0..n as u32).map(|i| i.wrapping_mul(2_654_435_761) % below).collect();
                held.extend(&new);
                all.extend(new);
            }
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(all.len() + 1)).collect();
            cuts.sort_unstable();
            let mut read = vec![7];
            held.read(cuts[1]..cuts[2], &mut read);
            prop_assert_eq!(&read[1..], &all[cuts[1]..cuts[2]]);
            held.forget_before(cuts[0]);
            prop_assert_eq!(held.range(), cuts[0]..all.len());
            read.clear();
            held.read(cuts[0]..cuts[2], &mut read);
            prop_assert_eq!(&read[..], &all[cuts[0]..cuts[2]]);
        }
    }

    #[test]
    fn small_indices_take_a_byte() {
        let mut held = HeldIndices::default();
        for _ in 0..128 {
            held.extend(&vec![255; 8 << 10]);
        }
        assert_eq!((held.len(), held.memory()), (1 << 20, 1 << 20));
        held.forget_before(1 << 19);
        assert_eq!((held.len(), held.memory()), (1 << 19, 1 << 19));
    }
}
