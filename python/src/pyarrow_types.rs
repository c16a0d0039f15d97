//! The Arrow types that pyarrow gives columns: it does not restore all stored types.

use arrow_schema::{DataType, TimeUnit};
use marquetry::arrow::StringLayout;
use marquetry::basic::PhysicalType;
use marquetry::schema::Leaf;
use marquetry::schema::types::{LogicalType, TimeUnit as StoredUnit};

/// The type that pyarrow gives a column with the stored type `stored`. If a layout is asked for, it also replaces
/// dictionaries.
pub(crate) fn restored(leaf: &Leaf, stored: &DataType, asked: Option<StringLayout>) -> Option<DataType> {
    Some(match stored {
        DataType::Dictionary(keys, values) => match values_of_dictionary(values) {
            Some(values) => match (asked, values) {
                (None, values) => DataType::Dictionary(keys.clone(), Box::new(values)),
                (Some(asked), DataType::Utf8) => asked.text(),
                (Some(asked), _) => asked.binary(),
            },
            // The types of such values are not restored either.
            None => return None,
        },
        DataType::RunEndEncoded(_, values) => return restored(leaf, values.data_type(), asked),
        // These have no time zone, whatever they had when they were written.
        DataType::Timestamp(..) if leaf.physical() == PhysicalType::Int96 => return None,
        // Only the writer knows the type of integers without an annotation.
        _ if leaf.logical().is_none() => stored.clone(),
        DataType::Date64 => DataType::Date32,
        // The unit is the file's, whatever the writer's was.
        DataType::Time32(_) | DataType::Time64(_) => return None,
        DataType::Timestamp(_, zone) => match leaf.logical() {
            Some(LogicalType::Timestamp { unit, .. }) => DataType::Timestamp(arrow_unit(*unit), zone.clone()),
            _ => return None,
        },
        _ => stored.clone(),
    })
}

fn arrow_unit(unit: StoredUnit) -> TimeUnit {
    match unit {
        StoredUnit::Millis => TimeUnit::Millisecond,
        StoredUnit::Micros => TimeUnit::Microsecond,
        StoredUnit::Nanos => TimeUnit::Nanosecond,
    }
}

/// The value type of a dictionary; `None` if dictionaries of it are not restored.
fn values_of_dictionary(stored: &DataType) -> Option<DataType> {
    match stored {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Some(DataType::Utf8),
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => Some(DataType::Binary),
        _ => None,
    }
}
