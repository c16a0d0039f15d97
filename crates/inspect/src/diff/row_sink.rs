//! The trait of what takes the row hashes of a file.

use marquetry_base::Result;

/// A log of rows in the making.
pub(crate) trait RowSink {
    /// Adds rows in their order: a hash of the key of each, if there is one, and of all values.
    fn add(&mut self, keys: &[u64], rows: &[u64]) -> Result<()>;
}
