//! The output of reading one column for one batch of rows.

use super::expected_size::{LEVEL_BYTES, width};
use super::target::{ReadTarget, ValueLayout, ValueRepair};
use crate::nesting::{LeafLevels, RepetitionLevels, RepetitionSlice};
use crate::row_mask::compacted;
use marquetry_base::{Error, Limits, MemoryReservation, Result, try_reserve_exact};
use marquetry_encoding::dictionary::Dictionary;
use marquetry_encoding::{Bitmap, Shape, Values, filter_bits, filter_u8};
use std::borrow::Cow;
use std::sync::Arc;

/// The values of one leaf, one for each of its slots, and the levels that define their nesting.
#[derive(Debug, Clone)]
pub struct ColumnBatch {
    /// One value for each slot; null slots have a default, or any value of the column's dictionary. 32-bit indices if
    /// `dictionary` is set.
    pub values: Values,
    /// The null bitmap: 1 for slots that are not null; `None` if all are.
    pub validity: Option<Bitmap>,
    /// Definition levels, one for each entry. Empty if nothing above the leaf is nullable or a list, and while all
    /// levels are `max_def`.
    pub def: Vec<u8>,
    /// The maximum definition level; 0 if no levels are kept.
    pub max_def: u8,
    /// Repetition levels, one for each entry; empty if nothing above the leaf is a list.
    pub rep: RepetitionLevels,
    /// Upper bound of the repetition levels; [`u8::MAX`] if it is unknown.
    pub max_rep: u8,
    /// Number of entries: slots, and null or empty ancestors.
    pub entries: usize,
    /// The dictionary that `values` index, if the target's layout is indices and the pages have them.
    pub dictionary: Option<Arc<Dictionary>>,
    /// Reservation from [`Limits::memory`](marquetry_base::Limits::memory) for the batch and the pages that it refers
    /// to.
    pub held: MemoryReservation,
    /// Bytes of strings that their encoding assembled, as far as `held` includes them.
    pub arenas: usize,
    /// Number of further entries that `held` includes already.
    pub room: usize,
}

impl ColumnBatch {
    /// Creates an empty batch for `target`.
    pub(super) fn for_target(target: &ReadTarget, limits: &Limits) -> Self {
        let (held, max_rep) = (limits.memory.empty(), target.max_rep);
        let rep = RepetitionLevels::for_max(max_rep);
        ColumnBatch { held, max_rep, rep, ..ColumnBatch::with_values(target.empty_values(limits)) }
    }

    /// Creates an empty batch for values of `shape`.
    pub fn new(shape: Shape) -> Self {
        ColumnBatch::with_values(shape.empty())
    }

    fn with_values(values: Values) -> Self {
        ColumnBatch {
            values,
            validity: None,
            def: Vec::new(),
            max_def: 0,
            rep: RepetitionLevels::default(),
            max_rep: u8::MAX,
            entries: 0,
            dictionary: None,
            held: MemoryReservation::default(),
            arenas: 0,
            room: 0,
        }
    }

    /// Takes the reservation of the batch, before its values become an array.
    pub fn take_held(&mut self) -> MemoryReservation {
        let mut held = std::mem::take(&mut self.held);
        if let Values::Offsets(strings) = &mut self.values {
            held.merge(strings.take_held());
        }
        held
    }

    /// Returns a copy with a reservation of its own. Pages and dictionaries are shared.
    pub fn copied(&self) -> Result<ColumnBatch> {
        let mut held = self.held.clone();
        held.grow(self.entries.saturating_mul(width(self.values.shape()) + LEVEL_BYTES))?;
        let mut copied = ColumnBatch { held, ..self.clone() };
        if let Values::Offsets(strings) = &mut copied.values {
            strings.hold()?;
        }
        Ok(copied)
    }

    /// Reserves capacity for `rows` rows.
    pub(super) fn reserve(&mut self, rows: usize, target: &ReadTarget) {
        if target.layout != ValueLayout::Indices {
            self.values.reserve(rows);
        }
        if target.max_def > 0 {
            self.validity.get_or_insert_default().reserve(rows);
        }
        if target.keep_levels {
            self.def.reserve(rows);
        }
    }

    /// Reserves capacity for `entries` entries of a nested column.
    pub(super) fn reserve_entries(&mut self, entries: usize, target: &ReadTarget) {
        self.reserve(entries, target);
        self.rep.reserve(entries);
        self.def.reserve(entries);
    }

    /// Fails if `n` more entries make the batch exceed `limit` bytes, or the rest of the memory budget.
    pub(super) fn check_room(&mut self, n: usize, target: &ReadTarget, limit: usize) -> Result<()> {
        if n <= self.room {
            self.room -= n;
            return Ok(());
        }
        let entry = self.checked_entry(n, target, limit)?;
        // Twice, because a growing vector exists twice for a moment.
        self.held.grow(n.saturating_mul(2 * entry))
    }

    /// Allocates memory for the next `n` entries of a nested column. Fails like [`check_room`](Self::check_room), and
    /// if the system has not enough memory.
    pub(super) fn make_room(&mut self, n: usize, target: &ReadTarget, limit: usize) -> Result<()> {
        let entry = self.checked_entry(n, target, limit)?;
        self.held.grow(n.saturating_mul(entry))?;
        self.room = n;
        self.rep.try_reserve(n)?;
        try_reserve_exact(&mut self.def, n)?;
        match &mut self.values {
            Values::W32(values) => try_reserve_exact(values, n),
            Values::W64(values) => try_reserve_exact(values, n),
            // These grow as they are filled.
            Values::Bit(_) | Values::Fixed(_) | Values::Bytes(_) | Values::Offsets(_) => Ok(()),
        }
    }

    /// Returns the bytes of an entry. Fails if `n` more entries make the batch exceed `limit` bytes.
    fn checked_entry(&self, n: usize, target: &ReadTarget, limit: usize) -> Result<usize> {
        let entry = width(target.physical.shape()) + LEVEL_BYTES;
        let entries = self.entries.saturating_add(n);
        if entries.saturating_mul(entry) <= limit {
            return Ok(entry);
        }
        Err(Error::limit(format!(
            "{entries} entries of {entry} bytes in one batch exceed the limit of {limit}; read smaller batches, or \
             raise Limits::batch_bytes"
        )))
    }

    /// Appends the rows of `other`, a batch of the same column, whose bit in `keep` is 1.
    ///
    /// # Panics
    /// If `keep` does not have a bit for each row.
    pub fn push_filtered(&mut self, other: &ColumnBatch, keep: &Bitmap, target: &ReadTarget) -> Result<()> {
        let of_entries = (target.max_rep > 0).then(|| of_entries(other.rep.as_slice(), keep));
        let entries = of_entries.as_ref().unwrap_or(keep);
        assert_eq!(entries.len(), other.entries, "a bit for each row");
        let kept = entries.count_ones(0..entries.len());
        if other.def.is_empty() && target.keep_levels {
            self.push_max_def(kept, target.max_def);
        } else if target.keep_levels {
            filter_u8(&other.def, entries.as_bytes(), 0, self.def_to_extend(target.max_def));
        }
        self.entries += kept;
        if let Some(entries) = &of_entries {
            self.rep.push_filtered(other.rep.as_slice(), 0..other.entries, entries);
        }
        let of_slots = (target.max_rep > 0 && !other.def.is_empty()).then(|| {
            let mut is_slot = Bitmap::new();
            is_slot.push_ge(&other.def, target.repeated_ancestor_def_level);
            compacted(entries, 0..entries.len(), &is_slot)
        });
        let slots = of_slots.as_ref().unwrap_or(entries);
        let nulls_decimals = matches!(target.repair, ValueRepair::NullDecimalsOver(_));
        if target.max_def > 0 || nulls_decimals {
            let present = self.values.len();
            let validity = self.validity.get_or_insert_with(|| ones(present));
            match &other.validity {
                Some(bits) => {
                    filter_bits(bits.as_bytes(), 0, slots.as_bytes(), 0, slots.len(), validity);
                }
                None => validity.push_run(true, slots.count_ones(0..slots.len())),
            }
        }
        let Some(dictionary) = &other.dictionary else {
            self.begin_values(target.physical.shape())?;
            return self.values.push_filtered(&other.values, slots, 0);
        };
        self.begin_indices(dictionary)?;
        if self.dictionary.is_some() {
            self.values.push_filtered(&other.values, slots, 0)
        } else {
            let mut keys = Values::W32(Vec::new());
            keys.push_filtered(&other.values, slots, 0)?;
            let values = dictionary.values_at(keys.as_w32()?)?;
            let mut all = Bitmap::new();
            all.push_run(true, values.len());
            self.values.push_filtered(&values, &all, 0)
        }
    }

    /// Returns the number of null slots.
    pub fn nulls(&self) -> usize {
        self.validity.as_ref().map_or(0, |bits| bits.len() - bits.count_ones(0..bits.len()))
    }

    /// Reserves memory for the strings that their encoding assembled since the last call.
    pub(super) fn reserve_arenas(&mut self) -> Result<()> {
        if let Values::Bytes(views) = &self.values {
            let arenas = views.buffers().iter().map(|buffer| buffer.len()).sum::<usize>();
            self.held.grow(arenas.saturating_sub(self.arenas))?;
            self.arenas = arenas.max(self.arenas);
        }
        Ok(())
    }

    /// Completes the batch: drops the validity if no slot is null.
    pub fn finish(&mut self) {
        // PERF: if there are nulls, the first word usually has some.
        let may_be_full = |bits: &Bitmap| bits.len() < 64 || bits.word(0) == u64::MAX;
        let is_full = |bits: &Bitmap| may_be_full(bits) && bits.count_ones(0..bits.len()) == bits.len();
        if self.validity.as_ref().is_some_and(is_full) {
            self.validity = None;
        }
    }

    /// Prepares for appending indices into `dictionary`. If the batch has values already, it keeps values, and
    /// `dictionary` stays `None`.
    pub(super) fn begin_indices(&mut self, dictionary: &Arc<Dictionary>) -> Result<()> {
        match &self.dictionary {
            Some(present) if Arc::ptr_eq(present, dictionary) => Ok(()),
            Some(present) => {
                let shape = present.values().shape();
                self.begin_values(shape)
            }
            None if self.values.is_empty() => {
                self.values = Values::W32(Vec::new());
                self.dictionary = Some(dictionary.clone());
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Prepares for appending values: replaces indices by values of the dictionary.
    pub(super) fn begin_values(&mut self, shape: Shape) -> Result<()> {
        let Some(dictionary) = self.dictionary.take() else {
            return Ok(());
        };
        let keys = std::mem::replace(&mut self.values, shape.empty());
        if let Values::W32(keys) = keys {
            self.values = dictionary.values_at(&keys)?;
        }
        Ok(())
    }

    /// Returns the levels, from which the fields above the leaf are assembled.
    pub fn slots(&self) -> LeafLevels<'_> {
        // PERF: if each entry is a value, nothing above it is null or empty, so definition levels need not be
        // inspected.
        let is_value = self.validity.is_none() && (self.rep.is_empty() || self.values.len() == self.entries);
        let def = if is_value { &[] } else { self.def.as_slice() };
        LeafLevels { def, rep: self.rep.as_slice(), len: self.entries, max_rep: self.max_rep }
    }

    /// Returns definition and repetition levels, a byte for each entry; empty if none are kept.
    pub fn levels_as_bytes(&self) -> (Cow<'_, [u8]>, Cow<'_, [u8]>) {
        let def = match self.max_def > 0 && self.def.is_empty() {
            true => Cow::Owned(vec![self.max_def; self.entries]),
            false => Cow::Borrowed(self.def.as_slice()),
        };
        (def, self.rep.as_slice().to_bytes())
    }

    /// Returns the definition levels, for appending those of entries that `entries` does not count yet.
    pub(super) fn def_to_extend(&mut self, max: u8) -> &mut Vec<u8> {
        // PERF: levels are kept only from the first one on that is not the maximum.
        self.max_def = max;
        self.def.resize(self.entries, max);
        &mut self.def
    }

    /// Appends the maximum definition level for `n` entries that `entries` does not count yet.
    pub(super) fn push_max_def(&mut self, n: usize, max: u8) {
        self.max_def = max;
        if !self.def.is_empty() {
            self.def.resize(self.def.len() + n, max);
        }
    }
}

/// Returns `n` ones.
fn ones(n: usize) -> Bitmap {
    let mut bits = Bitmap::new();
    bits.push_run(true, n);
    bits
}

/// Returns, for each entry, whether the bit of its row is 1. A row begins with a repetition level of 0.
fn of_entries(rep: RepetitionSlice<'_>, keep: &Bitmap) -> Bitmap {
    let (mut row, mut is_kept) = (0, false);
    let of_entry = |entry| {
        if rep.begins_row(entry) {
            is_kept = keep.get(row);
            row += 1;
        }
        is_kept
    };
    (0..rep.len()).map(of_entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use marquetry_encoding::PhysicalType;

    fn target(physical: PhysicalType) -> ReadTarget {
        ReadTarget {
            physical,
            max_def: 1,
            max_rep: 0,
            repeated_ancestor_def_level: 0,
            keep_levels: false,
            is_text: false,
            layout: ValueLayout::Native,
            repair: ValueRepair::None,
        }
    }

    #[test]
    fn levels_are_looked_at_unless_each_entry_is_a_value() {
        let rep = RepetitionLevels::Bytes(vec![0, 1, 0]);
        let (def, values) = (vec![2, 2, 2], Values::W32(vec![1, 2, 3]));
        let all = ColumnBatch { rep, def, values, entries: 3, ..ColumnBatch::new(Shape::Fixed(4)) };
        assert!(all.slots().def.is_empty());
        // An empty list is an entry without a slot.
        let (def, values) = (vec![2, 2, 0], Values::W32(vec![1, 2]));
        let empty = ColumnBatch { def, values, ..all.clone() };
        assert_eq!(empty.slots().def, [2, 2, 0]);
        let validity = Some([true, false, true].into_iter().collect());
        let null = ColumnBatch { def: vec![2, 1, 2], validity, ..all };
        assert_eq!(null.slots().def, [2, 1, 2]);
    }

    #[test]
    fn nulls_and_runs_are_held_against_the_limit() {
        let limit = 1 << 20;
        let narrow = target(PhysicalType::Int64);
        let mut batch = ColumnBatch::for_target(&narrow, &Limits::default());
        batch.check_room(1 << 16, &narrow, limit).unwrap();
        batch.entries = 1 << 16;
        let error = batch.check_room(1 << 16, &narrow, limit).unwrap_err();
        assert!(error.message().contains("Limits::batch_bytes"), "{error}");
        let wide = target(PhysicalType::FixedLenByteArray(i32::MAX as usize));
        assert!(ColumnBatch::for_target(&wide, &Limits::default()).check_room(1, &wide, limit).is_err());
    }
}
