//! The stored Arrow schema: base64 of an IPC message, whose header is a Flatbuffers table.
//!
//! The file may be hostile, so everything in decoding may fail, and a failure means "no hint". The conversion that
//! `arrow-ipc` itself offers panics on types that it does not know, so only its accessors are used.

use super::places::Places;
use arrow_ipc as ipc;
use arrow_ipc::writer::{DictionaryTracker, IpcDataGenerator, IpcWriteOptions};
use arrow_schema::{DataType, Field, FieldRef, Fields, IntervalUnit, Schema, TimeUnit};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::collections::HashMap;
use std::sync::Arc;

/// The schema, or `None` if the text is none. Fields of types that are unknown here come as `Null`.
pub(super) fn decode(base64: &str) -> Option<Schema> {
    let message = message(base64)?;
    let schema = root(&message)?;
    let fields: Fields = schema.fields()?.iter().map(field).collect();
    Some(Schema::new_with_metadata(fields, metadata(schema.custom_metadata())))
}

/// What was looked for in a schema.
#[derive(Default)]
pub(super) struct Found {
    pub(super) fields: Vec<Option<FieldRef>>,
    pub(super) metadata: HashMap<String, String>,
}

/// Of the schema in the text those fields that have these names, each at its place or else the first one of the name, and the
/// schema's metadata. `None` if the text is no schema.
pub(super) fn find<'a>(base64: &str, names: impl Iterator<Item = (usize, &'a str)>) -> Option<Found> {
    let message = message(base64)?;
    let schema = root(&message)?;
    let fields = schema.fields()?;
    let mut places = Places::new(fields.len(), |place| fields.get(place).name().unwrap_or_default());
    let found = |(place, name)| Some(Arc::new(field(fields.get(places.find(place, name)?))));
    Some(Found { fields: names.map(found).collect(), metadata: metadata(schema.custom_metadata()) })
}

fn message(base64: &str) -> Option<Vec<u8>> {
    STANDARD.decode(base64.trim()).ok()
}

fn root(bytes: &[u8]) -> Option<ipc::Schema<'_>> {
    // Since format version 0.15 a message starts with a marker and its length; older writers left both out.
    let message = match bytes.strip_prefix(&[0xff; 4]) {
        Some(rest) => rest.get(4..)?,
        None => bytes,
    };
    ipc::root_as_message(message).ok()?.header_as_schema()
}

/// The text under which Arrow writers store `schema`: an encapsulated message, marker and length before it. Equal schemas
/// give equal text: metadata is sorted.
pub(crate) fn encode(schema: &Schema) -> String {
    let mut dictionaries = DictionaryTracker::new(true);
    let message = IpcDataGenerator::default()
        .schema_to_bytes_with_dictionary_tracker(schema, &mut dictionaries, &IpcWriteOptions::default())
        .ipc_message;
    // A schema of 4 GiB is beyond what Flatbuffers can hold.
    let len = u32::try_from(message.len()).unwrap_or(u32::MAX);
    let mut bytes = vec![0xff; 4];
    bytes.extend_from_slice(&len.to_le_bytes());
    bytes.extend_from_slice(&message);
    STANDARD.encode(bytes)
}

fn metadata<'a, P>(pairs: Option<P>) -> HashMap<String, String>
where
    P: IntoIterator<Item = ipc::KeyValue<'a>>,
{
    let pair = |pair: ipc::KeyValue<'a>| Some((pair.key()?.to_owned(), pair.value()?.to_owned()));
    pairs.into_iter().flatten().filter_map(pair).collect()
}

/// Verified Flatbuffers nest at most 64 tables deep, which bounds this recursion.
fn field(field: ipc::Field<'_>) -> Field {
    let mut data_type = data_type(field).unwrap_or(DataType::Null);
    let mut ordered = false;
    if let Some(dictionary) = field.dictionary() {
        // SPEC: Schema.fbs: a dictionary without an index type has 32-bit signed indices.
        let keys = dictionary.indexType().map_or(Some(DataType::Int32), integer);
        ordered = dictionary.isOrdered();
        data_type = match keys {
            Some(keys) => DataType::Dictionary(Box::new(keys), Box::new(data_type)),
            None => DataType::Null,
        };
    }
    Field::new(field.name().unwrap_or_default(), data_type, field.nullable())
        .with_dict_is_ordered(ordered)
        .with_metadata(metadata(field.custom_metadata()))
}

fn data_type(field: ipc::Field<'_>) -> Option<DataType> {
    Some(match field.type_type() {
        ipc::Type::Bool => DataType::Boolean,
        ipc::Type::Int => integer(field.type_as_int()?)?,
        ipc::Type::FloatingPoint => match field.type_as_floating_point()?.precision() {
            ipc::Precision::HALF => DataType::Float16,
            ipc::Precision::SINGLE => DataType::Float32,
            ipc::Precision::DOUBLE => DataType::Float64,
            _ => return None,
        },
        ipc::Type::Decimal => decimal(field.type_as_decimal()?)?,
        ipc::Type::Binary => DataType::Binary,
        ipc::Type::LargeBinary => DataType::LargeBinary,
        ipc::Type::BinaryView => DataType::BinaryView,
        ipc::Type::Utf8 => DataType::Utf8,
        ipc::Type::LargeUtf8 => DataType::LargeUtf8,
        ipc::Type::Utf8View => DataType::Utf8View,
        ipc::Type::FixedSizeBinary => {
            DataType::FixedSizeBinary(field.type_as_fixed_size_binary()?.byteWidth())
        }
        ipc::Type::Date => match field.type_as_date()?.unit() {
            ipc::DateUnit::DAY => DataType::Date32,
            ipc::DateUnit::MILLISECOND => DataType::Date64,
            _ => return None,
        },
        ipc::Type::Time => match unit(field.type_as_time()?.unit())? {
            unit @ (TimeUnit::Second | TimeUnit::Millisecond) => DataType::Time32(unit),
            unit => DataType::Time64(unit),
        },
        ipc::Type::Timestamp => {
            let timestamp = field.type_as_timestamp()?;
            DataType::Timestamp(unit(timestamp.unit())?, timestamp.timezone().map(Into::into))
        }
        ipc::Type::Duration => DataType::Duration(unit(field.type_as_duration()?.unit())?),
        ipc::Type::Interval => DataType::Interval(match field.type_as_interval()?.unit() {
            ipc::IntervalUnit::YEAR_MONTH => IntervalUnit::YearMonth,
            ipc::IntervalUnit::DAY_TIME => IntervalUnit::DayTime,
            ipc::IntervalUnit::MONTH_DAY_NANO => IntervalUnit::MonthDayNano,
            _ => return None,
        }),
        _ => nested(field)?,
    })
}

fn nested(field: ipc::Field<'_>) -> Option<DataType> {
    let children: Vec<_> = field.children()?.iter().map(self::field).map(Arc::new).collect();
    Some(match (field.type_type(), children.as_slice()) {
        (ipc::Type::Struct_, children) => DataType::Struct(children.iter().cloned().collect()),
        (ipc::Type::List, [element]) => DataType::List(element.clone()),
        (ipc::Type::LargeList, [element]) => DataType::LargeList(element.clone()),
        (ipc::Type::ListView, [element]) => DataType::ListView(element.clone()),
        (ipc::Type::LargeListView, [element]) => DataType::LargeListView(element.clone()),
        (ipc::Type::FixedSizeList, [element]) => {
            DataType::FixedSizeList(element.clone(), field.type_as_fixed_size_list()?.listSize())
        }
        (ipc::Type::Map, [entries]) => DataType::Map(entries.clone(), field.type_as_map()?.keysSorted()),
        (ipc::Type::RunEndEncoded, [ends, values]) => DataType::RunEndEncoded(ends.clone(), values.clone()),
        _ => return None,
    })
}

fn integer(integer: ipc::Int<'_>) -> Option<DataType> {
    super::plain::integer(u8::try_from(integer.bitWidth()).ok()?, integer.is_signed())
}

fn decimal(decimal: ipc::Decimal<'_>) -> Option<DataType> {
    let precision = u8::try_from(decimal.precision()).ok()?;
    let scale = i8::try_from(decimal.scale()).ok()?;
    match decimal.bitWidth() {
        32 => Some(DataType::Decimal32(precision, scale)),
        64 => Some(DataType::Decimal64(precision, scale)),
        128 => Some(DataType::Decimal128(precision, scale)),
        256 => Some(DataType::Decimal256(precision, scale)),
        _ => None,
    }
}

fn unit(unit: ipc::TimeUnit) -> Option<TimeUnit> {
    match unit {
        ipc::TimeUnit::SECOND => Some(TimeUnit::Second),
        ipc::TimeUnit::MILLISECOND => Some(TimeUnit::Millisecond),
        ipc::TimeUnit::MICROSECOND => Some(TimeUnit::Microsecond),
        ipc::TimeUnit::NANOSECOND => Some(TimeUnit::Nanosecond),
        _ => None,
    }
}
