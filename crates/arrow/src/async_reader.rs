//! Reads record batches as a stream, from files whose bytes arrive asynchronously: object stores, web servers.
//!
//! No runtime is imposed: a file is anything that implements [`AsyncSource`], and a stream only works while it is
//! polled. Names are those that the `parquet` crate's users know.
//!
//! ```
//! use futures::{StreamExt, executor::block_on};
//! use marquetry_arrow::async_reader::ParquetRecordBatchStreamBuilder;
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/wines.parquet");
//! let file = bytes::Bytes::from(std::fs::read(path)?);
//! block_on(async {
//!     let mut stream = ParquetRecordBatchStreamBuilder::new(file).await?.with_batch_size(1024).build()?;
//!     while let Some(batch) = stream.next().await {
//!         println!("{} rows", batch?.num_rows());
//!     }
//!     Ok::<(), marquetry_base::Error>(())
//! })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is fetched
//! 1. The end of the file: a request for its last 64 KiB, which hold the footer of most files, and a second one if not.
//! 2. With a filter, for each row group that statistics do not rule out: its page indexes, and what else can rule out
//!    rows; then the pages of the filter's columns, for the rows that are left.
//! 3. For each row group, the pages of the chosen columns that have selected rows, in few requests
//!    ([`CoalesceOptions`]). While a row group is decoded, the next ones are fetched, up to
//!    [`with_prefetch`](ParquetRecordBatchStreamBuilder::with_prefetch) bytes.
//!
//! Decoding happens between two waits, on the thread that polls, or elsewhere for row groups that are [handed
//! out](ParquetRecordBatchStream::next_row_group). Retries are up to the source.
//!
//! # What only a reader does
//! A stream supports everything that
//! [`ParquetRecordBatchReaderBuilder`](crate::arrow_reader::ParquetRecordBatchReaderBuilder) does, except
//! - `with_threads`: a stream decodes on the thread that polls it, or hands out row groups to others;
//! - [`with_checkpoint_recovery`](crate::arrow_reader::ArrowReaderOptions::with_checkpoint_recovery), which would fetch
//!   the whole file, from its end to its beginning.
//!
//! If damage is not an error ([`OnCorrupt`](crate::arrow_reader::OnCorrupt)), all pages of a row group's chosen columns are
//! checked before any of its rows is returned, as in a reader. So they are fetched whole.
//!
//! # Cancelling
//! A stream can be dropped at any time, and so can a future that waits for its next batch: the stream continues where
//! it was when it is polled again.

mod builder;
mod cached_tail;
mod filter;
mod int96;
mod metadata;
mod ordered_futures;
mod page_index_cache;
mod range_fetcher;
mod row_group;
mod row_group_reader;
mod source;
mod stream;
mod stream_scan;
mod turns;

pub(crate) use builder::PREFETCH;
pub(crate) use cached_tail::CachedTail;
pub(crate) use int96::fitting;
pub(crate) use ordered_futures::OrderedFutures;

pub use builder::ParquetRecordBatchStreamBuilder;
pub use marquetry_core::fetch::CoalesceOptions;
pub use page_index_cache::PageIndexCache;
pub use row_group_reader::RowGroupReader;
pub use source::{AsyncSource, FileVersion, Tail};
pub use stream::ParquetRecordBatchStream;
