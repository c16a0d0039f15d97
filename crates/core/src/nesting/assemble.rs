//! A field's slots, nulls and list offsets, out of the levels of a leaf below it.

use super::Field;
use marquetry_base::{Error, Result};
use marquetry_encoding::Bits;

/// The levels of one leaf in one batch: one entry for each value, null, and empty or null list.
#[derive(Debug, Clone, Copy)]
pub struct Slots<'a> {
    /// Definition levels; empty if none were kept because nothing above the leaf is nullable or a list.
    pub def: &'a [u8],
    /// Repetition levels; empty if nothing above the leaf is a list.
    pub rep: &'a [u8],
    /// How many entries, also where no levels were kept.
    pub len: usize,
}

/// What a list field's levels say.
#[derive(Debug, Clone, PartialEq)]
pub struct ListSlots {
    /// Where each list's elements begin, and where the last list's end: one more than there are lists.
    pub offsets: Vec<i32>,
    /// Which lists are there; `None` if all are.
    pub validity: Option<Bits>,
}

impl Slots<'_> {
    /// How many slots `field` has.
    pub fn count(&self, field: &Field) -> usize {
        if field.slot_def == 0 && self.rep.is_empty() {
            return self.len;
        }
        (0..self.len).filter(|&i| self.is_slot(field, i)).count()
    }

    /// Which slots of `field` are not null; `None` if all are. A field that is never null itself has no value where
    /// the struct that it is in is null.
    pub fn validity(&self, field: &Field) -> Option<Bits> {
        if self.def.is_empty() {
            return None;
        }
        let mut bits = Bits::new();
        if field.slot_def == 0 && self.rep.is_empty() {
            bits.push_at_least(self.def, field.def);
        } else {
            bits.push_at_least(&self.slot_defs(field), field.def);
        }
        (bits.count_ones(0..bits.len()) < bits.len()).then_some(bits)
    }

    /// The definition levels of the slots of `field`.
    fn slot_defs(&self, field: &Field) -> Vec<u8> {
        // PERF: every level is written, and the next one over it unless it is a slot's: no branch to mispredict.
        let mut out = vec![0; self.def.len()];
        let mut count = 0;
        let mut take = |def: u8, rep: u8| {
            out[count] = def;
            count += usize::from((def >= field.slot_def) & (rep <= field.rep));
        };
        match self.rep.is_empty() {
            true => self.def.iter().for_each(|&def| take(def, 0)),
            false => self.def.iter().zip(self.rep).for_each(|(&def, &rep)| take(def, rep)),
        }
        out.truncate(count);
        out
    }

    /// The offsets and nulls of `field`, which must be a list or a map. `element` is what is in it.
    ///
    /// Fails if there are more than 2^31 - 1 elements.
    pub fn list(&self, field: &Field, element: &Field) -> Result<ListSlots> {
        let mut offsets = vec![0; self.len + 1];
        let (mut lists, mut elements) = (0, 0usize);
        // PERF: as in `slot_defs`, the offset of a list that does not begin here is written over.
        for (&def, &rep) in self.def.iter().zip(self.rep) {
            offsets[lists] = elements as i32;
            lists += usize::from((def >= field.slot_def) & (rep <= field.rep));
            elements += usize::from((def >= element.slot_def) & (rep <= element.rep));
        }
        i32::try_from(elements).map_err(|_| {
            Error::limit(format!("{elements} list elements in one batch; read smaller batches"))
        })?;
        offsets[lists] = elements as i32;
        offsets.truncate(lists + 1);
        Ok(ListSlots { offsets, validity: self.validity(field) })
    }

    /// Whether entry `i` starts a slot of `field`: nothing above it is absent, and it does not go on with a list in it.
    #[inline]
    fn is_slot(&self, field: &Field, i: usize) -> bool {
        self.def(i) >= field.slot_def && self.rep.get(i).is_none_or(|&rep| rep <= field.rep)
    }

    #[inline]
    fn def(&self, i: usize) -> u8 {
        // Where no levels are kept, every entry is a value.
        self.def.get(i).copied().unwrap_or(u8::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nesting::FieldKind;

    fn field(nullable: bool, def: u8, slot_def: u8, rep: u8) -> Field {
        let (name, kind) = (String::new(), FieldKind::Leaf(0));
        Field { name, nullable, def, slot_def, rep, logical: None, field_id: None, kind }
    }

    #[test]
    fn the_drawing_of_the_module() {
        let slots = Slots { rep: &[0, 1, 0, 0, 0], def: &[3, 3, 0, 1, 3], len: 5 };
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
        let slots = Slots { rep: &[0, 1, 0, 0, 1, 2], def: &[3, 2, 0, 1, 3, 3], len: 6 };
        let (outer, inner, value) = (field(false, 0, 0, 0), field(true, 2, 1, 1), field(false, 3, 3, 2));
        assert_eq!(slots.list(&outer, &inner).unwrap().offsets, [0, 2, 2, 4]);
        let found = slots.list(&inner, &value).unwrap();
        assert_eq!(found.offsets, [0, 1, 1, 1, 3]);
        assert_eq!(found.validity, Some([true, true, false, true].into_iter().collect()));
    }
}
