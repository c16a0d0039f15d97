//! Reading files as record batches, under the names that the `parquet` crate's users know.
//!
//! ```no_run
//! use marquetry_arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
//! let file = std::fs::File::open("data.parquet")?;
//! let reader = ParquetRecordBatchReaderBuilder::try_new(file)?.with_batch_size(8192).build()?;
//! for batch in reader {
//!     println!("{} rows", batch?.num_rows());
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod adaptive_filter;
mod builder;
mod cached_column;
mod choose_columns;
mod chunk_reader;
mod column_parallel;
mod column_schedule;
mod file_predicate;
mod filter;
mod filtered_columns;
mod filtered_reader;
mod first_rows;
mod int96;
#[cfg(feature = "fs")]
mod local_file;
mod loss;
mod memory_plan;
mod metadata;
mod narrow_types;
mod null_padding;
mod options;
mod prefetch;
mod projection;
mod read_plan;
mod read_target;
mod reader;
mod resolved_schema;
mod root_reader;
mod row_group_parallel;
mod row_group_pruning;
mod row_ranges;
mod salvage;
mod salvage_array_filter;
mod salvage_filter;
mod selection;
mod sequential;
mod skip_strategy;
pub mod statistics;
mod variant_filter;
mod virtual_columns;
mod worker_pool;

pub use crate::schema::Int96Units;
pub use crate::schema::{DecimalOverflow, InvalidUtf8};
pub use builder::ParquetRecordBatchReaderBuilder;
#[cfg(feature = "async")]
pub(crate) use choose_columns::choose_columns;
pub use choose_columns::columns_mask;
pub use chunk_reader::ChunkReader;
pub(crate) use file_predicate::bare_times;
pub use file_predicate::bind_in_file;
pub use filter::{ArrowPredicate, ArrowPredicateFn, PureArrowPredicateFn, RowFilter};
#[cfg(feature = "async")]
pub(crate) use loss::no_choice_of_rows;
pub use loss::{Loss, LossReport, OnCorrupt};
pub use metadata::ArrowReaderMetadata;
pub use options::{ArrowReaderOptions, Int96Unit};
pub use projection::ProjectionMask;
pub use reader::ParquetRecordBatchReader;
#[cfg(feature = "async")]
pub(crate) use reader::panicked;
pub use selection::{RowSelection, RowSelector};
pub(crate) use variant_filter::is_variant_path;
pub use variant_filter::prunable_predicate;
#[cfg(feature = "async")]
pub(crate) use variant_filter::variant_filter;
pub use virtual_columns::{RowGroupIndex, RowNumber};
