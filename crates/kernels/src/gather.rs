//! Dictionary lookup: replaces indices by values.

use crate::copy::{LONG_COPY_BYTES, put};
use crate::signatures::Kernels;
use crate::views::rebased;

impl Kernels {
    /// `max_u32` at this level.
    pub fn max_u32(&self, values: &[u32]) -> u32 {
        // SAFETY: this CPU has the level of this table.
        unsafe { (self.max_u32)(values) }
    }

    /// `gather` at this level.
    pub fn gather<T: Copy>(&self, dictionary: &[T], indices: &[u32], out: &mut Vec<T>) -> Result<(), u32> {
        gather_with(self, dictionary, indices, out, |value| value)
    }

    /// `gather_views` at this level.
    pub fn gather_views(
        &self,
        dictionary: &[u128],
        indices: &[u32],
        base: u32,
        out: &mut Vec<u128>,
    ) -> Result<(), u32> {
        match base {
            0 => self.gather(dictionary, indices, out),
            _ => gather_with(self, dictionary, indices, out, |view| rebased(view, base)),
        }
    }
}

#[inline(always)]
pub(crate) fn max_u32_scalar(values: &[u32]) -> u32 {
    values.iter().copied().fold(0, u32::max)
}

#[inline(always)]
fn gather_with<T: Copy>(
    kernels: &Kernels,
    dictionary: &[T],
    indices: &[u32],
    out: &mut Vec<T>,
    change: impl Fn(T) -> T,
) -> Result<(), u32> {
    let max = kernels.max_u32(indices);
    if max as usize >= dictionary.len() && !indices.is_empty() {
        return Err(max);
    }
    out.extend(indices.iter().map(|&index| {
        // SAFETY: the largest of the indices was compared with the length above.
        change(unsafe { *dictionary.get_unchecked(index as usize) })
    }));
    Ok(())
}

/// `gather` for values of `width` bytes each.
///
/// # Panics
/// If an index is not in the dictionary.
pub fn gather_fixed(dictionary: &[u8], width: usize, indices: &[u32], out: &mut Vec<u8>) {
    let total = indices.len() * width;
    out.reserve(total + LONG_COPY_BYTES);
    let to = out.spare_capacity_mut();
    for (i, &index) in indices.iter().enumerate() {
        put(&dictionary[index as usize * width..], width, &mut to[i * width..]);
    }
    // SAFETY: `total` bytes were written, value by value without a gap.
    unsafe { out.set_len(out.len() + total) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_become_values() {
        let mut out = vec![0u64];
        assert_eq!(Kernels::current().gather(&[10, 20, 30], &[2, 0, 2], &mut out), Ok(()));
        assert_eq!(out, [0, 30, 10, 30]);
        let mut out = Vec::new();
        gather_fixed(b"abcdef", 2, &[2, 0], &mut out);
        assert_eq!(out, b"efab");
    }

    #[test]
    fn an_index_outside_is_refused() {
        let mut out = vec![7];
        assert_eq!(Kernels::current().gather(&[10u32], &[0, 1], &mut out), Err(1));
        assert_eq!(Kernels::current().gather(&[], &[0], &mut out), Err(0));
        assert_eq!(Kernels::current().gather(&[], &[], &mut out), Ok(()));
        assert_eq!(out, [7]);
    }

    #[test]
    fn only_long_views_have_a_buffer() {
        let (short, long) =
            (crate::views::inline_view(b"short"), crate::views::long_view(b"more than twelve", 1, 5));
        let mut out = Vec::new();
        assert_eq!(Kernels::current().gather_views(&[short, long], &[1, 0], 2, &mut out), Ok(()));
        assert_eq!(out, [crate::views::long_view(b"more than twelve", 3, 5), short]);
    }
}
