//! Little-endian words and their bytes, which are the same memory because all targets are little-endian.

use crate::uninit::append;
use std::mem::MaybeUninit;

/// A word of `W` bytes.
///
/// # Safety
/// Implementers have the size of `W` bytes, no padding, and a value for any bits.
pub(crate) unsafe trait Word<const W: usize>: Copy + Default {
    /// Creates the word with these bytes.
    fn from_bytes(bytes: [u8; W]) -> Self;

    /// Writes the words of `bytes` to `out`.
    ///
    /// # Panics
    /// If their numbers differ.
    fn copy(bytes: &[[u8; W]], out: &mut [MaybeUninit<Self>]) {
        const { assert!(size_of::<Self>() == W) };
        assert_eq!(bytes.len(), out.len());
        // SAFETY: both have the same number of elements of `W` bytes. They do not overlap, because `out` is borrowed mutably.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), out.as_mut_ptr().cast(), bytes.len()) };
    }
}

// SAFETY: 4 bytes without padding; any bits are an integer.
unsafe impl Word<4> for u32 {
    fn from_bytes(bytes: [u8; 4]) -> Self {
        u32::from_le_bytes(bytes)
    }
}

// SAFETY: as above, for 8 bytes.
unsafe impl Word<8> for u64 {
    fn from_bytes(bytes: [u8; 8]) -> Self {
        u64::from_le_bytes(bytes)
    }
}

// SAFETY: as above, for 16 bytes.
unsafe impl Word<16> for u128 {
    fn from_bytes(bytes: [u8; 16]) -> Self {
        u128::from_le_bytes(bytes)
    }
}

/// Returns the bytes of words.
pub(crate) fn bytes_of<T: Word<W>, const W: usize>(words: &[T]) -> &[[u8; W]] {
    const { assert!(size_of::<T>() == W) };
    // SAFETY: the same memory, as many times `W` bytes, all of which are initialized; bytes need no alignment.
    unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), words.len()) }
}

/// Appends little-endian words, given as bytes.
pub fn copy_u32(bytes: &[[u8; 4]], out: &mut Vec<u32>) {
    // SAFETY: `copy` writes all that it is given.
    unsafe { append(out, bytes.len(), |spare| u32::copy(bytes, spare)) };
}

/// [`copy_u32`] for 64 bits.
pub fn copy_u64(bytes: &[[u8; 8]], out: &mut Vec<u64>) {
    // SAFETY: as above.
    unsafe { append(out, bytes.len(), |spare| u64::copy(bytes, spare)) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_their_bytes() {
        let words: Vec<u64> = (0..100).map(|i| i << 33 | i).collect();
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        assert_eq!(bytes_of(&words).as_flattened(), bytes);
        let mut out = vec![7];
        copy_u64(bytes.as_chunks().0, &mut out);
        assert_eq!(out[1..], words);
        // Not aligned.
        let mut out = vec![7];
        copy_u32(bytes[1..].as_chunks().0, &mut out);
        let expected = bytes[1..].chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap()));
        assert!(out[1..].iter().copied().eq(expected));
    }
}
