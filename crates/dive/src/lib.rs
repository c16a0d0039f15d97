//! A walk through a Parquet file in a terminal: schema, row groups, columns, pages, bytes, rows.
//!
//! [`Dive`] is the state of the screen and the action of keys: it needs no terminal, and draws into a buffer. [`run`]
//! shows it on the terminal. Every screen is a list that only reads the rows on display; the explanation of the chosen
//! row is below.
//!
//! ```text
//! text                  text for a terminal: cut and broken into lines by its width
//! opened_file           the file: its metadata, and readers of its pages
//! value_texts           values of pages as text
//! explained             bytes, what they mean, and where the format says so
//! thrift                Thrift's compact protocol, byte by byte
//! footer_structs        the structs of the footer, and of what stands beside pages
//! page_header           a page header, field by field
//! page_deltas page_alp  values as differences, and floats as integers
//! page_body             levels and values of a page, run by run
//! variant_texts         values of VARIANT as JSON
//! bloom_probe           how a bloom filter answers
//! struct_fields         the fields of a struct, one by one
//! input                 keys and the mouse, without the types of a terminal library
//! screen                the trait of all screens: a list of rows, and where Enter leads
//! overview schema_tree row_groups columns chunk pages page values rows hex footer index_pages bloom_blocks  one screen each
//! list_state            which row is chosen, which are on the screen
//! prompt                the line in which a search, a filter or a place is typed
//! dive                  the screens that one came through, and what each key does
//! draw                  a screen becomes cells of a terminal
//! life_sign             a spinner while something takes long
//! run                   draws, waits for keys, leaves the terminal as it was
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
