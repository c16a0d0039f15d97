//! Columns: of a row group, of the whole file, or one column in all row groups.

use crate::chunk::Chunk;
use crate::opened_file::OpenedFile;
use crate::screen::Screen;
use crate::text::shown;
use marquetry_inspect::{ShownBytes, ShownCount, value_texts};
use std::collections::BTreeSet;
use std::rc::Rc;

/// A list of columns.
pub(crate) struct Columns {
    file: Rc<OpenedFile>,
    which: Which,
    /// Sorted by size, once that was asked for.
    order: Option<Vec<usize>>,
}

/// What a row of the list shows.
#[derive(Clone, Copy)]
enum Which {
    /// A column chunk of this row group.
    Group(usize),
    /// All chunks of a column.
    All,
    /// The chunk of this column in a row group.
    Column(usize),
}

impl Columns {
    /// The columns of a row group, or of the whole file.
    pub(crate) fn new(file: Rc<OpenedFile>, row_group: Option<usize>) -> Self {
        Columns { file, which: row_group.map_or(Which::All, Which::Group), order: None }
    }

    /// A column in all row groups.
    pub(crate) fn of_column(file: Rc<OpenedFile>, column: usize) -> Self {
        Columns { file, which: Which::Column(column), order: None }
    }

    fn number(&self, index: usize) -> usize {
        self.order.as_ref().map_or(index, |order| order[index])
    }

    /// The row groups and the column of a row.
    fn chunks(&self, index: usize) -> (std::ops::Range<usize>, usize) {
        let number = self.number(index);
        match self.which {
            Which::Group(group) => (group..group + 1, number),
            Which::All => (0..self.file.metadata().num_row_groups(), number),
            Which::Column(column) => (number..number + 1, column),
        }
    }

    /// Compressed and uncompressed bytes of the chunks of a row.
    fn sizes(&self, index: usize) -> (u64, u64) {
        let (groups, column) = self.chunks(index);
        let size = |size: i64| u64::try_from(size).unwrap_or(0);
        let chunks = groups.filter_map(|group| self.file.chunk(group, column).ok());
        chunks.fold((0, 0), |(a, b), chunk| {
            (
                a.saturating_add(size(chunk.compressed_size())),
                b.saturating_add(size(chunk.uncompressed_size())),
            )
        })
    }

    fn bounds(&self, group: usize, column: usize) -> Option<(String, String)> {
        let metadata = self.file.metadata();
        let statistics = self.file.opened.statistics(metadata.schema().column(column).dotted()).ok()?;
        let text = |array| Some(shown(&value_texts(&array).ok()?.pop()??));
        let min = text(statistics.row_group_mins([metadata.row_group(group)]).ok()?)?;
        Some((min, text(statistics.row_group_maxes([metadata.row_group(group)]).ok()?)?))
    }
}

impl Screen for Columns {
    fn title(&self) -> String {
        match self.which {
            Which::Group(group) => format!("row group {group}"),
            Which::All => "columns".to_owned(),
            Which::Column(column) => self.file.column_name(column),
        }
    }

    fn headings(&self) -> Vec<String> {
        let first = if matches!(self.which, Which::Column(_)) { ">row group" } else { "column" };
        [
            first,
            ">compressed",
            ">uncompressed",
            "codec",
            "encodings",
            ">values",
            ">nulls",
            "least",
            "greatest",
        ]
        .map(str::to_owned)
        .to_vec()
    }

    fn len(&self) -> (usize, bool) {
        let metadata = self.file.metadata();
        match self.which {
            Which::Column(_) => (metadata.num_row_groups(), true),
            _ => (metadata.schema().num_columns(), true),
        }
    }

    fn row(&mut self, index: usize) -> Vec<String> {
        let (groups, column) = self.chunks(index);
        let first = match self.which {
            Which::Column(_) => groups.start.to_string(),
            _ => self.file.column_name(column),
        };
        let (compressed, uncompressed) = self.sizes(index);
        let (mut codecs, mut encodings) = (BTreeSet::new(), BTreeSet::new());
        let (mut values, mut nulls, mut problem) = (0u64, Some(0u64), None);
        for group in groups.clone() {
            match self.file.chunk(group, column) {
                Ok(chunk) => {
                    let count = |n: i64| u64::try_from(n).unwrap_or(0);
                    codecs.insert(chunk.compression().to_string());
                    encodings.extend(chunk.encodings().into_iter().map(|encoding| encoding.to_string()));
                    values = values.saturating_add(count(chunk.num_values()));
                    let of_chunk = chunk.statistics().and_then(|statistics| statistics.null_count).map(count);
                    nulls = nulls.zip(of_chunk).map(|(sum, nulls)| sum.saturating_add(nulls));
                }
                Err(error) => problem = Some(shown(&error.to_string())),
            }
        }
        if let Some(problem) = problem {
            return vec![first, String::new(), String::new(), String::new(), format!("! {problem}")];
        }
        let join = |names: BTreeSet<String>| names.into_iter().collect::<Vec<_>>().join(" ");
        let bounds = if groups.len() == 1 { self.bounds(groups.start, column) } else { None };
        let (least, greatest) = bounds.unwrap_or_default();
        vec![
            first,
            ShownCount(compressed).to_string(),
            ShownCount(uncompressed).to_string(),
            join(codecs),
            join(encodings),
            ShownCount(values).to_string(),
            nulls.map(|nulls| ShownCount(nulls).to_string()).unwrap_or_default(),
            least,
            greatest,
        ]
    }

    fn about(&mut self, index: usize) -> String {
        let (groups, column) = self.chunks(index);
        let leaf = self.file.metadata().schema().column(column);
        let (compressed, uncompressed) = self.sizes(index);
        let logical = leaf.logical().map(|logical| format!(" that means {logical}")).unwrap_or_default();
        let share = compressed as f64 * 100.0 / self.file.source.len().max(1) as f64;
        let groups = if groups.len() == 1 {
            format!("in row group {}", groups.start)
        } else {
            format!("in {} row groups", groups.len())
        };
        format!(
            "{}: {}{logical}. {} {groups}, {share:.1} % of the file; {} when it is decompressed. parquet.thrift, ColumnMetaData.",
            self.file.column_name(column),
            leaf.physical(),
            ShownBytes(compressed),
            ShownBytes(uncompressed),
        )
    }

    fn can_enter(&self, _: usize) -> bool {
        true
    }

    fn enter(&mut self, index: usize) -> Option<Box<dyn Screen>> {
        let (groups, column) = self.chunks(index);
        Some(match self.which {
            Which::All if groups.len() != 1 => Box::new(Columns::of_column(self.file.clone(), column)),
            _ => Box::new(Chunk::new(self.file.clone(), groups.start, column)),
        })
    }

    fn key(&mut self, key: char, _: usize) -> Option<usize> {
        if key != 's' {
            return None;
        }
        if self.order.take().is_none() {
            let mut order: Vec<usize> = (0..self.len().0).collect();
            order.sort_by_cached_key(|index| std::cmp::Reverse(self.sizes(*index).0));
            self.order = Some(order);
        }
        Some(0)
    }

    fn keys(&self) -> &'static str {
        "s largest first"
    }

    fn byte(&mut self, index: usize) -> Option<u64> {
        let (groups, column) = self.chunks(index);
        let chunk = groups.into_iter().next().and_then(|group| self.file.chunk(group, column).ok());
        chunk.and_then(|chunk| chunk.byte_range().ok()).map(|range| range.start)
    }
}
