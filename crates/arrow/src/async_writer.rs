//! Writes record batches to asynchronous destinations: object stores, connections.
//!
//! No runtime is imposed: a destination is anything that implements [`AsyncSink`], and a writer only works while it is polled.
//!
//! ```
//! use arrow_array::{ArrayRef, Int64Array, RecordBatch};
//! use futures::executor::block_on;
//! use marquetry_arrow::async_writer::AsyncArrowWriter;
//! use std::sync::Arc;
//!
//! let batch = RecordBatch::try_from_iter([("id", Arc::new(Int64Array::from(vec![1, 2, 3])) as ArrayRef)])?;
//! block_on(async {
//!     let mut writer = AsyncArrowWriter::try_new(Vec::new(), batch.schema(), None)?;
//!     writer.write(&batch).await?;
//!     let (file, metadata) = writer.into_parts().await?;
//!     assert_eq!(metadata.num_rows(), 3);
//!     assert!(file.ends_with(b"PAR1"));
//!     Ok::<(), marquetry_base::Error>(())
//! })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Memory
//! A row group is held in memory, or past the memory limit in the [spill
//! store](marquetry_core::write::WriterPropertiesBuilder::set_spill_store), until it ends. Then its pages are written
//! to the sink one by one, without a copy of the whole.
//!
//! # Aborting
//! A writer that is dropped before its end drops its sink, which leaves nothing that could be taken for a file. If a
//! future of the writer is dropped before it is ready, the file is in an unknown state, and all later calls fail.

mod sink;
mod task;
mod writer;

pub use sink::{AsyncSink, BoxFuture};
pub use task::BlockingTask;
pub use writer::AsyncArrowWriter;
