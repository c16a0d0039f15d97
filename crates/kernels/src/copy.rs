//! Copies of short byte strings, without a branch on their length.
//!
//! Most strings are short. A copy of variable length is a call with a branch that the CPU cannot predict, for a few
//! bytes. So these functions copy [`SHORT_COPY_BYTES`] bytes wherever source and target have that many, and the caller
//! writes the next string over the excess.

use crate::uninit::put_chunk;
use std::mem::MaybeUninit;

/// Number of bytes that are copied at once for most strings.
pub(crate) const SHORT_COPY_BYTES: usize = 32;
/// Number of bytes that are copied at once for longer strings, such as URLs. Loops that write strings end to end
/// reserve this much memory behind them. A caller that reserves the memory beforehand, fallibly, has to add it.
pub const LONG_COPY_BYTES: usize = 128;

/// Copies the first `len` bytes of `source` to the beginning of `to`, and possibly some more if both have that many.
#[inline(always)]
pub(crate) fn put(source: &[u8], len: usize, to: &mut [MaybeUninit<u8>]) {
    if len <= SHORT_COPY_BYTES
        && let (Some(chunk), Some(to)) = (source.first_chunk::<SHORT_COPY_BYTES>(), to.first_chunk_mut())
    {
        put_chunk(chunk, to);
    } else if len <= LONG_COPY_BYTES
        && let (Some(chunk), Some(to)) = (source.first_chunk::<LONG_COPY_BYTES>(), to.first_chunk_mut())
    {
        put_chunk(chunk, to);
    } else {
        copy_exact(&source[..len], &mut to[..len]);
    }
}

/// Copies all of `from` to `to`, which has the same length.
///
/// PERF: only the last strings of a page's buffer come here, but a small dictionary has hardly any others. Two
/// overlapping copies of constant length are faster than a call that has to look at the length.
#[inline(never)]
fn copy_exact(from: &[u8], to: &mut [MaybeUninit<u8>]) {
    match from.len() {
        16..=32 => copy_ends::<16>(from, to),
        33..=64 => copy_ends::<32>(from, to),
        _ => _ = to.write_copy_of_slice(from),
    }
}

/// Copies the first and the last `N` bytes of `from`, which may overlap.
#[inline(always)]
fn copy_ends<const N: usize>(from: &[u8], to: &mut [MaybeUninit<u8>]) {
    for at in [0, from.len() - N] {
        let (chunk, to) = (from[at..].first_chunk(), to[at..].first_chunk_mut::<N>());
        put_chunk(chunk.expect("longer than N"), to.expect("as long"));
    }
}

/// Appends the first `len` bytes of `padded`.
///
/// PERF: strings are short. If more bytes follow a string, a copy of constant length takes some of them, too.
///
/// # Panics
/// If `padded` has fewer than `len` bytes.
#[inline]
pub fn push_padded(padded: &[u8], len: usize, out: &mut Vec<u8>) {
    match padded.first_chunk::<PADDED_COPY_BYTES>() {
        Some(chunk) if len <= PADDED_COPY_BYTES => {
            let end = out.len() + len;
            out.extend_from_slice(chunk);
            out.truncate(end);
        }
        _ => out.extend_from_slice(&padded[..len]),
    }
}

/// Number of bytes that [`push_padded`] copies at once.
const PADDED_COPY_BYTES: usize = 64;
