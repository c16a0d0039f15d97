//! The differences between two files: between their footers, and between their rows.
//!
//! ```text
//! run         compares rows: by key or by values
//! compared_columns  which columns
//! options, rows_diff  how rows are compared, and what is said of them
//! int96       units of timestamps, which columns have in both files
//! diff_file   reads a file, and hashes its rows
//! row_hash    hashes of values, the same however they are stored
//! row_sink    what takes the hashes of rows
//! row_log     the hashes of all rows, in memory or in a temporary file
//! parted_log  the same in parts by keys
//! side        a file in the reading
//! pairing     rows of both files that take each other out as they are read
//! side_by_side  rows compared place by place as they are read
//! key_order   whether keys ascend or descend
//! in_place    what became of rows at places at which they differ
//! multiset    rows compared wherever they stand
//! keyed       rows compared by their key
//! footers     schemas, metadata, layouts and statistics
//! ```

mod compared_columns;
mod diff_file;
mod footers;
mod in_place;
mod int96;
mod key_order;
mod keyed;
mod multiset;
mod options;
mod pairing;
mod parted_log;
mod row_hash;
mod row_log;
mod row_sink;
mod rows_diff;
mod run;
mod side;
mod side_by_side;

pub use diff_file::DiffFile;
pub use footers::{Aspect, Difference, diff_footers};
pub use int96::with_fitting_int96;
pub use options::DiffOptions;
pub use rows_diff::RowsDiff;
pub use run::diff_rows;
