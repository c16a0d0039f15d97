//! What the columns of a Parquet file hold.
//!
//! [`column_stats`] reads columns once, and says of each what a person asks first; [`footer_stats`] says what can be known without
//! reading them.
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod stats;

pub use stats::{
    ColumnStats, CommonValues, Distinct, Histogram, Lengths, Quartiles, StatsOptions, column_stats,
    footer_stats,
};
