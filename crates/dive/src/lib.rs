//! A walk through a Parquet file in a terminal: schema, row groups, columns, pages, bytes, rows.
//!
//! [`Dive`] is what is on the screen and what keys do: it needs no terminal, and draws into a buffer. [`run`] has it on the terminal.
//! Every screen is a list, of which only the rows that are seen are read; what is explained of the chosen row stands below.
//!
//! ```text
//! text           numbers and texts as they are shown
//! opened_file    the file, and how its pages are read
//! value_texts    values of pages as text
//! explained      bytes, what they mean, and where the format says so
//! thrift         Thrift's compact protocol, byte by byte
//! footer_structs  the structs of the footer, and of what stands beside pages
//! page_header    a page header, field by field
//! page_deltas page_alp   values as differences, and floats as integers
//! page_body      levels and values of a page, run by run
//! variant_texts  values of VARIANT as JSON
//! bloom_probe    how a bloom filter answers
//! struct_fields  the fields of a struct, one by one
//! input          keys and the mouse
//! screen         what a list has
//! overview schema_tree row_groups columns chunk pages page values rows hex footer index_pages bloom_blocks   one screen each
//! list_state     which row is chosen, which are seen
//! prompt         the line that is typed in, and what it asks for
//! dive           all screens, and what keys do
//! draw           the screen as text
//! life_sign      what moves while something takes long
//! run            on the terminal
//! ```
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod bloom_blocks;
mod bloom_probe;
mod chunk;
mod columns;
mod dive;
mod draw;
mod explained;
mod footer;
mod footer_structs;
mod hex;
mod index_pages;
mod input;
mod life_sign;
mod list_state;
mod opened_file;
mod overview;
mod page;
mod page_alp;
mod page_body;
mod page_deltas;
mod page_header;
mod pages;
mod prompt;
mod row_groups;
mod rows;
mod run;
mod schema_tree;
mod screen;
mod struct_fields;
mod text;
mod thrift;
mod value_texts;
mod values;
mod variant_texts;

pub use dive::Dive;
pub use input::{Input, Key};
pub use opened_file::OpenedFile;
pub use run::{restore_terminal, run};
