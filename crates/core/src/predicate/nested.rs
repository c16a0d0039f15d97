//! Conditions on lists, maps and groups, evaluated by the levels of one column, without assembling rows.
//!
//! PERF: the elements are tested all at once, like the values of a flat column. Then one pass over the levels combines
//! the results of elements to those of rows.

use super::bound::{BoundPredicate, NestedKind, NestedTest};
use super::leaf_values::{LeafValues, values_of};
use super::list_levels::{Entry, ListLevels};
use marquetry_base::{Error, Result};
use marquetry_encoding::Bitmap;

impl NestedTest {
    /// Returns the rows for which the test is true.
    pub(super) fn evaluate(&self, rows: usize, columns: &[(usize, LeafValues<'_>)]) -> Result<Bitmap> {
        let leaf = values_of(columns, self.levels.column())?;
        let out = match &self.is {
            NestedKind::Elements { is_all, of, of_null } => {
                let elements = elements(of, self.levels.column(), leaf)?;
                self.each_row(leaf, *is_all, |so_far, entry, slot| match entry {
                    Entry::NullList => false,
                    Entry::EmptyList | Entry::EmptyInnerList => so_far,
                    Entry::NullInnerList => merged(so_far, *of_null, *is_all),
                    Entry::Element => merged(so_far, elements.get(slot), *is_all),
                })
            }
            NestedKind::AtKey { key, value_column, value } => {
                let value_leaf = values_of(columns, *value_column)?;
                let keys = elements(key, self.levels.column(), leaf)?;
                let values = elements(value, *value_column, value_leaf)?;
                if keys.len() != values.len() || !self.has_entries_of(leaf, value_leaf) {
                    return Err(Error::corrupt("keys and values of a map are in other rows"));
                }
                self.each_row(leaf, self.is_true_of_null, |so_far, entry, slot| match entry {
                    Entry::Element if keys.get(slot) => values.get(slot),
                    _ => so_far,
                })
            }
            NestedKind::Cardinality { least, most, is_negated } => {
                counts(&self.levels, leaf, |count| (*least..=*most).contains(&count) != *is_negated)
            }
            NestedKind::Presence { least, most } => self.presence(rows, leaf, *least, *most),
        };
        match out.len() == rows {
            true => Ok(out),
            false => Err(Error::argument(format!(
                "the levels of column {} have {} rows of {rows}",
                self.levels.column(),
                out.len()
            ))),
        }
    }

    /// Whether a map's keys and values, each of which is one column, are in the same rows.
    fn has_entries_of(&self, keys: &LeafValues<'_>, values: &LeafValues<'_>) -> bool {
        keys.levels().agrees_up_to(1, self.levels.innermost(), &values.levels())
    }

    /// Folds the entries of each row, beginning with `start`. `next` gets the result so far, the entry, and the index
    /// of its slot if it is an element.
    fn each_row(
        &self,
        leaf: &LeafValues<'_>,
        start: bool,
        mut next: impl FnMut(bool, Entry, usize) -> bool,
    ) -> Bitmap {
        let kinds = kinds(&self.levels);
        let mut rows = Vec::new();
        let mut slot = 0;
        for (def, rep) in leaf.def.iter().zip(leaf.rep) {
            let entry = kinds[usize::from(*def)];
            if *rep == 0 {
                rows.push(u8::from(start));
            }
            if let Some(row) = rows.last_mut() {
                *row = u8::from(next(*row != 0, entry, slot));
            }
            slot += usize::from(entry == Entry::Element);
        }
        bits(&rows)
    }

    /// Returns whether the definition level of each row's first entry is in this range.
    fn presence(&self, rows: usize, leaf: &LeafValues<'_>, least: u8, most: u8) -> Bitmap {
        let max = self.levels.max_def();
        let is_present = |def: u8| match def > max {
            true => self.is_true_of_null,
            false => (least..=most).contains(&def),
        };
        // A column without lists has one entry per row; if its groups are all present, it has no levels.
        let found: Vec<u8> = match (leaf.def.is_empty(), leaf.rep.is_empty()) {
            (true, _) => vec![u8::from(is_present(max)); rows],
            (false, true) => leaf.def.iter().map(|def| u8::from(is_present(*def))).collect(),
            (false, false) => {
                let entries = leaf.def.iter().zip(leaf.rep).filter(|(_, rep)| **rep == 0);
                entries.map(|(def, _)| u8::from(is_present(*def))).collect()
            }
        };
        bits(&found)
    }
}

/// Returns which elements pass the predicate.
fn elements(of: &BoundPredicate, column: usize, leaf: &LeafValues<'_>) -> Result<Bitmap> {
    of.evaluate(leaf.values.len(), &[(column, LeafValues { def: &[], rep: &[], ..*leaf })])
}

fn merged(so_far: bool, element: bool, is_all: bool) -> bool {
    if is_all { so_far && element } else { so_far || element }
}

/// Returns whether `is_wanted` is true for the number of elements of each row; a null list never passes.
fn counts(levels: &ListLevels, leaf: &LeafValues<'_>, is_wanted: impl Fn(u64) -> bool) -> Bitmap {
    let kinds = kinds(levels);
    let mut rows: Vec<Option<u64>> = Vec::new();
    for (def, rep) in leaf.def.iter().zip(leaf.rep) {
        let entry = kinds[usize::from(*def)];
        match (rep, rows.last_mut()) {
            (0, _) => rows.push(match entry {
                Entry::NullList => None,
                Entry::EmptyList => Some(0),
                _ => Some(1),
            }),
            (1, Some(Some(count))) => *count += 1,
            _ => {}
        }
    }
    rows.iter().map(|count| count.is_some_and(&is_wanted)).collect()
}

/// Returns the meaning of entries by their definition level.
fn kinds(levels: &ListLevels) -> [Entry; 256] {
    std::array::from_fn(|def| levels.entry(def as u8))
}

fn bits(rows: &[u8]) -> Bitmap {
    let mut out = Bitmap::new();
    out.push_ge(rows, 1);
    out
}
