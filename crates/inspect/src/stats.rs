//! The statistics of a file's columns: counts, bounds, distinct and frequent values, means, quartiles, lengths.
//!
//! ```text
//! column           what is said of a column
//! run, footer      by reading columns; by the footer alone
//! leaf_arrays      the leaves of nested arrays
//! options          how much is gathered
//! leaf_stats       what is gathered of a leaf
//! numbers, strings  the same of numbers and of byte strings
//! value            numbers of all types in four forms
//! finish           what is said of a column, from what was gathered
//! value_counts     frequent and distinct values
//! quantile_sketch  quantiles of many values
//! ```

mod column;
mod finish;
mod footer;
mod leaf_arrays;
mod leaf_stats;
mod moments;
mod numbers;
mod options;
mod quantile_sketch;
mod run;
mod strings;
mod value;
mod value_counts;

pub use column::{ColumnStats, CommonValues, Distinct, Histogram, Lengths, Quartiles};
pub use footer::footer_stats;
pub use options::StatsOptions;
pub use run::{column_stats, table_stats};
