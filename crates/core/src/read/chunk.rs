//! One column chunk: its dictionary, and its data pages one after the other.

use super::column::RESERVED_ROWS;
use super::dictionary::ChunkDictionary;
use super::mapped::Mapped;
use super::open_page::{OpenPage, Rest, Scratch};
use super::{ColumnBatch, Survey};
use crate::metadata::ColumnChunk;
use crate::nesting::{FieldKind, NestedField};
use crate::page::{PageMemory, PageOptions, PageReader, PageStart};
use crate::row_mask::next_one;
use crate::schema::Leaf;
use crate::source::Source;
use marquetry_base::{Error, MemoryBudget, PaddedBytes, Result};
use marquetry_encoding::dictionary::{Dictionary, Indices};
use marquetry_encoding::{Bitmap, Decode, EncodedPage, OffsetStrings, PhysicalType, Values, registry};
use std::ops::Range;
use std::sync::Arc;

/// What is to be read of a leaf, and how its levels are to be taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadTarget {
    /// PhysicalType type.
    pub physical: PhysicalType,
    /// The definition level of a value.
    pub max_def: u8,
    /// The largest repetition level.
    pub max_rep: u8,
    /// The definition level from which on there is a slot in the array.
    pub slot_def: u8,
    /// Whether definition levels are wanted: something above the leaf is nullable.
    pub keep_levels: bool,
    /// Whether byte strings must be UTF-8.
    pub is_text: bool,
    /// How values are to be laid out.
    pub layout: ValueLayout,
}

/// How the values of a column are to be laid out, where there is a choice.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ValueLayout {
    /// As the shape has it; byte strings as views.
    #[default]
    Native,
    /// Indices and a dictionary where the pages have them.
    Indices,
    /// Byte strings end to end, with offsets. Only for BYTE_ARRAY.
    Offsets,
}

impl ReadTarget {
    /// For a leaf that is somewhere below `field`, a field of the root.
    pub fn new(leaf: &Leaf, field: &NestedField, index: usize, layout: ValueLayout) -> Self {
        let (slot_def, keep_levels) = position(field, index, false).unwrap_or((0, false));
        ReadTarget {
            physical: leaf.physical(),
            max_def: leaf.max_def(),
            max_rep: leaf.max_rep(),
            slot_def,
            keep_levels,
            is_text: leaf.logical().is_some_and(crate::logical_type::LogicalType::is_text),
            layout,
        }
    }

    /// No values, laid out as wanted.
    pub(super) fn empty(&self) -> Values {
        match self.layout {
            ValueLayout::Offsets => Values::Offsets(OffsetStrings::new()),
            ValueLayout::Native | ValueLayout::Indices => self.physical.shape().empty(),
        }
    }
}

/// The slot level of leaf `index` below `field`, and whether anything above it is nullable.
fn position(field: &NestedField, index: usize, nullable_above: bool) -> Option<(u8, bool)> {
    match &field.kind {
        FieldKind::Leaf(leaf) => (*leaf == index).then_some((field.slot_def, nullable_above)),
        FieldKind::List(child) | FieldKind::Map(child) => position(child, index, true),
        FieldKind::Struct(fields) => {
            let nullable = nullable_above || field.nullable;
            fields.iter().find_map(|field| position(field, index, nullable))
        }
    }
}

/// Reads a column chunk front to back.
pub struct ColumnChunkReader {
    pub(super) pages: PageReader,
    pub(super) target: Arc<ReadTarget>,
    pub(super) dictionary: Option<ChunkDictionary>,
    /// No more rows will be asked for, if not all.
    most_rows: Option<usize>,
    page: Option<OpenPage>,
    /// The open page's memory, to be used again after it.
    memory: Option<PaddedBytes>,
    scratch: Scratch,
    budget: MemoryBudget,
    /// Whether a row has begun: its first entry must say so.
    pub(super) begun: bool,
    /// The pages to read, if not all, and which of them is next.
    listed: Option<(Arc<Survey>, usize)>,
    /// Whether the page before this one is lost: what is left of its last row is passed over.
    is_after_gap: bool,
    /// How many rows began so far, and how many data pages.
    pub(super) row: u64,
    pub(super) data_pages: usize,
    /// The offset index, if it may be used.
    pub(super) mapped: Mapped,
}

impl ColumnChunkReader {
    /// A reader at the first row of `chunk`. `memory` may come from a chunk that was read before.
    pub fn new(
        source: Arc<dyn Source>,
        chunk: ColumnChunk<'_>,
        target: Arc<ReadTarget>,
        options: PageOptions,
        memory: PageMemory,
    ) -> Result<Self> {
        Ok(ColumnChunkReader {
            scratch: Scratch::new(&target, options.limits.batch_bytes),
            budget: options.limits.memory.clone(),
            pages: PageReader::new(source, chunk, options, memory)?,
            target,
            dictionary: None,
            most_rows: None,
            page: None,
            memory: None,
            begun: false,
            listed: None,
            is_after_gap: false,
            row: 0,
            data_pages: 0,
            mapped: Mapped::default(),
        })
    }

    /// A reader of those pages of `chunk` that `survey` found to be whole, as if there were no others.
    pub fn of_survey(
        source: Arc<dyn Source>,
        chunk: ColumnChunk<'_>,
        target: Arc<ReadTarget>,
        options: PageOptions,
        survey: Arc<Survey>,
    ) -> Result<Self> {
        let mut reader = ColumnChunkReader::new(source, chunk, target, options, PageMemory::default())?;
        if let Some(offset) = survey.dictionary {
            let start = reader.pages.start_at(offset, 0)?;
            reader.find_dictionary(&start)?;
        }
        reader.listed = Some((survey, 0));
        Ok(reader)
    }

    /// Says that no more than so many rows will be asked for, if not all: of the dictionary no more is read than they may
    /// need.
    #[must_use]
    pub fn with_most_rows(self, most_rows: Option<usize>) -> Self {
        ColumnChunkReader { most_rows, ..self }
    }

    /// What the next chunk can use again.
    pub fn into_memory(mut self) -> PageMemory {
        self.close();
        self.pages.into_memory()
    }

    /// Appends the next `rows` rows to `out`. Returns how many there were: fewer only at the end of the chunk.
    pub fn read(&mut self, rows: usize, out: &mut ColumnBatch) -> Result<usize> {
        let mut done = 0;
        while self.goes_on(rows - done)? {
            self.settle_keys(out)?;
            if out.dictionary.is_some() && out.values.is_empty() {
                out.values.reserve((rows - done).min(RESERVED_ROWS));
            }
            let Self { page: Some(page), target, scratch, .. } = self else {
                break;
            };
            let result = match target.max_rep {
                0 => page.read_flat(rows - done, target, scratch, out),
                _ => page.read_nested(rows - done, target, scratch, out),
            };
            let read = result.map_err(|error| page.start.place(error))?;
            self.row += read as u64;
            done += read;
        }
        out.held.join(self.pages.take_lasting());
        Ok(done)
    }

    /// Appends those of the next `keep.len()` rows whose bit is 1 to `out`. Returns how many rows there were, wanted or
    /// not: fewer than asked for only at the end of the chunk.
    pub fn read_kept(&mut self, keep: &Bitmap, rows: Range<usize>, out: &mut ColumnBatch) -> Result<usize> {
        let mut done = 0;
        // Of the row that goes on into the next page.
        let mut is_kept = false;
        loop {
            let at = rows.start + done;
            let zeros = next_one(keep, at..rows.end, 0).unwrap_or(rows.end) - at;
            if zeros > self.entries_left() && !is_kept {
                let skipped = self.skip(zeros)?;
                done += skipped;
                if skipped < zeros {
                    return Ok(done);
                }
                continue;
            }
            if !self.goes_on(rows.end - at)? {
                return Ok(done);
            }
            self.settle_keys(out)?;
            let Self { page: Some(page), target, scratch, .. } = self else {
                return Ok(done);
            };
            let result = match target.max_rep {
                0 => page.read_flat_kept(keep, at..rows.end, target, scratch, out),
                _ => page.read_nested_kept(keep, at..rows.end, &mut is_kept, target, scratch, out),
            };
            let read = result.map_err(|error| page.start.place(error))?;
            self.row += read as u64;
            done += read;
        }
    }

    /// Makes sure that what the open page gives can be appended to `out`, keys or values.
    fn settle_keys(&mut self, out: &mut ColumnBatch) -> Result<()> {
        let is_keys = self.page.as_ref().is_some_and(OpenPage::is_keys);
        match self.entries() {
            Some(dictionary) if is_keys => out.expect_keys_of(dictionary)?,
            _ => out.expect_values(self.target.physical.shape())?,
        }
        if is_keys
            && out.dictionary.is_none()
            && let Some(dictionary) = self.entries().cloned()
            && let Some(page) = self.page.take()
        {
            // The batch has values of another dictionary already: keys would not be understood.
            self.page = Some(page.with_values_of(dictionary));
        }
        Ok(())
    }

    /// Passes over the next `rows` rows. Returns how many there were: fewer only at the end of the chunk.
    pub fn skip(&mut self, rows: usize) -> Result<usize> {
        let mut done = 0;
        loop {
            done += self.leave_page(rows - done)?;
            done += self.skip_pages(rows - done)?;
            if !self.goes_on(rows - done)? {
                return Ok(done);
            }
            let Self { page: Some(page), target, scratch, .. } = self else {
                return Ok(done);
            };
            let result = match target.max_rep {
                0 => page.skip_flat(rows - done, scratch),
                _ => page.skip_nested(rows - done),
            };
            let skipped = result.map_err(|error| page.start.place(error))?;
            self.row += skipped as u64;
            done += skipped;
        }
    }

    /// How many entries the open page has left: as many rows at most.
    pub(super) fn entries_left(&self) -> usize {
        self.page.as_ref().map_or(0, OpenPage::entries_left)
    }

    /// Leaves the open page, and jumps over others, if what is wanted is known to be behind them: `rows` rows from here.
    /// Returns how many rows were passed.
    fn leave_page(&mut self, rows: usize) -> Result<usize> {
        let left = self.entries_left();
        if rows <= left {
            // No more rows than entries are left: the row is in this page, or may be.
            return Ok(0);
        }
        let jumped = self.jump(rows)?;
        if jumped == 0 && self.target.max_rep == 0 && left > 0 {
            self.close();
            self.row += left as u64;
            return Ok(left);
        }
        Ok(jumped)
    }

    /// Passes over whole pages without opening them, while what they hold is known and no more than `rows` rows.
    fn skip_pages(&mut self, rows: usize) -> Result<usize> {
        let mut done = 0;
        if rows >= MANY_ROWS {
            self.pages.expect_to_pass();
        }
        while self.page.as_ref().is_none_or(OpenPage::is_over) && done < rows {
            self.close();
            let Some(start) = self.next_start(false)? else {
                break;
            };
            let page_rows = match (self.target.max_rep, &self.listed) {
                (0, _) => Some(start.num_values()?),
                // INVARIANT: no checksum covers the header's number of rows; the survey counted them.
                (_, Some((survey, next))) => Some(survey.rows_in(next - 1)),
                _ if self.mapped.only_counts() => self.mapped.rows_of(self.data_pages.saturating_sub(1)),
                _ => start.num_rows(),
            };
            match page_rows {
                Some(n) if start.is_data() && n <= rows - done => {
                    self.hold_against_map(&start)?;
                    self.begun |= n > 0;
                    self.row += n as u64;
                    done += n;
                }
                _ => {
                    self.open(start)?;
                    if self.page.is_some() {
                        break;
                    }
                }
            }
        }
        Ok(done)
    }

    /// Opens the next page if need be. Whether there is something to read for `rows` more rows: with none left, that
    /// is so while the last row goes on, as it may from one V1 page to the next.
    fn goes_on(&mut self, rows: usize) -> Result<bool> {
        if rows == 0 && self.target.max_rep == 0 {
            return Ok(false);
        }
        if !self.open_next(rows > 0)? {
            return Ok(false);
        }
        let Some(page) = &mut self.page else {
            return Ok(false);
        };
        if self.target.max_rep > 0 {
            let begins = page.begins_row().map_err(|error| page.start.place(error))?;
            if !begins && !self.begun {
                return Err(page.start.place(Error::corrupt("the first repetition level is not 0")));
            }
            self.begun = true;
            return Ok(rows > 0 || !begins);
        }
        Ok(true)
    }

    /// Makes sure that the open page has entries left; whether there is one.
    fn open_next(&mut self, rows_are_missing: bool) -> Result<bool> {
        while self.page.as_ref().is_none_or(OpenPage::is_over) {
            self.close();
            let Some(start) = self.next_start(rows_are_missing)? else { return Ok(false) };
            self.open(start)?;
        }
        Ok(true)
    }

    /// The header of the next page that is to be read.
    fn next_start(&mut self, rows_are_missing: bool) -> Result<Option<PageStart>> {
        let Some((survey, next)) = &mut self.listed else {
            if self.mapped.is_followed() {
                return self.next_mapped_start();
            }
            let start = match self.pages.next_start()? {
                None if rows_are_missing => self.pages.next_uncounted_start()?,
                start => start,
            };
            self.data_pages += usize::from(start.as_ref().is_some_and(PageStart::is_data));
            return Ok(start);
        };
        let Some(page) = survey.pages.get(*next) else {
            return Ok(None);
        };
        *next += 1;
        self.is_after_gap = page.is_after_gap;
        self.pages.start_at(page.offset, page.index).map(Some)
    }

    /// Fails if the pages passed so far have more entries than there can be in a row group of `rows` rows, all of which
    /// were read: what one page claims too many, another was read too few of.
    ///
    /// QUIRK: some footers do not count nulls, others count more rows than the row group has; and the only page of a
    /// chunk may claim what it wants.
    pub(super) fn check_entries(&self, rows: u64) -> Result<()> {
        let rows = if self.target.max_rep == 0 { rows } else { 0 };
        let (seen, most) = (self.pages.values_seen(), rows.max(self.pages.num_values()));
        let last = self.page.as_ref().map_or(Ok(0), |page| page.start.num_values())?;
        match self.listed.is_none() && seen > most && (last as u64) < seen {
            true => Err(Error::corrupt(format!("page headers claim {seen} entries, the footer {most}"))),
            false => Ok(()),
        }
    }

    /// The pages, for a walk over their headers.
    pub(super) fn pages(&mut self) -> &mut PageReader {
        &mut self.pages
    }

    /// Decodes a data page and forgets what it has; of a column that is in no list no more than `rows` rows. Returns how
    /// many rows begin in it, and whether it has more bytes than that takes.
    pub(super) fn probe(&mut self, start: PageStart, rows: u64) -> Result<(u64, Rest)> {
        self.close();
        let counted = start.num_values()? as u64;
        let probed = self.open(start).and_then(|()| self.probe_open(rows));
        let rest =
            self.page.as_ref().filter(|page| page.is_over()).map_or_else(Rest::default, OpenPage::rest);
        self.close();
        Ok((if self.target.max_rep == 0 { probed.map(|_| counted) } else { probed }?, rest))
    }

    fn probe_open(&mut self, rows: u64) -> Result<u64> {
        let mut done = 0;
        while let Self { page: Some(page), target, scratch, budget, .. } = self
            && !page.is_over()
            && (done < rows || target.max_rep > 0)
        {
            let mut out = ColumnBatch::of(target);
            out.held = budget.empty();
            let left = usize::try_from(rows - done.min(rows)).unwrap_or(usize::MAX);
            let read = match target.max_rep {
                0 => page.read_flat(PROBED_ROWS.min(left), target, scratch, &mut out),
                _ => page.read_nested(PROBED_ROWS, target, scratch, &mut out),
            };
            done += read? as u64;
        }
        Ok(done)
    }

    pub(super) fn close(&mut self) {
        self.page = None;
        if let Some(memory) = self.memory.take() {
            self.pages.recycle(memory);
        }
    }

    /// Opens a data page, reads a dictionary page, passes over any other.
    fn open(&mut self, start: PageStart) -> Result<()> {
        if start.is_dictionary() {
            return self.find_dictionary(&start);
        }
        if !start.is_data() || start.num_values()? == 0 {
            // SPEC: index pages are not used, and unknown kinds must be skipped.
            return Ok(());
        }
        self.hold_against_map(&start)?;
        self.open_data(start)
    }

    fn open_data(&mut self, start: PageStart) -> Result<()> {
        let is_dictionary_encoded =
            start.encoding().is_some_and(|encoding| matches!(encoding.0, PLAIN_DICTIONARY | RLE_DICTIONARY));
        if is_dictionary_encoded && self.most_rows.is_none() {
            self.read_entries(usize::MAX)?;
        }
        let mut page = self.pages.data(&start, self.target.max_rep, self.target.max_def)?;
        self.mapped.hold_levels(&start, &page)?;
        let bytes = std::mem::replace(&mut page.values, PaddedBytes::copy_of(&[]));
        self.memory = Some(bytes.clone());
        let joined_bytes = if self.target.layout == ValueLayout::Offsets { bytes.len() } else { 0 };
        // QUIRK: a page of nulls only may have no value bytes, in encodings too that make some of no values. PLAIN does not.
        let encoding = if bytes.is_empty() { PLAIN } else { page.encoding };
        if let Some(rows) = self.most_rows.filter(|_| is_dictionary_encoded) {
            self.read_entries_of(&bytes, page.max_values, rows)?;
        }
        let entries = self.entries().cloned();
        let target = &self.target;
        let keys_below = match &entries {
            Some(dictionary) if target.layout == ValueLayout::Indices && is_dictionary_encoded => {
                Some(dictionary.values().len())
            }
            _ => None,
        };
        let values: Box<dyn Decode> = match keys_below.is_some() {
            true => Box::new(Indices::new(&bytes).map_err(|error| start.place(error))?),
            false => {
                let encoded = EncodedPage {
                    bytes,
                    max_values: page.max_values,
                    physical: target.physical,
                    dictionary: entries.clone(),
                };
                registry::decoder(encoding, &encoded).map_err(|error| start.place(error))?
            }
        };
        let mut page = OpenPage::new(start, page, joined_bytes, values, keys_below);
        page.is_validated = is_dictionary_encoded
            && entries.is_some_and(|entries| matches!(entries.values(), Values::Bytes(_)));
        if self.is_after_gap && self.target.max_rep > 0 {
            page.skip_nested(0).map_err(|error| page.start.place(error))?;
        }
        self.page = Some(page);
        Ok(())
    }

    /// The entries of the dictionary, as far as they were read.
    fn entries(&self) -> Option<&Arc<Dictionary>> {
        self.dictionary.as_ref()?.entries.as_ref()
    }
}

/// So many rows to be passed over may well be all of the next page.
const MANY_ROWS: usize = 4096;

/// Rows that are decoded at a time to see whether they can be.
const PROBED_ROWS: usize = 8192;

const PLAIN: i32 = 0;
const PLAIN_DICTIONARY: i32 = 2;
const RLE_DICTIONARY: i32 = 8;
