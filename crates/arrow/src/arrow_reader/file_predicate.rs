//! Binds a predicate to a file, with the types that its stored Arrow schema gives to columns without a Parquet annotation.

use super::options::ArrowReaderOptions;
use super::resolved_schema::of_file;
use crate::schema::leaf_types_of;
use arrow_schema::{DataType, Fields, TimeUnit};
use marquetry_base::Result;
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::nesting::NestedField;
use marquetry_core::predicate::{BareTime, BoundPredicate, Predicate};
use std::cell::OnceCell;

/// Binds a predicate to the columns of a file, as [`Predicate::bind`] does, with the types of the stored Arrow schema.
///
/// That schema may declare integers to be durations, or times in a unit that Parquet lacks. Literals are then compared
/// in displayed form: `took > 'PT1.5S'`.
///
/// # Errors
///
/// Those of [`Predicate::bind`].
pub fn bind_in_file(predicate: &Predicate, metadata: &ParquetMetaData) -> Result<BoundPredicate> {
    // PERF: the schema of thousands of columns takes time, and few predicates need it.
    let times = OnceCell::new();
    predicate.bind_with_times(metadata.schema(), &|leaf| {
        let times = times.get_or_init(|| {
            let fields = NestedField::from_schema(metadata.schema());
            bare_times(of_file(&fields, metadata, &ArrowReaderOptions::default()).fields())
        });
        times.get(leaf).copied().flatten()
    })
}

/// Returns, for each column below `fields`, the time type that its integers count if they have no annotation.
pub(crate) fn bare_times(fields: &Fields) -> Vec<Option<BareTime>> {
    let mut types = Vec::new();
    fields.iter().for_each(|field| leaf_types_of(field.data_type(), &mut types));
    types.into_iter().map(bare_time).collect()
}

fn bare_time(data_type: &DataType) -> Option<BareTime> {
    match data_type {
        DataType::Dictionary(_, values) => bare_time(values),
        DataType::RunEndEncoded(_, values) => bare_time(values.data_type()),
        DataType::Date32 => Some(BareTime::Timestamp { unit: 86_400_000_000_000, utc: false }),
        DataType::Date64 => Some(BareTime::Timestamp { unit: 1_000_000, utc: false }),
        DataType::Time32(unit) | DataType::Time64(unit) => Some(BareTime::TimeOfDay { unit: nanos(*unit) }),
        DataType::Timestamp(unit, zone) => {
            Some(BareTime::Timestamp { unit: nanos(*unit), utc: zone.is_some() })
        }
        DataType::Duration(unit) => Some(BareTime::Duration { unit: nanos(*unit) }),
        _ => None,
    }
}

/// Returns the number of nanoseconds in a unit.
fn nanos(unit: TimeUnit) -> u64 {
    match unit {
        TimeUnit::Second => 1_000_000_000,
        TimeUnit::Millisecond => 1_000_000,
        TimeUnit::Microsecond => 1_000,
        TimeUnit::Nanosecond => 1,
    }
}
