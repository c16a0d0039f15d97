//! How a reader handles damage, and its report of losses.

use marquetry_base::Error;
use std::fmt::{self, Display, Formatter};
use std::ops::Range;
use std::sync::Arc;

/// What a reader does where the file is damaged. A failure to read from the disk or the store is never damage.
///
/// Rows stay aligned: whatever is lost, the values in one row of a batch belong together. Unless it is `Fail`, each
/// page is decoded twice: no row of a row group is returned before the whole row group was checked against its
/// checksums, headers, footer and index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum OnCorrupt {
    /// The read fails. Page headers have no checksum, so some flipped bits in them go unnoticed in this mode. The other
    /// modes find them, as they look at all pages of a column chunk before they return any of its rows.
    #[default]
    Fail,
    /// Leaves out the rows of a page that cannot be read, in all columns.
    SkipPage,
    /// Makes the rows of a page that cannot be read null, in the whole field of the root that the column belongs to.
    /// All fields of the root are nullable in the Arrow schema.
    NullPage,
    /// Leaves out a row group if a page of any wanted column cannot be read.
    SkipRowGroup,
}

/// A part of a file that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Loss {
    /// The row group, counted from 0.
    pub row_group: usize,
    /// The column, as a dotted path.
    pub column: Arc<str>,
    /// The page in its column chunk, counted from 0, dictionary page included. `None` if the loss is not a single page.
    pub page: Option<usize>,
    /// The rows of the file that are left out or null because of this loss. Empty for a dictionary page: the pages that
    /// need it are losses of their own. Rows that were returned before the damage was found are not lost.
    pub rows: Range<u64>,
    /// The bytes of the file that cannot be read, as far as known.
    pub bytes: Range<u64>,
    /// Why it could not be read.
    pub reason: String,
}

/// Everything that a reader could not read so far.
#[must_use = "it says which rows are missing"]
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LossReport {
    /// The losses, ordered by row group, then as they were found.
    pub losses: Vec<Loss>,
    /// How many rows were left out. Losses of several columns may share rows, so this is not their sum.
    pub rows_left_out: u64,
    /// How many values of the root's fields were made null.
    pub values_made_null: u64,
}

impl LossReport {
    /// Adds the losses of another part of the same read.
    #[cfg(feature = "async")]
    pub(crate) fn join(&mut self, mut other: LossReport) {
        self.losses.append(&mut other.losses);
        self.rows_left_out += other.rows_left_out;
        self.values_made_null += other.values_made_null;
    }

    /// Whether nothing is lost.
    pub fn is_empty(&self) -> bool {
        self.losses.is_empty()
    }
}

/// Returns the error for a choice of rows in a read where damage is not an error.
#[cold]
pub(crate) fn no_choice_of_rows() -> Error {
    Error::argument(
        "row filters, selections of rows and virtual columns, and in streams predicates, do not go with reading on where a \
         file is damaged: read all rows, and filter the batches",
    )
}

impl Display for Loss {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "row group {}, column {}", self.row_group, self.column)?;
        if let Some(page) = self.page {
            write!(f, ", page {page}")?;
        }
        match self.rows.is_empty() {
            true => f.write_str(", no rows")?,
            false => write!(f, ", rows {} to {}", self.rows.start, self.rows.end - 1)?,
        }
        if !self.bytes.is_empty() {
            write!(f, ", bytes {} to {}", self.bytes.start, self.bytes.end - 1)?;
        }
        write!(f, ": {}", self.reason)
    }
}

/// A line for each loss, and one for the sums.
impl Display for LossReport {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("nothing lost");
        }
        for loss in &self.losses {
            writeln!(f, "{loss}")?;
        }
        write!(f, "{} rows left out, {} values made null", self.rows_left_out, self.values_made_null)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text() {
        let mut report = LossReport::default();
        assert_eq!(report.to_string(), "nothing lost");
        report.losses.push(Loss {
            row_group: 1,
            column: "a.b".into(),
            page: Some(3),
            rows: 100..200,
            bytes: 4000..5000,
            reason: "checksum mismatch".to_owned(),
        });
        report.rows_left_out = 100;
        let text = "row group 1, column a.b, page 3, rows 100 to 199, bytes 4000 to 4999: checksum mismatch\n\
                    100 rows left out, 0 values made null";
        assert_eq!(report.to_string(), text);
    }
}
