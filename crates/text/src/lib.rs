//! Values of Arrow arrays as text, CSV and JSON, and text as values.
//!
//! ```
//! use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
//! use marquetry_text::format::{csv, json};
//! use std::sync::Arc;
//!
//! let trees: ArrayRef = Arc::new(StringArray::from(vec![Some("oak"), None]));
//! let heights: ArrayRef = Arc::new(Int64Array::from(vec![21, 34]));
//! let batch = RecordBatch::try_from_iter([("tree", trees), ("height", heights)]).unwrap();
//! let (mut cells, mut lines) = (String::new(), String::new());
//! csv::write_header(&batch.schema(), &mut cells);
//! csv::write_lines(&batch, &mut cells)?;
//! json::write_lines(&batch, &mut lines)?;
//! assert_eq!(cells, "tree,height\noak,21\n,34\n");
//! assert_eq!(lines, "{\"tree\":\"oak\",\"height\":21}\n{\"tree\":null,\"height\":34}\n");
//! # Ok::<(), marquetry_base::Error>(())
//! ```
//!
//! ```
//! use arrow_schema::DataType;
//! use marquetry_text::parse::infer_number::Decimals;
//! use marquetry_text::parse::infer_text::Guess;
//!
//! let mut guess = Guess::new(Decimals::Auto);
//! ["21", "3.5"].iter().for_each(|cell| guess.add(cell));
//! assert_eq!(guess.data_type(), DataType::Float64);
//! guess.add("00123");
//! assert_eq!(guess.data_type(), DataType::Utf8);
//! ```
//!
//! | module | what it does |
//! |---|---|
//! | [`format`](mod@format) | values become text |
//! | [`parse`] | text becomes values, whose types are given or guessed |
//! | [`column_names`] | names of columns, none twice |
#![forbid(unsafe_code)]

pub mod column_names;
pub mod format;
pub mod parse;
mod variant_field;

pub use variant_field::variant_field;
