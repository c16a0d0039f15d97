//! Applies the stored Arrow schema to a leaf, if it fits the file.

use super::compatibility::{fits, fits_as_meant};
use super::lists::element_of;
use super::type_options::TypeOptions;
use super::{default_types, repair};
use arrow_schema::DataType;
use marquetry_core::logical_type::LogicalType;
use marquetry_core::schema::Leaf;
use marquetry_encoding::PhysicalType;

/// A type, and whether it comes from the hint, so that the hint's metadata applies as well.
pub(super) struct Mapped {
    pub(super) data_type: DataType,
    pub(super) hinted: bool,
}

/// Returns the type of a leaf for which the stored Arrow schema has `hint`.
pub(super) fn of_leaf(leaf: &Leaf, hint: Option<&DataType>, options: &TypeOptions) -> Mapped {
    // A caller with a hint policy gets the metadata, whatever the types become.
    let keeps_metadata = hint.is_some() && options.hint_policy.is_some();
    // Choices that do not fit were refused when the file was opened.
    if let Some(chosen) = options.chosen(leaf).filter(|chosen| fits(leaf, chosen)) {
        return Mapped { data_type: chosen, hinted: keeps_metadata };
    }
    let hint = hint.and_then(|hint| options.followed(leaf, hint));
    let Mapped { data_type, hinted } = as_hinted(leaf, hint.as_deref(), options);
    Mapped { data_type: repair::adapted(leaf, data_type, options), hinted: hinted || keeps_metadata }
}

fn as_hinted(leaf: &Leaf, hint: Option<&DataType>, options: &TypeOptions) -> Mapped {
    let plain = default_types::data_type(leaf, options);
    let Some(hint) = hint else {
        return Mapped { data_type: plain, hinted: false };
    };
    if !(*hint == plain || is_safe(leaf, hint)) {
        return Mapped { data_type: plain, hinted: false };
    }
    let data_type = match hint {
        hint if options.text.is_some() && is_byte_strings(hint) => plain,
        DataType::Timestamp(unit, zone) if leaf.physical() == PhysicalType::Int96 => {
            DataType::Timestamp(options.int96_unit_of(leaf).unwrap_or(*unit), zone.clone())
        }
        hint => hint.clone(),
    };
    Mapped { data_type, hinted: true }
}

/// Returns whether the hint keeps the meaning that the file gives the values.
fn is_safe(leaf: &Leaf, hint: &DataType) -> bool {
    let keeps = match (leaf.logical(), hint) {
        (logical, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View) => {
            logical.is_some_and(LogicalType::is_text)
        }
        // An instant stays an instant: the hint only names the zone in which it is shown.
        (Some(LogicalType::Timestamp { utc, .. }), DataType::Timestamp(_, zone)) => *utc == zone.is_some(),
        (_, DataType::Dictionary(_, values)) => {
            return fits_as_meant(leaf, hint) && is_safe(leaf, values);
        }
        (_, DataType::RunEndEncoded(_, values)) => {
            return fits_as_meant(leaf, hint) && is_safe(leaf, values.data_type());
        }
        _ => true,
    };
    keeps && fits_as_meant(leaf, hint)
}

/// Returns whether both types have the same values. The layout of byte strings may differ.
pub(super) fn is_same_but_layout(read: &DataType, stored: &DataType) -> bool {
    match (read, stored) {
        (DataType::Struct(read), DataType::Struct(stored)) => {
            let both = read.iter().zip(stored);
            read.len() == stored.len()
                && both
                    .into_iter()
                    .all(|(read, stored)| is_same_but_layout(read.data_type(), stored.data_type()))
        }
        _ => match (element_of(read), element_of(stored)) {
            (Some(read), Some(stored)) => is_same_but_layout(read.data_type(), stored.data_type()),
            _ => read.equals_datatype(stored) || is_byte_strings(read) && is_byte_strings(stored),
        },
    }
}

fn is_byte_strings(data_type: &DataType) -> bool {
    use DataType::*;
    matches!(data_type, Utf8 | LargeUtf8 | Utf8View | Binary | LargeBinary | BinaryView)
}
