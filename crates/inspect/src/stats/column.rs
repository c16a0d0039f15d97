//! The statistics of a column, as they are returned.

use arrow_array::ArrayRef;
use arrow_schema::FieldRef;

/// The statistics of a column. For a leaf in lists, values are elements, and an empty list has none.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ColumnStats {
    /// Dotted path of the column in the file.
    pub column: String,
    /// The Arrow field of the leaf. Its type is that of all arrays here, without dictionaries.
    pub field: FieldRef,
    /// Number of values that are not null, including NaN. `None` if the footer does not state it.
    pub values: Option<u64>,
    /// Number of values that are null, or missing because something above them is null. `None` if the footer does not
    /// state it. For a list that is known only by its footer, an empty list counts as one, too.
    pub nulls: Option<u64>,
    /// Number of values that are NaN. `None` if the footer does not state it, and for types without NaN.
    pub nans: Option<u64>,
    /// Number of distinct values. NaN counts as one of them.
    pub distinct: Option<Distinct>,
    /// The least and the greatest value without NaN, as two entries. They are null if nothing is known.
    pub bounds: Option<ArrayRef>,
    /// Whether both bounds are values that occur. Otherwise they only bound the values.
    pub are_bounds_exact: bool,
    /// The mean of numbers without NaN.
    pub mean: Option<f64>,
    /// The standard deviation of numbers as a sample: the sum of squares is divided by one less than their count.
    pub deviation: Option<f64>,
    /// The values than which a quarter, a half and three quarters of the values are no greater.
    pub quartiles: Option<Quartiles>,
    /// Frequent values, most frequent first.
    pub common: Option<CommonValues>,
    /// Lengths of byte strings in bytes.
    pub lengths: Option<Lengths>,
    /// Number of elements of the innermost lists that the leaf is in.
    pub list_lengths: Option<Lengths>,
    /// The distribution of numbers, dates and times.
    pub histogram: Option<Histogram>,
}

/// Number of distinct values.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Distinct {
    /// The count, or an estimate of it.
    pub count: u64,
    /// Relative error of `count`, which holds with a probability of 95 %. It is 0 if the count is exact.
    pub error: f64,
}

/// Quartiles of a column.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Quartiles {
    /// The three quartiles, in the column's type.
    pub values: ArrayRef,
    /// Maximum error of their ranks, as a share of all values. It is 0 if they are exact.
    pub rank_error: f64,
}

/// Values that occur often.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CommonValues {
    /// The values, most frequent first. Long byte strings are cut to their first 256 bytes.
    pub values: ArrayRef,
    /// The minimum and maximum number of times that each of them occurs. Both are the same if the count is exact.
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

/// The distribution of values over intervals of the same width.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Histogram {
    /// Lower end of the first interval as a float: in days for dates, in their unit for times, with their scale for
    /// decimals.
    pub lower: f64,
    /// Upper end of the last interval.
    pub upper: f64,
    /// Number of values in each interval, estimated if quartiles are.
    pub counts: Vec<u64>,
}
