//! Packed deltas to values, as DELTA_BINARY_PACKED has them: unpacking, and sums of what was unpacked.
//!
//! The definition is one after the other, [`unpack_u32`](crate::unpack_u32) and [`prefix_sum_u32`](crate::prefix_sum_u32).
//! A level may have a loop that does both while the deltas are in registers.

use crate::table::{Deltas, Kernels, append};
use crate::unpack::{GROUP, OVERREAD};
use std::ops::Range;

/// Unpacks the deltas `range` of `source`, of `width <= 32` bits each, and appends the values that they lead to: each is
/// the sum of `before`, of all deltas of the range up to it, and of `least` once for each of them. All additions wrap
/// around. Returns the last value, `before` if there are none.
///
/// # Panics
/// If `width > 32` or `source` ends before the last delta.
pub fn unpack_deltas_u32(
    source: &[u8],
    width: u32,
    range: Range<usize>,
    before: u32,
    least: u32,
    out: &mut Vec<u32>,
) -> u32 {
    Kernels::current().unpack_deltas_u32(source, width, range, before, least, out)
}

/// [`unpack_deltas_u32`] for up to 64 bits.
///
/// # Panics
/// If `width > 64` or `source` ends before the last delta.
pub fn unpack_deltas_u64(
    source: &[u8],
    width: u32,
    range: Range<usize>,
    before: u64,
    least: u64,
    out: &mut Vec<u64>,
) -> u64 {
    Kernels::current().unpack_deltas_u64(source, width, range, before, least, out)
}

impl Kernels {
    /// [`unpack_deltas_u32`] at this level.
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
            Some(fused) if width > 0 => {
                unpack_deltas(fused, apart, source, width, range, (before, least), out)
            }
            _ => apart(range, before, out),
        }
    }

    /// [`unpack_deltas_u64`] at this level.
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
            Some(fused) if (1..=WIDEST_FUSED).contains(&width) => {
                unpack_deltas(fused, apart, source, width, range, (before, least), out)
            }
            _ => apart(range, before, out),
        }
    }
}

/// Has whole groups unpacked by `fused`, as far as the input goes on behind them, and what is before and behind by `apart`.
fn unpack_deltas<T: Copy>(
    fused: Deltas<T>,
    apart: impl Fn(Range<usize>, T, &mut Vec<T>) -> T,
    source: &[u8],
    width: u32,
    range: Range<usize>,
    (before, least): (T, T),
    out: &mut Vec<T>,
) -> T {
    let first_group = range.start.div_ceil(GROUP);
    let groups = (source.len().saturating_sub(OVERREAD) / width as usize).min(range.end / GROUP);
    if groups <= first_group {
        return apart(range, before, out);
    }
    let mut last = before;
    if range.start < first_group * GROUP {
        last = apart(range.start..first_group * GROUP, last, out);
    }
    let source = &source[first_group * width as usize..];
    // SAFETY: this CPU has the level of `fused`, which writes all it is given, see `Kernels`.
    unsafe {
        append(out, (groups - first_group) * GROUP, |spare| last = fused(source, width, last, least, spare))
    }
    if groups * GROUP < range.end {
        last = apart(groups * GROUP..range.end, last, out);
    }
    last
}

/// Wider deltas of 64 bits are no longer unpacked in registers.
pub(crate) const WIDEST_FUSED: u32 = 57;
