//! A column with a dictionary: the distinct values, and an index for each value. Pages are written only when the chunk
//! ends or memory is short, so that until then the dictionary can still be given up without a trace.

use super::content_chunker::{ChunkedValues, ContentChunker};
use super::encoding_selection::DictionarySample;
use super::held_indices::HeldIndices;
use super::levels::{HeldLevels, Levels};
use super::pages::PageValues;
use super::settings::{ColumnSettings, StatisticsLevel};
use super::value_writer::{ValueWriter, WriteContext};
use crate::nesting::ColumnValues;
use crate::sort_order::SortOrder;
use crate::statistics::MinMaxStats;
use marquetry_base::Result;
use marquetry_encoding::code::RLE_DICTIONARY;
use marquetry_encoding::dictionary::{self, Dictionary, DictionaryBuilder};
use marquetry_encoding::{Shape, Values};
use std::ops::Range;
use std::sync::Arc;

/// A writer of values as indices into a dictionary.
pub(super) struct DictionaryWriter {
    builder: DictionaryBuilder,
    /// Indices of the values that are not in pages yet.
    indices: HeldIndices,
    levels: HeldLevels,
    chunker: Option<Box<ContentChunker>>,
    /// Whether data pages that need the dictionary were written.
    pub(super) is_committed: bool,
}

impl DictionaryWriter {
    pub(super) fn new(shape: Shape, settings: &ColumnSettings) -> Result<Self> {
        Ok(DictionaryWriter {
            builder: DictionaryBuilder::new(shape),
            indices: HeldIndices::default(),
            levels: HeldLevels::default(),
            chunker: settings.content_defined_chunking.map(ContentChunker::boxed).transpose()?,
            is_committed: false,
        })
    }

    /// The number of values that are not in pages yet.
    pub(super) fn len(&self) -> usize {
        self.indices.len()
    }

    /// Returns the distinct values so far.
    pub(super) fn dictionary(&self) -> &Values {
        self.builder.values()
    }

    /// Returns the bytes of the dictionary page before compression.
    pub(super) fn page_bytes(&self) -> usize {
        self.builder.page_bytes()
    }

    /// Returns the bytes in memory.
    pub(super) fn memory(&self) -> usize {
        self.builder.memory() + self.indices.memory() + self.levels.memory()
    }

    /// Begins the dictionary with all values of `dictionary`, unless it has values already.
    pub(super) fn begin_with(&mut self, dictionary: &Arc<Values>) -> Result<()> {
        if !self.builder.is_empty() {
            return Ok(());
        }
        let all: Vec<u32> = (0..dictionary.len() as u32).collect();
        self.builder.intern_keys(&all, dictionary, &mut Vec::new())
    }

    /// Appends entries and their values. `scratch` is overwritten.
    pub(super) fn write(
        &mut self,
        levels: Levels<'_>,
        entries: Range<usize>,
        values: &ColumnValues,
        scratch: &mut Vec<u32>,
    ) -> Result<()> {
        match values {
            ColumnValues::Values(values) => self.write_values(levels, entries, values, scratch),
            ColumnValues::Keys { keys, dictionary } => {
                for keys in keys.chunks(VALUES_AT_A_TIME) {
                    scratch.clear();
                    self.builder.intern_keys(keys, dictionary, scratch)?;
                    self.indices.extend(scratch);
                }
                self.levels.push(levels, entries);
                Ok(())
            }
        }
    }

    /// Appends entries and their values. `scratch` is overwritten.
    pub(super) fn write_values(
        &mut self,
        levels: Levels<'_>,
        entries: Range<usize>,
        values: &Values,
        scratch: &mut Vec<u32>,
    ) -> Result<()> {
        for start in (0..values.len()).step_by(VALUES_AT_A_TIME) {
            scratch.clear();
            self.builder.intern(values, start..(start + VALUES_AT_A_TIME).min(values.len()), scratch)?;
            self.indices.extend(scratch);
        }
        self.levels.push(levels, entries);
        Ok(())
    }

    /// Returns about how many bytes the values that are not in pages yet will take, before compression.
    pub(super) fn index_bytes(&self) -> usize {
        self.indices.len() * dictionary::index_width(self.builder.len()) as usize / 8
    }

    /// Returns about how many bytes the levels that are not in pages yet will take.
    pub(super) fn level_bytes(&self) -> usize {
        self.levels.size()
    }

    /// Returns the values that are not in pages yet, for choosing an encoding.
    pub(super) fn view(&self) -> DictionarySample<'_> {
        let page_bytes = self.builder.page_bytes();
        DictionarySample { page_bytes, dictionary: self.builder.values(), indices: &self.indices }
    }

    /// Writes all values that are not in pages yet, in pages of another encoding.
    pub(super) fn rewrite(
        mut self,
        value_writer: &mut ValueWriter,
        column: &mut WriteContext<'_>,
    ) -> Result<()> {
        let levels = self.levels.levels(column.leaf);
        let dictionary = self.builder.values();
        let (mut indices, mut values) = (Vec::new(), dictionary.shape().empty());
        let (mut entry, mut value, all) = (0, self.indices.range().start, self.levels.entries);
        while entry < all {
            let end = levels.row_from((entry + VALUES_AT_A_TIME).min(all), all);
            let n = levels.values(entry..end);
            indices.clear();
            self.indices.read(value..value + n, &mut indices);
            self.indices.forget_before(value + n);
            values.clear();
            dictionary::look_up(dictionary, &indices, &mut values)?;
            value_writer.write(levels, entry..end, &values, column)?;
            (entry, value) = (end, value + n);
        }
        Ok(())
    }

    /// Writes all values that are not in pages yet, in pages of indices. From then on the dictionary is needed.
    pub(super) fn write_pages(&mut self, column: &mut WriteContext<'_>) -> Result<()> {
        self.is_committed |= self.levels.entries > 0;
        let settings = column.settings;
        let levels = self.levels.levels(column.leaf);
        let mut page = PageOfIndices::new(self.builder.values(), column.pages.order());
        let page_values = values_of_a_page(dictionary::index_width(self.builder.len()), settings);
        let (mut entry, mut value, all) = (0, self.indices.range().start, self.levels.entries);
        let mut indices = Vec::new();
        while entry < all {
            let full = page_end(levels, entry, all, settings.page_rows, page_values);
            indices.clear();
            self.indices.read(value..value + levels.values(entry..full), &mut indices);
            let ends_by_content = self.chunker.as_mut().and_then(|chunker| {
                let values = ChunkedValues { values: self.builder.values(), indices: Some(&indices) };
                chunker.page_end(levels, entry..full, values, 0)
            });
            let end = ends_by_content.unwrap_or(full);
            let n = levels.values(entry..end);
            page.write(levels, entry..end, &indices[..n], column)?;
            self.indices.forget_before(value + n);
            (entry, value) = (end, value + n);
        }
        self.levels.clear();
        Ok(())
    }

    /// Writes the dictionary page if data pages need it. Returns the dictionary.
    pub(super) fn finish(self, column: &mut WriteContext<'_>) -> Result<Dictionary> {
        if !self.is_committed {
            return Ok(self.builder.finish());
        }
        column.pages.write_dictionary(self.builder.values(), column.settings, column.workspace)?;
        Ok(self.builder.finish())
    }
}

/// Returns where the page that begins at `entry` ends: after at most this many rows and values, but at least one row.
fn page_end(levels: Levels<'_>, entry: usize, all: usize, page_rows: usize, page_values: usize) -> usize {
    if levels.max_rep == 0 {
        return all.min(entry.saturating_add(page_rows.min(page_values).max(1)));
    }
    let (mut rows, mut end) = (0, entry);
    while end < all {
        let next = levels.row_from(end + 1, all);
        if rows > 0 && (rows >= page_rows || next - entry > page_values) {
            break;
        }
        (rows, end) = (rows + 1, next);
    }
    end
}

fn values_of_a_page(width: u32, settings: &ColumnSettings) -> usize {
    settings.page_bytes.saturating_mul(8) / (width.max(1) as usize)
}

/// A writer of pages of indices into one dictionary.
struct PageOfIndices<'a> {
    dictionary: &'a Values,
    /// For each value of the dictionary, 1 if the page has it, 0 if not. PERF: bytes are stored without being read;
    /// with bits, each index would wait for the previous one to update its word.
    used: Vec<u8>,
    /// One bit for each value of the dictionary: whether it is NaN. Empty if no value is.
    nans: Vec<u64>,
}

impl<'a> PageOfIndices<'a> {
    fn new(dictionary: &'a Values, order: SortOrder) -> Self {
        let found = order.nans(dictionary);
        let mut nans = if found.is_empty() { Vec::new() } else { vec![0; dictionary.len().div_ceil(64)] };
        found.into_iter().for_each(|i| nans[i / 64] |= 1 << (i % 64));
        PageOfIndices { dictionary, used: Vec::new(), nans }
    }

    fn write(
        &mut self,
        levels: Levels<'_>,
        entries: Range<usize>,
        indices: &[u32],
        column: &mut WriteContext<'_>,
    ) -> Result<()> {
        let largest = indices.iter().copied().fold(0, u32::max);
        // QUIRK: not every reader supports a width of 0, which is legal if all indices are 0; a width of 1 costs
        // nothing.
        let width = dictionary::index_width(largest as usize + 1).max(1);
        let mut bounds = MinMaxStats::new(column.pages.order());
        if column.settings.statistics > StatisticsLevel::None {
            self.bound(indices, &mut bounds);
        }
        let byte_array_bytes = match self.dictionary {
            Values::Bytes(views) => {
                // The low 32 bits of a view are its length.
                indices.iter().map(|&index| u64::from(views.views()[index as usize] as u32)).sum()
            }
            _ => 0,
        };
        let values = PageValues {
            code: RLE_DICTIONARY,
            encode: &mut |_, page| {
                dictionary::encode_indices(indices, width, page);
                Ok(())
            },
            bounds: &bounds,
            len: indices.len(),
            byte_array_bytes,
        };
        column.pages.write_data_page(levels, entries, values, column.settings, column.workspace)
    }

    /// Updates the bounds with the values that the indices refer to. PERF: if the dictionary is small, each value is
    /// compared only once.
    fn bound(&mut self, indices: &[u32], bounds: &mut MinMaxStats) {
        if self.dictionary.len() < indices.len() {
            self.used.clear();
            self.used.resize(self.dictionary.len(), 0);
            for indices in indices.chunks(INDICES_PER_CHECK) {
                indices.iter().for_each(|&index| self.used[index as usize] = 1);
                // PERF: if there are few values, all of them have soon been seen.
                if self.used.len() <= INDICES_PER_CHECK && !self.used.contains(&0) {
                    break;
                }
            }
            let used = self.used.iter().enumerate().filter(|(_, used)| **used != 0).map(|(i, _)| i);
            bounds.update_at(self.dictionary, used);
        } else {
            bounds.update_at(self.dictionary, indices.iter().map(|&index| index as usize));
        }
        if !self.nans.is_empty() {
            let is_nan = |&index: &u32| self.nans[index as usize / 64] >> (index % 64) & 1;
            bounds.add_nans(indices.iter().map(is_nan).sum());
        }
    }
}

/// Number of indices to mark before checking whether all values were seen.
const INDICES_PER_CHECK: usize = 512;
/// Number of values whose indices have full width at a time. PERF: they stay in the first-level cache.
const VALUES_AT_A_TIME: usize = 8192;
