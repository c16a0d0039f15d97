//! Writing: pages, chunks, row groups and files from shredded columns.

mod chunk_bytes;
mod file;
mod settings;

pub use chunk_bytes::{ChunkBytes, Spill};
pub use file::{EncodedChunk, FileSettings, FileWriter};
pub use settings::{BloomSettings, ColumnSettings, Compat, EncodingChoice, PageVersion, StatisticsLevel};
