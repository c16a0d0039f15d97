//! Dictionary lookup: replaces indices by values.

use crate::copy::{LONG_COPY_BYTES, put};
use crate::signatures::{Kernels, SMALL_DICTIONARY};
use crate::uninit::append;
use crate::views::rebased;

impl Kernels {
    /// `max_u32` at this level.
    pub fn max_u32(&self, values: &[u32]) -> u32 {
        // SAFETY: this CPU has the level of this table.
        unsafe { (self.max_u32)(values) }
    }

    /// Checks that all indices are below `len`. If not, the error is the largest index.
    pub(crate) fn check_indices(&self, indices: &[u32], len: usize) -> Result<(), u32> {
        let max = self.max_u32(indices);
        if max as usize >= len && !indices.is_empty() { Err(max) } else { Ok(()) }
    }

    /// `gather` at this level.
    pub fn gather<T: Copy>(&self, dictionary: &[T], indices: &[u32], out: &mut Vec<T>) -> Result<(), u32> {
        gather_with(self, dictionary, indices, out, |value| value)
    }

    /// `gather_u32` at this level.
    pub fn gather_u32(&self, dictionary: &[u32], indices: &[u32], out: &mut Vec<u32>) -> Result<(), u32> {
        let Some(gather_small) = self.gather_small_u32.filter(|_| dictionary.len() <= SMALL_DICTIONARY)
        else {
            return self.gather(dictionary, indices, out);
        };
        self.check_indices(indices, dictionary.len())?;
        let mut small = [0; SMALL_DICTIONARY];
        small[..dictionary.len()].copy_from_slice(dictionary);
        // SAFETY: this CPU has the level of this table, whose loops write all they are given.
        unsafe { append(out, indices.len(), |out| gather_small(&small, indices, out)) };
        Ok(())
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
    kernels.check_indices(indices, dictionary.len())?;
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

    #[test]
    fn small_dictionaries_are_looked_up_alike_at_all_levels() {
        for len in (1..=SMALL_DICTIONARY + 2).chain([100]) {
            let dictionary: Vec<u32> = (0..len as u32).map(|i| i * i + 1).collect();
            for n in [0, 1, 7, 8, 15, 16, 17, 70] {
                let mut indices: Vec<u32> = (0..n).map(|i| (i * 7 + i / 3) % len as u32).collect();
                let expected = indices.iter().map(|&i| dictionary[i as usize]);
                for kernels in Kernels::all_available() {
                    let mut out = vec![9];
                    assert_eq!(kernels.gather_u32(&dictionary, &indices, &mut out), Ok(()));
                    assert!(out[1..].iter().copied().eq(expected.clone()), "{kernels:?}: {n} of {len}");
                }
                if let Some(last) = indices.last_mut() {
                    *last = len as u32;
                    for kernels in Kernels::all_available() {
                        let mut out = vec![9];
                        assert_eq!(kernels.gather_u32(&dictionary, &indices, &mut out), Err(len as u32));
                        assert_eq!(out, [9]);
                    }
                }
            }
        }
    }
}
