//! A column that has a dictionary: the different values, and for each value its index. Pages are written when the chunk
//! ends, or memory does, so that until then the dictionary can still be given up without a trace.

use super::choose::{RLE_DICTIONARY, WithDictionary};
use super::direct::{Column, Direct};
use super::levels::{HeldLevels, Levels};
use super::pages::PageValues;
use super::settings::{ColumnSettings, StatisticsLevel};
use crate::order::Order;
use crate::stats::Bounds;
use marquetry_base::Result;
use marquetry_encoding::dictionary::{self, Builder, Dictionary};
use marquetry_encoding::{Shape, Values};
use std::ops::Range;
use std::sync::Arc;

/// Values as indices.
pub(super) struct Interned {
    builder: Builder,
    /// Of the values whose pages are not written yet.
    indices: Vec<u32>,
    levels: HeldLevels,
    /// Whether data pages were written that need the dictionary.
    pub(super) is_committed: bool,
}

impl Interned {
    pub(super) fn new(shape: Shape) -> Self {
        Interned {
            builder: Builder::new(shape),
            indices: Vec::new(),
            levels: HeldLevels::default(),
            is_committed: false,
        }
    }

    /// How many values have no page yet.
    pub(super) fn len(&self) -> usize {
        self.indices.len()
    }

    /// The different values so far.
    pub(super) fn dictionary(&self) -> &Values {
        self.builder.values()
    }

    /// Bytes of the dictionary page before compression.
    pub(super) fn page_bytes(&self) -> usize {
        self.builder.page_bytes()
    }

    /// About the bytes of all pages that are not written yet.
    pub(super) fn size(&self) -> usize {
        let width = dictionary::index_width(self.builder.len()) as usize;
        self.builder.page_bytes() + self.indices.len() * width / 8 + self.levels.size()
    }

    /// Bytes in memory.
    pub(super) fn memory(&self) -> usize {
        self.builder.memory() + self.indices.capacity() * size_of::<u32>() + self.levels.memory()
    }

    /// Takes entries and their values.
    pub(super) fn write(&mut self, levels: Levels<'_>, entries: Range<usize>, values: &Values) -> Result<()> {
        self.levels.push(levels, entries);
        self.builder.intern(values, 0..values.len(), &mut self.indices)
    }

    /// Takes entries and their values, which are keys of another dictionary.
    pub(super) fn write_keys(
        &mut self,
        levels: Levels<'_>,
        entries: Range<usize>,
        keys: &[u32],
        dictionary: &Arc<Values>,
    ) -> Result<()> {
        self.levels.push(levels, entries);
        self.builder.intern_keys(keys, dictionary, &mut self.indices)
    }

    /// The chunk so far, for choosing.
    pub(super) fn view(&self) -> WithDictionary<'_> {
        let page_bytes = self.builder.page_bytes();
        WithDictionary { page_bytes, dictionary: self.builder.values(), indices: &self.indices }
    }

    /// Writes all values that have no page yet in pages of another encoding.
    pub(super) fn rewrite(self, direct: &mut Direct, column: &mut Column<'_>) -> Result<()> {
        let levels = self.levels.levels(column.leaf);
        let dictionary = self.builder.values();
        let (mut entry, mut value) = (0, 0);
        while entry < self.levels.entries {
            let end = levels.row_from((entry + BLOCK).min(self.levels.entries), self.levels.entries);
            let n = levels.values(entry..end);
            let mut values = dictionary.shape().empty();
            dictionary::look_up(dictionary, &self.indices[value..value + n], &mut values)?;
            direct.write(levels, entry..end, &values, column)?;
            (entry, value) = (end, value + n);
        }
        Ok(())
    }

    /// Writes all values that have no page yet in pages of indices. The dictionary is needed from now on.
    pub(super) fn write_pages(&mut self, column: &mut Column<'_>) -> Result<()> {
        self.is_committed = true;
        let settings = column.settings;
        let levels = self.levels.levels(column.leaf);
        let mut page = PageOfIndices::new(self.builder.values(), column.pages.order());
        let page_values = values_of_a_page(dictionary::index_width(self.builder.len()), settings);
        let (mut entry, mut value, all) = (0, 0, self.levels.entries);
        while entry < all {
            let end = page_end(levels, entry, all, settings.page_rows, page_values);
            let n = levels.values(entry..end);
            page.write(levels, entry..end, &self.indices[value..value + n], column)?;
            (entry, value) = (end, value + n);
        }
        self.indices.clear();
        self.levels.clear();
        Ok(())
    }

    /// Writes the dictionary page; gives the dictionary back.
    pub(super) fn finish(self, column: &mut Column<'_>) -> Result<Dictionary> {
        column.pages.write_dictionary(self.builder.values(), column.settings, column.workspace)?;
        Ok(self.builder.finish())
    }
}

/// Where the page that begins at `entry` ends: at a row, after at most so many rows and about so many values.
fn page_end(levels: Levels<'_>, entry: usize, all: usize, page_rows: usize, page_values: usize) -> usize {
    if levels.max_rep == 0 {
        return all.min(entry + page_rows.min(page_values).max(1));
    }
    let (mut rows, mut end) = (0, entry);
    while end < all && rows < page_rows && end - entry < page_values {
        end = levels.row_from(end + 1, all);
        rows += 1;
    }
    end
}

fn values_of_a_page(width: u32, settings: &ColumnSettings) -> usize {
    settings.page_bytes.saturating_mul(8) / (width.max(1) as usize)
}

/// Pages of indices into one dictionary.
struct PageOfIndices<'a> {
    dictionary: &'a Values,
    /// One bit for each value of the dictionary: whether the page has it.
    used: Vec<u64>,
    /// Which values of the dictionary are NaN: usually none.
    nans: Vec<usize>,
}

impl<'a> PageOfIndices<'a> {
    fn new(dictionary: &'a Values, order: Order) -> Self {
        PageOfIndices {
            dictionary,
            used: vec![0; dictionary.len().div_ceil(64)],
            nans: order.nans(dictionary),
        }
    }

    fn write(
        &mut self,
        levels: Levels<'_>,
        entries: Range<usize>,
        indices: &[u32],
        column: &mut Column<'_>,
    ) -> Result<()> {
        let largest = indices.iter().copied().max();
        let width = dictionary::index_width(largest.map_or(0, |largest| largest as usize + 1));
        let mut bytes = std::mem::take(&mut column.workspace.values);
        bytes.clear();
        dictionary::encode_indices(indices, width, &mut bytes);
        let mut bounds = Bounds::new(column.pages.order());
        if column.settings.statistics > StatisticsLevel::None {
            self.bound(indices, &mut bounds);
        }
        let byte_array_bytes = match self.dictionary {
            Values::Bytes(views) => {
                // A view's low 32 bits are its length.
                indices.iter().map(|&index| u64::from(views.views()[index as usize] as u32)).sum()
            }
            _ => 0,
        };
        let values = PageValues {
            code: RLE_DICTIONARY,
            bytes: &bytes,
            bounds: &bounds,
            len: indices.len(),
            byte_array_bytes,
        };
        column.pages.write_data_page(levels, entries, &values, column.settings, column.workspace)?;
        column.workspace.values = bytes;
        Ok(())
    }

    /// Bounds of the values that the indices name. PERF: each of them is looked at once, however often it is named.
    fn bound(&mut self, indices: &[u32], bounds: &mut Bounds) {
        self.used.fill(0);
        for &index in indices {
            self.used[index as usize / 64] |= 1 << (index % 64);
        }
        let used = self.used.iter().enumerate().flat_map(|(word, &bits)| {
            let mut left = bits;
            std::iter::from_fn(move || {
                let bit = (left != 0).then(|| left.trailing_zeros() as usize)?;
                left &= left - 1;
                Some(word * 64 + bit)
            })
        });
        bounds.update_at(self.dictionary, used);
        if !self.nans.is_empty() {
            let is_nan = |index: &&u32| self.nans.contains(&(**index as usize));
            bounds.add_nans(indices.iter().filter(is_nan).count() as u64);
        }
    }
}

/// Entries that are looked up at a time when a dictionary is given up.
const BLOCK: usize = 8192;
