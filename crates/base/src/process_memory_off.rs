//! What takes the place of asking the system in a build without the feature `fs`.

/// Bytes that readers of this process may hold together if nothing else was said: a quarter of a machine of 16 GiB, or of what can be
/// addressed.
pub(crate) fn default_limit() -> usize {
    usize::try_from(4_u64 << 30).unwrap_or(usize::MAX / 4)
}
