//! The error of all benchmarks.

/// Any failure, with its message: a benchmark has nobody to tell kinds of errors apart for.
pub(crate) type Error = Box<dyn std::error::Error + Send + Sync>;
pub(crate) type Result<T> = std::result::Result<T, Error>;
