//! The Arrow schema that a footer has under `ARROW:schema`: base64 of an IPC message. Readers that use it refuse the
//! whole file if any part of it is damaged, or if it does not have one field for each of the file's.
//!
//! Spec: Message.fbs and Schema.fbs of Apache Arrow, whose field numbers these are.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use marquetry_format::flatbuffers::{Message, Tables, slot};

type Table<'a> = marquetry_format::flatbuffers::Table<'a, &'a [u8]>;

/// The key of the Arrow schema in the key-value metadata.
pub(crate) const ARROW_SCHEMA_KEY: &str = "ARROW:schema";

/// The parts of a stored Arrow schema that can be compared with the file's schema.
pub(crate) struct ArrowSchema {
    /// The fields of the root.
    pub(crate) fields: Vec<ArrowField>,
    /// The time zones of all fields.
    pub(crate) zones: Vec<String>,
}

/// The type of a field, as far as it is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ArrowField {
    /// A time or timestamp, by its unit; the coarsest unit is 0.
    Unit(i16),
    /// An integer: its bits, and whether it is signed.
    Integer(i32, bool),
    Other,
}

/// Decodes the Arrow schema of a text. Returns `None` if there is none, or if any part of it is damaged.
pub(crate) fn read_schema(text: &str) -> Option<ArrowSchema> {
    let bytes = STANDARD.decode(text.trim()).ok()?;
    let message = Message::new_strict(message(&bytes)?);
    let root = message.root(0)?;
    let is_schema = (FIRST_VERSION..=LAST_VERSION).contains(&root.i16(MESSAGE_VERSION, 0)?)
        && root.u8(MESSAGE_HEADER_TYPE)? == SCHEMA
        // A schema has no body.
        && root.i64(MESSAGE_BODY_LENGTH)? >= 0;
    let schema = root.table(MESSAGE_HEADER)?.filter(|_| is_schema)?;
    check_metadata(root, MESSAGE_METADATA)?;
    ((0..=1).contains(&schema.i16(SCHEMA_ENDIANNESS, 0)?)).then_some(())?;
    schema.vector(SCHEMA_FEATURES, 8)?;
    check_metadata(schema, SCHEMA_METADATA)?;
    let mut zones = Vec::new();
    let fields = schema.tables(SCHEMA_FIELDS)?;
    let fields = fields.iter().map(|table| field(table?, 0, &mut zones)).collect::<Option<_>>()?;
    Some(ArrowSchema { fields, zones })
}

/// Returns the message without its frame.
fn message(bytes: &[u8]) -> Option<&[u8]> {
    let number = |at: usize| bytes.get(at..)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes) as usize);
    // Before version 0.15 of the format there was no marker before the length.
    let start = if number(0)? == MARKER { 8 } else { 4 };
    let len = number(start - 4)?;
    bytes.get(start..start.checked_add(len)?)
}

/// Checks a field and all fields below it.
fn field(table: Table<'_>, depth: usize, zones: &mut Vec<String>) -> Option<ArrowField> {
    if depth > MAX_DEPTH {
        return None;
    }
    table.bool(FIELD_NULLABLE)?;
    let children = table.tables(FIELD_CHILDREN)?;
    check_type(table, children)?;
    if let Some(dictionary) = table.table(FIELD_DICTIONARY)? {
        dictionary.i64(DICTIONARY_ID)?;
        if let Some(keys) = dictionary.table(DICTIONARY_INDEX_TYPE)? {
            check_integer(keys)?;
        }
        dictionary.bool(DICTIONARY_IS_ORDERED)?;
        dictionary.i16(DICTIONARY_KIND, 0)?;
    }
    check_metadata(table, FIELD_METADATA)?;
    children.iter().try_for_each(|child| field(child?, depth + 1, zones).map(|_| ()))?;
    table.string(FIELD_NAME)?;
    let of_type = table.table(FIELD_TYPE)??;
    match table.u8(FIELD_TYPE_TYPE)? {
        TIME => of_type.i16(UNIT, MILLISECOND).map(ArrowField::Unit),
        TIMESTAMP => {
            zones.extend(of_type.string(TIMESTAMP_TIMEZONE)?);
            of_type.i16(UNIT, SECOND).map(ArrowField::Unit)
        }
        INT => Some(ArrowField::Integer(of_type.i32(INT_BIT_WIDTH, 0)?, of_type.bool(INT_IS_SIGNED)?)),
        _ => Some(ArrowField::Other),
    }
}

fn check_type(field: Table<'_>, children: Tables<'_, &[u8]>) -> Option<()> {
    let (kind, table) = (field.u8(FIELD_TYPE_TYPE)?, field.table(FIELD_TYPE)??);
    let unit = |default, most: i16| Some((0..=most).contains(&table.i16(UNIT, default)?));
    let size = || Some(table.i32(SIZE, 0)? >= 0);
    let is_legal = match kind {
        NULL | BINARY..=BOOL | LARGE_BINARY | LARGE_UTF8 | BINARY_VIEW | UTF8_VIEW | STRUCT => true,
        INT => check_integer(table).is_some(),
        FLOATING_POINT | INTERVAL => unit(0, 2)?,
        DECIMAL => {
            let most = match table.i32(DECIMAL_BIT_WIDTH, 128)? {
                32 => 9,
                64 => 18,
                128 => 38,
                256 => 76,
                _ => 0,
            };
            table.i32(DECIMAL_SCALE, 0)?;
            (1..=most).contains(&table.i32(DECIMAL_PRECISION, 0)?)
        }
        DATE => unit(1, 1)?,
        TIME => {
            let bit_width = table.i32(TIME_BIT_WIDTH, 32)?;
            matches!((table.i16(UNIT, MILLISECOND)?, bit_width), (0 | 1, 32) | (2 | 3, 64))
        }
        TIMESTAMP => {
            table.string(TIMESTAMP_TIMEZONE)?;
            unit(SECOND, 3)?
        }
        DURATION => unit(MILLISECOND, 3)?,
        UNION => {
            table.vector(UNION_TYPE_IDS, 4)?;
            unit(0, 1)?
        }
        FIXED_SIZE_BINARY => size()?,
        FIXED_SIZE_LIST => size()? && children.len() == 1,
        LIST | LARGE_LIST | LIST_VIEW | LARGE_LIST_VIEW => children.len() == 1,
        MAP => {
            table.bool(MAP_KEYS_SORTED)?;
            let entries = children.get(0).filter(|_| children.len() == 1)?;
            entries.u8(FIELD_TYPE_TYPE)? == STRUCT && entries.tables(FIELD_CHILDREN)?.len() == 2
        }
        RUN_END_ENCODED => children.len() == 2,
        _ => false,
    };
    is_legal.then_some(())
}

fn check_integer(table: Table<'_>) -> Option<()> {
    table.bool(INT_IS_SIGNED)?;
    matches!(table.i32(INT_BIT_WIDTH, 0)?, 8 | 16 | 32 | 64).then_some(())
}

/// Checks key-value pairs, each of which needs both sides.
fn check_metadata(table: Table<'_>, slot: u16) -> Option<()> {
    table.tables(slot)?.iter().try_for_each(|pair| {
        let pair = pair?;
        pair.string_bytes(KEY_VALUE_KEY)?.and(pair.string_bytes(KEY_VALUE_VALUE)?).map(|_| ())
    })
}

/// The unit of seconds, which Parquet does not have, and that of milliseconds.
pub(crate) const SECOND: i16 = 0;
pub(crate) const MILLISECOND: i16 = 1;
const MARKER: usize = u32::MAX as usize;
/// The header type of a schema.
const SCHEMA: u8 = 1;
/// The versions of the format that readers accept, V4 to V5.
const FIRST_VERSION: i16 = 3;
const LAST_VERSION: i16 = 4;
/// Maximum nesting depth of fields. Readers refuse more.
const MAX_DEPTH: usize = 60;

// The slots of the tables' fields.
const MESSAGE_VERSION: u16 = slot(0);
const MESSAGE_HEADER_TYPE: u16 = slot(1);
const MESSAGE_HEADER: u16 = slot(2);
const MESSAGE_BODY_LENGTH: u16 = slot(3);
const MESSAGE_METADATA: u16 = slot(4);
const SCHEMA_ENDIANNESS: u16 = slot(0);
const SCHEMA_FIELDS: u16 = slot(1);
const SCHEMA_METADATA: u16 = slot(2);
const SCHEMA_FEATURES: u16 = slot(3);
const FIELD_NAME: u16 = slot(0);
const FIELD_NULLABLE: u16 = slot(1);
const FIELD_TYPE_TYPE: u16 = slot(2);
const FIELD_TYPE: u16 = slot(3);
const FIELD_DICTIONARY: u16 = slot(4);
const FIELD_CHILDREN: u16 = slot(5);
const FIELD_METADATA: u16 = slot(6);
const DICTIONARY_ID: u16 = slot(0);
const DICTIONARY_INDEX_TYPE: u16 = slot(1);
const DICTIONARY_IS_ORDERED: u16 = slot(2);
const DICTIONARY_KIND: u16 = slot(3);
const KEY_VALUE_KEY: u16 = slot(0);
const KEY_VALUE_VALUE: u16 = slot(1);
const INT_BIT_WIDTH: u16 = slot(0);
const INT_IS_SIGNED: u16 = slot(1);
const DECIMAL_PRECISION: u16 = slot(0);
const DECIMAL_SCALE: u16 = slot(1);
const DECIMAL_BIT_WIDTH: u16 = slot(2);
const TIME_BIT_WIDTH: u16 = slot(1);
const TIMESTAMP_TIMEZONE: u16 = slot(1);
const UNION_TYPE_IDS: u16 = slot(1);
const MAP_KEYS_SORTED: u16 = slot(0);
/// The slot of the unit, mode, precision or interval, in all types that have one.
const UNIT: u16 = slot(0);
/// The slot of the size: the length of a list, the bytes of a byte string.
const SIZE: u16 = slot(0);

// The union `Type`.
const NULL: u8 = 1;
const INT: u8 = 2;
const FLOATING_POINT: u8 = 3;
const BINARY: u8 = 4;
const BOOL: u8 = 6;
const DECIMAL: u8 = 7;
const DATE: u8 = 8;
const TIME: u8 = 9;
const TIMESTAMP: u8 = 10;
const INTERVAL: u8 = 11;
const LIST: u8 = 12;
const STRUCT: u8 = 13;
const UNION: u8 = 14;
const FIXED_SIZE_BINARY: u8 = 15;
const FIXED_SIZE_LIST: u8 = 16;
const MAP: u8 = 17;
const DURATION: u8 = 18;
const LARGE_BINARY: u8 = 19;
const LARGE_UTF8: u8 = 20;
const LARGE_LIST: u8 = 21;
const RUN_END_ENCODED: u8 = 22;
const BINARY_VIEW: u8 = 23;
const UTF8_VIEW: u8 = 24;
const LIST_VIEW: u8 = 25;
const LARGE_LIST_VIEW: u8 = 26;
