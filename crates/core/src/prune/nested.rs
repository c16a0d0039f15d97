//! Prunes by conditions on lists, maps and groups, with bounds and level histograms.
//!
//! SPEC: bounds of a column inside lists are those of all its values. Only a histogram of definition levels shows how
//! many elements are null, and how many lists are empty or null: writers differ in what they include in null counts.

use super::Run;
use super::extent::{Bounds, Extent, Nulls, Outcomes};
use super::plan::Verdict;
use super::report::Stage;
use crate::predicate::{BoundPredicate, Condition, Entry, ListLevels, NestedKind, NestedTest, Node};
use marquetry_base::Result;

impl Run<'_> {
    /// Runs a stage on a test of a list; `None` if the stage has no information.
    pub(super) fn ask_nested(&self, stage: Stage, test: &NestedTest) -> Result<Option<Verdict>> {
        let mut out = None;
        for column in test.columns() {
            let chunk = self.chunk(column)?;
            let sizes = chunk.size_statistics();
            let histogram = sizes.and_then(|sizes| sizes.definition_level_histogram);
            let histogram: Option<Vec<i64>> = histogram.map(|counts| counts.iter().collect());
            let entries = u64::try_from(chunk.num_values()).ok();
            let statistics = chunk.statistics();
            let elements = Elements {
                levels: LevelCounts::of(&test.levels, histogram.as_deref(), entries),
                is_all_null: false,
                nans: statistics.and_then(|it| it.nan_count).and_then(|nans| u64::try_from(nans).ok()),
                bounds: self.bounds(column, chunk),
            };
            let found = match stage {
                Stage::Statistics => Some(elements.verdict_of_column(test, column)),
                Stage::PageIndex => None,
                Stage::BloomFilters | Stage::Dictionaries => {
                    let Some(of) = test.of_column(column) else { continue };
                    let mut failed = None;
                    let outcomes = |condition: &Condition| {
                        let found = match stage {
                            Stage::BloomFilters => self
                                .ask_bloom_filter(condition, chunk)
                                .map(|found| found.map(|found| Outcomes { pass: found.may, fail: true })),
                            _ => self.dictionary_outcomes(condition, chunk),
                        };
                        found.unwrap_or_else(|error| {
                            failed = Some(error);
                            None
                        })
                    };
                    let of = elements.verdict_of(of, outcomes);
                    if let Some(error) = failed {
                        return Err(error);
                    }
                    Some(elements.levels.verdict(test, column, of))
                }
            };
            out = match (out, found) {
                (Some(Verdict { may, all }), Some(found)) => {
                    Some(Verdict { may: may && found.may, all: all || found.all })
                }
                (out, found) => out.or(found),
            };
        }
        Ok(out)
    }
}

impl NestedTest {
    /// Returns the predicate on the values of a column, if there is one.
    fn of_column(&self, column: usize) -> Option<&BoundPredicate> {
        match &self.is {
            NestedKind::Elements { of, .. } => Some(of),
            NestedKind::AtKey { value_column, value, .. } if *value_column == column => Some(value),
            NestedKind::AtKey { key, .. } => Some(key),
            NestedKind::Cardinality { .. } | NestedKind::Presence { .. } => None,
        }
    }
}

/// The known bounds and counts of the elements of some rows' lists.
pub(super) struct Elements<'a> {
    pub(super) levels: LevelCounts,
    /// Whether none of the elements has a value.
    pub(super) is_all_null: bool,
    /// Number of NaNs, if known.
    pub(super) nans: Option<u64>,
    pub(super) bounds: Bounds<'a>,
}

impl Elements<'_> {
    /// Returns the verdict on a test for the rows, by the information of one of its columns.
    pub(super) fn verdict_of_column(&self, test: &NestedTest, column: usize) -> Verdict {
        let of = match test.of_column(column) {
            Some(of) => self.verdict_of(of, |_| None),
            None => Verdict::OPEN,
        };
        self.levels.verdict(test, column, of)
    }

    /// Returns the verdict on a predicate for all elements. `outcomes` may have more information than the bounds.
    fn verdict_of(
        &self,
        of: &BoundPredicate,
        mut outcomes: impl FnMut(&Condition) -> Option<Outcomes>,
    ) -> Verdict {
        let (slots, nulls) = match (self.levels.slots, self.is_all_null) {
            (Some((slots, nulls)), is_all_null) if nulls == slots || !is_all_null => {
                (slots, Nulls::exactly(nulls))
            }
            // The maximum number: no verdict assumes that there are fewer.
            (None, true) => (u64::MAX, Nulls::all(u64::MAX)),
            // Nothing is known, or the two contradict each other.
            _ => (u64::MAX, Nulls::up_to(u64::MAX)),
        };
        let bounds = Bounds::default();
        let extent = Extent { rows: slots, nulls, nans: self.nans, bounds };
        self.fold(of, &extent, &mut outcomes)
    }

    fn fold(
        &self,
        of: &BoundPredicate,
        extent: &Extent<'_>,
        outcomes: &mut dyn FnMut(&Condition) -> Option<Outcomes>,
    ) -> Verdict {
        match of.node() {
            Node::Is(condition) => {
                let known =
                    outcomes(condition).unwrap_or_else(|| extent.outcomes_within(&self.bounds, condition));
                extent.verdict_of(condition, known)
            }
            Node::And(parts) => parts.iter().fold(Verdict { may: true, all: true }, |known, part| {
                let next = self.fold(part, extent, outcomes);
                Verdict { may: known.may && next.may, all: known.all && next.all }
            }),
            Node::Or(parts) => parts.iter().fold(Verdict { may: false, all: false }, |known, part| {
                let next = self.fold(part, extent, outcomes);
                Verdict { may: known.may || next.may, all: known.all || next.all }
            }),
            Node::Compares(_) | Node::Nested(_) => Verdict::OPEN,
        }
    }
}

/// The kinds of entries that the levels of some rows may have, and their numbers.
pub(super) struct LevelCounts {
    may_be_null: bool,
    may_be_empty: bool,
    may_have_null_inner: bool,
    may_have_empty_inner: bool,
    may_have_elements: bool,
    /// Number of elements, and of null elements, if known.
    slots: Option<(u64, u64)>,
    /// Number of entries with each definition level, if known.
    counts: Option<Vec<u64>>,
    /// The definition level of an element of the outermost list.
    outermost: Option<u8>,
}

impl LevelCounts {
    /// Takes the counts of a histogram, if it is one of `entries` entries.
    pub(super) fn of(levels: &ListLevels, histogram: Option<&[i64]>, entries: Option<u64>) -> Self {
        let max = levels.max_def();
        let counts = histogram.filter(|histogram| histogram.len() == usize::from(max) + 1);
        let counts = counts.and_then(|counts| {
            counts.iter().map(|count| u64::try_from(*count)).collect::<Result<Vec<_>, _>>().ok()
        });
        let sum = |counts: &[u64]| counts.iter().try_fold(0u64, |sum, count| sum.checked_add(*count));
        // QUIRK: a histogram with another number of entries is not trusted, nor one without entries.
        let counts = counts.filter(|counts| match (sum(counts), entries) {
            (Some(sum), Some(entries)) => sum == entries,
            (sum, _) => sum.is_some_and(|sum| sum > 0),
        });
        let has = |entry: Entry| match &counts {
            Some(counts) => (0..=max).any(|def| levels.entry(def) == entry && counts[usize::from(def)] > 0),
            None => (0..=max).any(|def| levels.entry(def) == entry),
        };
        let slots = counts.as_ref().map(|counts| {
            let elements = &counts[usize::from(levels.innermost())..];
            let nulls = &elements[..elements.len() - 1];
            (elements.iter().sum(), nulls.iter().sum())
        });
        LevelCounts {
            may_be_null: has(Entry::NullList),
            may_be_empty: has(Entry::EmptyList),
            may_have_null_inner: has(Entry::NullInnerList),
            may_have_empty_inner: has(Entry::EmptyInnerList),
            may_have_elements: has(Entry::Element),
            slots,
            counts,
            outermost: levels.outermost(),
        }
    }

    /// Returns the verdict on a test, given the verdict `of` for all values of `column`.
    fn verdict(&self, test: &NestedTest, column: usize, of: Verdict) -> Verdict {
        match &test.is {
            NestedKind::Elements { is_all, of_null, .. } => {
                // An inner list that is null counts as a null element without a slot.
                let may = (self.may_have_elements && of.may) || (self.may_have_null_inner && *of_null);
                let all = (!self.may_have_elements || of.all) && (!self.may_have_null_inner || *of_null);
                match is_all {
                    // Nested lists may have only empty lists inside.
                    true => Verdict {
                        may: may || self.may_be_empty || self.may_have_empty_inner,
                        all: all && !self.may_be_null,
                    },
                    false => Verdict {
                        may,
                        all: all && !self.may_be_null && !self.may_be_empty && !self.may_have_empty_inner,
                    },
                }
            }
            // If no key matches, there is no value; if no value passes, a null one may.
            NestedKind::AtKey { value_column, .. } => {
                let is_of_keys = *value_column != column;
                Verdict {
                    may: of.may || test.is_true_of_null,
                    all: is_of_keys && !of.may && test.is_true_of_null,
                }
            }
            NestedKind::Cardinality { least, most, is_negated } => {
                self.of_cardinality(*least, *most, *is_negated)
            }
            NestedKind::Presence { least, most } => self.of_levels(*least, *most),
        }
    }

    /// Returns the verdict on the number of elements of rows.
    fn of_cardinality(&self, least: u64, most: u64, is_negated: bool) -> Verdict {
        let (Some(counts), Some(outermost), false) = (&self.counts, self.outermost, is_negated) else {
            return Verdict::OPEN;
        };
        let elements: u64 = counts[usize::from(outermost)..].iter().sum();
        // No row has more elements than all rows together.
        Verdict {
            may: least <= most && least <= elements && (least > 0 || most > 0 || self.may_be_empty),
            all: false,
        }
    }

    /// Returns the verdict on the definition level of each row's first entry being in this range. Later entries of a
    /// row are elements.
    fn of_levels(&self, least: u8, most: u8) -> Verdict {
        let Some(counts) = &self.counts else { return Verdict::OPEN };
        let is_in = |def: usize| (usize::from(least)..=usize::from(most)).contains(&def);
        let some = |is_inside: bool| {
            counts.iter().enumerate().any(|(def, count)| *count > 0 && is_in(def) == is_inside)
        };
        Verdict { may: some(true), all: !some(false) }
    }
}
