//! The integers that deltas are computed in: of 32 or 64 bits, as the type of the column.

use marquetry_kernels as kernels;

/// An integer that wraps around in its own width.
pub(crate) trait Lane: Copy {
    /// The lowest bits.
    fn from_i64(value: i64) -> Self;

    /// The signed number that these bits are.
    fn to_i64(self) -> i64;

    /// The unsigned number that these bits are.
    fn to_u64(self) -> u64;

    /// Appends `n` values of `width <= 64` bits; of those wider than a lane only the lowest bits.
    fn unpack(packed: &[u8], width: u32, first: usize, n: usize, out: &mut Vec<Self>);

    /// Makes values of deltas, in place, as [`kernels::prefix_sum_u32`] does. Returns the last.
    fn prefix_sum(values: &mut [Self], before: Self, least: Self) -> Self;

    /// The sum, wrapping around.
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        Self::from_i64(self.to_i64().wrapping_add(other.to_i64()))
    }

    /// The difference, wrapping around.
    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        Self::from_i64(self.to_i64().wrapping_sub(other.to_i64()))
    }
}

impl Lane for u32 {
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
    fn prefix_sum(values: &mut [Self], before: Self, least: Self) -> Self {
        kernels::prefix_sum_u32(values, before, least)
    }

    #[inline]
    fn unpack(packed: &[u8], width: u32, first: usize, n: usize, out: &mut Vec<Self>) {
        if width <= 32 {
            return kernels::unpack_u32(packed, width, first, n, out);
        }
        out.extend((first..first + n).map(|i| kernels::get_packed(packed, width, i) as u32));
    }
}

impl Lane for u64 {
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
    fn prefix_sum(values: &mut [Self], before: Self, least: Self) -> Self {
        kernels::prefix_sum_u64(values, before, least)
    }

    #[inline]
    fn unpack(packed: &[u8], width: u32, first: usize, n: usize, out: &mut Vec<Self>) {
        kernels::unpack_u64(packed, width, first, n, out);
    }
}
