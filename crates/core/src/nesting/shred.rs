//! Shredding: turns lists, structs and nulls into levels and values, on the way into a file.

use marquetry_encoding::{Bitmap, Values};
use std::ops::Range;
use std::sync::Arc;

/// Some rows of one column, as levels and values: the output of shredding and the input of a column writer.
///
/// An entry has a pair of levels: it is a value, a null, or a list that is empty or null. There is one value for each
/// entry whose definition level is the column's maximum.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ShreddedColumn {
    /// Number of rows.
    pub rows: usize,
    /// Number of entries; equals the number of rows in a column that is in no list.
    pub entries: usize,
    /// The definition level of each entry.
    pub def: DefinitionLevels,
    /// The repetition level of each entry; empty in a column that is in no list.
    pub rep: Vec<u8>,
    /// The values, in order, without gaps for nulls.
    pub values: ColumnValues,
}

impl ShreddedColumn {
    /// Creates rows of a column that is in no list.
    pub fn flat(rows: usize, def: DefinitionLevels, values: ColumnValues) -> Self {
        ShreddedColumn { rows, entries: rows, def, rep: Vec::new(), values }
    }

    /// Creates rows of a column in a list, with as many entries as there are repetition levels.
    pub fn nested(rows: usize, def: DefinitionLevels, rep: Vec<u8>, values: ColumnValues) -> Self {
        ShreddedColumn { rows, entries: rep.len(), def, rep, values }
    }
}

/// The definition levels of some entries, in the cheapest possible form.
#[derive(Debug, Clone, PartialEq)]
pub enum DefinitionLevels {
    /// All entries are values.
    Max,
    /// No entry is a value. Only for columns whose maximum level is 1.
    Null,
    /// Whether each entry is a value. Only for columns whose maximum level is 1.
    Bitmap(Bitmap),
    /// The level of each entry.
    Levels(Vec<u8>),
}

/// The values of some entries.
#[derive(Debug, Clone, PartialEq)]
pub enum ColumnValues {
    /// The values themselves.
    Values(Values),
    /// The index of each value in a dictionary. Dictionary-encoded input keeps its dictionary.
    Keys {
        /// One key for each value, less than the number of values in the dictionary.
        keys: Vec<u32>,
        /// The dictionary. It may have values that no key refers to, and equal values. Batches that share a dictionary
        /// share the `Arc`.
        dictionary: Arc<Values>,
    },
}

impl ColumnValues {
    /// The number of values.
    pub fn len(&self) -> usize {
        match self {
            ColumnValues::Values(values) => values.len(),
            ColumnValues::Keys { keys, .. } => keys.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Builds the levels of some rows, on the way from the root down to a leaf. It has the levels that the fields so far
/// determine, and the slots of the current field's array that are still live.
///
/// Every field on the path makes new entries from those above it: [`optional`](LevelBuilder::optional) for a field that
/// may be null, [`repeated`](LevelBuilder::repeated) for a list. Sibling fields start from the same entries, so the
/// levels above them are computed once. Slots of a null struct or list are dead, whatever the array has there.
///
/// INVARIANT: entries with the maximum level so far are live; there are as many as slots, in the same order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LevelBuilder {
    rows: usize,
    len: usize,
    /// The definition level of live entries.
    level: u8,
    /// Number of lists so far.
    lists: u8,
    /// The definition level of each entry; empty if all are live.
    def: Vec<u8>,
    /// The repetition level of each entry; empty above the first list.
    rep: Vec<u8>,
    slots: SlotRanges,
}

/// Slots of an array, as ranges in the order of the entries. Adjacent ranges are merged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SlotRanges {
    ranges: Vec<Range<usize>>,
    len: usize,
}

impl SlotRanges {
    /// Creates the slots of one range.
    pub fn new(range: Range<usize>) -> Self {
        let mut out = SlotRanges::default();
        out.push(range);
        out
    }

    /// Returns the ranges; none of them is empty.
    pub fn ranges(&self) -> &[Range<usize>] {
        &self.ranges
    }

    /// The number of slots.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no slots.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns slot number `n`, or `None` if there are fewer.
    pub fn nth(&self, n: usize) -> Option<usize> {
        let mut n = n;
        for range in &self.ranges {
            if n < range.len() {
                return Some(range.start + n);
            }
            n -= range.len();
        }
        None
    }

    /// Appends the slots of a range.
    #[inline]
    pub fn push(&mut self, range: Range<usize>) {
        if range.is_empty() {
            return;
        }
        self.len += range.len();
        match self.ranges.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => self.ranges.push(range),
        }
    }

    /// Writes the slots whose bit is 1 to `out`.
    fn keep(&self, bits: &Bitmap, out: &mut SlotRanges) {
        out.clear();
        let mut first = 0;
        for range in &self.ranges {
            for done in (0..range.len()).step_by(64) {
                let n = (range.len() - done).min(64);
                let word = bits.word(first + done) & low_bits(n);
                push_ones(word, range.start + done, out);
            }
            first += range.len();
        }
    }

    fn clear(&mut self) {
        self.ranges.clear();
        self.len = 0;
    }

    fn copy_from(&mut self, other: &SlotRanges) {
        self.ranges.clone_from(&other.ranges);
        self.len = other.len;
    }
}

/// Appends the runs of ones in `word`, whose bit 0 is slot `base`, to `out`.
#[inline]
fn push_ones(word: u64, base: usize, out: &mut SlotRanges) {
    let (mut word, mut at) = (word, 0);
    while word != 0 {
        let zeros = word.trailing_zeros() as usize;
        word >>= zeros;
        let ones = word.trailing_ones() as usize;
        at += zeros;
        out.push(base + at..base + at + ones);
        at += ones;
        word = if ones == 64 { 0 } else { word >> ones };
    }
}

/// Returns a word with the lowest `n` bits set, for `n <= 64`.
fn low_bits(n: usize) -> u64 {
    if n >= 64 { u64::MAX } else { (1 << n) - 1 }
}

impl LevelBuilder {
    /// Creates one live entry for each row in a range of the arrays of the root's fields.
    pub fn rows(rows: Range<usize>) -> Self {
        let mut out = LevelBuilder::default();
        out.restart(rows);
        out
    }

    /// Starts anew like [`rows`](LevelBuilder::rows), but reuses the memory.
    pub fn restart(&mut self, rows: Range<usize>) {
        let (n, mut slots) = (rows.len(), std::mem::take(&mut self.slots));
        slots.clear();
        slots.push(rows);
        self.def.clear();
        self.rep.clear();
        let (def, rep) = (std::mem::take(&mut self.def), std::mem::take(&mut self.rep));
        *self = LevelBuilder { rows: n, len: n, level: 0, lists: 0, def, rep, slots };
    }

    /// Returns the live slots.
    pub fn slots(&self) -> &SlotRanges {
        &self.slots
    }

    /// The number of entries, live and dead.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the row of live entry number `n`, counted from the first row.
    pub fn row(&self, n: usize) -> usize {
        let live = |i: &usize| self.def.is_empty() || self.def[*i] == self.level;
        let entry = (0..self.len).filter(live).nth(n).unwrap_or(self.len);
        match self.rep.is_empty() {
            true => entry,
            false => self.rep.iter().take(entry + 1).filter(|&&rep| rep == 0).count().saturating_sub(1),
        }
    }

    /// Writes the entries below a field that may be null to `out`. `valid` has a 1 for each live slot that is not null;
    /// `None` if none is null.
    ///
    /// # Panics
    /// If the number of bits is not that of live slots.
    pub fn optional(&self, valid: Option<&Bitmap>, out: &mut LevelBuilder) {
        out.copy_place(self);
        out.level = self.level + 1;
        self.optional_levels(valid, &mut out.def);
        match valid {
            Some(bits) => self.slots.keep(bits, &mut out.slots),
            None => out.slots.copy_from(&self.slots),
        }
        out.rep.clone_from(&self.rep);
    }

    /// Computes the definition levels below a field that may be null.
    fn optional_levels(&self, valid: Option<&Bitmap>, out: &mut Vec<u8>) {
        out.clear();
        let level = self.level;
        match (valid, self.def.is_empty()) {
            (None, true) => {}
            (None, false) => out.extend(self.def.iter().map(|&def| def + u8::from(def == level))),
            (Some(bits), all_live) => {
                assert_eq!(bits.len(), self.slots.len, "a validity bit for each slot");
                if all_live {
                    push_levels(bits, level, out);
                    return;
                }
                // One step more, so that the loop may read the one after the last.
                let mut steps = Vec::with_capacity(bits.len() + 8);
                push_levels(bits, 0, &mut steps);
                steps.push(0);
                let mut next = 0;
                // PERF: no branch, because it is hard to predict which entries are live.
                out.extend(self.def.iter().map(|&def| {
                    let live = def == level;
                    let step = steps[next] & u8::from(live);
                    next += usize::from(live);
                    def + step
                }));
            }
        }
    }

    /// Writes the entries below a repeated field to `out`: one for each element of the list in each live slot, and one for
    /// each empty list. `list` returns the slots of the elements in their own array.
    pub fn repeated(&self, list: impl Fn(usize) -> Range<usize>, out: &mut LevelBuilder) {
        out.copy_place(self);
        out.level = self.level + 1;
        out.lists = self.lists + 1;
        out.slots.clear();
        // Fills in the levels of all elements but the first of each list; the first ones are overwritten below.
        let (mut total, mut empty) = (self.len - self.slots.len, 0);
        for slot in self.slots.ranges.iter().cloned().flatten() {
            let elements = list(slot);
            total += elements.len().max(1);
            empty += usize::from(elements.is_empty());
            out.slots.push(elements);
        }
        out.len = total;
        out.def.clear();
        out.rep.clear();
        out.rep.resize(total, out.lists);
        if empty > 0 || !self.def.is_empty() {
            out.def.resize(total, out.level);
        }
        match self.def.is_empty() {
            true => self.first_elements(&list, out),
            false => self.first_elements_of_live(&list, out),
        }
    }

    /// Writes the levels of the first element of each list, or of the list itself if it is empty. All entries must be
    /// live.
    fn first_elements(&self, list: &impl Fn(usize) -> Range<usize>, out: &mut LevelBuilder) {
        let mut place = |at: usize, rep: u8, elements: usize| {
            out.rep[at] = rep;
            if elements == 0 {
                out.def[at] = self.level;
            }
            at + elements.max(1)
        };
        let slots = self.slots.ranges.iter().cloned().flatten();
        match self.rep.is_empty() {
            true => slots.fold(0, |at, slot| place(at, 0, list(slot).len())),
            false => slots.zip(&self.rep).fold(0, |at, (slot, &rep)| place(at, rep, list(slot).len())),
        };
    }

    /// Like [`first_elements`](Self::first_elements), for entries of which some are dead.
    fn first_elements_of_live(&self, list: &impl Fn(usize) -> Range<usize>, out: &mut LevelBuilder) {
        let mut slots = self.slots.ranges.iter().cloned().flatten();
        let mut at = 0;
        for (i, &def) in self.def.iter().enumerate() {
            let elements = match def == self.level {
                true => slots.next().map_or(0, |slot| list(slot).len()),
                false => 0,
            };
            out.rep[at] = self.rep.get(i).copied().unwrap_or(0);
            if elements == 0 {
                out.def[at] = def;
            }
            at += elements.max(1);
        }
    }

    /// Writes the levels of a leaf's entries to `out`, and leaves its values unchanged. If the leaf is nullable,
    /// `valid` is as for [`optional`](LevelBuilder::optional).
    pub fn leaf(&self, nullable: bool, valid: Option<Bitmap>, out: &mut ShreddedColumn) {
        (out.rows, out.entries) = (self.rows, self.len);
        out.rep.clone_from(&self.rep);
        let mut levels = take_levels(&mut out.def);
        let max = self.level + u8::from(nullable);
        out.def = match (nullable, valid) {
            (true, Some(bits)) if max == 1 => DefinitionLevels::Bitmap(bits),
            (true, None) | (false, _) if self.def.is_empty() => DefinitionLevels::Max,
            (true, valid) => {
                self.optional_levels(valid.as_ref(), &mut levels);
                DefinitionLevels::Levels(levels)
            }
            (false, _) if max == 1 => {
                let mut bits = Bitmap::new();
                bits.push_ge(&self.def, 1);
                DefinitionLevels::Bitmap(bits)
            }
            (false, _) => {
                levels.clone_from(&self.def);
                DefinitionLevels::Levels(levels)
            }
        };
    }

    /// Like [`leaf`](LevelBuilder::leaf), for a nullable leaf that is null in all live slots.
    pub fn null_leaf(&self, out: &mut ShreddedColumn) {
        (out.rows, out.entries) = (self.rows, self.len);
        out.rep.clone_from(&self.rep);
        if self.level == 0 {
            out.def = DefinitionLevels::Null;
            return;
        }
        let mut levels = take_levels(&mut out.def);
        levels.clone_from(&self.def);
        if self.def.is_empty() {
            levels.resize(self.len, self.level);
        }
        out.def = DefinitionLevels::Levels(levels);
    }

    fn copy_place(&mut self, above: &LevelBuilder) {
        (self.rows, self.len, self.level, self.lists) = (above.rows, above.len, above.level, above.lists);
    }
}

/// Takes the levels out of `def`, to reuse their memory.
fn take_levels(def: &mut DefinitionLevels) -> Vec<u8> {
    match std::mem::replace(def, DefinitionLevels::Max) {
        DefinitionLevels::Levels(levels) => levels,
        DefinitionLevels::Max | DefinitionLevels::Null | DefinitionLevels::Bitmap(_) => Vec::new(),
    }
}

/// Appends a level for each bit: `base`, and one more for a 1.
fn push_levels(bits: &Bitmap, base: u8, out: &mut Vec<u8>) {
    /// A one in each byte.
    const ONES: u64 = 0x0101_0101_0101_0101;
    /// Bit `i` in byte `i`.
    const EACH: u64 = 0x8040_2010_0804_0201;
    let start = out.len();
    out.reserve(bits.len() + 8);
    // PERF: eight levels at a time: copies a byte of bits to each byte of a word, and tests one bit in each.
    out.extend(bits.as_bytes().iter().flat_map(|&byte| {
        let picked = (u64::from(byte) * ONES) & EACH;
        let set = (((picked & !(0x80 * ONES)) + 0x7f * ONES) | picked) >> 7 & ONES;
        (set + u64::from(base) * ONES).to_le_bytes()
    }));
    out.truncate(start + bits.len());
}

#[cfg(test)]
mod tests;
