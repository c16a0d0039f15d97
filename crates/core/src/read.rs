//! Column readers: decode the pages of a column into batches of values, one column and one batch of rows at a time.
//!
//! ```text
//! ColumnReader           a column over several row groups: returns a ColumnBatch for each request of rows
//!   ColumnChunkReader    a column chunk: its dictionary, its data pages one after the other
//!     PageDecoder        a data page: levels and a decoder, both partly consumed
//! ```
//!
//! [`find_damage`] finds the readable pages of a damaged chunk, and [`ColumnReader::with_damage`] reads them.

mod chunk_dictionary;
mod column;
mod column_batch;
mod column_chunk;
mod damage;
mod distinct_values;
mod expected_size;
mod offset_index_cursor;
mod page_decoder;
mod repair;
mod target;
mod utf8;

pub use column::{ColumnReader, SkipThenRead};
pub use column_batch::ColumnBatch;
pub use column_chunk::ColumnChunkReader;
pub use damage::{ChunkDamage, LostPage, find_damage};
pub use distinct_values::most_distinct_values;
pub use target::{ReadTarget, ValueLayout, ValueRepair};
