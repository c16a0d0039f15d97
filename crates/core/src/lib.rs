//! Parquet without Arrow: schema, metadata, pages, nesting, and reading columns.
//!
//! The modules are layers, bottom to top; a module uses only those before it:
//! [`source`], [`logical`], [`schema`], [`order`], [`stats`], [`meta`], [`checkpoint`],
//! [`index`], [`predicate`], [`page`], [`nesting`], [`select`], [`prune`], [`read`] and
//! [`write`](mod@write), [`scan`], [`io`], [`recover`](mod@recover), [`verify`](mod@verify). `read` and `write` do not use each other.
#![forbid(unsafe_code)]

pub mod checkpoint;
pub mod index;
pub mod io;
pub mod logical;
pub mod meta;
pub mod nesting;
pub mod order;
pub mod page;
pub mod predicate;
pub mod prune;
pub mod read;
pub mod recover;
pub mod scan;
pub mod schema;
pub mod select;
pub mod source;
pub mod stats;
pub mod verify;
pub mod write;
