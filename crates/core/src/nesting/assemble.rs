//! A field's slots, nulls and list offsets, out of the levels of a leaf below it.

use super::NestedField;
use marquetry_base::{Error, Result};
use marquetry_encoding::{Bitmap, compact_bits};

/// The levels of one leaf in one batch: one entry for each value, null, and empty or null list.
#[derive(Debug, Clone, Copy)]
pub struct LeafLevels<'a> {
    /// DefinitionLevels levels; empty if none were kept because nothing above the leaf is nullable or a list.
    pub def: &'a [u8],
    /// Repetition levels; empty if nothing above the leaf is a list.
    pub rep: &'a [u8],
    /// How many entries, also where no levels were kept.
    pub len: usize,
}

/// What a list field's levels say.
#[derive(Debug, Clone, PartialEq)]
pub struct ListOffsets {
    /// Where each list's elements begin, and where the last list's end: one more than there are lists.
    pub offsets: Vec<i32>,
    /// Which lists are there; `None` if all are.
    pub validity: Option<Bitmap>,
}

impl LeafLevels<'_> {
    /// How many slots `field` has.
    pub fn count(&self, field: &NestedField) -> usize {
        self.starts(field).map_or(self.len, |starts| starts.count_ones(0..starts.len()))
    }

    /// Which slots of `field` are not null; `None` if all are. A field that is never null itself has no value where
    /// the struct that it is in is null.
    pub fn validity(&self, field: &NestedField) -> Option<Bitmap> {
        self.validity_of(field, self.starts(field).as_ref())
    }

    /// [`validity`](Self::validity), with what [`starts`](Self::starts) gave for the field.
    fn validity_of(&self, field: &NestedField, starts: Option<&Bitmap>) -> Option<Bitmap> {
        if self.def.is_empty() {
            return None;
        }
        let is_there = at_least(self.def, field.def);
        let bits = match starts {
            None => is_there,
            Some(starts) => {
                let mut slots = Bitmap::new();
                compact_bits(is_there.as_bytes(), 0, starts.as_bytes(), 0, self.len, &mut slots);
                slots
            }
        };
        (bits.count_ones(0..bits.len()) < bits.len()).then_some(bits)
    }

    /// The offsets and nulls of `field`, which must be a list or a map. `element` is what is in it.
    ///
    /// Fails if there are more than 2^31 - 1 elements.
    pub fn list(&self, field: &NestedField, element: &NestedField) -> Result<ListOffsets> {
        let all = || {
            let mut bits = Bitmap::new();
            bits.push_run(true, self.len);
            bits
        };
        let lists = self.starts(field).unwrap_or_else(all);
        let elements = self.starts(element).unwrap_or_else(all);
        let total = elements.count_ones(0..self.len);
        i32::try_from(total)
            .map_err(|_| Error::limit(format!("{total} list elements in one batch; read smaller batches")))?;
        let mut offsets = Vec::with_capacity(lists.count_ones(0..self.len) + 1);
        let mut before = 0;
        // PERF: by words of 64 entries. A list begins behind the elements whose bits are lower than its own.
        for first in (0..self.len).step_by(64) {
            let (mut begins, elements) = (lists.word(first), elements.word(first));
            while begins != 0 {
                let lower = (begins & begins.wrapping_neg()) - 1;
                offsets.push(before + (elements & lower).count_ones() as i32);
                begins &= begins - 1;
            }
            before += elements.count_ones() as i32;
        }
        offsets.push(before);
        Ok(ListOffsets { offsets, validity: self.validity_of(field, Some(&lists)) })
    }

    /// Which entries start a slot of `field`: nothing above it is absent, and they do not go on with a list in it. `None` if
    /// all do.
    fn starts(&self, field: &NestedField) -> Option<Bitmap> {
        // Where no levels are kept, every entry is a value.
        let mut starts =
            (field.slot_def > 0 && !self.def.is_empty()).then(|| at_least(self.def, field.slot_def));
        if !self.rep.is_empty() {
            let mut begins = at_least(self.rep, field.rep.saturating_add(1));
            begins.invert();
            match &mut starts {
                None => starts = Some(begins),
                Some(starts) => starts.and(&begins),
            }
        }
        starts
    }
}

/// One bit for each level: whether it is at least `threshold`.
fn at_least(levels: &[u8], threshold: u8) -> Bitmap {
    let mut bits = Bitmap::new();
    bits.push_at_least(levels, threshold);
    bits
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nesting::FieldKind;

    fn field(nullable: bool, def: u8, slot_def: u8, rep: u8) -> NestedField {
        let (name, kind) = ("".into(), FieldKind::Leaf(0));
        NestedField { name, nullable, def, slot_def, rep, logical: None, field_id: None, kind }
    }

    #[test]
    fn the_drawing_of_the_module() {
        let slots = LeafLevels { rep: &[0, 1, 0, 0, 0], def: &[3, 3, 0, 1, 3], len: 5 };
        let (list, element) = (field(true, 1, 0, 0), field(true, 3, 2, 1));
        let found = slots.list(&list, &element).unwrap();
        assert_eq!(found.offsets, [0, 2, 2, 2, 3]);
        assert_eq!(found.validity, Some([true, false, true, true].into_iter().collect()));
        assert_eq!(slots.count(&element), 3);
        assert_eq!(slots.validity(&element), None);
    }

    #[test]
    fn lists_in_lists() {
        // [[1], []], [], [null, [2, 3]]   def: 1 empty outer, 2 null inner, 3 empty inner, 4 value; outer required
        let slots = LeafLevels { rep: &[0, 1, 0, 0, 1, 2], def: &[3, 2, 0, 1, 3, 3], len: 6 };
        let (outer, inner, value) = (field(false, 0, 0, 0), field(true, 2, 1, 1), field(false, 3, 3, 2));
        assert_eq!(slots.list(&outer, &inner).unwrap().offsets, [0, 2, 2, 4]);
        let found = slots.list(&inner, &value).unwrap();
        assert_eq!(found.offsets, [0, 1, 1, 1, 3]);
        assert_eq!(found.validity, Some([true, true, false, true].into_iter().collect()));
    }
}
