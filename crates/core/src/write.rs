//! Writing: pages, chunks, row groups and files from shredded columns.

mod settings;

pub use settings::{BloomSettings, ColumnSettings, Compat, EncodingChoice, PageVersion, StatisticsLevel};
