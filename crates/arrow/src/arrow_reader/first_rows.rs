//! The row number in the file of the first row of each row group.

use marquetry_core::metadata::ParquetMetaData;

/// Counts rows from the row group of the last call on, as a footer may have very many row groups.
#[derive(Debug, Default)]
pub(super) struct FirstRows {
    row_group: usize,
    row: u64,
}

impl FirstRows {
    /// Returns the number of the first row of `row_group`.
    pub(super) fn of(&mut self, metadata: &ParquetMetaData, row_group: usize) -> u64 {
        if row_group < self.row_group {
            *self = FirstRows::default();
        }
        for before in self.row_group..row_group {
            self.row = self.row.saturating_add(metadata.row_group(before).num_rows());
        }
        self.row_group = row_group;
        self.row
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use marquetry_base::Limits;
    use marquetry_format::{FileMetaData, RowGroup, SchemaElement};

    #[test]
    fn in_any_order_and_more_than_once() {
        let root = SchemaElement { name: "r".into(), ..SchemaElement::default() };
        let row_groups =
            [3, 0, 5, i64::MAX, 7].map(|num_rows| RowGroup { num_rows, ..RowGroup::default() }).to_vec();
        let thrift = FileMetaData { schema: vec![root], row_groups, ..FileMetaData::default() };
        let metadata = ParquetMetaData::from_thrift(thrift, &Limits::default()).unwrap();
        let mut first_rows = FirstRows::default();
        for (row_group, row) in [(2, 3), (2, 3), (4, i64::MAX as u64 + 8), (0, 0), (1, 3), (3, 8)] {
            assert_eq!(first_rows.of(&metadata, row_group), row, "{row_group}");
        }
    }
}
