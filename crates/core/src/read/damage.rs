//! Damage of a column chunk: finds the pages that can still be read, and the rows that are lost.
//!
//! A chunk is a chain: each page header states where the next one is. The chain is trusted if it adds up: it ends at the end of
//! the chunk by the footer, with as many rows as the row group. If it does not, the offset index locates each page and its
//! first row. Without one, pages are counted from both ends of the chunk, and everything between the first and the last page
//! of unknown length is lost.
//!
//! ```text
//! chain broken at page 2, no offset index    [0: 100 rows] [1: 100 rows] [2: ?.........]    rows 200.. are lost
//! page 1 damaged, a list in V1 pages         [0: 40 rows] [1: ?] [2: 30 rows], 100 in all   rows 39..70 are lost
//! ```
//!
//! A checksum covers a page's bytes, not its header. So each field of a header that affects values is compared with other
//! information:
//!
//! | field | is compared with |
//! |---|---|
//! | kind of page | the header that belongs to it; the footer's number of entries, which is not reached if a page is skipped |
//! | sizes | the checksum, the decompressor, the offset of the next page and the end of the chunk |
//! | `num_values` | levels and values, which must be used up; the footer's number; rows, in the row group or the offset index |
//! | `num_rows` of V2 | ignored: rows are counted in the levels |
//! | `num_nulls` of V2 | ignored: values are counted in the levels |
//! | lengths of levels in V2 | the levels, which must be used up |
//! | encoding | the footer's list of them; values, which must be used up |
//! | encodings of levels | the levels, which must be in one of two encodings, and be used up |
//! | `is_compressed` of V2 | the decompressor, or that both sizes are the same |
//! | dictionary: `num_values`, encoding | the largest index; two names of one encoding |
//!
//! The footer has no checksum either. So a page with definition levels is refused if by the schema its column has no
//! nulls.
//!
//! The other fields do not affect values: the checksum itself if it is taken for absent, `is_sorted`, statistics. One kind of
//! damage is not found: in an uncompressed chunk of one V2 page, a wrong length of levels with which levels and values fit by
//! chance.

mod chunk_damage;
mod find_damage;
mod header_walk;
mod reconcile;

pub use chunk_damage::{ChunkDamage, LostPage};
pub use find_damage::find_damage;
