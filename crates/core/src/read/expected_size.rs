//! Estimates the memory that a batch needs, so that it is reserved at once: growing copies, and leaves holes behind.

use crate::metadata::ParquetMetaData;
use marquetry_encoding::Shape;

/// Sizes of a batch that do not follow from its number of rows.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ExpectedSize {
    /// Bytes of strings in the layout with offsets.
    pub(super) string_bytes: usize,
    /// Entries of a nested column.
    pub(super) entries: usize,
}

/// Sizes of the chunks of one column that will be read, as the footer states them, limited by the bytes in the file.
///
/// A footer may claim any number of rows. Memory is reserved for no more of them than [`BYTES_PER_STORED_BYTE`] allows;
/// batches that need more, such as long runs of one value, grow while they are decoded.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct StoredSize {
    rows: u64,
    entries: u64,
    stored_bytes: u64,
    string_bytes: u64,
}

impl StoredSize {
    /// Adds up the chunks of column `leaf`, from the first of these row groups on, until they have `rows` rows. The
    /// file has `file_bytes` bytes.
    pub(super) fn of(
        metadata: &ParquetMetaData,
        leaf: usize,
        row_groups: impl Iterator<Item = usize>,
        rows: usize,
        file_bytes: u64,
    ) -> Self {
        let mut size = StoredSize::default();
        for row_group in row_groups {
            if size.rows >= rows as u64 {
                break;
            }
            let row_group = metadata.row_group(row_group);
            let Ok(chunk) = row_group.column(leaf) else { continue };
            let of = |number: i64| u64::try_from(number).unwrap_or(0);
            let text = chunk.size_statistics().and_then(|sizes| sizes.unencoded_byte_array_data_bytes);
            size.rows = size.rows.saturating_add(row_group.num_rows());
            size.entries = size.entries.saturating_add(of(chunk.num_values()));
            size.stored_bytes = size.stored_bytes.saturating_add(of(chunk.compressed_size()));
            size.string_bytes = size.string_bytes.saturating_add(of(text.unwrap_or(0)));
        }
        StoredSize { stored_bytes: size.stored_bytes.min(file_bytes), ..size }
    }

    /// Returns for how many of `rows` rows, of `bytes` bytes each, to reserve memory.
    pub(super) fn rows(&self, rows: usize, bytes: usize) -> usize {
        rows.min(self.most_bytes() / bytes.max(1))
    }

    /// Estimates the sizes of the next `rows` rows, with `bytes` bytes for an entry, assuming that rows are alike.
    pub(super) fn of_rows(&self, rows: usize, bytes: usize) -> ExpectedSize {
        let part = |all: u64| {
            let part = u128::from(all) * rows as u128 / u128::from(self.rows.max(1));
            usize::try_from(part.min(u128::from(all))).unwrap_or(usize::MAX)
        };
        ExpectedSize {
            string_bytes: part(self.string_bytes).min(self.most_bytes()),
            entries: self.rows(part(self.entries), bytes),
        }
    }

    fn most_bytes(&self) -> usize {
        usize::try_from(self.stored_bytes.saturating_mul(BYTES_PER_STORED_BYTE)).unwrap_or(usize::MAX)
    }
}

/// Returns for how many of `rows` rows of `shape` to reserve memory, whatever the footer states. A schema may claim any
/// width.
pub(super) fn usual_rows(rows: usize, shape: Shape) -> usize {
    rows.min(RESERVED_ROWS).min(RESERVED_BYTES / width(shape))
}

/// Returns the bytes of a value in a batch; at least 1.
pub(super) fn width(shape: Shape) -> usize {
    match shape {
        Shape::Bit => 1,
        Shape::W32 => 4,
        Shape::W64 => 8,
        Shape::Bytes => 16,
        Shape::Fixed(width) => width.max(1),
    }
}

/// Bytes of a definition level and a repetition level.
pub(super) const LEVEL_BYTES: usize = 2;
/// Maximum rows to reserve memory for, whatever the footer states: those of a batch of usual size.
pub(super) const RESERVED_ROWS: usize = 1 << 16;
/// Maximum bytes to reserve for the values of these rows: enough for the widest common type.
const RESERVED_BYTES: usize = 1 << 20;
/// Maximum bytes to reserve per stored byte: enough for 8-byte values stored in two bits each.
const BYTES_PER_STORED_BYTE: u64 = 32;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_width_that_a_schema_claims_reserves_nothing() {
        assert_eq!(usual_rows(8192, Shape::Fixed(i32::MAX as usize)), 0);
        assert_eq!(usual_rows(8192, Shape::W64), 8192);
    }

    #[test]
    fn what_a_footer_claims_is_held_against_the_bytes_that_are_stored() {
        let honest = StoredSize { rows: 1000, entries: 2000, stored_bytes: 8000, string_bytes: 500 };
        assert_eq!(honest.rows(1000, 10), 1000);
        let half = honest.of_rows(500, 10);
        assert_eq!((half.entries, half.string_bytes), (1000, 250));
        let claimed = StoredSize { rows: 1 << 60, entries: 1 << 60, stored_bytes: 10, string_bytes: 1 << 60 };
        assert_eq!(claimed.rows(usize::MAX, 10), 32);
        let all = claimed.of_rows(usize::MAX, 10);
        assert_eq!((all.entries, all.string_bytes), (32, 320));
    }
}
