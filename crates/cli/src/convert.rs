//! Rows into Parquet, Arrow, CSV and JSON Lines files. Memory holds a few batches, and what their columns' pages
//! take; of Parquet, what the writer's memory limit allows.
//!
//! ```text
//! sink             writers of batches, one for each format
//! destination      where bytes go: a file that appears once it is complete, or standard output
//! parquet          the writer of Parquet
//! file_columns     columns of paths that become columns of FILE
//! geoparquet       columns of geometries as a version of GeoParquet has them
//! parquet_options  options that only Parquet has a use for
//! properties       writer properties from arguments
//! report           bytes of each column before and after
//! lines            formats rows as lines of text, in several threads
//! change_types decode_dictionaries exact_int96 table_times cut_times unify_dictionaries compact_views names  columns as an output needs them
//! progress         a progress bar
//! ```

mod change_types;
mod compact_views;
mod cut_times;
mod decode_dictionaries;
mod destination;
mod exact_int96;
mod file_columns;
mod geoparquet;
mod lines;
mod names;
mod parquet;
mod parquet_options;
mod progress;
mod properties;
mod report;
mod sink;
mod table_times;
mod unify_dictionaries;

pub(crate) use change_types::{TypeChanges, change_type};
pub(crate) use compact_views::{compact, compact_array};
pub(crate) use cut_times::{CutTimes, with_timestamps};
pub(crate) use decode_dictionaries::{TimesAs, plain_batch, plain_columns, plain_schema};
pub(crate) use destination::{Destination, leads_to_stdout};
pub(crate) use exact_int96::{far_times_as_bytes, is_int96};
pub(crate) use file_columns::{FileColumns, FileWish, file_wish};
pub(crate) use geoparquet::{GeoPlan, GeoWish, geometry_column, with_metadata};
pub(crate) use lines::{formatted, write_formatted};
pub(crate) use names::{renamed, with_filled_names, with_unique_names};
pub(crate) use parquet_options::only_for_parquet;
pub(crate) use progress::{Progress, Total};
pub(crate) use properties::properties;
pub(crate) use report::{Before, SizeReport};
pub(crate) use sink::{Part, Sink};
pub(crate) use table_times::{TableRows, read_exactly};
