//! Parquet files in object stores, through the [`object_store`] crate. No other crate of Marquetry knows its types.
//!
//! [`ObjectFile`] is a file in any store, for a stream of batches:
//!
//! ```
//! use futures::TryStreamExt;
//! use marquetry_arrow::async_reader::ParquetRecordBatchStreamBuilder;
//! use marquetry_object_store::ObjectFile;
//! # use object_store::{ObjectStoreExt, memory::InMemory, path::Path};
//! # use std::sync::Arc;
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/wines.parquet");
//! # futures::executor::block_on(async {
//! # let store = Arc::new(InMemory::new());
//! # store.put(&Path::from("wines.parquet"), std::fs::read(path)?.into()).await?;
//! let file = ObjectFile::new(store, Path::from("wines.parquet"));
//! let stream = ParquetRecordBatchStreamBuilder::new(file).await?.build()?;
//! let batches: Vec<_> = stream.try_collect().await?;
//! assert!(!batches.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`ObjectSink`] is a new file in any store, for an
//! [`AsyncArrowWriter`](marquetry_arrow::async_writer::AsyncArrowWriter).
//!
//! [`dataset`] reads many files of a store as one table: folders, patterns, partitions, `_metadata`.
//!
//! With a feature for each kind of store (`aws`, `gcp`, `azure`, `http`), `StoreRegistry` finds files by their URLs and
//! reads them with blocking calls, as a command line does.
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "transport")]
mod blocking;
#[cfg(feature = "transport")]
mod blocking_writer;
#[cfg(feature = "transport")]
mod connector;
mod file;
mod listing;
#[cfg(feature = "transport")]
mod own_runtime;
mod part_sizes;
mod sink;
mod store_error;
#[cfg(feature = "transport")]
mod url;

#[cfg(feature = "transport")]
pub use blocking::{BlockingObjectFile, StoreRegistry};
#[cfg(feature = "transport")]
pub use blocking_writer::BlockingObjectWriter;
pub use file::ObjectFile;
pub use listing::{dataset, files};
pub use object_store;
pub use sink::ObjectSink;
#[cfg(feature = "transport")]
pub use url::is_url;
