//! The Arrow types that pyarrow gives columns: it does not restore all of those that were written.

use arrow_schema::{DataType, TimeUnit};
use marquetry::schema::Leaf;

/// What pyarrow makes of `stored`, the type that a column had when it was written.
pub(crate) fn restored(leaf: &Leaf, stored: &DataType) -> Option<DataType> {
    Some(match stored {
        DataType::Dictionary(keys, values) => match values_of_dictionary(values) {
            Some(values) => DataType::Dictionary(keys.clone(), Box::new(values)),
            None => return restored(leaf, values),
        },
        DataType::RunEndEncoded(_, values) => return restored(leaf, values.data_type()),
        // Integers without an annotation are what the writer alone knows them to be.
        _ if leaf.logical().is_none() => stored.clone(),
        DataType::Date64 => DataType::Date32,
        DataType::Time32(TimeUnit::Second) => DataType::Time32(TimeUnit::Millisecond),
        DataType::Timestamp(TimeUnit::Second, zone) => {
            DataType::Timestamp(TimeUnit::Millisecond, zone.clone())
        }
        _ => stored.clone(),
    })
}

/// The type that entries of a dictionary have; `None` where no dictionary is restored.
fn values_of_dictionary(stored: &DataType) -> Option<DataType> {
    match stored {
        DataType::Utf8 | DataType::LargeUtf8 => Some(DataType::Utf8),
        DataType::Binary | DataType::LargeBinary => Some(DataType::Binary),
        _ => None,
    }
}
