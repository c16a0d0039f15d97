//! Many files read as one table: directories, patterns, partitions, summary files.
//!
//! ```no_run
//! use marquetry_arrow::dataset::Dataset;
//! // warehouse/wines/country=France/year=2019/part-0.parquet, ..
//! let wines = Dataset::open(["warehouse/wines"])?.columns(["name", "year"]).limit(100);
//! for batch in wines.batches()? {
//!     println!("{} rows", batch?.num_rows());
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Which files
//! A path may be a file, a directory, a pattern with `*`, `**`, `?` or `[]`, or a summary file (`_metadata`). A
//! directory stands for the files below it that end in `.parquet`, `.parq` or `.pq`, or for all files if there are none
//! of these. Names in directories that begin with `.` or `_` are skipped, except for directories like `_key=value`. A
//! summary stands for the files that it lists. Paths are read in the given order, the files of a directory or pattern
//! sorted by path.
//!
//! A summary is untrusted: the files that it lists must be below its own directory, after all links are followed.
//!
//! # Partitions
//! A directory `key=value` on the path to a file, as the path was given, makes a column for all of the file's rows,
//! behind the columns of the files. A column of that name in a file is not read. Values are percent-decoded, and
//! `__HIVE_DEFAULT_PARTITION__` is null. A key is Int64 if all its values are integers, Date32 if all are dates
//! `YYYY-MM-DD`, and otherwise text: `007` is text, so that nothing is lost. [`Dataset::partition_type`] overrides
//! that.
//!
//! # One schema
//! It is that of the first file. The others must have the same columns, in any order, with types that [become
//! those](crate::evolution) without a change of values. Anything else is an error that names the file. With
//! [`Dataset::union_by_name`], the schema has the columns of all files, null where a file lacks one, each with the
//! narrowest type that holds the values of all. With [`Dataset::evolve`], it is any schema.
//!
//! # Asynchronous sources
//! With the feature `async`, a table may consist of asynchronous sources: `Dataset::from_async_files`, and
//! `Dataset::stream`, which returns the same rows as [`Dataset::batches`].

mod choice;
mod data_file;
mod field_finder;
mod file_pruning;
mod filter;
mod int96;
#[cfg(feature = "async")]
mod late;
mod listing;
#[cfg(feature = "fs")]
mod local;
mod opened;
mod partition;
mod parts;
#[cfg(feature = "fs")]
mod pattern;
mod predicate_names;
mod reader;
mod schema;
#[cfg(feature = "async")]
mod stream;
mod summary;
mod table;
mod table_types;
mod union_help;

pub use file_pruning::Needed;
pub use partition::NULL_PARTITION;
#[cfg(feature = "fs")]
pub use pattern::{expand_pattern, is_of_wildcards, is_pattern};
pub use reader::DatasetReader;
#[cfg(feature = "async")]
pub use stream::DatasetStream;
pub use table::Dataset;
pub use union_help::is_helped_by_union;

use marquetry_base::Result;
use std::path::Path;

/// Returns the files that `path` stands for, out of all files of a store, as [`Dataset::open`] finds them on a disk:
/// files that match the pattern, and files below folders that match.
///
/// A path without wildcards is a file or folder. Names and path have `/` between their parts. The result is sorted
/// alphabetically.
///
/// Fails if the pattern is not valid.
///
/// ```
/// let names = ["events/_SUCCESS", "events/day=1/a.parquet", "events/day=2/a.parquet", "other/b.parquet"];
/// assert_eq!(marquetry_arrow::dataset::files_among("events/", names)?, names[1..3]);
/// assert_eq!(marquetry_arrow::dataset::files_among("events/day=2/*.parquet", names)?, names[2..3]);
/// # Ok::<(), marquetry_base::Error>(())
/// ```
pub fn files_among<'a>(path: &str, names: impl IntoIterator<Item = &'a str>) -> Result<Vec<&'a str>> {
    listing::among(path, names)
}

/// Returns whether the name ends in `.parquet`, `.parq` or `.pq`.
pub fn is_named_parquet(path: impl AsRef<Path>) -> bool {
    listing::is_named_parquet(path.as_ref())
}

#[cfg(test)]
mod tests;
