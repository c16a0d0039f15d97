//! Statistics, which writers collect and readers prune by: of pages and chunks, level histograms, the column index,
//! bloom filters, bounding boxes of geometries.
//!
//! | file | what | in the file |
//! |---|---|---|
//! | `min_max`, `min_max_loops` | minimum, maximum, NaNs | |
//! | `truncate` | truncated bounds | |
//! | `chunk_statistics` | bounds and counts of a page or chunk | `Statistics` |
//! | `level_histogram` | how often levels occur | `SizeStatistics` |
//! | `column_index` | bounds and counts of all pages of a chunk | `ColumnIndex` |
//! | `bloom` | whether a value may be in a chunk | `BloomFilterHeader` and bits |
//! | `geo` | where geometries are | `GeospatialStatistics` |
//! | `legal_values` | values that a logical type allows | |
//! | `observed_page` | counts and bounds observed in a page or chunk | |
//! | `contradictions` | wrong statistics in a file | all of these |

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
