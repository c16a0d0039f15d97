//! Prefix sums: turn deltas into values.

use crate::signatures::Kernels;

impl Kernels {
    /// `prefix_sum_u32` at this level.
    pub fn prefix_sum_u32(&self, values: &mut [u32], before: u32, least: u32) -> u32 {
        // SAFETY: this CPU has the level of this table.
        unsafe { (self.prefix_sum_u32)(values, before, least) }
    }

    /// `prefix_sum_u64` at this level.
    pub fn prefix_sum_u64(&self, values: &mut [u64], before: u64, least: u64) -> u64 {
        // SAFETY: this CPU has the level of this table.
        unsafe { (self.prefix_sum_u64)(values, before, least) }
    }
}

#[inline(always)]
pub(crate) fn prefix_sum_u32_scalar(values: &mut [u32], before: u32, least: u32) -> u32 {
    values.iter_mut().fold(before, |sum, value| {
        *value = sum.wrapping_add(value.wrapping_add(least));
        *value
    })
}

#[inline(always)]
pub(crate) fn prefix_sum_u64_scalar(values: &mut [u64], before: u64, least: u64) -> u64 {
    values.iter_mut().fold(before, |sum, value| {
        *value = sum.wrapping_add(value.wrapping_add(least));
        *value
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deltas_become_values() {
        let mut values = [0, 1, 0, 5];
        assert_eq!(Kernels::current().prefix_sum_u32(&mut values, 100, 0u32.wrapping_sub(2)), 98);
        assert_eq!(values, [98, 97, 95, 98]);
        assert_eq!(Kernels::current().prefix_sum_u64(&mut [], 7, 1), 7);
    }
}
