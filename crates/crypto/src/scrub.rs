//! Wipes the stack behind work with keys: ciphers have round keys there while they work, and the first is the key itself.

/// Does `work`, and overwrites what it has left below.
pub(crate) fn scrubbed<T>(work: impl FnOnce() -> T) -> T {
    let done = apart(work);
    overwrite();
    done
}

/// In a frame of its own, which the next one takes the place of.
#[inline(never)]
fn apart<T>(work: impl FnOnce() -> T) -> T {
    work()
}

#[inline(never)]
fn overwrite() {
    std::hint::black_box(&mut [0u8; DEPTH]);
}

/// Twice what was measured: the round keys of RustCrypto's, copied for 16 blocks at a time by AVX-512, are up to 10 KiB deep. It takes less than
/// half a microsecond. The test `key_memory` finds what lies deeper.
const DEPTH: usize = 20 << 10;
