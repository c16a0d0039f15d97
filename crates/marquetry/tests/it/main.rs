//! The public surface over real files: values, errors, and what the documents promise.
//!
//! One program, as linking takes longer than running: tests that measure a whole process are programs of their own beside it.

mod arrays;
#[path = "../cells/mod.rs"]
mod cells;
#[path = "../corpus/mod.rs"]
mod corpus;
mod damage;

mod alp;
mod api;
mod cancel;
mod checksums;
#[cfg(all(feature = "async", feature = "encryption"))]
mod combined;
mod docs;
mod executors;
mod filter;
mod geoparquet;
mod geospatial;
mod metadata_doors;
mod metrics;
mod nested_predicates;
mod page_index;
mod porting;
#[cfg(feature = "async")]
mod porting_async;
mod projection;
mod recover;
mod round_trip;
mod salvage;
mod shown_values;
mod slices;
mod spill;
mod statistics_arrays;
mod statistics_trust;
mod threads;
mod tour;
mod writer;
