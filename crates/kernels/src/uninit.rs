//! Writing to uninitialized memory: the spare capacity of vectors.

use std::mem::MaybeUninit;

/// Appends `n` elements that `fill` writes into uninitialized memory.
///
/// # Safety
/// `fill` must write every element of the slice it is given.
#[inline(always)]
pub(crate) unsafe fn append<T: Copy>(out: &mut Vec<T>, n: usize, fill: impl FnOnce(&mut [MaybeUninit<T>])) {
    out.reserve(n);
    fill(&mut out.spare_capacity_mut()[..n]);
    // SAFETY: capacity for `n` more elements was reserved, and they were written.
    unsafe { out.set_len(out.len() + n) };
}

/// Writes all of `to`.
///
/// PERF: without link-time optimization the compiler does not inline a slice copy or a bytewise copy of the array. It
/// then is a call that costs ten times as much.
#[inline(always)]
pub(crate) fn put_chunk<T: Copy, const N: usize>(chunk: &[T; N], to: &mut [MaybeUninit<T>; N]) {
    // SAFETY: both are arrays of N values; the old value of `to` needs no drop.
    unsafe { *to.as_mut_ptr().cast() = *chunk };
}
