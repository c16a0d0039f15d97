//! The Arrow schema that a footer has under `ARROW:schema`: base64 of an IPC message. Readers that use it refuse the whole file if any of
//! it is damaged, or if it has not a field for each of the file's.
//!
//! Spec: Message.fbs and Schema.fbs of Apache Arrow, whose field numbers these are.

use crate::flatbuffer::{FlatBuffer, Table};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// The key that it stands under.
pub(crate) const ARROW_SCHEMA_KEY: &str = "ARROW:schema";

/// The fields of the schema that a text holds: of each time and timestamp its unit, the coarsest first. `None` if it is none, or if any
/// of it is damaged.
pub(crate) fn field_units(text: &str) -> Option<Vec<Option<i16>>> {
    let bytes = STANDARD.decode(text.trim()).ok()?;
    let message = FlatBuffer::new(message(&bytes)?);
    let root = message.root()?;
    // Of the format's versions, and the length of a body that a schema has not.
    let is_schema = (FIRST_VERSION..=LAST_VERSION).contains(&root.i16(0, 0)?)
        && root.u8(1)? == SCHEMA
        && root.i64(3)? >= 0;
    let schema = root.table(2)?.filter(|_| is_schema)?;
    check_metadata(root, 4)?;
    // Endianness, and features.
    ((0..=1).contains(&schema.i16(0, 0)?)).then_some(())?;
    schema.vector(3, 8)?;
    check_metadata(schema, 2)?;
    schema.tables(1)?.into_iter().map(|table| field(table, 0)).collect()
}

/// The message behind its frame.
fn message(bytes: &[u8]) -> Option<&[u8]> {
    let number = |at: usize| bytes.get(at..)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes) as usize);
    // Before version 0.15 of the format there was no marker before the length.
    let start = if number(0)? == MARKER { 8 } else { 4 };
    let len = number(start - 4)?;
    bytes.get(start..start.checked_add(len)?)
}

/// Checks a field, and all below it. Returns its unit.
fn field(table: Table<'_>, depth: usize) -> Option<Option<i16>> {
    if depth > MAX_DEPTH {
        return None;
    }
    // Whether it may be null.
    table.u8(1)?;
    let children = table.tables(5)?;
    check_type(table, &children)?;
    if let Some(dictionary) = table.table(4)? {
        dictionary.i64(0)?;
        if let Some(keys) = dictionary.table(1)? {
            check_integer(keys)?;
        }
        // Whether it is ordered, and its kind.
        dictionary.u8(2)?;
        dictionary.i16(3, 0)?;
    }
    check_metadata(table, 6)?;
    children.into_iter().try_for_each(|child| field(child, depth + 1).map(|_| ()))?;
    std::str::from_utf8(table.string(0)?.unwrap_or_default()).ok()?;
    let default = if table.u8(2)? == TIME { 1 } else { 0 };
    let unit = matches!(table.u8(2)?, TIME | TIMESTAMP).then(|| table.table(3)??.i16(0, default));
    unit.map_or(Some(None), |unit| unit.map(Some))
}

fn check_type(field: Table<'_>, children: &[Table<'_>]) -> Option<()> {
    let (kind, table) = (field.u8(2)?, field.table(3)??);
    let unit = |default, most: i16| Some((0..=most).contains(&table.i16(0, default)?));
    let size = || Some(table.i32(0, 0)? >= 0);
    let is_legal = match kind {
        NULL | BINARY..=BOOL | LARGE_BINARY | LARGE_UTF8 | BINARY_VIEW | UTF8_VIEW | STRUCT => true,
        INT => check_integer(table).is_some(),
        FLOATING_POINT | INTERVAL => unit(0, 2)?,
        DECIMAL => {
            table.i32(1, 0)?;
            let most = match table.i32(2, 128)? {
                32 => 9,
                64 => 18,
                128 => 38,
                256 => 76,
                _ => 0,
            };
            (1..=most).contains(&table.i32(0, 0)?)
        }
        DATE => unit(1, 1)?,
        TIME => matches!((table.i16(0, 1)?, table.i32(1, 32)?), (0 | 1, 32) | (2 | 3, 64)),
        TIMESTAMP => {
            let zone = table.string(1)?.unwrap_or_default();
            unit(0, 3)? && std::str::from_utf8(zone).is_ok()
        }
        DURATION => unit(1, 3)?,
        UNION => {
            table.vector(1, 4)?;
            unit(0, 1)?
        }
        FIXED_SIZE_BINARY => size()?,
        FIXED_SIZE_LIST => size()? && children.len() == 1,
        LIST | LARGE_LIST | LIST_VIEW | LARGE_LIST_VIEW => children.len() == 1,
        MAP => {
            // Whether keys are sorted.
            table.u8(0)?;
            let entries = <[Table<'_>; 1]>::try_from(children).ok()?;
            entries[0].u8(2)? == STRUCT && entries[0].tables(5)?.len() == 2
        }
        RUN_END_ENCODED => children.len() == 2,
        _ => false,
    };
    is_legal.then_some(())
}

fn check_integer(table: Table<'_>) -> Option<()> {
    // Whether it is signed.
    table.u8(1)?;
    matches!(table.i32(0, 0)?, 8 | 16 | 32 | 64).then_some(())
}

/// Checks pairs, which need both sides.
fn check_metadata(table: Table<'_>, field: usize) -> Option<()> {
    table.tables(field)?.into_iter().try_for_each(|pair| pair.string(0)?.and(pair.string(1)?).map(|_| ()))
}

/// The unit of seconds, which files have not; and that of milliseconds.
pub(crate) const SECOND: i16 = 0;
pub(crate) const MILLISECOND: i16 = 1;
const MARKER: usize = u32::MAX as usize;
/// The header type of a schema.
const SCHEMA: u8 = 1;
/// Of the format's versions those that readers take, V4 and V5.
const FIRST_VERSION: i16 = 3;
const LAST_VERSION: i16 = 4;
/// Fields below each other. Readers refuse more than this.
const MAX_DEPTH: usize = 60;

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
