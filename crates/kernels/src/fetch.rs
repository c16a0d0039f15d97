//! Bytes that are wanted soon: a loop that has much to do for each value does not see far ahead of itself.

/// Asks the CPU for the cache lines of `bytes`, one after the other, and waits for none.
#[inline(always)]
pub fn fetch(bytes: &[u8]) {
    #[cfg(target_arch = "x86_64")]
    for line in bytes.chunks(LINE) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint, which reads nothing. SSE is part of x86-64.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    std::hint::black_box(bytes.iter().step_by(LINE).fold(0, |all, byte| all | byte));
}

/// Fetches a PLAIN string of some hundred bytes, on the way to the next one.
///
/// PERF: where that one is, only the length of this one tells: from length to length, each would come from memory alone, in
/// the time of ten lines that are read in order, which the CPU fetches ahead. The string is wanted soon in any case. Whoever reads
/// all of it on the way need not do this.
#[inline(always)]
pub fn fetch_on_the_way(string: &[u8]) {
    if (256..=4096).contains(&string.len()) {
        fetch(string);
    }
}

/// Bytes to fetch at a time: about as many cache lines as a CPU waits for at once.
pub const FETCHED: usize = 2 << 10;
/// Bytes in a cache line.
const LINE: usize = 64;
