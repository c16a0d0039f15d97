//! Replaces asking the system in a build without the feature `fs`.

/// The default budget of the readers of this process, in bytes: a quarter of 16 GiB, or of the address space if that is smaller.
pub(crate) fn default_limit() -> usize {
    usize::try_from(4_u64 << 30).unwrap_or(usize::MAX / 4)
}
