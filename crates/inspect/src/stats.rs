//! What the columns of a file hold: counts, bounds, distinct and frequent values, means, quartiles, lengths.
//!
//! ```text
//! column           what is said of a column
//! run, footer      by reading columns; by the footer alone
//! leaf_arrays      the leaves of nested arrays
//! leaf_stats       what is gathered of a leaf: numbers, or strings
//! value_counts     frequent and distinct values
//! quantile_sketch  quantiles of many values
//! ```

mod column;
mod finish;
mod footer;
mod leaf_arrays;
mod leaf_stats;
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
