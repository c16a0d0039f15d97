//! The Arrow types that pyarrow gives columns: it does not restore all of those that were written.

use arrow_schema::{DataType, TimeUnit};
use marquetry::arrow::StringLayout;
use marquetry::basic::PhysicalType;
use marquetry::schema::Leaf;
use marquetry::schema::types::{LogicalType, TimeUnit as StoredUnit};

/// What pyarrow makes of `stored`, the type that a column had when it was written. With a layout that is asked for, dictionaries
/// have it instead.
pub(crate) fn restored(leaf: &Leaf, stored: &DataType, asked: Option<StringLayout>) -> Option<DataType> {
    Some(match stored {
        DataType::Dictionary(keys, values) => match values_of_dictionary(values) {
            Some(values) => match (asked, values) {
                (None, values) => DataType::Dictionary(keys.clone(), Box::new(values)),
                (Some(asked), DataType::Utf8) => asked.text(),
                (Some(asked), _) => asked.binary(),
            },
            // Nor is what their values were.
            None => return None,
        },
        DataType::RunEndEncoded(_, values) => return restored(leaf, values.data_type(), asked),
        // These have no zone, whatever they had when they were written.
        DataType::Timestamp(..) if leaf.physical() == PhysicalType::Int96 => return None,
        // Integers without an annotation are what the writer alone knows them to be.
        _ if leaf.logical().is_none() => stored.clone(),
        DataType::Date64 => DataType::Date32,
        // Whatever unit the writer had, it is the file's.
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

/// The type that entries of a dictionary have; `None` where no dictionary is restored.
fn values_of_dictionary(stored: &DataType) -> Option<DataType> {
    match stored {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Some(DataType::Utf8),
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => Some(DataType::Binary),
        _ => None,
    }
}
