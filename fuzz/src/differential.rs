//! Whole files, read here and by the `parquet` crate.

use crate::file::options;
use arrow_array::RecordBatch;
use bytes::Bytes;
use marquetry::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::arrow::arrow_reader as theirs;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The input is the file. Where both read it, they read the same: types and values.
///
/// Damage that only one notices says nothing: an error on either side ends the comparison. That they panic is not ours.
pub fn differential(data: &[u8]) {
    let bytes = Bytes::copy_from_slice(data);
    let Some(ours) = ours(bytes.clone()) else { return };
    let Ok(Some(theirs)) = catch_unwind(AssertUnwindSafe(|| theirs(bytes))) else { return };
    if ours.len() != theirs.len() {
        return;
    }
    for (ours, theirs) in ours.iter().zip(&theirs) {
        // Both are Arrow's, of different versions: text is what they have in common.
        let fields = format!("{:?}", ours.schema().fields()) == format!("{:?}", theirs.schema().fields());
        if fields && ours.num_rows() == theirs.num_rows() {
            for (ours, theirs) in ours.columns().iter().zip(theirs.columns()) {
                same(ours, theirs);
            }
        }
    }
}

/// Row by row, because what is in a struct where the struct is null says nothing.
fn same(ours: &arrow_array::ArrayRef, theirs: &arrow_array_60::ArrayRef) {
    for row in 0..arrow_array::Array::len(ours) {
        let ours = arrow_cast::display::array_value_to_string(ours, row);
        let theirs = arrow_cast_60::display::array_value_to_string(theirs, row);
        if let (Ok(ours), Ok(theirs)) = (ours, theirs) {
            assert_eq!(ours, theirs, "row {row}");
        }
    }
}

fn ours(bytes: Bytes) -> Option<Vec<RecordBatch>> {
    let builder = ParquetRecordBatchReaderBuilder::try_new_with_options(bytes, options()).ok()?;
    builder.with_batch_size(ROWS).with_limit(ROWS).build().ok()?.collect::<Result<_, _>>().ok()
}

/// All rows, as the other crate's batches; `None` if it cannot read them.
fn theirs(bytes: Bytes) -> Option<Vec<arrow_array_60::RecordBatch>> {
    let builder = theirs::ParquetRecordBatchReaderBuilder::try_new(bytes).ok()?;
    builder.with_batch_size(ROWS).with_limit(ROWS).build().ok()?.collect::<Result<_, _>>().ok()
}

const ROWS: usize = 1_000;
