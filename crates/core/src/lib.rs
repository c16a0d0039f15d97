//! Parquet without Arrow: schema, metadata, pages, nesting, and reading columns.
//!
//! The modules are layers, bottom to top; a module uses only those before it:
//! [`metrics`], [`source`], [`encryption`], [`int96`], [`logical_type`], [`schema`], [`sort_order`], [`statistics`], [`metadata`], [`checkpoint`],
//! [`page_index`], [`predicate`], [`page`], [`nesting`], [`row_mask`], [`prune`], [`read`],
//! [`write`](mod@write), [`fetch`] and [`io`]. `read` and `write` do not use each other.
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod checkpoint;
pub mod encryption;
pub mod fetch;
pub mod int96;
pub mod io;
pub mod logical_type;
pub mod metadata;
pub mod metrics;
mod narrow_integer;
pub mod nesting;
pub mod page;
pub mod page_index;
pub mod predicate;
pub mod prune;
pub mod read;
pub mod row_mask;
pub mod schema;
pub mod sort_order;
pub mod source;
pub mod statistics;
pub mod write;
