//! CPU prefetch of bytes that are needed soon. In a loop with much work for each value, the CPU itself does not read far ahead.

/// Prefetches the cache lines of `bytes` in order, without waiting for them.
#[inline(always)]
pub fn prefetch(bytes: &[u8]) {
    #[cfg(target_arch = "x86_64")]
    for line in bytes.chunks(CACHE_LINE_BYTES) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint, which reads nothing. SSE is part of x86-64.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    std::hint::black_box(bytes.iter().step_by(CACHE_LINE_BYTES).fold(0, |all, byte| all | byte));
}

/// Prefetches a PLAIN string of some hundred bytes, so that the length field after it arrives early.
///
/// PERF: the position of the next string depends on the length of this one. Reading only the length fields would wait
/// for memory at each of them, for as long as it takes to read ten cache lines in order, which the CPU prefetches
/// itself. The string is needed soon anyway. A caller that reads the whole string at once does not need this.
#[inline(always)]
pub fn prefetch_next_string(string: &[u8]) {
    if (256..=4096).contains(&string.len()) {
        prefetch(string);
    }
}

/// Number of bytes to prefetch at a time: about as many cache lines as a CPU can wait for at once.
pub const PREFETCH_BYTES: usize = 2 << 10;
/// Number of bytes in a cache line.
const CACHE_LINE_BYTES: usize = 64;
