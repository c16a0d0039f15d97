//! Memory is measured: what an input costs must be in proportion to what it is.

use peak_alloc::PeakAlloc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Runs `run`, and panics if it took more than `allowed` bytes at any time.
pub(crate) fn earned<R>(allowed: usize, run: impl FnOnce() -> R) -> R {
    MEMORY.reset_peak_usage();
    let before = MEMORY.current_usage();
    let result = run();
    let peak = MEMORY.peak_usage().saturating_sub(before);
    assert!(peak <= allowed, "{peak} bytes of memory, {allowed} earned");
    result
}
