//! What is believed of a writer's pages because of its name, and would be of a copy's.

use crate::page::is_before;

/// Whether the pages of DELTA_BYTE_ARRAY stand on their own (PARQUET-246).
pub(super) fn prefixes_are_believed(created_by: Option<&str>) -> bool {
    !is_before(created_by, "parquet-mr", (1, 8))
}
