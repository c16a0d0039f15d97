//! Formats rows as lines of text, splitting batches among threads.

use super::sink::Part;
use crate::failure::Failure;
use crate::inputs::Batches;
use crate::ordered_map::OrderedMap;
use arrow_array::RecordBatch;
use marquetry::errors::Error;
use marquetry_text::format::text_size;
use std::io::Write;
use std::num::NonZeroUsize;

/// Appends the rows of a batch to a text.
pub(crate) type Lines = fn(&RecordBatch, &mut String) -> Result<(), Error>;

/// The rows of `batches` as lines, in order.
pub(crate) fn formatted(
    batches: Batches,
    lines: Lines,
    threads: NonZeroUsize,
) -> impl Iterator<Item = Result<Part, Failure>> {
    let pieces = batches.flat_map(|batch| match batch {
        Ok(batch) => pieces(&batch).map(Ok).collect::<Vec<_>>(),
        Err(failure) => vec![Err(failure)],
    });
    OrderedMap::new(pieces, threads, move |batch: Result<RecordBatch, Failure>| {
        let batch = batch?;
        let mut text = String::new();
        let held = text_size::reserve(&batch, &mut text)?;
        lines(&batch, &mut text)?;
        Ok(Part::Lines { rows: batch.num_rows(), text, _held: held })
    })
}

/// Writes the rows of a batch as lines.
pub(crate) fn write_formatted(
    batch: &RecordBatch,
    lines: Lines,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let mut text = String::new();
    for piece in pieces(batch) {
        text.clear();
        // The buffer of a long row is not kept for the next.
        if text.capacity() > 2 * PIECE_BYTES {
            text = String::new();
        }
        let _held = text_size::reserve(&piece, &mut text)?;
        lines(&piece, &mut text)?;
        out.write_all(text.as_bytes())?;
    }
    Ok(())
}

/// Splits a batch into pieces whose text is not much longer than [`PIECE_BYTES`]: rows may be long, and the text of
/// several pieces is in memory at once.
fn pieces(batch: &RecordBatch) -> impl Iterator<Item = RecordBatch> + use<> {
    let batch = batch.clone();
    let pieces = (text_size::plain_size(&batch) / PIECE_BYTES + 1).min(batch.num_rows().max(1));
    let rows = batch.num_rows().div_ceil(pieces).max(1);
    (0..batch.num_rows()).step_by(rows).map(move |at| batch.slice(at, rows.min(batch.num_rows() - at)))
}

/// Bytes of the values of a piece.
const PIECE_BYTES: usize = 4 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{ArrayRef, StringArray};
    use marquetry_text::format;
    use std::sync::Arc;

    #[test]
    fn long_rows_go_in_pieces_and_come_in_order() {
        let texts = StringArray::from_iter_values((0..200).map(|i| format!("{i}").repeat(30_000)));
        let batch = RecordBatch::try_from_iter([("a", Arc::new(texts) as ArrayRef)]).unwrap();
        assert!(pieces(&batch).count() > 3);
        let mut expected = String::new();
        format::csv::write_lines(&batch, &mut expected).unwrap();
        for threads in [1, 3] {
            let batches = vec![Ok(batch.slice(0, 90)), Ok(batch.slice(90, 0)), Ok(batch.slice(90, 110))];
            let threads = NonZeroUsize::new(threads).unwrap();
            let parts = formatted(Box::new(batches.into_iter()), format::csv::write_lines, threads);
            let text: String = parts
                .map(|part| match part.unwrap() {
                    Part::Lines { text, .. } => text,
                    Part::Rows(_) => panic!("rows are to be text"),
                })
                .collect();
            assert!(text == expected);
        }
    }
}
