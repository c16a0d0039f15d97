//! The settings that re-encoded chunks keep from the old ones.

use super::Input;
use super::schemas::repetitions;
use marquetry::errors::Error;
use marquetry::internals::codec::Codec;
use marquetry::internals::encoding::PhysicalType;
use marquetry::internals::format::ColumnOrder;
use marquetry::schema::{Repetition, Schema};
use marquetry_core::metadata::ColumnChunk;
use marquetry_inspect::Reencoder;

/// A reader of one row group whose rows are written as the column `to` of another schema, in which more fields are
/// nullable.
pub(crate) fn into_column(input: &Input, row_group: usize, leaf: usize, to: (&Schema, usize)) -> Reencoder {
    let levels = widened_levels(&repetitions(input.metadata.schema(), leaf), &repetitions(to.0, to.1));
    Reencoder::new(&input.columns(), &[row_group], leaf, true).into_column(to.0.column(to.1).clone(), levels)
}

/// Whether new bounds have the order that the file states for the column.
pub(crate) fn has_order_of_bounds(physical: PhysicalType, order: Option<&ColumnOrder>) -> bool {
    match order {
        // SPEC: INT96 has bounds in no other order, and no other type has them in this one.
        Some(ColumnOrder::Int96TimestampOrder) => physical == PhysicalType::Int96,
        Some(ColumnOrder::TypeOrder | ColumnOrder::Ieee754TotalOrder) => physical != PhysicalType::Int96,
        _ => false,
    }
}

/// The new definition level for each old one, for a column with more nullable fields: the number of nullable fields
/// above the first that is missing.
fn widened_levels(from: &[Repetition], to: &[Repetition]) -> Vec<u8> {
    let may_miss = |repetition: &&Repetition| **repetition != Repetition::Required;
    let above = |fields: usize| to[..fields].iter().filter(may_miss).count() as u8;
    let missing = from.iter().enumerate().filter(|(_, repetition)| may_miss(repetition));
    missing.map(|(i, _)| above(i)).chain([above(to.len())]).collect()
}

/// The codec of a chunk, or its replacement if it can only be read.
pub(crate) fn codec_of(chunk: ColumnChunk<'_>) -> Result<Codec, Error> {
    Ok(match chunk.codec()? {
        Codec::Lzo => Codec::Snappy,
        Codec::Lz4 => Codec::Lz4Raw,
        codec => codec,
    })
}
