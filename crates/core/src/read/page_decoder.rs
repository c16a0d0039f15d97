//! Decodes a data page: its levels and values, block by block.

mod selective;

use super::column_batch::ColumnBatch;
use super::target::{ReadTarget, ValueLayout};
use super::utf8::not_utf8;
use crate::nesting::RepetitionLevels;
use crate::page::{DataPage, LocatedHeader};
use crate::sort_order::plain_value;
use marquetry_base::{CancelToken, Error, Limits, PaddedBytes, Result};
use marquetry_encoding::code::{BYTE_STREAM_SPLIT, DELTA_BYTE_ARRAY, PLAIN};
use marquetry_encoding::dictionary::{Dictionary, IndexDecoder, IndexLookup, check_indices};
use marquetry_encoding::levels::Levels;
use marquetry_encoding::{Bitmap, Decode, EncodedPage, PhysicalType, Values, filter_u8, registry};
use std::sync::Arc;

/// A data page that is being decoded.
pub(super) struct PageDecoder {
    pub(super) header: LocatedHeader,
    rep: Levels,
    def: Levels,
    values: Box<dyn Decode>,
    /// Number of entries whose levels were not decoded yet.
    left: usize,
    /// Decoded repetition levels of a nested column; entries from `consumed` on were not consumed.
    pending_rep: RepetitionLevels,
    /// Decoded definition levels; empty if all are the maximum.
    pending_def: Vec<u8>,
    /// Whether all pending definition levels are the maximum, so that every entry is a value.
    pending_is_max: bool,
    consumed: usize,
    /// The size of the chunk's dictionary, if `values` gives indices into it.
    index_bound: Option<usize>,
    /// Whether the encoding assembles strings in new memory.
    has_arenas: bool,
    /// Whether decoding only copies the values or their bytes.
    is_plain: bool,
    /// Number of values to decode at a time: less than a block if long strings are copied.
    values_per_step: usize,
    /// Whether byte strings must be UTF-8, and were not validated already with the dictionary.
    validates_utf8: bool,
    /// Checked for each block, because a page has any number of entries.
    cancel: CancelToken,
}

/// Whether a page has bytes after its last level and after its last value. Valid pages have none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct TrailingBytes {
    pub(super) levels: bool,
    pub(super) values: bool,
}

/// Memory for intermediate values, reused from page to page.
pub(super) struct DecodeScratch {
    /// Non-null values of a block.
    dense: Values,
    /// Indices of the non-null values of a block.
    dense_indices: Values,
    /// Values of a block, selected or not.
    whole: Values,
    /// Indices of a block, selected or not.
    whole_indices: Values,
    levels: Vec<u8>,
    /// Maximum bytes of a batch.
    batch_bytes: usize,
}

impl DecodeScratch {
    pub(super) fn new(target: &ReadTarget, limits: &Limits) -> Self {
        DecodeScratch {
            dense: target.empty_values(limits),
            dense_indices: Values::W32(Vec::new()),
            whole: target.empty_values(limits),
            whole_indices: Values::W32(Vec::new()),
            levels: Vec::new(),
            batch_bytes: limits.batch_bytes,
        }
    }
}

impl PageDecoder {
    /// Creates a decoder of `page`, whose values are `bytes`. `dictionary` is the chunk's if the page has indices into
    /// it.
    pub(super) fn new(
        header: LocatedHeader,
        page: DataPage,
        bytes: PaddedBytes,
        dictionary: Option<&Arc<Dictionary>>,
        target: &ReadTarget,
        limits: &Limits,
    ) -> Result<Self> {
        let copied_bytes = if target.layout == ValueLayout::Offsets { bytes.len() } else { 0 };
        // QUIRK: a page of only nulls may have no value bytes even if its encoding stores a header. PLAIN stores none.
        let encoding = if bytes.is_empty() { PLAIN } else { page.encoding };
        let index_bound = dictionary.filter(|_| target.layout == ValueLayout::Indices);
        let values: Box<dyn Decode> = match index_bound {
            Some(_) => Box::new(IndexDecoder::new(&bytes).map_err(|error| header.place(error))?),
            None => {
                let (max_values, physical) = (page.max_values, target.physical);
                let (dictionary, memory) = (dictionary.cloned(), limits.memory.clone());
                let encoded = EncodedPage { bytes, max_values, physical, dictionary, memory };
                registry::decoder(encoding, &encoded).map_err(|error| header.place(error))?
            }
        };
        Ok(PageDecoder {
            header,
            has_arenas: page.encoding == DELTA_BYTE_ARRAY,
            is_plain: matches!(page.encoding, PLAIN | BYTE_STREAM_SPLIT),
            values_per_step: values_per_step(copied_bytes, page.max_values),
            rep: page.rep,
            def: page.def,
            values,
            left: page.num_values,
            pending_rep: RepetitionLevels::for_max(target.max_rep),
            pending_def: Vec::new(),
            pending_is_max: false,
            consumed: 0,
            index_bound: index_bound.map(|dictionary| dictionary.values().len()),
            validates_utf8: target.validates_utf8()
                && !dictionary.is_some_and(|dictionary| matches!(dictionary.values(), Values::Bytes(_))),
            cancel: limits.cancel.clone(),
        })
    }

    /// Makes the page look up the rest of its values in `dictionary`, instead of giving indices into it.
    pub(super) fn with_values_of(self, dictionary: Arc<Dictionary>) -> Self {
        let values = Box::new(IndexLookup::new(self.values, dictionary));
        PageDecoder { values, index_bound: None, ..self }
    }

    /// Whether the page gives indices into the chunk's dictionary.
    pub(super) fn gives_indices(&self) -> bool {
        self.index_bound.is_some()
    }

    /// Whether every entry was consumed.
    pub(super) fn is_over(&self) -> bool {
        self.left == 0 && self.consumed == self.pending_rep.len()
    }

    /// Returns whether bytes follow the page's entries, once the last one was consumed.
    pub(super) fn trailing_bytes(&self) -> TrailingBytes {
        let v2 = self.header.header.data_page_header_v2.as_ref().filter(|_| self.header.is_data());
        let lengths = v2.map_or((0, 0), |header| {
            (header.repetition_levels_byte_length, header.definition_levels_byte_length)
        });
        // If the maximum level is 0, no levels are stored.
        let is_exhausted =
            |levels: &Levels, len: i32| if levels.max() == 0 { len == 0 } else { levels.is_exhausted() };
        TrailingBytes {
            levels: !is_exhausted(&self.rep, lengths.0) || !is_exhausted(&self.def, lengths.1),
            values: !self.values.is_exhausted(),
        }
    }

    /// Returns the number of entries that were not consumed.
    pub(super) fn entries_left(&self) -> usize {
        self.left + self.pending_rep.len() - self.consumed
    }

    /// Appends up to `rows` rows of a flat column, in which each entry is a row. Returns how many.
    pub(super) fn read_flat(
        &mut self,
        rows: usize,
        target: &ReadTarget,
        scratch: &mut DecodeScratch,
        out: &mut ColumnBatch,
    ) -> Result<usize> {
        let rows = rows.min(self.left);
        let is_copied = self.is_plain && target.physical != PhysicalType::ByteArray;
        let mut done = 0;
        while done < rows {
            let run = self.def.run()?;
            let most_rows = if is_copied || !run.is_max { run.n.min(ROWS_PER_COPY) } else { 0 };
            let block = (rows - done).min(most_rows.max(ENTRIES_PER_BLOCK));
            self.read_block(block, target, scratch, out)?;
            done += block;
        }
        Ok(rows)
    }

    /// Appends `block` rows of a flat column; that many must be left.
    fn read_block(
        &mut self,
        block: usize,
        target: &ReadTarget,
        scratch: &mut DecodeScratch,
        out: &mut ColumnBatch,
    ) -> Result<()> {
        self.cancel.check()?;
        out.check_room(block, target, scratch.batch_bytes)?;
        if target.max_def == 0 {
            self.decode_values(block, &mut out.values)?;
        } else {
            let run = self.def.run()?;
            let first = out.validity.get_or_insert_default().len();
            self.read_levels(block, run.is_max && run.n >= block, target, scratch, out)?;
            match run.n >= block {
                true if run.is_max => self.decode_values(block, &mut out.values)?,
                true => out.values.push_nulls(block),
                false => self.decode_slots(first, block, scratch, out)?,
            }
        }
        if self.has_arenas {
            out.reserve_arenas()?;
        }
        out.entries += block;
        self.left -= block;
        Ok(())
    }

    /// Appends validity and definition levels of the next `n` rows of a flat column. `is_max` tells that all levels are
    /// the maximum.
    fn read_levels(
        &mut self,
        n: usize,
        is_max: bool,
        target: &ReadTarget,
        scratch: &mut DecodeScratch,
        out: &mut ColumnBatch,
    ) -> Result<()> {
        // PERF: if all levels are the maximum, as they usually are, none has to be decoded.
        if target.keep_levels && is_max {
            self.def.skip(n, &mut scratch.levels)?;
            out.push_max_def(n, target.max_def);
            out.validity.get_or_insert_default().push_run(true, n);
            return Ok(());
        }
        if !target.keep_levels {
            return self.def.decode_is_max(n, &mut scratch.levels, out.validity.get_or_insert_default());
        }
        self.def.decode(n, out.def_to_extend(target.max_def))?;
        out.validity.get_or_insert_default().push_ge(&out.def[out.entries..], target.max_def);
        Ok(())
    }

    /// Appends entries of a nested column, until `rows` rows have begun and the next one would begin. Returns how many rows
    /// began. The last of them may continue in the next page.
    pub(super) fn read_nested(
        &mut self,
        rows: usize,
        target: &ReadTarget,
        scratch: &mut DecodeScratch,
        out: &mut ColumnBatch,
    ) -> Result<usize> {
        if self.left >= MANY_ENTRIES {
            self.make_room(rows, target, scratch, out)?;
        }
        self.walk_rows(rows, |page, take, _| page.consume(take, target, scratch, out))
    }

    /// Reserves memory for the entries of the rest of the current row and of the next `rows` rows. Counts them first,
    /// because a few bytes encode any number of them.
    fn make_room(
        &self,
        rows: usize,
        target: &ReadTarget,
        scratch: &DecodeScratch,
        out: &mut ColumnBatch,
    ) -> Result<()> {
        let (pending, begun) = self.entries_of_rows(rows);
        let is_over = pending < self.pending_rep.len() - self.consumed;
        let rest = if is_over { Some(0) } else { self.rep.entries_of_rows(rows - begun, self.left)? };
        match rest {
            Some(rest) => out.make_room(pending + rest, target, scratch.batch_bytes),
            None => Ok(()),
        }
    }

    /// Calls `step` for the entries of the rest of the current row and of the next `rows` rows, as many at a time as
    /// are pending. Its arguments are their number and the number of rows that began before; it must consume them.
    /// Returns how many rows began.
    fn walk_rows(
        &mut self,
        rows: usize,
        mut step: impl FnMut(&mut Self, usize, usize) -> Result<()>,
    ) -> Result<usize> {
        let mut begun = 0;
        while !self.is_over() {
            if self.consumed == self.pending_rep.len() {
                self.decode_levels()?;
            }
            let (take, starts) = self.entries_of_rows(rows - begun);
            if take > 0 {
                step(self, take, begun)?;
            }
            begun += starts;
            if self.consumed < self.pending_rep.len() {
                break;
            }
        }
        Ok(begun)
    }

    /// Skips up to `rows` rows of a flat column. Returns how many were skipped.
    pub(super) fn skip_flat(&mut self, rows: usize, scratch: &mut DecodeScratch) -> Result<usize> {
        let rows = rows.min(self.left);
        let values = if self.def.max() == 0 { rows } else { self.def.skip(rows, &mut scratch.levels)? };
        self.values.skip(values)?;
        self.left -= rows;
        Ok(rows)
    }

    /// Skips the entries that [`read_nested`](Self::read_nested) would append. Returns how many rows began.
    pub(super) fn skip_nested(&mut self, rows: usize) -> Result<usize> {
        self.walk_rows(rows, |page, take, _| {
            let count = |def: &[u8]| def.iter().filter(|&&def| def == page.def.max()).count();
            let values = match page.pending_is_max {
                true => take,
                false => count(&page.pending_def[page.consumed..page.consumed + take]),
            };
            page.values.skip(values)?;
            page.consumed += take;
            Ok(())
        })
    }

    /// Whether the next entry begins a row; the page must have one.
    pub(super) fn begins_row(&mut self) -> Result<bool> {
        if self.consumed == self.pending_rep.len() {
            self.decode_levels()?;
        }
        Ok(self.pending_rep.as_slice().begins_row(self.consumed))
    }

    /// Decodes the levels of the next block of entries.
    fn decode_levels(&mut self) -> Result<()> {
        self.cancel.check()?;
        let block = self.left.min(ENTRIES_PER_BLOCK);
        self.pending_rep.clear();
        self.pending_def.clear();
        self.consumed = 0;
        self.pending_rep.decode(&mut self.rep, block).map_err(|error| level_error("repetition", error))?;
        let in_definition = |error| level_error("definition", error);
        let run = self.def.run().map_err(in_definition)?;
        self.pending_is_max = run.is_max && run.n >= block;
        // PERF: if all entries are values, as they usually are, no level has to be decoded.
        if self.pending_is_max {
            self.def.skip(block, &mut self.pending_def).map_err(in_definition)?;
        } else {
            self.def.decode(block, &mut self.pending_def).map_err(in_definition)?;
        }
        self.left -= block;
        Ok(())
    }

    /// Returns the number of pending entries that belong to the rest of the current row and to the next `rows` rows,
    /// and the number of rows that begin in them.
    fn entries_of_rows(&self, rows: usize) -> (usize, usize) {
        let pending = self.consumed..self.pending_rep.len();
        self.pending_rep.as_slice().entries_of_rows(pending, rows)
    }

    /// Appends `n` pending entries.
    fn consume(
        &mut self,
        n: usize,
        target: &ReadTarget,
        scratch: &mut DecodeScratch,
        out: &mut ColumnBatch,
    ) -> Result<()> {
        out.check_room(n, target, scratch.batch_bytes)?;
        let range = self.consumed..self.consumed + n;
        out.rep.extend_from(self.pending_rep.as_slice(), range.clone());
        self.consumed += n;
        if self.pending_is_max {
            out.push_max_def(n, target.max_def);
            out.entries += n;
            out.validity.get_or_insert_default().push_run(true, n);
            self.decode_values(n, &mut out.values)?;
        } else {
            let def = &self.pending_def[range];
            out.def_to_extend(target.max_def).extend_from_slice(def);
            out.entries += n;
            let validity = out.validity.get_or_insert_default();
            let first = validity.len();
            push_slots(def, target, &mut scratch.levels, validity);
            let slots = validity.len() - first;
            self.decode_slots(first, slots, scratch, out)?;
        }
        if self.has_arenas { out.reserve_arenas() } else { Ok(()) }
    }

    /// Appends a value or a default for each of the `n` slots whose validity is in `out` from bit `first` on.
    fn decode_slots(
        &mut self,
        first: usize,
        n: usize,
        scratch: &mut DecodeScratch,
        out: &mut ColumnBatch,
    ) -> Result<()> {
        let empty = Bitmap::new();
        let validity = out.validity.as_ref().unwrap_or(&empty);
        let ones = validity.count_ones(first..first + n);
        if ones == n {
            return self.decode_values(n, &mut out.values);
        }
        if ones == 0 {
            out.values.push_nulls(n);
            return Ok(());
        }
        if self.values.decode_spaced(validity, first, n, ones, &mut out.values)? {
            return Ok(());
        }
        let dense = if self.gives_indices() { &mut scratch.dense_indices } else { &mut scratch.dense };
        out.values.with_scratch(dense, |dense| self.decode_values(ones, dense))?;
        out.values.push_spaced(dense, validity, first, n);
        Ok(())
    }

    /// Appends the next `n` values, without gaps for nulls, and validates text.
    fn decode_values(&mut self, n: usize, out: &mut Values) -> Result<()> {
        let mut left = n;
        while left > 0 {
            let now = left.min(self.values_per_step);
            self.decode_some(now, out)?;
            left -= now;
        }
        Ok(())
    }

    fn decode_some(&mut self, n: usize, out: &mut Values) -> Result<()> {
        let first = out.len();
        let is_text = if self.validates_utf8 {
            self.values.decode_utf8(n, out)?
        } else {
            self.values.decode(n, out)?;
            true
        };
        if let (Some(len), Values::W32(keys)) = (self.index_bound, &*out) {
            check_indices(&keys[first..], len)?;
        }
        if !is_text && let Some(at) = out.first_not_utf8(first..out.len()) {
            return Err(not_utf8(plain_value(out, at, &mut [0; 8])));
        }
        Ok(())
    }
}

/// Returns the number of values to decode at a time, if `n` values take `bytes` bytes.
///
/// PERF: long strings are validated in their destination while they are in the cache.
fn values_per_step(bytes: usize, n: usize) -> usize {
    match bytes / n.max(1) {
        0..256 => usize::MAX,
        average => (CACHED_BYTES / average).max(1),
    }
}

/// Appends the validity of the slots among entries with these definition levels.
fn push_slots(def: &[u8], target: &ReadTarget, slots: &mut Vec<u8>, validity: &mut Bitmap) {
    // A definition level below that of the innermost list's elements is an empty or null list, or null above it, and
    // has no slot.
    if def.iter().fold(u8::MAX, |least, &def| least.min(def)) >= target.repeated_ancestor_def_level {
        validity.push_ge(def, target.max_def);
        return;
    }
    slots.clear();
    let mut is_slot = Bitmap::new();
    is_slot.push_ge(def, target.repeated_ancestor_def_level);
    filter_u8(def, is_slot.as_bytes(), 0, slots);
    validity.push_ge(slots, target.max_def);
}

#[cold]
fn level_error(kind: &str, error: Error) -> Error {
    Error::new(error.kind(), format!("{kind} levels: {}", error.message()))
}

/// Bytes to decode at a time if values are long, so that they stay in the cache until they are validated.
const CACHED_BYTES: usize = 2 << 10;
/// Entries to decode at a time: values of 8 bytes then take half of a first-level cache.
const ENTRIES_PER_BLOCK: usize = 2048;
/// Entries of a page from which on they are counted before memory is reserved for them.
const MANY_ENTRIES: usize = 1 << 20;
/// Rows per block of plain fixed-width values and of runs of nulls: most batches at once. Bounded, because the page
/// header's count is untrusted.
const ROWS_PER_COPY: usize = 4 * ENTRIES_PER_BLOCK;
