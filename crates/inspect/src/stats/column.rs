//! The statistics of a column, as they are returned.

use arrow_array::ArrayRef;
use arrow_schema::FieldRef;

/// What a column holds. For a leaf in lists, values are elements, and an empty list has none.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ColumnStats {
    /// The dotted path in the file.
    pub column: String,
    /// The leaf's Arrow field, with the type that all arrays here have: without dictionaries.
    pub field: FieldRef,
    /// Values that are not null, NaN among them; `None` if the footer does not say.
    pub values: Option<u64>,
    /// Values that are null, or missing because something above them is; `None` if the footer does not say. In a list that is known
    /// by its footer alone, an empty list counts as one, too.
    pub nulls: Option<u64>,
    /// Values that are NaN; `None` if the footer does not say, and for what has none.
    pub nans: Option<u64>,
    /// How many different values there are, NaN as one of them.
    pub distinct: Option<Distinct>,
    /// The least and the greatest value, NaN left out: two entries. Null where nothing is known.
    pub bounds: Option<ArrayRef>,
    /// Whether both bounds are values that occur: else they are no more than bounds.
    pub are_bounds_exact: bool,
    /// The mean of numbers, NaN left out.
    pub mean: Option<f64>,
    /// The standard deviation of numbers, that of a sample (divided by one less than their count).
    pub deviation: Option<f64>,
    /// Values of which a quarter, a half and three quarters are no greater.
    pub quartiles: Option<Quartiles>,
    /// Frequent values, most frequent first.
    pub common: Option<CommonValues>,
    /// Lengths of byte strings in bytes.
    pub lengths: Option<Lengths>,
    /// Of the innermost list that the leaf is in: how many elements lists have.
    pub list_lengths: Option<Lengths>,
    /// How numbers, dates and times are spread.
    pub histogram: Option<Histogram>,
}

/// How many different values there are.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Distinct {
    /// How many.
    pub count: u64,
    /// By which part of `count` it may be wrong, with a probability of 95 %: 0 where it is exact.
    pub error: f64,
}

/// Quartiles of a column.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Quartiles {
    /// Three values, of the column's type.
    pub values: ArrayRef,
    /// By which part of all values the rank of one may be wrong: 0 where they are exact.
    pub rank_error: f64,
}

/// Values that occur often.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CommonValues {
    /// The values, most frequent first. Of long byte strings the first 256 bytes.
    pub values: ArrayRef,
    /// How often each of them occurs, at least and at most. They are the same where it is exact.
    pub counts: Vec<(u64, u64)>,
}

/// Lengths of strings or lists.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Lengths {
    /// The least.
    pub least: u64,
    /// The mean.
    pub mean: f64,
    /// The greatest.
    pub greatest: u64,
}

/// How values are spread over intervals of the same width.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Histogram {
    /// Where the first interval begins, as a float: of a date days, of a time its units, of a decimal with its scale.
    pub lower: f64,
    /// Where the last interval ends.
    pub upper: f64,
    /// How many values each interval has, estimated where quartiles are.
    pub counts: Vec<u64>,
}
