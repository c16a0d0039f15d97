//! Profiles of the columns of a Parquet file, the differences between two files, and advice.
//!
//! [`file_layout`] returns the purpose of each byte of a file, [`column_bounds`] how bounds of row groups overlap.
//! [`column_stats`] reads columns once, and computes for each what people ask first; [`footer_stats`] returns what is
//! known without reading them. `diff_footers` and `diff_rows` compare two files (with the feature `fs`, for temporary
//! files). `advise` measures what would make a file smaller or faster.
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "fs")]
mod advise;
mod columns;
#[cfg(feature = "fs")]
mod diff;
mod int96;
mod layout;
#[cfg(feature = "fs")]
mod reencode;
mod shown_numbers;
mod stats;
mod value_texts;
mod word_hash;

#[cfg(feature = "fs")]
pub use advise::{
    Advice, AdviceKind, AdviseOptions, AskedColumn, BeforeAfter, Change, Choice, ColumnAdvice, Confidence,
    Finding, Goal, NewType, Query, advise, advise_merging, asked_columns, column_bytes, main_codec,
};
#[cfg(feature = "fs")]
pub use diff::{
    Aspect, DiffFile, DiffOptions, Difference, RowsDiff, diff_footers, diff_rows, with_fitting_int96,
};
pub use layout::{ColumnBounds, FileLayout, FilePart, PageFacts, PartKind, column_bounds, file_layout};
#[cfg(feature = "fs")]
pub use reencode::{ColumnSource, EncoderMemory, Reencoder};
pub use shown_numbers::{ShownBytes, ShownCount};
pub use stats::{
    ColumnStats, CommonValues, Distinct, Histogram, Lengths, Quartiles, StatsOptions, column_stats,
    footer_stats, table_stats,
};
pub use value_texts::value_texts;
