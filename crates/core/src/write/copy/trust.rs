//! What is believed of a writer's files because of its name, and would be of a copy's.

use crate::logical::Logical;
use crate::page::is_before;
use crate::schema::Leaf;
use marquetry_encoding::Physical;

/// Whether the bounds of a column hold for every reader.
///
/// QUIRK: parquet-mr before 1.10 and parquet-cpp before 1.3 compared unsigned numbers and byte strings as if they were
/// signed. Readers pass over these bounds where `created_by` has one of those names.
pub(super) fn bounds_are_believed(created_by: Option<&str>, leaf: &Leaf) -> bool {
    let is_unsigned = matches!(leaf.physical(), Physical::ByteArray | Physical::FixedLenByteArray(_))
        || matches!(leaf.logical(), Some(Logical::Integer { signed: false, .. }));
    !is_unsigned
        || !(is_before(created_by, "parquet-mr", (1, 10)) || is_before(created_by, "parquet-cpp", (1, 3)))
}

/// Whether the pages of DELTA_BYTE_ARRAY stand on their own (PARQUET-246).
pub(super) fn prefixes_are_believed(created_by: Option<&str>) -> bool {
    !is_before(created_by, "parquet-mr", (1, 8))
}
