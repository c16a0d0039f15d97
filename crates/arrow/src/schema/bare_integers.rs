//! Integers whose meaning only the stored Arrow schema gives: times in seconds and durations, for which Parquet has no annotation.

use super::compatibility::as_bits;
use super::element_of;
use super::from_arrow::value_type;
use arrow_schema::{DataType, Fields, Schema as ArrowSchema};
use marquetry_base::{Error, Result};
use marquetry_core::schema::{Leaf, Schema};

/// Checks that `wanted` does not change the meaning of bare integers, such as durations in milliseconds that would be
/// read as seconds. `own` is the schema that the file has by itself; it is called only if there may be such a column.
/// Both have the file's columns. Fails with the first column that would change.
pub(crate) fn check_bare_integers(
    schema: &Schema,
    own: impl FnOnce() -> ArrowSchema,
    wanted: &ArrowSchema,
) -> Result<()> {
    let (mut own_types, mut wanted_types) = (Vec::new(), Vec::new());
    leaf_types(wanted.fields(), &mut wanted_types);
    let may_be_bare = |(leaf, wanted): (&Leaf, &&DataType)| {
        leaf.logical().is_none() && as_bits(leaf.physical(), value_type(wanted))
    };
    if !schema.columns().iter().zip(&wanted_types).any(may_be_bare) {
        return Ok(());
    }
    let own = own();
    leaf_types(own.fields(), &mut own_types);
    for ((leaf, own), wanted) in schema.columns().iter().zip(own_types).zip(wanted_types) {
        let (own, wanted) = (value_type(own), value_type(wanted));
        let are_bare = leaf.logical().is_none() && as_bits(leaf.physical(), own);
        if are_bare && as_bits(leaf.physical(), wanted) && !counts_the_same(own, wanted) {
            let message =
                format!("field {} cannot be read as wanted: it is {own}, {wanted} is wanted", leaf.dotted());
            return Err(Error::argument(message));
        }
    }
    Ok(())
}

fn counts_the_same(own: &DataType, wanted: &DataType) -> bool {
    match (own, wanted) {
        (DataType::Timestamp(own, _), DataType::Timestamp(wanted, _)) => own == wanted,
        _ => own == wanted,
    }
}

/// Appends the types of all columns, in their order.
fn leaf_types<'a>(fields: &'a Fields, found: &mut Vec<&'a DataType>) {
    for field in fields {
        leaf_types_of(field.data_type(), found);
    }
}

/// Appends the types of a field's columns.
pub(crate) fn leaf_types_of<'a>(data_type: &'a DataType, found: &mut Vec<&'a DataType>) {
    match (data_type, element_of(data_type)) {
        (DataType::Struct(fields), _) => leaf_types(fields, found),
        (DataType::Map(entries, _), _) => leaf_types_of(entries.data_type(), found),
        (_, Some(element)) => leaf_types_of(element.data_type(), found),
        (leaf, None) => found.push(leaf),
    }
}

#[cfg(test)]
mod tests {
    use crate::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
    use crate::arrow_writer::ArrowWriter;
    use arrow_array::{
        ArrayRef, Decimal128Array, DurationMillisecondArray, Int64Array, ListArray, RecordBatch,
        TimestampMillisecondArray, TimestampSecondArray, UInt8Array, UInt32Array, UInt64Array,
    };
    use arrow_schema::{DataType, Field, Schema, TimeUnit};
    use bytes::Bytes;
    use std::sync::Arc;

    /// Opens a file of this column with the column as `wanted`. Returns the error's message if that fails.
    fn is_read_as(column: &ArrayRef, wanted: &DataType) -> Result<(), String> {
        let batch = RecordBatch::try_from_iter_with_nullable([("c", column.clone(), true)]).unwrap();
        let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        let file = Bytes::from(writer.into_inner().unwrap());
        let schema = Schema::new(vec![Field::new("c", wanted.clone(), true)]);
        let opened = ArrowReaderMetadata::load(file, ArrowReaderOptions::new().with_schema(schema.into()));
        opened.map(drop).map_err(|error| error.message().to_owned())
    }

    #[test]
    fn values_stay_what_they_are() {
        use DataType::{Date64, Decimal128, Duration, Int32, Int64, Time64, Timestamp, UInt8};
        use TimeUnit::{Microsecond, Millisecond, Second};
        let duration: ArrayRef = Arc::new(DurationMillisecondArray::from(vec![5000]));
        let seconds: ArrayRef = Arc::new(TimestampSecondArray::from(vec![5000]));
        let millis: ArrayRef = Arc::new(TimestampMillisecondArray::from(vec![5000]));
        let integer: ArrayRef = Arc::new(Int64Array::from(vec![5000]));
        let decimal = Decimal128Array::from(vec![150]).with_precision_and_scale(15, 2).unwrap();
        let decimal: ArrayRef = Arc::new(decimal);
        let large: ArrayRef = Arc::new(UInt64Array::from(vec![u64::MAX]));
        let middle: ArrayRef = Arc::new(UInt32Array::from(vec![u32::MAX]));
        let small: ArrayRef = Arc::new(UInt8Array::from(vec![255]));
        for (column, wanted) in [
            (&duration, Duration(Millisecond)),
            (&duration, Int64),
            (&seconds, Timestamp(Second, Some("UTC".into()))),
            // They are stored as milliseconds.
            (&seconds, Timestamp(Millisecond, None)),
            (&millis, Timestamp(Microsecond, None)),
            (&millis, Int64),
            (&integer, Duration(Second)),
            (&integer, Timestamp(Second, None)),
            (&decimal, Decimal128(18, 2)),
            (&small, Int32),
            (&small, UInt8),
        ] {
            assert_eq!(is_read_as(column, &wanted), Ok(()), "{} as {wanted}", column.data_type());
        }
        for (column, wanted) in [
            (&duration, Duration(Second)),
            (&duration, Timestamp(Millisecond, None)),
            (&duration, Time64(Microsecond)),
            (&duration, Date64),
            (&seconds, Duration(Second)),
            (&decimal, Int64),
            (&large, Int64),
            (&middle, Int32),
        ] {
            let error = is_read_as(column, &wanted).err().unwrap_or_default();
            let said = "field c cannot be read as wanted: it is ";
            assert!(error.contains(said), "{} as {wanted}: {error}", column.data_type());
        }
    }

    #[test]
    fn elements_of_lists_are_looked_at() {
        let durations = DurationMillisecondArray::from(vec![5000]);
        let element = |unit| Arc::new(Field::new("item", DataType::Duration(unit), true));
        let offsets = arrow_buffer::OffsetBuffer::from_lengths([1]);
        let list = ListArray::new(element(TimeUnit::Millisecond), offsets, Arc::new(durations), None);
        let list: ArrayRef = Arc::new(list);
        assert_eq!(is_read_as(&list, &DataType::List(element(TimeUnit::Millisecond))), Ok(()));
        let error = is_read_as(&list, &DataType::LargeList(element(TimeUnit::Second))).expect_err("longer");
        assert!(error.contains("c.list.element cannot be read as wanted"), "{error}");
    }
}
