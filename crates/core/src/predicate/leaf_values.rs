//! The decoded values of one column, on which a predicate is evaluated.

use crate::nesting::{LeafLevels, RepetitionSlice};
use marquetry_base::{Error, Result};
use marquetry_encoding::dictionary::Dictionary;
use marquetry_encoding::{Bitmap, Values};

/// The values of one column, one slot per row; in a column inside lists, one slot per element.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct LeafValues<'a> {
    /// One value per slot, arbitrary for null slots; 32-bit indices if there is a `dictionary`.
    pub values: &'a Values,
    /// Which slots are not null; `None` if no slot is null.
    pub validity: Option<&'a Bitmap>,
    /// The dictionary that `values` index. The predicate is then evaluated once for each entry, and the results looked
    /// up for the rows.
    pub dictionary: Option<&'a Dictionary>,
    /// Definition levels, one per entry, as in a column batch. Empty if nothing above the column is nullable or a list.
    /// [`LOST`](Self::LOST) marks a lost row, about which nothing is known.
    pub def: &'a [u8],
    /// Repetition levels, one per entry; empty if the column is in no list.
    pub rep: &'a [u8],
}

impl<'a> LeafValues<'a> {
    /// The definition level of a lost row: no column has it.
    pub const LOST: u8 = u8::MAX;

    /// Creates the values of a column that is in no list or group.
    pub fn flat(values: &'a Values, validity: Option<&'a Bitmap>) -> Self {
        LeafValues { values, validity, dictionary: None, def: &[], rep: &[] }
    }

    /// Sets [`dictionary`](Self::dictionary).
    #[must_use]
    pub fn with_dictionary(mut self, dictionary: Option<&'a Dictionary>) -> Self {
        self.dictionary = dictionary;
        self
    }

    /// Sets [`def`](Self::def) and [`rep`](Self::rep).
    #[must_use]
    pub fn with_levels(mut self, def: &'a [u8], rep: &'a [u8]) -> Self {
        (self.def, self.rep) = (def, rep);
        self
    }

    /// Returns the levels of a column that has definition levels.
    pub(super) fn levels(&self) -> LeafLevels<'a> {
        LeafLevels {
            def: self.def,
            rep: RepetitionSlice::Bytes(self.rep),
            len: self.def.len(),
            max_rep: u8::MAX,
        }
    }
}

/// Returns the values of a column. Fails if they are missing.
pub(super) fn values_of<'a, 'b>(
    columns: &'a [(usize, LeafValues<'b>)],
    column: usize,
) -> Result<&'a LeafValues<'b>> {
    let found = columns.iter().find(|(number, _)| *number == column);
    let (_, leaf) =
        found.ok_or_else(|| Error::argument(format!("the values of column {column} are needed")))?;
    Ok(leaf)
}
