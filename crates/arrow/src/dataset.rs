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
//! A path may be a file; a directory, which means the files below it that end in `.parquet`, `.parq` or `.pq`, or if there
//! is none all of them; a pattern with `*`, `**`, `?` or `[]`; or a summary file (`_metadata`), which means the files that
//! it names. In directories what begins with `.` or `_` is passed over, but for directories like `_key=value`. Paths are
//! read in the order given, the files of a directory or pattern sorted by their paths.
//!
//! A summary is a file from who knows where: the files it names must be below its own directory, links followed.
//!
//! # Partitions
//! A directory called `key=value` on the way to a file, as the path was given, makes a column of all its rows, behind the
//! columns of the files; a column of that name in a file is not read. Values are percent-decoded, and
//! `__HIVE_DEFAULT_PARTITION__` is null. A key whose values are all integers is Int64, one of dates `YYYY-MM-DD` Date32,
//! any other text: `007` is text, so that nothing is lost. [`Dataset::partition_type`] says otherwise.
//!
//! # One schema
//! It is that of the first file. The others must have the same columns, in any order, of types that
//! [become those](crate::evolution) without any value changing; anything else is an error that names the file. With
//! [`Dataset::union_by_name`] the schema has the columns of all files, null where a file has none, each of the narrowest type
//! that holds the values of all. With [`Dataset::evolve`] it is any schema.
//!
//! # Files whose bytes come late
//! With the feature `async` a table may be of files that are asked for and waited for: `Dataset::from_async_files`, and
//! `Dataset::stream`, which gives the same rows as [`Dataset::batches`] does.

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
/// files that match the pattern, and files below folders that match. A path without wildcards is a file or folder.
/// Names and path have `/` between their parts. The result is sorted alphabetically.
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
