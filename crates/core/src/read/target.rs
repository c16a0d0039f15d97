//! The target of a read: the leaf's types and levels, and the layout of its values in a batch.

use crate::nesting::{FieldKind, NestedField};
use crate::schema::Leaf;
use marquetry_base::Limits;
use marquetry_encoding::{OffsetStrings, PhysicalType, Values};

/// The types, levels and layout with which a leaf is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadTarget {
    /// Physical type.
    pub physical: PhysicalType,
    /// The maximum definition level, that of a value.
    pub max_def: u8,
    /// The maximum repetition level.
    pub max_rep: u8,
    /// The definition level from which on an entry has a slot in the array.
    pub repeated_ancestor_def_level: u8,
    /// Whether to keep definition levels, because something above the leaf is nullable.
    pub keep_levels: bool,
    /// Whether byte strings must be UTF-8.
    pub is_text: bool,
    /// Layout of the values.
    pub layout: ValueLayout,
    /// What to do with values that are invalid for the type.
    pub repair: ValueRepair,
}

/// What to do with values that are invalid for the column's type, before a predicate or a batch sees them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ValueRepair {
    /// Nothing: text that is not UTF-8 is an error, and decimals are not checked.
    #[default]
    None,
    /// Sequences that are not UTF-8 become U+FFFD, as in [`String::from_utf8_lossy`]. Only for text.
    ReplaceInvalidUtf8,
    /// Decimals of more than this many bytes, 4 to 32, become NULL, even in required columns. Leading bytes that only
    /// repeat the sign do not count. Only for BYTE_ARRAY and FIXED_LEN_BYTE_ARRAY in [`ValueLayout::Native`].
    NullDecimalsOver(usize),
}

/// The layout of a column's values in a batch, for types with more than one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ValueLayout {
    /// The layout of the shape; byte strings are views.
    #[default]
    Native,
    /// Indices and a dictionary if the pages have them.
    Indices,
    /// Byte strings end to end, with offsets. Only for BYTE_ARRAY.
    Offsets,
}

impl ReadTarget {
    /// Creates the target for a leaf at or below `field`, a field of the root.
    pub fn new(leaf: &Leaf, field: &NestedField, index: usize, layout: ValueLayout) -> Self {
        let (repeated_ancestor_def_level, keep_levels) = position(field, index, false).unwrap_or((0, false));
        ReadTarget {
            physical: leaf.physical(),
            max_def: leaf.max_def(),
            max_rep: leaf.max_rep(),
            repeated_ancestor_def_level,
            keep_levels,
            is_text: leaf.is_text(),
            layout,
            repair: ValueRepair::None,
        }
    }

    /// Whether to fail on byte strings that are not UTF-8.
    pub(super) fn validates_utf8(&self) -> bool {
        self.is_text && self.repair != ValueRepair::ReplaceInvalidUtf8
    }

    /// Creates empty values in this layout. Strings in the layout with offsets keep to the limits.
    pub(super) fn empty_values(&self, limits: &Limits) -> Values {
        match self.layout {
            ValueLayout::Offsets => {
                Values::Offsets(OffsetStrings::with_limits(limits.batch_bytes, &limits.memory))
            }
            ValueLayout::Native | ValueLayout::Indices => self.physical.shape().empty(),
        }
    }
}

/// Returns the definition level of the slots of leaf `index` below `field`, and whether anything above it is nullable.
fn position(field: &NestedField, index: usize, nullable_above: bool) -> Option<(u8, bool)> {
    match &field.kind {
        FieldKind::Leaf(leaf) => {
            (*leaf == index).then_some((field.repeated_ancestor_def_level, nullable_above))
        }
        FieldKind::List(child) | FieldKind::Map(child) => position(child, index, true),
        FieldKind::Struct(fields) => {
            let nullable = nullable_above || field.nullable;
            position(&fields[NestedField::place_of(fields, index)?], index, nullable)
        }
    }
}
