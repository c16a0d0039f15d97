//! The stored Arrow schema: base64 of an IPC message, whose header is a Flatbuffers table.
//!
//! The file may be hostile, so everything in decoding may fail, and a failure means "no hint".
//!
//! Spec: Schema.fbs and Message.fbs of Apache Arrow, whose field numbers are those of `arrow-ipc`.

use super::binary_metadata::{self, BINARY_METADATA_PREFIX};
use super::name_index::NameIndex;
use super::stored_message::{Message, StoredBytes, Table, Tables};
use arrow_ipc as ipc;
use arrow_ipc::writer::{DictionaryTracker, IpcDataGenerator, IpcWriteOptions};
use arrow_schema::extension::{EXTENSION_TYPE_METADATA_KEY, EXTENSION_TYPE_NAME_KEY};
use arrow_schema::{DataType, Field, FieldRef, Fields, IntervalUnit, Schema, TimeUnit};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use marquetry_format::flatbuffers::MessageBytes;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

/// Decodes the schema; `None` if the text is not a schema. Fields of unknown types become `Null`.
pub(super) fn decode(base64: &str) -> Option<Schema> {
    let message = Message::new(StoredBytes::new(base64, true));
    let schema = schema(&message)?;
    let fields = schema.tables(ipc::Schema::VT_FIELDS)?.iter();
    let fields: Fields = fields.map(|table| field(table?, 0)).collect::<Option<_>>()?;
    Some(Schema::new_with_metadata(fields, metadata(schema.tables(ipc::Schema::VT_CUSTOM_METADATA)?)?))
}

/// The fields found in a schema, and its metadata.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Found {
    pub(super) fields: Vec<Option<FieldRef>>,
    pub(super) metadata: HashMap<String, String>,
}

/// Finds the fields with these names in the stored schema, each at its place, or else the first one of that name, and
/// the schema's metadata. `None` if the text is not a schema. `binary_metadata` is that of
/// [`TypeOptions`](super::TypeOptions).
pub(super) fn find<'a>(
    base64: &str,
    names: impl Iterator<Item = (usize, &'a str)>,
    binary_metadata: bool,
) -> Option<Found> {
    let names: Vec<_> = names.collect();
    let mut bytes = StoredBytes::new(base64, names.len() > FEW);
    bytes.keeps_binary = binary_metadata;
    find_in(&Message::new(bytes), names.into_iter())
}

fn find_in<'a>(message: &Message<'_>, names: impl Iterator<Item = (usize, &'a str)>) -> Option<Found> {
    let schema = schema(message)?;
    let fields = schema.tables(ipc::Schema::VT_FIELDS)?;
    let name = |place| fields.get(place).and_then(|field| field.string(ipc::Field::VT_NAME)?);
    let mut places = NameIndex::new(fields.len(), |place| Cow::Owned(name(place).unwrap_or_default()));
    let found = |(place, name)| field(fields.get(places.find(place, name)?)?, 0).map(Arc::new);
    let fields = names.map(found).collect();
    let mut metadata = metadata(schema.tables(ipc::Schema::VT_CUSTOM_METADATA)?)?;
    if message.bytes().has_binary.get() {
        metadata.insert(BINARY_METADATA_PREFIX.to_owned(), String::new());
    }
    Some(Found { fields, metadata })
}

/// Up to this many fields are decoded one by one. For more, the whole text is decoded first.
const FEW: usize = 1000;

fn schema<'a>(message: &'a Message<'a>) -> Option<Table<'a>> {
    // Since format version 0.15 a message starts with a marker and its length; older writers left both out.
    let start = if message.bytes().read(0)? == [0xff; 4] { 8 } else { 0 };
    let root = message.root(start)?;
    let header = ipc::MessageHeader(root.u8(ipc::Message::VT_HEADER_TYPE)?);
    (header == ipc::MessageHeader::Schema).then(|| root.table(ipc::Message::VT_HEADER)).flatten()?
}

/// Returns the text under which Arrow writers store `schema`: an encapsulated message, preceded by marker and length.
/// Equal schemas give equal text: metadata is sorted.
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

/// Returns the pairs that are text, and also the others if the message keeps them. If parameters of an extension type
/// are left out, the type is left out, too.
fn metadata(pairs: Tables<'_>) -> Option<HashMap<String, String>> {
    if pairs.message().bytes().keeps_binary {
        return all_metadata(pairs);
    }
    let mut out = HashMap::new();
    let mut lacks_parameters = false;
    for pair in pairs.iter() {
        let pair = pair?;
        let key = pair.string_bytes(ipc::KeyValue::VT_KEY)?.map(String::from_utf8);
        match (key, pair.string_bytes(ipc::KeyValue::VT_VALUE)?.map(String::from_utf8)) {
            (Some(Ok(key)), Some(Ok(value))) => _ = out.insert(key, value),
            (Some(Ok(key)), Some(Err(_))) => lacks_parameters |= key == EXTENSION_TYPE_METADATA_KEY,
            _ => {}
        }
    }
    if lacks_parameters {
        out.remove(EXTENSION_TYPE_NAME_KEY);
    }
    Some(out)
}

fn all_metadata(pairs: Tables<'_>) -> Option<HashMap<String, String>> {
    let mut out = HashMap::new();
    for pair in pairs.iter() {
        let pair = pair?;
        let key = pair.string_bytes(ipc::KeyValue::VT_KEY)?;
        if let (Some(key), Some(value)) = (key, pair.string_bytes(ipc::KeyValue::VT_VALUE)?) {
            out.extend([binary_metadata::as_text(&key, &value)]);
        }
    }
    if out.keys().any(|key| key.starts_with(BINARY_METADATA_PREFIX)) {
        pairs.message().bytes().has_binary.set(true);
        binary_metadata::keep_extension_whole(&mut out);
    }
    Some(out)
}

/// Decodes a field; `None` if it is damaged, or nested too deep.
fn field(table: Table<'_>, depth: usize) -> Option<Field> {
    if depth > MAX_DEPTH {
        return None;
    }
    let known = data_type(table, depth)?;
    let mut data_type = known.unwrap_or(DataType::Null);
    let mut ordered = false;
    if let Some(dictionary) = table.table(ipc::Field::VT_DICTIONARY)? {
        // SPEC: Schema.fbs: a dictionary without an index type has 32-bit signed indices.
        let keys = match dictionary.table(ipc::DictionaryEncoding::VT_INDEXTYPE)? {
            Some(keys) => integer(keys)?,
            None => Some(DataType::Int32),
        };
        ordered = dictionary.bool(ipc::DictionaryEncoding::VT_ISORDERED)?;
        data_type = match keys {
            Some(keys) => DataType::Dictionary(Box::new(keys), Box::new(data_type)),
            None => DataType::Null,
        };
    }
    let name = table.string(ipc::Field::VT_NAME)?.unwrap_or_default();
    let metadata = metadata(table.tables(ipc::Field::VT_CUSTOM_METADATA)?)?;
    Some(
        Field::new(name, data_type, table.bool(ipc::Field::VT_NULLABLE)?)
            .with_dict_is_ordered(ordered)
            .with_metadata(metadata),
    )
}

/// Maximum nesting depth of fields.
const MAX_DEPTH: usize = 64;

/// Returns the type of a field: `None` if it is damaged, `Some(None)` if it is unknown.
fn data_type(field: Table<'_>, depth: usize) -> Option<Option<DataType>> {
    let Some(of) = field.table(ipc::Field::VT_TYPE_)? else { return Some(None) };
    let unit = |slot, default: ipc::TimeUnit| Some(self::unit(ipc::TimeUnit(of.i16(slot, default.0)?)));
    Some(Some(match ipc::Type(field.u8(ipc::Field::VT_TYPE_TYPE)?) {
        ipc::Type::Bool => DataType::Boolean,
        ipc::Type::Int => return integer(of),
        ipc::Type::FloatingPoint => {
            match ipc::Precision(of.i16(ipc::FloatingPoint::VT_PRECISION, ipc::Precision::HALF.0)?) {
                ipc::Precision::HALF => DataType::Float16,
                ipc::Precision::SINGLE => DataType::Float32,
                ipc::Precision::DOUBLE => DataType::Float64,
                _ => return Some(None),
            }
        }
        ipc::Type::Decimal => return decimal(of),
        ipc::Type::Binary => DataType::Binary,
        ipc::Type::LargeBinary => DataType::LargeBinary,
        ipc::Type::BinaryView => DataType::BinaryView,
        ipc::Type::Utf8 => DataType::Utf8,
        ipc::Type::LargeUtf8 => DataType::LargeUtf8,
        ipc::Type::Utf8View => DataType::Utf8View,
        ipc::Type::FixedSizeBinary => {
            DataType::FixedSizeBinary(of.i32(ipc::FixedSizeBinary::VT_BYTEWIDTH, 0)?)
        }
        ipc::Type::Date => match ipc::DateUnit(of.i16(ipc::Date::VT_UNIT, ipc::DateUnit::MILLISECOND.0)?) {
            ipc::DateUnit::DAY => DataType::Date32,
            ipc::DateUnit::MILLISECOND => DataType::Date64,
            _ => return Some(None),
        },
        ipc::Type::Time => match unit(ipc::Time::VT_UNIT, ipc::TimeUnit::MILLISECOND)? {
            Some(unit @ (TimeUnit::Second | TimeUnit::Millisecond)) => DataType::Time32(unit),
            Some(unit) => DataType::Time64(unit),
            None => return Some(None),
        },
        ipc::Type::Timestamp => {
            // SPEC: Schema.fbs: an empty name means no time zone.
            let zone = of.string(ipc::Timestamp::VT_TIMEZONE)?.filter(|zone| !zone.is_empty());
            let Some(unit) = unit(ipc::Timestamp::VT_UNIT, ipc::TimeUnit::SECOND)? else { return Some(None) };
            DataType::Timestamp(unit, zone.map(Into::into))
        }
        ipc::Type::Duration => {
            return Some(unit(ipc::Duration::VT_UNIT, ipc::TimeUnit::MILLISECOND)?.map(DataType::Duration));
        }
        ipc::Type::Interval => {
            DataType::Interval(match ipc::IntervalUnit(of.i16(ipc::Interval::VT_UNIT, 0)?) {
                ipc::IntervalUnit::YEAR_MONTH => IntervalUnit::YearMonth,
                ipc::IntervalUnit::DAY_TIME => IntervalUnit::DayTime,
                ipc::IntervalUnit::MONTH_DAY_NANO => IntervalUnit::MonthDayNano,
                _ => return Some(None),
            })
        }
        kind => return nested(kind, field, of, depth),
    }))
}

fn nested(kind: ipc::Type, field: Table<'_>, of: Table<'_>, depth: usize) -> Option<Option<DataType>> {
    let children = field.tables(ipc::Field::VT_CHILDREN)?.iter();
    let children: Vec<FieldRef> =
        children.map(|child| self::field(child?, depth + 1).map(Arc::new)).collect::<Option<_>>()?;
    Some(Some(match (kind, children.as_slice()) {
        (ipc::Type::Struct_, children) => DataType::Struct(children.iter().cloned().collect()),
        (ipc::Type::List, [element]) => DataType::List(element.clone()),
        (ipc::Type::LargeList, [element]) => DataType::LargeList(element.clone()),
        (ipc::Type::ListView, [element]) => DataType::ListView(element.clone()),
        (ipc::Type::LargeListView, [element]) => DataType::LargeListView(element.clone()),
        (ipc::Type::FixedSizeList, [element]) => {
            DataType::FixedSizeList(element.clone(), of.i32(ipc::FixedSizeList::VT_LISTSIZE, 0)?)
        }
        (ipc::Type::Map, [entries]) => DataType::Map(entries.clone(), of.bool(ipc::Map::VT_KEYSSORTED)?),
        (ipc::Type::RunEndEncoded, [ends, values]) => DataType::RunEndEncoded(ends.clone(), values.clone()),
        _ => return Some(None),
    }))
}

fn integer(integer: Table<'_>) -> Option<Option<DataType>> {
    let (bits, signed) = (integer.i32(ipc::Int::VT_BITWIDTH, 0)?, integer.bool(ipc::Int::VT_IS_SIGNED)?);
    Some(u8::try_from(bits).ok().and_then(|bits| super::default_types::integer(bits, signed)))
}

fn decimal(decimal: Table<'_>) -> Option<Option<DataType>> {
    let precision = u8::try_from(decimal.i32(ipc::Decimal::VT_PRECISION, 0)?);
    let scale = i8::try_from(decimal.i32(ipc::Decimal::VT_SCALE, 0)?);
    let (Ok(precision), Ok(scale)) = (precision, scale) else { return Some(None) };
    Some(match decimal.i32(ipc::Decimal::VT_BITWIDTH, 128)? {
        32 => Some(DataType::Decimal32(precision, scale)),
        64 => Some(DataType::Decimal64(precision, scale)),
        128 => Some(DataType::Decimal128(precision, scale)),
        256 => Some(DataType::Decimal256(precision, scale)),
        _ => None,
    })
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

#[cfg(test)]
mod tests;
