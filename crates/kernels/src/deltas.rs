//! Decodes packed deltas of DELTA_BINARY_PACKED: unpacks them and adds them up.
//!
//! The definition is `unpack_u32` followed by `prefix_sum_u32`. A level may have a loop that does both while the deltas are in registers.

use crate::signatures::Kernels;
use crate::unpack::{MAX_WIDTH_IN_REGISTERS, unpack_in_groups};
use std::mem::MaybeUninit;
use std::ops::Range;

impl Kernels {
    /// `unpack_deltas_u32` at this level.
    pub fn unpack_deltas_u32(
        &self,
        source: &[u8],
        width: u32,
        range: Range<usize>,
        before: u32,
        least: u32,
        out: &mut Vec<u32>,
    ) -> u32 {
        let apart = |range: Range<usize>, before, out: &mut Vec<u32>| {
            let start = out.len();
            self.unpack_u32(source, width, range.start, range.len(), out);
            self.prefix_sum_u32(&mut out[start..], before, least)
        };
        match self.deltas_u32 {
            // SAFETY: this CPU has the level of the loop, which writes all it is given, see `Kernels`.
            Some(fused) if width > 0 => unsafe {
                let fused = |source: &[u8], before, out: &mut [MaybeUninit<u32>]| {
                    fused(source, width, before, least, out)
                };
                unpack_in_groups(fused, apart, source, width, range, before, out)
            },
            _ => apart(range, before, out),
        }
    }

    /// `unpack_deltas_u64` at this level.
    pub fn unpack_deltas_u64(
        &self,
        source: &[u8],
        width: u32,
        range: Range<usize>,
        before: u64,
        least: u64,
        out: &mut Vec<u64>,
    ) -> u64 {
        let apart = |range: Range<usize>, before, out: &mut Vec<u64>| {
            let start = out.len();
            self.unpack_u64(source, width, range.start, range.len(), out);
            self.prefix_sum_u64(&mut out[start..], before, least)
        };
        match self.deltas_u64 {
            // SAFETY: as above.
            Some(fused) if (1..=MAX_WIDTH_IN_REGISTERS).contains(&width) => unsafe {
                let fused = |source: &[u8], before, out: &mut [MaybeUninit<u64>]| {
                    fused(source, width, before, least, out)
                };
                unpack_in_groups(fused, apart, source, width, range, before, out)
            },
            _ => apart(range, before, out),
        }
    }
}
