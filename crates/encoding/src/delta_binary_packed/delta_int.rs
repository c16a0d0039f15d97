//! The integers in which deltas are computed: 32 or 64 bits, as the column's type.

use marquetry_kernels as kernels;
use std::ops::Range;

/// An integer whose arithmetic wraps around in its own width.
pub(crate) trait DeltaInt: Copy {
    /// Converts a number by keeping its lowest bits.
    fn from_i64(value: i64) -> Self;

    /// Reads these bits as a signed number.
    fn to_i64(self) -> i64;

    /// Reads these bits as an unsigned number.
    fn to_u64(self) -> u64;

    /// Appends `n` values of `width <= 64` bits. Of values wider than the integer, only the lowest bits are kept.
    fn unpack(packed: &[u8], width: u32, first: usize, n: usize, out: &mut Vec<Self>);

    /// Appends the values that result from the deltas in `range`, like [`kernels::unpack_deltas_u32`], but for
    /// `width <= 64` bits. Returns the last value.
    fn unpack_deltas(
        packed: &[u8],
        width: u32,
        range: Range<usize>,
        before: Self,
        least: Self,
        out: &mut Vec<Self>,
    ) -> Self;

    /// Appends the lowest `width` bits of each value, packed.
    fn pack(values: &[Self], width: u32, out: &mut Vec<u8>);

    /// Returns the least of `values` as signed numbers; 0 if there are none.
    fn least(values: &[Self]) -> Self;

    /// Returns the wrapping sum.
    fn plus(self, other: Self) -> Self;

    /// Returns the wrapping difference.
    fn minus(self, other: Self) -> Self;

    /// Returns the bitwise OR.
    fn or(self, other: Self) -> Self;
}

impl DeltaInt for u32 {
    #[inline(always)]
    fn from_i64(value: i64) -> Self {
        value as u32
    }

    #[inline(always)]
    fn to_i64(self) -> i64 {
        i64::from(self as i32)
    }

    #[inline(always)]
    fn to_u64(self) -> u64 {
        u64::from(self)
    }

    #[inline]
    fn unpack_deltas(
        packed: &[u8],
        width: u32,
        range: Range<usize>,
        before: Self,
        least: Self,
        out: &mut Vec<Self>,
    ) -> Self {
        if width <= 32 {
            return kernels::unpack_deltas_u32(packed, width, range, before, least, out);
        }
        let start = out.len();
        Self::unpack(packed, width, range.start, range.len(), out);
        kernels::prefix_sum_u32(&mut out[start..], before, least)
    }

    #[inline]
    fn unpack(packed: &[u8], width: u32, first: usize, n: usize, out: &mut Vec<Self>) {
        if width <= 32 {
            return kernels::unpack_u32(packed, width, first, n, out);
        }
        out.extend((first..first + n).map(|i| kernels::get_packed(packed, width, i) as u32));
    }

    #[inline]
    fn pack(values: &[Self], width: u32, out: &mut Vec<u8>) {
        kernels::pack_u32(values, width, out);
    }

    #[inline]
    fn least(values: &[Self]) -> Self {
        kernels::min_max_i32(values).map_or(0, |(least, _)| least as u32)
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self.wrapping_add(other)
    }

    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        self.wrapping_sub(other)
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        self | other
    }
}

impl DeltaInt for u64 {
    #[inline(always)]
    fn from_i64(value: i64) -> Self {
        value as u64
    }

    #[inline(always)]
    fn to_i64(self) -> i64 {
        self as i64
    }

    #[inline(always)]
    fn to_u64(self) -> u64 {
        self
    }

    #[inline]
    fn unpack_deltas(
        packed: &[u8],
        width: u32,
        range: Range<usize>,
        before: Self,
        least: Self,
        out: &mut Vec<Self>,
    ) -> Self {
        kernels::unpack_deltas_u64(packed, width, range, before, least, out)
    }

    #[inline]
    fn unpack(packed: &[u8], width: u32, first: usize, n: usize, out: &mut Vec<Self>) {
        kernels::unpack_u64(packed, width, first, n, out);
    }

    #[inline]
    fn pack(values: &[Self], width: u32, out: &mut Vec<u8>) {
        kernels::pack_u64(values, width, out);
    }

    #[inline]
    fn least(values: &[Self]) -> Self {
        kernels::min_max_i64(values).map_or(0, |(least, _)| least as u64)
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self.wrapping_add(other)
    }

    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        self.wrapping_sub(other)
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        self | other
    }
}
