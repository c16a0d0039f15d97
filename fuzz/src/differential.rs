//! Whole files, read here and by the `parquet` crate.

use crate::file::options;
use arrow_array::RecordBatch;
use bytes::Bytes;
use marquetry::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::arrow::arrow_reader as theirs;
use std::panic::{self, AssertUnwindSafe};

/// The input is the file. If both read it, they must read the same types and values.
///
/// Damage that only one notices proves nothing: an error on either side ends the comparison. Panics of the peer do not
/// count.
pub fn differential(data: &[u8]) {
    let bytes = Bytes::copy_from_slice(data);
    let Some(ours) = ours(bytes.clone()) else { return };
    // The fuzzer's hook ends the process at any panic.
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| ()));
    let theirs = panic::catch_unwind(AssertUnwindSafe(|| theirs(bytes)));
    panic::set_hook(hook);
    let Ok(Some(theirs)) = theirs else { return };
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

/// Compares row by row, because values in a struct that is null are arbitrary.
fn same(ours: &arrow_array::ArrayRef, theirs: &arrow60_array::ArrayRef) {
    let data_type = arrow_array::Array::data_type(ours);
    for row in 0..arrow_array::Array::len(ours) {
        let ours = arrow_cast::display::array_value_to_string(ours, row);
        let theirs = arrow60_cast::display::array_value_to_string(theirs, row);
        let (Ok(ours), Ok(theirs)) = (ours, theirs) else { continue };
        // QUIRK: of a decimal Arrow 59 prints as many digits as its type has room for, Arrow 60 all. Damaged files have more.
        let is_cut = match data_type.is_decimal() {
            true => digits(&theirs).starts_with(&digits(&ours)),
            false => data_type.to_string().contains("Decimal"),
        };
        assert!(ours == theirs || is_cut, "row {row}: {ours}, not {theirs}");
    }
}

fn digits(number: &str) -> String {
    number.chars().filter(char::is_ascii_digit).collect()
}

fn ours(bytes: Bytes) -> Option<Vec<RecordBatch>> {
    let builder = ParquetRecordBatchReaderBuilder::try_new_with_options(bytes, options()).ok()?;
    // QUIRK: for a row group that claims to have no rows, the other crate returns those in its pages.
    if builder.metadata().row_groups().any(|group| group.num_rows() == 0) {
        return None;
    }
    builder.with_batch_size(ROWS).with_limit(ROWS).build().ok()?.collect::<Result<_, _>>().ok()
}

/// All rows, as the other crate's batches; `None` if it cannot read them.
fn theirs(bytes: Bytes) -> Option<Vec<arrow60_array::RecordBatch>> {
    let builder = theirs::ParquetRecordBatchReaderBuilder::try_new(bytes).ok()?;
    builder.with_batch_size(ROWS).with_limit(ROWS).build().ok()?.collect::<Result<_, _>>().ok()
}

const ROWS: usize = 1_000;
