//! Footers, pages, levels and columns: of files that others wrote, and of those that random choices make.
//!
//! One program, as linking takes longer than running: tests that measure a whole process are programs of their own beside it.

#[path = "../chunk/mod.rs"]
mod chunk;

mod batch_bytes;
mod checkpoint;
mod columns;
mod copy;
mod copy_headers;
mod fields;
mod file_edit;
mod footer;
mod hidden_levels;
mod layers;
mod logical;
mod nesting;
mod order;
mod page_requests;
mod pages;
mod properties;
mod salvage;
mod schema;
