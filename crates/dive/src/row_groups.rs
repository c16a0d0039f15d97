//! The row groups.

use crate::columns::Columns;
use crate::opened_file::OpenedFile;
use crate::screen::Screen;
use marquetry_base::counted;
use marquetry_inspect::{ShownBytes, ShownCount};
use std::rc::Rc;

/// The row groups of the file.
pub(crate) struct RowGroups {
    file: Rc<OpenedFile>,
}

impl RowGroups {
    pub(crate) fn new(file: Rc<OpenedFile>) -> Self {
        RowGroups { file }
    }
}

impl Screen for RowGroups {
    fn title(&self) -> String {
        "row groups".to_owned()
    }

    fn headings(&self) -> Vec<String> {
        [">row group", ">rows", ">columns", ">first byte", ">compressed", ">uncompressed"]
            .map(str::to_owned)
            .to_vec()
    }

    fn len(&self) -> (usize, bool) {
        (self.file.metadata().num_row_groups(), true)
    }

    fn row(&mut self, index: usize) -> Vec<String> {
        let first = self.byte(index).map(|at| ShownCount(at).to_string()).unwrap_or_default();
        let group = self.file.metadata().row_group(index);
        let compressed = group.head().total_compressed_size.and_then(|size| u64::try_from(size).ok());
        vec![
            index.to_string(),
            ShownCount(group.num_rows()).to_string(),
            group.num_columns().to_string(),
            first,
            compressed.map(|size| ShownBytes(size).to_string()).unwrap_or_default(),
            ShownBytes(u64::try_from(group.total_byte_size()).unwrap_or(0)).to_string(),
        ]
    }

    fn about(&mut self, index: usize) -> String {
        let group = self.file.metadata().row_group(index);
        let sorted = match group.sorting_columns() {
            [] => "the writer declares no order".to_owned(),
            columns => {
                let name = |column: &marquetry_format::SortingColumn| {
                    usize::try_from(column.column_idx)
                        .ok()
                        .filter(|i| *i < self.file.metadata().schema().num_columns())
                        .map_or("?".to_owned(), |i| self.file.column_name(i))
                };
                format!("sorted by {}", columns.iter().map(name).collect::<Vec<_>>().join(", "))
            }
        };
        let rows = counted(ShownCount(group.num_rows()), "row");
        format!("{rows}, {sorted}. parquet.thrift, RowGroup.")
    }

    fn can_enter(&self, _: usize) -> bool {
        true
    }

    fn enter(&mut self, index: usize) -> Option<Box<dyn Screen>> {
        Some(Box::new(Columns::new(self.file.clone(), Some(index))))
    }

    fn byte(&mut self, index: usize) -> Option<u64> {
        let group = self.file.metadata().row_group(index);
        let columns = self.file.metadata().schema().num_columns();
        (columns > 0)
            .then(|| group.column(0).and_then(|chunk| chunk.byte_range()).ok())?
            .map(|range| range.start)
    }
}
