//! Writes a column whose encoding is settled: values are encoded immediately, and a page ends whenever it is full.

use super::content_chunker::{ChunkedValues, ContentChunker};
use super::levels::{HeldLevels, Levels};
use super::pages::{PageValues, Pages};
use super::settings::{ColumnSettings, StatisticsLevel};
use super::workspace::Workspace;
use crate::schema::Leaf;
use crate::statistics::MinMaxStats;
use marquetry_base::{Error, Result};
use marquetry_encoding::code::{PLAIN_DICTIONARY, RLE_DICTIONARY};
use marquetry_encoding::{Encode, Shape, Values, registry};
use std::ops::Range;

/// The open page of a column.
pub(super) struct ValueWriter {
    code: i32,
    encoder: Box<dyn Encode>,
    levels: HeldLevels,
    bounds: MinMaxStats,
    byte_array_bytes: u64,
    chunker: Option<Box<ContentChunker>>,
}

impl ValueWriter {
    pub(super) fn new(code: i32, leaf: &Leaf, pages: &Pages, settings: &ColumnSettings) -> Result<Self> {
        // Dictionaries are not written page by page, see `DictionaryWriter`.
        let row = registry::find(code)
            .filter(|row| {
                (row.supports)(leaf.physical()) && ![RLE_DICTIONARY, PLAIN_DICTIONARY].contains(&row.code)
            })
            .ok_or_else(|| Error::argument(format!("encoding {code} is not for {}", leaf.physical())))?;
        Ok(ValueWriter {
            code,
            encoder: (row.encoder)(leaf.physical())?,
            levels: HeldLevels::default(),
            bounds: MinMaxStats::new(pages.order()),
            byte_array_bytes: 0,
            chunker: settings.content_defined_chunking.map(ContentChunker::boxed).transpose()?,
        })
    }

    /// Returns the bytes of the page so far.
    pub(super) fn size(&self) -> usize {
        self.encoder.size() + self.levels.size()
    }

    /// Returns the bytes in memory.
    pub(super) fn memory(&self) -> usize {
        self.encoder.size() + self.levels.memory()
    }

    /// Writes `entries`, which must be whole rows, and their values.
    pub(super) fn write(
        &mut self,
        levels: Levels<'_>,
        entries: Range<usize>,
        values: &Values,
        column: &mut WriteContext<'_>,
    ) -> Result<()> {
        let settings = column.settings;
        let (mut entry, mut value) = (entries.start, 0);
        while entry < entries.end {
            let room = settings.page_rows.saturating_sub(self.levels.rows).max(1);
            // PERF: nulls at the end, without a value behind them, are one run, which takes almost no bytes.
            let is_tail = value == values.len() && (levels.max_def, levels.max_rep) == (1, 0);
            let step = if is_tail { room } else { step(values, value, settings).min(room) };
            let step = step.min(entries.end - entry);
            let mut end = levels.row_from(entry + step, entries.end);
            let ends_by_content = self.chunker.as_mut().and_then(|chunker| {
                chunker.page_end(levels, entry..end, ChunkedValues { values, indices: None }, value)
            });
            end = ends_by_content.unwrap_or(end);
            let n = levels.values(entry..end);
            self.levels.push(levels, entry..end);
            self.encoder.encode(values, value..value + n)?;
            if settings.statistics > StatisticsLevel::None {
                self.bounds.update(values, value..value + n);
            }
            if values.shape() == Shape::Bytes {
                self.byte_array_bytes += values.data_bytes(value..value + n) as u64;
            }
            (entry, value) = (end, value + n);
            let is_full = self.levels.rows >= settings.page_rows || self.size() >= settings.page_bytes;
            if is_full || ends_by_content.is_some() {
                self.end_page(column)?;
            }
        }
        Ok(())
    }

    /// Writes the page, unless it is empty.
    pub(super) fn end_page(&mut self, column: &mut WriteContext<'_>) -> Result<()> {
        if self.levels.entries == 0 {
            return Ok(());
        }
        let values = PageValues {
            code: self.code,
            encode: &mut |head, body| match head {
                Some(head) => self.encoder.finish_parts(head, body),
                None => self.encoder.finish(body),
            },
            bounds: &self.bounds,
            len: self.levels.values,
            byte_array_bytes: self.byte_array_bytes,
        };
        let levels = self.levels.levels(column.leaf);
        let entries = 0..self.levels.entries;
        column.pages.write_data_page(levels, entries, values, column.settings, column.workspace)?;
        self.levels.clear();
        self.bounds.clear();
        self.byte_array_bytes = 0;
        Ok(())
    }
}

/// The context in which the states of a column writer work.
pub(super) struct WriteContext<'a> {
    pub(super) leaf: &'a Leaf,
    pub(super) settings: &'a ColumnSettings,
    pub(super) pages: &'a mut Pages,
    pub(super) workspace: &'a mut Workspace,
}

/// Returns how many entries to write before the size of the page is checked again: so few that they hardly exceed its
/// limit, even if all of them are values, from `first` on.
fn step(values: &Values, first: usize, settings: &ColumnSettings) -> usize {
    let most = settings.page_bytes / 16;
    let Values::Bytes(_) = values else {
        let width = match values.shape() {
            Shape::W32 => 4,
            Shape::W64 => 8,
            Shape::Fixed(width) => width.max(1),
            Shape::Bit | Shape::Bytes => 1,
        };
        return (most / width).clamp(1, STEP);
    };
    // Strings of one column may have very different lengths.
    let mut n = STEP;
    while n > 1 && values.data_bytes(first..(first + n).min(values.len())) + 4 * n > most {
        n /= 2;
    }
    n
}

/// Maximum number of entries between two checks of the page's size. PERF: a block of 64-bit values and its levels fit
/// in the first-level cache.
const STEP: usize = 1024;
