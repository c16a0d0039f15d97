//! A page that shows where the bytes of Parquet files are, and what can be skipped.
//!
//! [`ReportedFile`] collects what the page shows about a file, [`write_report`] writes one HTML page about all files.
//! The page is self-contained: it includes its style, its script and its data, loads nothing, and forbids itself to.
//!
//! ```text
//! skipped_rows     what a predicate lets readers skip
//! reported_file    a file as it goes into a report
//! report_options   options of a report
//! planes           numbers by the thousand, in few bytes
//! facts            what the script draws from
//! html             escapes text
//! summary          what is there before the script runs
//! page             writes the HTML page
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
