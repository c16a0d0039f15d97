//! Whether a writer's pages can be believed under the name of another writer.

use crate::page::is_before;

/// Whether DELTA_BYTE_ARRAY pages are independent of each other (PARQUET-246).
pub(super) fn prefixes_are_believed(created_by: Option<&str>) -> bool {
    !is_before(created_by, "parquet-mr", (1, 8))
}
