//! Reading without input and output: plans which bytes a read needs, and provides a source with some of them.
//!
//! Everything in this crate reads from a [`Source`](crate::source::Source). If bytes arrive late and requests are
//! expensive, a driver plans what a step needs, fetches it in few requests, and runs the step on the fetched bytes:
//!
//! ```text
//!          plan               CoalesceOptions              RangeCache
//! step ───────► ranges ───────────────────► requests ───────────► step runs ──► result
//!                 ▲                                                   │
//!                 └──────────────── what was missing ◄────────────────┘
//! ```
//!
//! A plan may be wrong, because footers may be, or incomplete, because some information is only in the pages. Then the
//! step meets missing bytes, [`RangeCache`] records them, and the driver fetches those and runs the step again. The
//! result of a step that met missing bytes is never used.
//!
//! ```
//! use marquetry_core::io::read_metadata;
//! use marquetry_core::fetch::{RangeCache, CoalesceOptions};
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/wines.parquet");
//! # let file = std::fs::read(path)?;
//! # let fetch = |range: std::ops::Range<u64>| file[range.start as usize..range.end as usize].to_vec();
//! let buffered = RangeCache::new(file.len() as u64);
//! let footer = loop {
//!     let step = read_metadata(&buffered, &Default::default());
//!     let missing = buffered.take_misses();
//!     if missing.is_empty() {
//!         break step?;
//!     }
//!     for request in CoalesceOptions::OBJECT_STORE.coalesce(missing) {
//!         buffered.insert(request.start, fetch(request).into());
//!     }
//! };
//! assert!(footer.metadata.num_rows() > 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod byte_ranges;
mod cached_source;
mod planner;
mod range_cache;

pub use crate::source::CoalesceOptions;
pub use byte_ranges::{chunk_ranges, index_ranges, page_ranges};
pub use cached_source::CachedSource;
pub use planner::{FetchPlanner, bytes};
pub use range_cache::RangeCache;
