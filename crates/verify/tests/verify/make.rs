//! Good files to be broken: all that a footer must say is said, and true.

use crate::chunk::file::{File, group, leaf, root};
use crate::chunk::{Column, Layout, Page, pages};
use bytes::Bytes;
use marquetry_encoding::{PhysicalType, StringViews, Values};
use marquetry_format::{
    ColumnChunk, ColumnIndex, ColumnMetaData, ColumnOrder, Encoding, OffsetIndex, PageLocation, Repetition,
    SchemaElement, Writer,
};

/// A file that is to be written: its schema, and the pages of each column.
pub(crate) struct Make {
    pub(crate) schema: Vec<SchemaElement>,
    pub(crate) columns: Vec<(Column, Vec<String>)>,
    pub(crate) rows: usize,
    pub(crate) layout: Layout,
}

/// A file that was written, to be edited.
pub(crate) struct Made {
    pub(crate) file: File,
    pub(crate) pages: Vec<Vec<Page>>,
}

impl Make {
    /// A column `x`.
    pub(crate) fn flat(column: Column, layout: Layout) -> Make {
        let repetition = if column.max_def > 0 { Repetition::OPTIONAL } else { Repetition::REQUIRED };
        let schema = vec![root(1), leaf("x", repetition, column.physical)];
        let rows = column.len();
        Make { schema, columns: vec![(column, vec!["x".into()])], rows, layout }
    }

    /// 0 to 9 in two pages.
    pub(crate) fn ints() -> Make {
        Make::flat(Column::ints(0..10), Layout { cuts: vec![5], ..Layout::default() })
    }

    /// The same, with a null in the page at 5.
    pub(crate) fn optional() -> Make {
        let words: Vec<_> = (0..10).map(|i| (i != 5).then_some(i)).collect();
        Make::flat(
            Column::flat(PhysicalType::Int32, &words, true),
            Layout { cuts: vec![5], ..Layout::default() },
        )
    }

    /// Byte strings.
    pub(crate) fn strings(strings: &[&[u8]]) -> Make {
        let mut views = StringViews::new();
        strings.iter().for_each(|string| views.push(string));
        let mut column = Column::ints(0..strings.len() as u32);
        column.physical = PhysicalType::ByteArray;
        column.values = Values::Bytes(views);
        Make::flat(column, Layout::default())
    }

    /// A list `l` of required integers: the groups are given.
    pub(crate) fn list(outer: SchemaElement, repeated: &str, element: &str, rep: &[u8], def: &[u8]) -> Make {
        let mut column = Column::ints(0..def.iter().filter(|def| **def == 1).count() as u32);
        (column.max_rep, column.max_def) = (1, 1);
        (column.rep, column.def) = (rep.to_vec(), def.to_vec());
        let path = [&outer.name, repeated, element].map(str::to_owned).to_vec();
        let schema = vec![
            root(1),
            outer,
            group(repeated, Repetition::REPEATED, 1),
            leaf(element, Repetition::REQUIRED, PhysicalType::Int32),
        ];
        let rows = rep.iter().filter(|rep| **rep == 0).count();
        Make { schema, columns: vec![(column, path)], rows, layout: Layout::default() }
    }

    /// Annotates the last field.
    pub(crate) fn annotated(mut self, annotate: impl FnOnce(&mut SchemaElement)) -> Make {
        annotate(self.schema.last_mut().unwrap());
        self
    }

    /// The file as it should be.
    pub(crate) fn good(&self) -> Made {
        self.of(|_| ())
    }

    /// The file with other pages, and a footer that describes them correctly.
    pub(crate) fn of(&self, edit: impl FnOnce(&mut Vec<Page>)) -> Made {
        let mut file = File::new(self.schema.clone());
        let mut all = Vec::new();
        let mut edit = Some(edit);
        for (column, path) in &self.columns {
            let mut pages = pages(column, &self.layout);
            if let Some(edit) = edit.take() {
                edit(&mut pages);
            }
            file.push_pages(column, self.rows, self.layout.codec, &pages);
            let plain = pages
                .iter()
                .map(|page| page.header_len() as i64 + i64::from(page.header.uncompressed_page_size));
            let plain = plain.sum();
            let row_group = file.metadata.row_groups.len() - 1;
            let meta = file.chunk(row_group);
            meta.total_uncompressed_size = plain;
            meta.path_in_schema = path.iter().map(|name| name.as_str().into()).collect();
            meta.encodings = vec![Encoding(self.layout.encoding), Encoding::PLAIN, Encoding::RLE];
            file.metadata.row_groups[row_group].total_byte_size = plain;
            all.push(pages);
        }
        // Each was written as a row group of its own.
        let others = file.metadata.row_groups.split_off(1);
        for other in others {
            file.metadata.row_groups[0].columns.extend(other.columns);
            file.metadata.row_groups[0].total_byte_size += other.total_byte_size;
        }
        file.metadata.num_rows = self.rows as i64;
        file.metadata.column_orders = Some(vec![ColumnOrder::TypeOrder; self.columns.len()]);
        Made { file, pages: all }
    }
}

impl Made {
    pub(crate) fn chunk(&mut self) -> &mut ColumnChunk {
        &mut self.file.metadata.row_groups[0].columns[0]
    }

    pub(crate) fn meta(&mut self) -> &mut ColumnMetaData {
        self.file.chunk(0)
    }

    /// Appends an offset index, which is right except for what `edit` changes.
    pub(crate) fn with_offset_index(mut self, edit: impl FnOnce(&mut OffsetIndex)) -> Made {
        let mut row = 0;
        let mut index = OffsetIndex::default();
        for (page, offset) in self.pages[0].iter_mut().zip(&self.file.offsets[0]) {
            if page.is_data() {
                let size = page.header_len() + page.body.len();
                index.page_locations.push(PageLocation {
                    offset: *offset as i64,
                    compressed_page_size: size as i32,
                    first_row_index: row,
                });
                row += i64::from(page.v1().num_values);
            }
        }
        edit(&mut index);
        let mut writer = Writer::new();
        index.write(&mut writer);
        let (offset, len) = self.append(&writer.finish());
        self.chunk().offset_index_offset = Some(offset);
        self.chunk().offset_index_length = Some(len);
        self
    }

    pub(crate) fn with_column_index(mut self, index: &ColumnIndex) -> Made {
        let mut writer = Writer::new();
        index.write(&mut writer);
        let (offset, len) = self.append(&writer.finish());
        self.chunk().column_index_offset = Some(offset);
        self.chunk().column_index_length = Some(len);
        self
    }

    /// Appends bytes behind the pages. Returns where they are and how many.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> (i64, i32) {
        let offset = self.file.bytes.len() as i64;
        self.file.bytes.extend_from_slice(bytes);
        (offset, bytes.len() as i32)
    }

    /// The file after an edit of the footer.
    pub(crate) fn edited(mut self, edit: impl FnOnce(&mut Made)) -> Bytes {
        edit(&mut self);
        self.file.finish()
    }

    pub(crate) fn finish(&self) -> Bytes {
        self.file.finish()
    }
}

/// The column index of [`Make::ints`].
pub(crate) fn column_index() -> ColumnIndex {
    let bytes = |n: i32| n.to_le_bytes().to_vec();
    ColumnIndex {
        null_pages: vec![false, false],
        min_values: vec![bytes(0), bytes(5)],
        max_values: vec![bytes(4), bytes(9)],
        boundary_order: marquetry_format::BoundaryOrder::ASCENDING,
        null_counts: Some(vec![0, 0]),
        ..ColumnIndex::default()
    }
}
