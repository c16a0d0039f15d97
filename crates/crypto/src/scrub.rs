//! Wipes the stack after work with keys: ciphers keep round keys there while they work, and the first round key is the key itself.

/// Does `work` and overwrites what it has left on the stack below this frame.
pub(crate) fn scrubbed<T>(work: impl FnOnce() -> T) -> T {
    let done = apart(work);
    overwrite();
    done
}

/// Does `work` in a frame of its own, which the next call overwrites.
#[inline(never)]
fn apart<T>(work: impl FnOnce() -> T) -> T {
    work()
}

#[inline(never)]
fn overwrite() {
    std::hint::black_box(&mut [0u8; DEPTH]);
}

/// Number of bytes to overwrite, twice the depth that was measured: the round keys of RustCrypto, copied for 16 blocks at a time
/// with AVX-512, are up to 10 KiB deep. Takes less than half a microsecond. The test `key_memory` finds keys that lie deeper.
const DEPTH: usize = 20 << 10;
