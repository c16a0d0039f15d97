//! Offsets of lists: how many elements come before the first one of each list.
//!
//! ```text
//! entries    a list [1, 2], an empty list, a list [3]
//! begins     1 0 1 1
//! elements   1 1 0 1
//! offsets    0   2 2
//! ```

use crate::bitmap::{Bitmap, word_at};
use crate::signatures::Kernels;
use crate::uninit::append;
use std::mem::MaybeUninit;

impl Kernels {
    /// `list_offsets` at this level.
    pub fn list_offsets(&self, begins: &Bitmap, elements: Option<&Bitmap>, out: &mut Vec<i32>) {
        if let Some(elements) = elements {
            assert_eq!(begins.len(), elements.len(), "two bits for each entry");
        }
        let lists = self.count_ones(begins, 0..begins.len());
        let (begins, elements) = (begins.as_bytes(), elements.map(Bitmap::as_bytes));
        // SAFETY: this CPU has the level of this table, whose loops write all they are given.
        unsafe { append(out, lists, |out| (self.list_offsets)(begins, elements, out)) };
    }
}

#[inline(always)]
pub(crate) fn list_offsets_scalar(begins: &[u8], elements: Option<&[u8]>, out: &mut [MaybeUninit<i32>]) {
    let mut slots = out.iter_mut();
    let mut before = 0_usize;
    for first in (0..begins.len() * 8).step_by(64) {
        let mut begins = word_at(begins, first);
        let elements = elements.map_or(u64::MAX, |elements| word_at(elements, first));
        // A list begins after the elements whose bits are lower than its own.
        while begins != 0 {
            let lower = (begins & begins.wrapping_neg()) - 1;
            let slot = slots.next().expect("a slot for each list");
            slot.write((before + (elements & lower).count_ones() as usize) as i32);
            begins &= begins - 1;
        }
        before += elements.count_ones() as usize;
    }
    assert_eq!(slots.len(), 0, "a list for each slot");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_drawing_of_the_module() {
        let bits = |bits: &[u8]| -> Bitmap { bits.iter().map(|&bit| bit != 0).collect() };
        let (begins, elements) = (bits(&[1, 0, 1, 1]), bits(&[1, 1, 0, 1]));
        for kernels in Kernels::all_available() {
            let mut out = vec![7];
            kernels.list_offsets(&begins, Some(&elements), &mut out);
            assert_eq!(out, [7, 0, 2, 2]);
            kernels.list_offsets(&begins, None, &mut out);
            assert_eq!(out, [7, 0, 2, 2, 0, 2, 3]);
        }
    }

    #[test]
    fn every_level_counts_alike() {
        let mut state = 3_u32;
        let mut one_in = |n: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 16).is_multiple_of(n)
        };
        for n in [0, 1, 63, 64, 65, 127, 128, 1000] {
            for rare in [1, 2, 3, 9, 60] {
                let begins: Bitmap = (0..n).map(|_| one_in(rare)).collect();
                let elements: Bitmap = (0..n).map(|_| !one_in(rare + 1)).collect();
                let count = |end: usize, elements: Option<&Bitmap>| match elements {
                    Some(elements) => (0..end).filter(|&i| elements.get(i)).count() as i32,
                    None => end as i32,
                };
                for elements in [None, Some(&elements)] {
                    let lists = (0..n).filter(|&i| begins.get(i));
                    let expected: Vec<i32> = lists.map(|i| count(i, elements)).collect();
                    for kernels in Kernels::all_available() {
                        let mut out = Vec::new();
                        kernels.list_offsets(&begins, elements, &mut out);
                        assert_eq!(out, expected, "{kernels:?}, {n} entries, one in {rare}");
                    }
                }
            }
        }
    }
}
