//! The decode target of each column: the layout from which its array is made.

use super::options::ArrowReaderOptions;
use crate::schema::repair::repaired;
use arrow_schema::{DataType, FieldRef};
use marquetry_base::{Limits, MemoryReservation, Result};
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::nesting::{FieldKind, NestedField};
use marquetry_core::page::PageOptions;
use marquetry_core::read::{ColumnReader, ReadTarget, ValueLayout};
use marquetry_core::schema::Leaf;
use marquetry_encoding::PhysicalType;

/// Returns the options of a file's page readers.
pub(super) fn page_options(metadata: &ParquetMetaData, options: &ArrowReaderOptions) -> PageOptions {
    PageOptions::for_writer(metadata.created_by())
        .with_limits(options.limits.clone())
        .with_checksum_verification(options.verify_checksums)
}

/// Reserves memory for the readers of this many columns of this many row groups, if it is enough to matter.
pub(super) fn reserve_readers(
    columns: usize,
    row_groups: usize,
    limits: &Limits,
) -> Result<MemoryReservation> {
    let each = size_of::<(ColumnReader, ReadTarget)>() + row_groups.saturating_mul(size_of::<usize>());
    let bytes = columns.saturating_mul(each);
    limits.memory.reserve(if bytes > FREE_READERS { bytes } else { 0 })
}

/// The size of the readers of ten thousand columns, in bytes.
const FREE_READERS: usize = 16 << 20;

/// Returns the layout that leaf `index` below `field` is decoded to, from which its array is made.
pub(super) fn value_layout(
    leaf: &Leaf,
    field: &NestedField,
    arrow: &FieldRef,
    index: usize,
    options: &ArrowReaderOptions,
) -> ValueLayout {
    // Strings that are concatenated while they are decoded take memory before it can be counted.
    let is_bounded = options.limits.memory.tight_limit().is_some();
    match array_type(field, arrow, index) {
        Some(DataType::Dictionary(_, _)) => ValueLayout::Indices,
        Some(DataType::Timestamp(_, _)) if leaf.physical() == PhysicalType::Int96 => ValueLayout::Indices,
        Some(DataType::Utf8 | DataType::Binary | DataType::LargeUtf8 | DataType::LargeBinary)
            if leaf.physical() == PhysicalType::ByteArray && !is_bounded =>
        {
            ValueLayout::Offsets
        }
        _ => ValueLayout::Native,
    }
}

/// Returns the target of leaf `index` below `field`, which becomes part of `arrow`.
pub(super) fn read_target(
    leaf: &Leaf,
    field: &NestedField,
    arrow: &FieldRef,
    index: usize,
    layout: ValueLayout,
    options: &ArrowReaderOptions,
) -> ReadTarget {
    let target = ReadTarget::new(leaf, field, index, layout);
    repaired(target, leaf, array_type(field, arrow, index), &options.types)
}

/// Returns the type of the array that leaf `index` below `field` becomes; `None` if there is none.
fn array_type<'a>(field: &NestedField, arrow: &'a FieldRef, index: usize) -> Option<&'a DataType> {
    match (&field.kind, arrow.data_type()) {
        (FieldKind::Leaf(leaf), data_type) => (*leaf == index).then_some(data_type),
        (FieldKind::Struct(fields), DataType::Struct(arrow)) => {
            let place = NestedField::place_of(fields, index)?;
            array_type(&fields[place], arrow.get(place)?, index)
        }
        (FieldKind::List(child), list) => array_type(child, crate::schema::element_of(list)?, index),
        (FieldKind::Map(entries), DataType::Map(arrow, _)) => array_type(entries, arrow, index),
        _ => None,
    }
}
