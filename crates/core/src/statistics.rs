//! What a writer counts and bounds, and what a reader prunes by: statistics of pages and chunks, level histograms, the
//! column index, bloom filters, bounding boxes of geometries.
//!
//! | file | what | in the file |
//! |---|---|---|
//! | `bounds` | least and greatest value, NaNs | |
//! | `truncate` | bounds cut short | |
//! | `statistics` | bounds and counts of a page or chunk | `Statistics` |
//! | `histogram` | how often levels occur | `SizeStatistics` |
//! | `column_index` | bounds and counts of all pages of a chunk | `ColumnIndex` |
//! | `bloom` | whether a value may be in a chunk | `BloomFilterHeader` and bits |
//! | `geo`, `wkb` | where geometries are | `GeospatialStatistics` |

mod bloom;
mod bounds;
mod column_index;
mod extremes;
mod geo;
mod histogram;
mod statistics;
pub mod truncate;
mod wkb;

pub use bloom::{BloomFilter, BloomFilterHead};
pub use bounds::MinMaxStats;
pub use column_index::{ColumnIndexBuilder, PageStatistics, boundary_order};
pub use geo::GeoBounds;
pub use histogram::LevelHistogram;
pub use statistics::statistics;
