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

mod asked;
mod builder;
mod by_group;
mod chunk_reader;
mod columns;
mod crew;
mod far;
mod filter;
mod filtered;
mod int96;
mod loss;
mod metadata;
mod null_padding;
mod options;
mod parallel;
mod projection;
mod read_as;
mod read_plan;
mod read_target;
mod reader;
mod root;
mod runs;
mod salvage;
mod selection;
mod stages;
mod steps;
mod virtual_columns;
mod ways;

pub use crate::schema::{DecimalOverflow, InvalidUtf8};
pub use builder::ParquetRecordBatchReaderBuilder;
pub use chunk_reader::ChunkReader;
pub use filter::{ArrowPredicate, ArrowPredicateFn, RowFilter};
#[cfg(feature = "async")]
pub(crate) use loss::no_choice_of_rows;
pub use loss::{Loss, LossReport, OnCorrupt};
pub use metadata::ArrowReaderMetadata;
pub use options::{ArrowReaderOptions, Int96Unit};
pub use projection::ProjectionMask;
pub use reader::ParquetRecordBatchReader;
pub use selection::{RowSelection, RowSelector};
pub use virtual_columns::{RowGroupIndex, RowNumber};
