//! What a writer counts and bounds, and what a reader prunes by: statistics of pages and chunks, level histograms, the
//! column index, bloom filters, bounding boxes of geometries.
//!
//! | file | what | in the file |
//! |---|---|---|
//! | `min_max`, `min_max_loops` | least and greatest value, NaNs | |
//! | `truncate` | bounds cut short | |
//! | `chunk_statistics` | bounds and counts of a page or chunk | `Statistics` |
//! | `level_histogram` | how often levels occur | `SizeStatistics` |
//! | `column_index` | bounds and counts of all pages of a chunk | `ColumnIndex` |
//! | `bloom` | whether a value may be in a chunk | `BloomFilterHeader` and bits |
//! | `geo` | where geometries are | `GeospatialStatistics` |
//! | `legal_values` | values that a logical type allows | |
//! | `observed_page` | what was counted in a page or chunk | |
//! | `contradictions` | what the file says of them and is not so | all of these |

mod bloom;
mod chunk_statistics;
mod column_index;
mod contradictions;
mod display;
mod geo;
mod legal_values;
mod level_histogram;
mod min_max;
mod min_max_loops;
mod observed_page;
pub mod truncate;

pub use bloom::{BloomFilter, BloomFilterHead};
pub use chunk_statistics::statistics;
pub use column_index::{ColumnIndexBuilder, PageStatistics, boundary_order};
pub(crate) use contradictions::may_count_suffixes;
pub use contradictions::{
    AxisRange, WrongBound, counts_suffixes, exceeded_axis, inexact_bounds, wrong_boundary_order,
    wrong_bounds, wrong_byte_count, wrong_page_counts, wrong_sizes,
};
pub use display::{display_bytes, display_value};
pub use geo::GeoBounds;
pub use legal_values::LegalValues;
pub use level_histogram::LevelHistogram;
pub use min_max::MinMaxStats;
pub use observed_page::ObservedPage;
