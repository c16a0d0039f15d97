//! A page that shows where the bytes of Parquet files are, and what can be skipped.
//!
//! [`ReportedFile`] gathers what is told of a file, [`write_report`] makes one HTML page of all of them. The page needs nothing else: it has
//! its style, its script and its data in it, loads nothing, and forbids itself to.
//!
//! ```text
//! skipped_rows     what a predicate lets be skipped
//! reported_file    what is told of a file
//! report_options   what a page tells
//! planes           numbers by the thousand, in few bytes
//! facts            what the script is told of a file
//! html             text that is safe in HTML
//! summary          what is there before the script runs
//! page             the whole page
//! assets/          style and script
//! ```
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod facts;
mod html;
mod page;
mod planes;
mod report_options;
mod reported_file;
mod skipped_rows;
mod summary;

pub use html::Escaped;
pub use page::{STYLE, write_report};
pub use report_options::ReportOptions;
pub use reported_file::ReportedFile;
pub use skipped_rows::SkippedRows;
