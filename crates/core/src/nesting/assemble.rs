//! Assembly: computes a field's slots, nulls and list offsets from the levels of a leaf below it.

use super::nested_field::NestedField;
use super::repetition_levels::{RepetitionLevels, RepetitionSlice};
use marquetry_base::{Error, Result};
use marquetry_encoding::{Bitmap, filter_bits, filter_u8, list_offsets};

/// The levels of one leaf in one batch: one entry for each value, null, and empty or null list.
#[derive(Debug, Clone, Copy)]
pub struct LeafLevels<'a> {
    /// Definition levels. Empty if none were kept, because nothing above the leaf is nullable or a list, or because
    /// every entry is a value.
    pub def: &'a [u8],
    /// Repetition levels; empty if nothing above the leaf is a list.
    pub rep: RepetitionSlice<'a>,
    /// Number of entries, even if no levels were kept.
    pub len: usize,
    /// Upper bound of the repetition levels; [`u8::MAX`] if it is unknown.
    pub max_rep: u8,
}

/// Levels that were extracted from others.
struct OwnedLevels {
    def: Vec<u8>,
    rep: RepetitionLevels,
    len: usize,
    max_rep: u8,
}

impl OwnedLevels {
    fn levels(&self) -> LeafLevels<'_> {
        LeafLevels { def: &self.def, rep: self.rep.as_slice(), len: self.len, max_rep: self.max_rep }
    }
}

/// The offsets and the validity of a list field.
#[derive(Debug, Clone, PartialEq)]
pub struct ListOffsets {
    offsets: Vec<i32>,
    validity: Option<Bitmap>,
}

impl ListOffsets {
    /// Returns the offsets at which the elements of each list begin, and at which those of the last list end: one more
    /// than the number of lists. They ascend from 0.
    pub fn offsets(&self) -> &[i32] {
        &self.offsets
    }

    /// Returns which lists are not null; `None` if all are.
    pub fn validity(&self) -> Option<&Bitmap> {
        self.validity.as_ref()
    }

    /// Returns the [`offsets`](Self::offsets) and the [`validity`](Self::validity).
    pub fn into_parts(self) -> (Vec<i32>, Option<Bitmap>) {
        (self.offsets, self.validity)
    }

    /// Returns the number of elements in all lists.
    pub fn num_elements(&self) -> usize {
        self.offsets.last().map_or(0, |&end| end as usize)
    }
}

impl LeafLevels<'_> {
    /// Returns the number of slots of `field`.
    pub fn count(&self, field: &NestedField) -> usize {
        self.starts(field).map_or(self.len, |starts| starts.count_ones(0..starts.len()))
    }

    /// Returns which slots of `field` are not null; `None` if all are. A required field is null where the struct that
    /// contains it is.
    pub fn validity(&self, field: &NestedField) -> Option<Bitmap> {
        self.validity_of(field, self.starts(field).as_ref())
    }

    /// Returns the [`validity`](Self::validity), given the field's [`starts`](Self::starts).
    fn validity_of(&self, field: &NestedField, starts: Option<&Bitmap>) -> Option<Bitmap> {
        if self.def.is_empty() {
            return None;
        }
        let is_there = at_least(self.def, field.def);
        let bits = match starts {
            None => is_there,
            Some(starts) => {
                let mut slots = Bitmap::new();
                filter_bits(is_there.as_bytes(), 0, starts.as_bytes(), 0, self.len, &mut slots);
                slots
            }
        };
        (bits.count_ones(0..bits.len()) < bits.len()).then_some(bits)
    }

    /// Whether the levels of another leaf below `group` agree on it: where its lists begin, and where it and the fields
    /// above it are null. Readers take that from one leaf, so that a contradiction in another one would go unseen.
    pub fn agrees_on(&self, group: &NestedField, other: &LeafLevels<'_>) -> bool {
        self.agrees_up_to(group.rep, group.def, other)
    }

    /// Whether the levels agree where they are repeated up to `rep` and defined up to `def`.
    pub(crate) fn agrees_up_to(&self, rep: u8, def: u8, other: &LeafLevels<'_>) -> bool {
        // Entries that continue inner lists say nothing about the fields above these.
        if self.is_repeated_beyond(rep) {
            return self.without_inner(rep).levels().agrees_up_to(rep, def, other);
        }
        if other.is_repeated_beyond(rep) {
            return self.agrees_up_to(rep, def, &other.without_inner(rep).levels());
        }
        let is_same_def = match (self.kept_def(), other.kept_def()) {
            // PERF: compares all levels, instead of stopping at the first difference, because that can be vectorized.
            (Some(a), Some(b)) => {
                a.iter().zip(b).fold(0, |other, (a, b)| other | (*a.min(&def) ^ *b.min(&def))) == 0
            }
            (Some(levels), None) | (None, Some(levels)) => levels.iter().all(|level| *level >= def),
            (None, None) => true,
        };
        // A leaf in no list has no repetition levels; those of the other leaf are all 0.
        let is_same_rep = self.rep.is_empty() || other.rep.is_empty() || self.rep == other.rep;
        self.len == other.len && is_same_rep && is_same_def
    }

    /// Returns the definition levels; `None` if none were kept because every entry is a value.
    fn kept_def(&self) -> Option<&[u8]> {
        (self.def.len() == self.len).then_some(self.def)
    }

    fn is_repeated_beyond(&self, rep: u8) -> bool {
        self.rep.largest() > rep
    }

    /// Returns the entries whose repetition level is at most `rep`.
    fn without_inner(&self, rep: u8) -> OwnedLevels {
        let mut keep = self.rep.at_least(rep.saturating_add(1));
        keep.invert();
        let mut def = Vec::new();
        if let Some(levels) = self.kept_def() {
            filter_u8(levels, keep.as_bytes(), 0, &mut def);
        }
        let levels = self.rep.filtered(&keep);
        OwnedLevels { def, len: levels.len(), rep: levels, max_rep: rep }
    }

    /// Returns the offsets and the validity of `field`, which must be a list or a map of `element`.
    ///
    /// Fails if there are more than 2^31 - 1 elements, or if the levels contradict each other.
    pub fn list(&self, field: &NestedField, element: &NestedField) -> Result<ListOffsets> {
        let (continues, is_element) = (self.continues(element.rep), self.is_inside(element));
        if let (Some(continues), Some(is_element)) = (&continues, &is_element) {
            check_elements(continues, is_element)?;
        }
        let lists = starts(self.is_inside(field), continues).unwrap_or_else(|| {
            let mut all = Bitmap::new();
            all.push_run(true, self.len);
            all
        });
        let elements = starts(is_element, self.continues(element.rep.saturating_add(1)));
        let total = elements.as_ref().map_or(self.len, |elements| elements.count_ones(0..self.len));
        let end = i32::try_from(total)
            .map_err(|_| Error::limit(format!("{total} list elements in one batch; read smaller batches")))?;
        let mut offsets = Vec::with_capacity(lists.count_ones(0..self.len) + 1);
        list_offsets(&lists, elements.as_ref(), &mut offsets);
        offsets.push(end);
        // INVARIANT: offsets are counts of more and more entries, so they ascend.
        if offsets.first().is_some_and(|&first| first != 0) {
            return Err(Error::corrupt("a list element before the first list"));
        }
        Ok(ListOffsets { offsets, validity: self.validity_of(field, Some(&lists)) })
    }

    /// Returns which entries start a slot of `field`: everything above it is present, and they do not continue a list
    /// inside it. `None` if all do.
    fn starts(&self, field: &NestedField) -> Option<Bitmap> {
        starts(self.is_inside(field), self.continues(field.rep.saturating_add(1)))
    }

    /// Returns in which entries everything above `field` is present; `None` if that holds for all.
    fn is_inside(&self, field: &NestedField) -> Option<Bitmap> {
        // If no definition levels are kept, every entry is a value.
        (field.repeated_ancestor_def_level > 0 && !self.def.is_empty())
            .then(|| at_least(self.def, field.repeated_ancestor_def_level))
    }

    /// Returns which entries continue a list at nesting depth `rep` or deeper; `None` if none do.
    fn continues(&self, rep: u8) -> Option<Bitmap> {
        // PERF: only levels above a field's own continue lists inside it, and in the innermost list there are none.
        (!self.rep.is_empty() && rep <= self.max_rep).then(|| self.rep.at_least(rep))
    }
}

/// Returns which entries are inside a field, and do not continue a list inside it; `None` if all are.
fn starts(is_inside: Option<Bitmap>, continues: Option<Bitmap>) -> Option<Bitmap> {
    let Some(mut begins) = continues else { return is_inside };
    begins.invert();
    if let Some(is_inside) = is_inside {
        begins.and(&is_inside);
    }
    Some(begins)
}

/// Fails if an entry continues a list although its definition level states that there is no element: an empty or null
/// list has one entry.
fn check_elements(continues: &Bitmap, is_element: &Bitmap) -> Result<()> {
    let (continues, is_element) = (continues.as_bytes(), is_element.as_bytes());
    let wrong = |(continues, is_element): (&u8, &u8)| continues & !is_element;
    // PERF: inspects all entries, instead of stopping at the first wrong one, because that can be vectorized.
    if continues.iter().zip(is_element).map(wrong).fold(0, |all, wrong| all | wrong) == 0 {
        return Ok(());
    }
    let mut bytes = continues.iter().zip(is_element).map(wrong).enumerate();
    let (byte, wrong) = bytes.find(|(_, wrong)| *wrong != 0).unwrap_or_default();
    let entry = 8 * byte + wrong.trailing_zeros() as usize;
    Err(Error::corrupt(format!(
        "the repetition level of entry {entry} continues a list, and its definition level says that there is none"
    )))
}

/// Returns one bit for each level: whether it is at least `threshold`.
fn at_least(levels: &[u8], threshold: u8) -> Bitmap {
    let mut bits = Bitmap::new();
    bits.push_ge(levels, threshold);
    bits
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nesting::nested_field::FieldKind;
    use crate::nesting::repetition_levels::RepetitionSlice::Bytes;

    fn field(nullable: bool, def: u8, repeated_ancestor_def_level: u8, rep: u8) -> NestedField {
        let (name, kind) = ("".into(), FieldKind::Leaf(0));
        NestedField {
            name,
            nullable,
            def,
            repeated_ancestor_def_level,
            rep,
            logical: None,
            field_id: None,
            kind,
        }
    }

    #[test]
    fn the_drawing_of_the_module() {
        let slots =
            LeafLevels { rep: Bytes(&[0, 1, 0, 0, 0]), def: &[3, 3, 0, 1, 3], len: 5, max_rep: u8::MAX };
        let (list, element) = (field(true, 1, 0, 0), field(true, 3, 2, 1));
        let found = slots.list(&list, &element).unwrap();
        assert_eq!(found.offsets, [0, 2, 2, 2, 3]);
        assert_eq!(found.validity, Some([true, false, true, true].into_iter().collect()));
        assert_eq!(slots.count(&element), 3);
        assert_eq!(slots.validity(&element), None);
    }

    #[test]
    fn an_entry_that_continues_a_list_is_an_element() {
        let (list, element) = (field(true, 1, 0, 0), field(true, 3, 2, 1));
        for def in [0, 1] {
            for at in [1, 63, 64, 199] {
                let (mut rep, mut levels) = (vec![0; 200], vec![3; 200]);
                (rep[at], levels[at]) = (1, def);
                let levels = LeafLevels { rep: Bytes(&rep), def: &levels, len: 200, max_rep: u8::MAX };
                let error = levels.list(&list, &element).unwrap_err();
                assert!(error.message().contains(&format!("entry {at} ")), "{error}");
            }
        }
        // An empty inner list is an element of the outer list.
        let (outer, inner, value) = (field(false, 0, 0, 0), field(true, 2, 1, 1), field(false, 3, 3, 2));
        let levels = |def| LeafLevels { rep: Bytes(&[0, 2, 1]), def, len: 3, max_rep: u8::MAX };
        assert!(levels(&[3, 3, 2]).list(&outer, &inner).is_ok());
        assert!(levels(&[3, 2, 3]).list(&outer, &inner).is_ok());
        assert!(levels(&[3, 2, 3]).list(&inner, &value).is_err());
        assert!(levels(&[3, 3, 0]).list(&outer, &inner).is_err());
    }

    #[test]
    fn leaves_agree_on_what_is_above_both() {
        // A list of structs with a number and a list, both nullable; def 2 is a struct that is not null.
        let group = field(true, 2, 1, 1);
        let number = LeafLevels { rep: Bytes(&[0, 1, 0, 0]), def: &[3, 2, 0, 1], len: 4, max_rep: u8::MAX };
        let same = LeafLevels {
            rep: Bytes(&[0, 2, 2, 1, 0, 0]),
            def: &[4, 4, 3, 2, 0, 1],
            len: 6,
            max_rep: u8::MAX,
        };
        assert!(
            number.agrees_on(&group, &number)
                && number.agrees_on(&group, &same)
                && same.agrees_on(&group, &number)
        );
        for (rep, def) in [
            // The second struct belongs to the next row.
            ([0, 0, 1, 0], [3, 2, 3, 1]),
            // The second struct is in a list of its own.
            ([0, 0, 0, 0], [3, 2, 0, 1]),
            // Another list is null, or empty.
            ([0, 1, 0, 0], [3, 2, 1, 0]),
            // A struct is null.
            ([0, 1, 0, 0], [1, 2, 0, 1]),
        ] {
            let other = LeafLevels { rep: Bytes(&rep), def: &def, len: 4, max_rep: u8::MAX };
            assert!(!number.agrees_on(&group, &other) && !other.agrees_on(&group, &same), "{other:?}");
        }
        let shorter = LeafLevels { len: 3, rep: Bytes(&[0, 1, 0]), def: &number.def[..3], ..number };
        assert!(!number.agrees_on(&group, &shorter) && !same.agrees_on(&group, &shorter));
        // A column beside a list that has an element in each row.
        let (flat, list) = (
            LeafLevels { rep: Bytes(&[]), def: &[1, 1], len: 2, max_rep: u8::MAX },
            LeafLevels { rep: Bytes(&[0, 0]), def: &[3, 2], len: 2, max_rep: u8::MAX },
        );
        assert!(flat.agrees_on(&field(true, 1, 0, 0), &list) && list.agrees_on(&field(true, 1, 0, 0), &flat));
        // A struct that is always there.
        let (all, none) =
            (LeafLevels { rep: Bytes(&[]), def: &[], len: 2, max_rep: u8::MAX }, field(false, 0, 0, 0));
        assert!(
            all.agrees_on(&none, &LeafLevels { rep: Bytes(&[]), def: &[1, 0], len: 2, max_rep: u8::MAX })
        );
        assert!(!all.agrees_on(
            &field(true, 1, 0, 0),
            &LeafLevels { rep: Bytes(&[]), def: &[1, 0], len: 2, max_rep: u8::MAX }
        ));
    }

    /// Compares entry by entry. The fast comparison must have the same result.
    fn agrees_slowly(a: &LeafLevels<'_>, b: &LeafLevels<'_>, most_rep: u8, most_def: u8) -> bool {
        let entries = |levels: &LeafLevels<'_>| -> Vec<(u8, u8)> {
            let rep = levels.rep.to_bytes();
            let pairs = rep.iter().zip(levels.def).filter(|(rep, _)| **rep <= most_rep);
            pairs.map(|(rep, def)| (*rep, *def.min(&most_def))).collect()
        };
        entries(a) == entries(b)
    }

    #[test]
    fn agreement_is_that_of_each_entry() {
        let (mut state, mut same) = (7_u32, 0);
        let mut below = |n: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 16) % n
        };
        for _ in 0..2000 {
            let (most_rep, most_def) = (below(3) as u8, below(4) as u8);
            let outer: Vec<(u8, u8)> =
                (0..below(200)).map(|_| (below(u32::from(most_rep) + 1) as u8, below(5) as u8)).collect();
            // Two leaves of the same structure; the second is changed, which may make no difference.
            let mut leaf = |is_changed: bool| {
                let (mut rep, mut def) = (Vec::new(), Vec::new());
                for (r, d) in &outer {
                    rep.push(*r);
                    def.push(if *d >= most_def { most_def + below(3) as u8 } else { *d });
                    for _ in 0..below(3) {
                        rep.push(most_rep + 1 + below(2) as u8);
                        def.push(most_def + below(3) as u8);
                    }
                }
                if is_changed && !rep.is_empty() {
                    let at = below(rep.len() as u32) as usize;
                    (rep[at], def[at]) = (below(4) as u8, below(4) as u8);
                }
                (rep, def)
            };
            let ((rep_a, def_a), (rep_b, def_b)) = (leaf(false), leaf(true));
            let a = LeafLevels { len: rep_a.len(), rep: Bytes(&rep_a), def: &def_a, max_rep: u8::MAX };
            let b = LeafLevels { len: rep_b.len(), rep: Bytes(&rep_b), def: &def_b, max_rep: u8::MAX };
            let expected = agrees_slowly(&a, &b, most_rep, most_def);
            assert_eq!(a.agrees_up_to(most_rep, most_def, &b), expected, "{a:?} {b:?}");
            assert!(a.agrees_up_to(most_rep, most_def, &a));
            same += usize::from(expected);
        }
        assert!((200..1800).contains(&same), "{same}");
    }

    #[test]
    fn lists_in_lists() {
        // [[1], []], [], [null, [2, 3]]   def: 1 empty outer, 2 null inner, 3 empty inner, 4 value; outer required
        let slots = LeafLevels {
            rep: Bytes(&[0, 1, 0, 0, 1, 2]),
            def: &[3, 2, 0, 1, 3, 3],
            len: 6,
            max_rep: u8::MAX,
        };
        let (outer, inner, value) = (field(false, 0, 0, 0), field(true, 2, 1, 1), field(false, 3, 3, 2));
        assert_eq!(slots.list(&outer, &inner).unwrap().offsets, [0, 2, 2, 4]);
        let found = slots.list(&inner, &value).unwrap();
        assert_eq!(found.offsets, [0, 1, 1, 1, 3]);
        assert_eq!(found.validity, Some([true, true, false, true].into_iter().collect()));
    }
}
