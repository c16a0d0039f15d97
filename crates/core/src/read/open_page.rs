//! A data page that is being read: its levels and values, in blocks.

use super::{ColumnBatch, ReadTarget};
use crate::page::{DataPage, PageStart};
use crate::sort_order::plain_value;
use marquetry_base::{Error, Result};
use marquetry_encoding::dictionary::{Dictionary, LookUp, check_indices};
use marquetry_encoding::levels::Levels;
use marquetry_encoding::{Bitmap, Decode, PhysicalType, Values, compact_levels};
use std::sync::Arc;

/// What is left of a data page.
pub(super) struct OpenPage {
    pub(super) start: PageStart,
    rep: Levels,
    pub(super) def: Levels,
    pub(super) values: Box<dyn Decode>,
    /// Entries whose levels were not decoded yet.
    pub(super) left: usize,
    /// Levels that were decoded and not consumed, from `consumed` on: of columns in lists only.
    pub(super) pending_rep: Vec<u8>,
    pub(super) pending_def: Vec<u8>,
    pub(super) consumed: usize,
    /// The size of the chunk's dictionary, if `values` gives indices into it.
    keys_below: Option<usize>,
    /// Whether its strings are put together in memory of their own.
    has_arenas: bool,
    /// Whether its values are copied as they stand, or byte by byte.
    is_plain: bool,
    /// Values that are decoded at a time: less than a block of long strings that are copied.
    at_a_time: usize,
    /// Whether byte strings were validated with the dictionary already.
    pub(super) is_validated: bool,
}

/// What a page has besides its entries: there should be nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Rest {
    pub(super) levels: bool,
    pub(super) values: bool,
}

/// Memory that pages share: one set for a column.
pub(super) struct Scratch {
    /// Dense values of a block, before nulls are spread out.
    pub(super) dense: Values,
    /// Dense indices of a block.
    pub(super) keys: Values,
    /// Values and indices of a block, before those that are not wanted are left out.
    pub(super) whole: Values,
    pub(super) whole_keys: Values,
    pub(super) levels: Vec<u8>,
    /// Most bytes of a batch.
    pub(super) batch_bytes: usize,
}

impl Scratch {
    pub(super) fn new(target: &ReadTarget, batch_bytes: usize) -> Self {
        Scratch {
            dense: target.empty(),
            keys: Values::W32(Vec::new()),
            whole: target.empty(),
            whole_keys: Values::W32(Vec::new()),
            levels: Vec::new(),
            batch_bytes,
        }
    }
}

impl OpenPage {
    pub(super) fn new(
        start: PageStart,
        page: DataPage,
        joined_bytes: usize,
        values: Box<dyn Decode>,
        keys_below: Option<usize>,
    ) -> Self {
        OpenPage {
            start,
            has_arenas: page.encoding == DELTA_BYTE_ARRAY,
            is_plain: matches!(page.encoding, PLAIN | BYTE_STREAM_SPLIT),
            at_a_time: at_a_time(joined_bytes, page.max_values),
            rep: page.rep,
            def: page.def,
            values,
            left: page.num_values,
            pending_rep: Vec::new(),
            pending_def: Vec::new(),
            consumed: 0,
            keys_below,
            is_validated: false,
        }
    }

    /// The page with what is left of it as values of `dictionary`, instead of indices into it.
    pub(super) fn with_values_of(self, dictionary: Arc<Dictionary>) -> Self {
        let values = Box::new(LookUp::new(self.values, dictionary));
        OpenPage { values, keys_below: None, ..self }
    }

    /// Whether the page gives indices into the chunk's dictionary.
    pub(super) fn is_keys(&self) -> bool {
        self.keys_below.is_some()
    }

    /// Whether every entry was consumed.
    pub(super) fn is_over(&self) -> bool {
        self.left == 0 && self.consumed == self.pending_rep.len()
    }

    /// What is left of the page's bytes after its last entry was consumed.
    pub(super) fn rest(&self) -> Rest {
        let v2 = self.start.header.data_page_header_v2.as_ref().filter(|_| self.start.is_data());
        let lengths = v2.map_or((0, 0), |header| {
            (header.repetition_levels_byte_length, header.definition_levels_byte_length)
        });
        // Where the largest level is 0, nothing is stored.
        let is_exhausted =
            |levels: &Levels, len: i32| if levels.max() == 0 { len == 0 } else { levels.is_exhausted() };
        Rest {
            levels: !is_exhausted(&self.rep, lengths.0) || !is_exhausted(&self.def, lengths.1),
            values: !self.values.is_exhausted(),
        }
    }

    /// How many entries were not consumed.
    pub(super) fn entries_left(&self) -> usize {
        self.left + self.pending_rep.len() - self.consumed
    }

    /// Appends up to `rows` rows of a column that is in no list: an entry is a row. Returns how many.
    pub(super) fn read_flat(
        &mut self,
        rows: usize,
        target: &ReadTarget,
        scratch: &mut Scratch,
        out: &mut ColumnBatch,
    ) -> Result<usize> {
        let rows = rows.min(self.left);
        let is_copied = self.is_plain && target.physical != PhysicalType::ByteArray;
        let mut done = 0;
        while done < rows {
            let run = self.def.run()?;
            let most = if is_copied || !run.is_max { run.n.min(COPIED) } else { 0 };
            let block = (rows - done).min(most.max(BLOCK));
            self.read_block(block, target, scratch, out)?;
            done += block;
        }
        Ok(rows)
    }

    /// Appends `block` rows of a column that is in no list, no more than are left.
    pub(super) fn read_block(
        &mut self,
        block: usize,
        target: &ReadTarget,
        scratch: &mut Scratch,
        out: &mut ColumnBatch,
    ) -> Result<()> {
        out.check_room(block, target, scratch.batch_bytes)?;
        if target.max_def == 0 {
            self.decode_values(block, target, &mut out.values)?;
        } else {
            let run = self.def.run()?;
            let validity = out.validity.get_or_insert_default();
            let first = validity.len();
            if target.keep_levels {
                let first = out.def.len();
                self.def.decode(block, &mut out.def)?;
                validity.push_at_least(&out.def[first..], target.max_def);
            } else {
                self.def.decode_is_max(block, &mut scratch.levels, validity)?;
            }
            match run.n >= block {
                true if run.is_max => self.decode_values(block, target, &mut out.values)?,
                true => out.values.push_defaults(block),
                false => self.decode_slots(first, block, target, scratch, out)?,
            }
        }
        if self.has_arenas {
            out.count_arenas()?;
        }
        out.entries += block;
        self.left -= block;
        Ok(())
    }

    /// Appends entries of a column in lists, until `rows` rows have begun and the next one would. Returns how many
    /// rows began; the last of them may go on in the next page.
    pub(super) fn read_nested(
        &mut self,
        rows: usize,
        target: &ReadTarget,
        scratch: &mut Scratch,
        out: &mut ColumnBatch,
    ) -> Result<usize> {
        self.walk_rows(rows, |page, take, _| page.consume(take, target, scratch, out))
    }

    /// Hands the entries of the next `rows` rows, and of what is open of the current one, to `step`, which must consume
    /// them: how many are pending of them, and how many of the rows began before. Returns how many rows began.
    pub(super) fn walk_rows(
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

    /// Passes over up to `rows` rows of a column that is in no list. Returns how many.
    pub(super) fn skip_flat(&mut self, rows: usize, scratch: &mut Scratch) -> Result<usize> {
        let rows = rows.min(self.left);
        let values = if self.def.max() == 0 { rows } else { self.def.skip(rows, &mut scratch.levels)? };
        self.values.skip(values)?;
        self.left -= rows;
        Ok(rows)
    }

    /// Passes over entries like [`read_nested`](Self::read_nested). Returns how many rows began.
    pub(super) fn skip_nested(&mut self, rows: usize) -> Result<usize> {
        self.walk_rows(rows, |page, take, _| {
            let def = &page.pending_def[page.consumed..page.consumed + take];
            let values = def.iter().filter(|&&def| def == page.def.max()).count();
            page.values.skip(values)?;
            page.consumed += take;
            Ok(())
        })
    }

    /// Whether the next entry begins a row; the page must not be over.
    pub(super) fn begins_row(&mut self) -> Result<bool> {
        if self.consumed == self.pending_rep.len() {
            self.decode_levels()?;
        }
        Ok(self.pending_rep[self.consumed] == 0)
    }

    /// Decodes the levels of the next block of entries.
    pub(super) fn decode_levels(&mut self) -> Result<()> {
        let block = self.left.min(BLOCK);
        self.pending_rep.clear();
        self.pending_def.clear();
        self.consumed = 0;
        self.rep.decode(block, &mut self.pending_rep).map_err(|error| of_levels("repetition", error))?;
        self.def.decode(block, &mut self.pending_def).map_err(|error| of_levels("definition", error))?;
        self.left -= block;
        Ok(())
    }

    /// How many pending entries belong to what is open of the current row and to the next `rows` rows, and how many
    /// rows begin in them.
    pub(super) fn entries_of_rows(&self, rows: usize) -> (usize, usize) {
        let pending = &self.pending_rep[self.consumed..];
        // PERF: no more rows can begin than there are entries, so that whole blocks are only counted in.
        let mut begun = 0;
        for (i, block) in pending.chunks(COUNTED).enumerate() {
            let starts = starts_in(block);
            if begun + usize::from(starts) > rows {
                let left = rows - begun;
                let is_next = |(_, rep): &(usize, &u8)| **rep == 0;
                let at = block.iter().enumerate().filter(is_next).nth(left).map_or(block.len(), |(at, _)| at);
                return (i * COUNTED + at, rows);
            }
            begun += usize::from(starts);
        }
        (pending.len(), begun)
    }

    /// Appends `n` pending entries.
    pub(super) fn consume(
        &mut self,
        n: usize,
        target: &ReadTarget,
        scratch: &mut Scratch,
        out: &mut ColumnBatch,
    ) -> Result<()> {
        out.check_room(n, target, scratch.batch_bytes)?;
        let range = self.consumed..self.consumed + n;
        let def = &self.pending_def[range.clone()];
        out.rep.extend_from_slice(&self.pending_rep[range]);
        out.def.extend_from_slice(def);
        out.entries += n;
        let validity = out.validity.get_or_insert_default();
        let first = validity.len();
        push_slots(def, target, &mut scratch.levels, validity);
        let slots = validity.len() - first;
        self.consumed += n;
        self.decode_slots(first, slots, target, scratch, out)?;
        if self.has_arenas { out.count_arenas() } else { Ok(()) }
    }

    /// Appends a value or a default for each of the `n` slots whose validity is in `out` from bit `first` on.
    fn decode_slots(
        &mut self,
        first: usize,
        n: usize,
        target: &ReadTarget,
        scratch: &mut Scratch,
        out: &mut ColumnBatch,
    ) -> Result<()> {
        let empty = Bitmap::new();
        let validity = out.validity.as_ref().unwrap_or(&empty);
        let ones = validity.count_ones(first..first + n);
        if ones == n {
            return self.decode_values(n, target, &mut out.values);
        }
        if ones == 0 {
            out.values.push_defaults(n);
            return Ok(());
        }
        if self.values.decode_spaced(validity, first, n, ones, &mut out.values)? {
            return Ok(());
        }
        let dense = if self.is_keys() { &mut scratch.keys } else { &mut scratch.dense };
        out.values.lend(dense, |dense| self.decode_values(ones, target, dense))?;
        out.values.push_expanded(dense, validity, first, n);
        Ok(())
    }

    /// Appends the next `n` values, dense, and validates text.
    pub(super) fn decode_values(&mut self, n: usize, target: &ReadTarget, out: &mut Values) -> Result<()> {
        let mut left = n;
        while left > 0 {
            let now = left.min(self.at_a_time);
            self.decode_some(now, target, out)?;
            left -= now;
        }
        Ok(())
    }

    fn decode_some(&mut self, n: usize, target: &ReadTarget, out: &mut Values) -> Result<()> {
        let first = out.len();
        let is_text = if target.is_text && !self.is_validated {
            self.values.decode_utf8(n, out)?
        } else {
            self.values.decode(n, out)?;
            true
        };
        if let (Some(len), Values::W32(keys)) = (self.keys_below, &*out) {
            check_indices(&keys[first..], len)?;
        }
        if !is_text && let Some(at) = out.first_not_utf8(first..out.len()) {
            return Err(not_utf8(plain_value(out, at, &mut [0; 8])));
        }
        Ok(())
    }
}

/// How many values are decoded at a time, of `n` that take so many bytes.
///
/// PERF: long strings are validated where they were copied to, while they are in the cache.
fn at_a_time(bytes: usize, n: usize) -> usize {
    match bytes / n.max(1) {
        0..256 => usize::MAX,
        average => (IN_CACHE / average).max(1),
    }
}

/// Appends the validity of the slots among entries of these levels.
pub(super) fn push_slots(def: &[u8], target: &ReadTarget, slots: &mut Vec<u8>, validity: &mut Bitmap) {
    // An entry below the level of the innermost list's elements is an empty or absent list: no slot.
    if def.iter().fold(u8::MAX, |least, &def| least.min(def)) >= target.slot_def {
        validity.push_at_least(def, target.max_def);
        return;
    }
    slots.clear();
    let mut is_slot = Bitmap::new();
    is_slot.push_at_least(def, target.slot_def);
    compact_levels(def, is_slot.as_bytes(), 0, slots);
    validity.push_at_least(slots, target.max_def);
}

/// The error for text that is none.
#[cold]
pub(super) fn not_utf8(bytes: &[u8]) -> Error {
    let shown = &bytes[..bytes.len().min(32)];
    Error::corrupt(format!("a string is not UTF-8: \"{}\"", shown.escape_ascii()))
}

#[cold]
fn of_levels(kind: &str, error: Error) -> Error {
    Error::new(error.kind(), format!("{kind} levels: {}", error.message()))
}

const PLAIN: i32 = 0;
const BYTE_STREAM_SPLIT: i32 = 9;
const DELTA_BYTE_ARRAY: i32 = 7;

/// How many rows begin in up to [`COUNTED`] entries. PERF: sums of bytes are added in vectors of bytes.
fn starts_in(rep: &[u8]) -> u8 {
    rep.iter().map(|&rep| u8::from(rep == 0)).sum()
}

/// How many rows begin in entries.
pub(super) fn row_starts(rep: &[u8]) -> usize {
    rep.chunks(COUNTED).map(|block| usize::from(starts_in(block))).sum()
}

/// Levels that are counted at a time: a byte counts them.
const COUNTED: usize = 128;
/// Bytes that are decoded at a time where values are long: what is read in order is fetched ahead.
const IN_CACHE: usize = 2 << 10;
/// Entries decoded at a time: values of 8 bytes then take half of a first-level cache.
pub(super) const BLOCK: usize = 2048;
/// Values copied at a time, where nothing but a copy is to be done: most batches whole. What a page claims to have may not be there.
const COPIED: usize = 4 * BLOCK;
