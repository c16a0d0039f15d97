//! A footer at the end of the file that is cut off, whose length and magic are missing or damaged, or that is damaged behind its schema.
//! The schema comes first, then row group after row group:
//!
//! ```text
//! version | schema | rows | row group, row group, ... | key-value metadata | created_by | column orders | length, PAR1
//! ```

use crate::filler::is_footer_head;
use crate::sound_schema::is_name;
use crate::window::Window;
use marquetry_base::{ErrorKind, Limits, Result};
use marquetry_core::metadata::ParquetMetaData;
use marquetry_format::{
    ColumnOrder, FileMetaData, FooterTail, KeyValue, Reader, RowGroup, SchemaElement, Wire,
};

/// The remains of a footer.
pub(crate) struct CutFooter {
    /// The metadata, with those row groups that are there as a whole.
    pub(crate) metadata: ParquetMetaData,
    /// Offset of the footer in the file.
    pub(crate) start: u64,
    pub(crate) state: State,
}

/// What is wrong with a footer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// The footer is complete; only the bytes behind it are missing.
    Whole,
    CutOff,
    /// It can be read up to some byte, and its length and PAR1 confirm that it is a footer. More bytes may be wrong
    /// than that one.
    Damaged,
}

/// Finds the last footer that is incomplete, or damaged if `takes_damaged`. Fails if the file cannot be read.
pub(crate) fn cut_footer(window: &mut Window, takes_damaged: bool) -> Result<Option<CutFooter>> {
    let (len, limits) = (window.source.len(), window.limits.clone());
    let from = len.saturating_sub(MOST_BYTES);
    let bytes = window.at(from, (len - from) as usize)?;
    let said = bytes.last_chunk().and_then(|tail| FooterTail::parse(tail).ok());
    let said = said.map(|tail| u64::from(tail.metadata_len()) + TAIL_LEN as u64).filter(|_| takes_damaged);
    let mut left = bytes.len().saturating_mul(MOST_PASSES);
    for at in (0..bytes.len()).rev().filter(|at| is_footer_head(&bytes[*at..])) {
        limits.cancel.check()?;
        let mut reader = Reader::with_limits(&bytes[at..], &limits);
        let is_said = said == Some((bytes.len() - at) as u64);
        let read = read(&mut reader).filter(|(_, state)| *state != State::Damaged || is_said);
        let rest = bytes.len() - at - reader.position();
        if let Some((footer, state)) = read.filter(|(_, state)| *state != State::Whole || rest <= TAIL_LEN)
            && let Some(metadata) = metadata(footer, state == State::Whole, &limits)
        {
            return Ok(Some(CutFooter { metadata, start: from + at as u64, state }));
        }
        // Each attempt costs something, however short it is.
        let Some(rest) = left.checked_sub(reader.position().max(LEAST_COST)) else { break };
        left = rest;
    }
    Ok(None)
}

/// Reads a footer up to where it is cut off or damaged. Returns `None` if its schema is incomplete.
fn read(reader: &mut Reader<'_>) -> Option<(FileMetaData, State)> {
    let mut schema: Option<Vec<SchemaElement>> = None;
    let mut out = FileMetaData::default();
    let mut is_behind = false;
    let is_read = reader.fields(|r, field| {
        match (field.id, field.wire) {
            (1, Wire::INT) => out.version = r.i32()?,
            (2, Wire::List) => schema = r.list(Wire::Struct, SchemaElement::read)?,
            (3, Wire::INT) => (out.num_rows, is_behind) = (r.i64()?, true),
            (4, Wire::List) => {
                r.list(Wire::Struct, |r| RowGroup::read(r).map(|group| out.row_groups.push(group)))?;
            }
            (5, Wire::List) => out.key_value_metadata = r.list(Wire::Struct, KeyValue::read)?,
            (6, Wire::Binary) => out.created_by = Some(r.string()?),
            (7, Wire::List) => out.column_orders = r.list(Wire::Struct, ColumnOrder::read)?,
            // Encrypted columns need the rest, too.
            (8 | 9, _) => return Err(r.missing("a footer without keys")),
            _ => r.skip(field.wire)?,
        }
        Ok(())
    });
    out.schema = schema?;
    let state = match is_read {
        Ok(()) => State::Whole,
        Err(error) if error.kind() == ErrorKind::Truncated => State::CutOff,
        // A name with other characters in it has swallowed what comes behind it.
        Err(_) if !is_behind || !out.schema.iter().all(|element| is_name(&element.name)) => return None,
        Err(_) => State::Damaged,
    };
    Some((out, state))
}

/// Returns the metadata, if it can be that of this file.
fn metadata(mut footer: FileMetaData, is_whole: bool, limits: &Limits) -> Option<ParquetMetaData> {
    if !is_whole {
        let known: i64 =
            footer.row_groups.iter().map(|group| group.num_rows.max(0)).fold(0, i64::saturating_add);
        footer.num_rows = known;
    }
    // Without column orders, which are cut off, the order of bounds is unknown.
    let has_orders = is_whole || footer.column_orders.is_some();
    for chunk in footer.row_groups.iter_mut().flat_map(|group| &mut group.columns) {
        let is_elsewhere = chunk.file_path.as_ref().is_some_and(|path| !path.as_bytes().is_empty());
        if is_elsewhere || chunk.crypto_metadata.is_some() {
            return None;
        }
        if !has_orders {
            (chunk.column_index_offset, chunk.column_index_length) = (None, None);
            chunk.meta_data.iter_mut().for_each(|meta| meta.statistics = None);
        }
    }
    ParquetMetaData::from_thrift(footer, limits).ok().filter(|metadata| metadata.schema().num_columns() > 0)
}

/// Number of bytes at the end of the file that are searched. Footers are hardly ever longer.
const MOST_BYTES: u64 = 16 << 20;
/// Maximum bytes that all attempts together read, in multiples of the searched bytes.
const MOST_PASSES: usize = 8;
/// Minimum cost of an attempt that finds no footer.
const LEAST_COST: usize = 16;
/// Bytes of the footer length and PAR1.
const TAIL_LEN: usize = 8;
