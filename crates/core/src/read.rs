//! Reading columns: pages become batches of values, one column and one batch of rows at a time.
//!
//! ```text
//! ColumnReader   a column over several row groups: asks for rows, gets a ColumnBatch
//!   ColumnChunkReader  a column chunk: dictionary, data pages one after the other
//!     OpenPage   a data page: levels and a decoder, both partly consumed
//! ```
//!
//! [`survey`](fn@survey) finds what can still be read of a damaged chunk, and [`ColumnReader::of_survey`] reads it.

mod batch;
mod chunk;
mod column;
mod dictionary;
mod kept;
mod mapped;
mod open_page;
mod survey;

pub use batch::ColumnBatch;
pub use chunk::{ColumnChunkReader, ReadTarget, ValueLayout};
pub use column::{ColumnReader, Run};
pub use survey::{LostPage, Survey, is_damage, survey};
