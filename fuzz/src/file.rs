//! Whole files.

use crate::memory::earned;
use arrow_array::{Array, RecordBatch, RecordBatchReader};
use arrow_schema::ArrowError;
use arrow_select::concat::concat_batches;
use bytes::Bytes;
use marquetry::arrow::arrow_reader::{ArrowReaderOptions, OnCorrupt, ParquetRecordBatchReaderBuilder};
use marquetry::errors::{Limits, Result};
use marquetry::{OpenFile, file::Source};
use std::sync::Arc;

/// The input is the file.
pub fn file(data: &[u8]) {
    let bytes = Bytes::copy_from_slice(data);
    let sum: usize = data.iter().map(|&byte| usize::from(byte)).sum();
    // Each column may have a page of `free_page_bytes`, whatever its size in the file is, and be read several times.
    let allowed = (96 << 20) + 16_384 * data.len();
    earned(allowed, || match sum % 2 {
        0 => short_door(bytes, sum),
        _ => builder(bytes, sum),
    });
}

/// Other batch sizes, and another way to the same rows, must give the same rows.
fn short_door(bytes: Bytes, sum: usize) {
    let source: Arc<dyn Source> = Arc::new(bytes);
    let Ok(file) = OpenFile::new(source, options()) else {
        return;
    };
    let Ok(whole) = rows(&file, 0, ROWS, 333) else {
        let _ = rows(&file, sum % 100, ROWS, 50);
        return;
    };
    let n = whole.num_rows();
    let other = rows(&file, 0, ROWS, 1 + sum % 100).expect("rows that can be read");
    assert!(whole == other, "in smaller batches");
    let offset = sum / 2 % (n + 1);
    let limit = (sum % 50).min(n - offset);
    let some = rows(&file, offset, limit, 7).expect("rows that can be read");
    assert!(some == whole.slice(offset, limit), "{limit} rows from {offset} on");
}

/// Reads a damaged file: losses are reported, and there are never more rows than in the footer.
pub fn salvage(data: &[u8]) {
    let Some((choice, rest)) = data.split_first() else { return };
    let mode = [OnCorrupt::SkipPage, OnCorrupt::NullPage, OnCorrupt::SkipRowGroup][usize::from(choice % 3)];
    let options = options().with_on_corrupt(mode).with_page_checksum_verification(choice & 4 != 0);
    let source: Arc<dyn Source> = Arc::new(Bytes::copy_from_slice(rest));
    earned((96 << 20) + 16_384 * data.len(), || {
        let Ok(file) = OpenFile::new(source, options) else { return };
        let _ = rows(&file, 0, ROWS, 1 + usize::from(choice >> 3) * 30);
    });
}

/// The types that the `parquet` crate gives, those of the stored Arrow schema among them.
fn builder(bytes: Bytes, sum: usize) {
    let options = options().with_skip_arrow_metadata(sum % 4 == 1);
    let Ok(builder) = ParquetRecordBatchReaderBuilder::try_new_with_options(bytes, options) else {
        return;
    };
    let Ok(reader) = builder.with_batch_size(1 + sum % 500).with_limit(ROWS).build() else {
        return;
    };
    let schema = reader.schema();
    for batch in reader.map_while(Result::ok) {
        assert_eq!(batch.schema(), schema);
        valid(&batch);
    }
}

fn rows(file: &OpenFile, offset: usize, limit: usize, batch_size: usize) -> Result<RecordBatch, ArrowError> {
    let reader = file.clone().offset(offset).limit(limit).batch_size(batch_size).batches();
    let reader = reader.map_err(|error| ArrowError::ExternalError(Box::new(error)))?;
    let schema = reader.schema();
    let batches = reader.collect::<Result<Vec<_>, _>>()?;
    batches.iter().for_each(valid);
    // Concatenating has bounds of its own: offsets of 32 bits, keys of 8.
    concat_batches(&schema, &batches)
}

fn valid(batch: &RecordBatch) {
    for column in batch.columns() {
        column.to_data().validate_full().expect("an array that Arrow takes");
    }
}

/// Limits that are far below the defaults.
pub(crate) fn limits() -> Limits {
    Limits::default()
        .with_page_bytes(1 << 20)
        .with_page_header_bytes(1 << 16)
        .with_free_page_bytes(1 << 16)
        .with_decompression_ratio(100)
        .with_batch_bytes(16 << 20)
        .with_schema_nodes(1_000)
}

pub(crate) fn options() -> ArrowReaderOptions {
    // Hardly any input that is worth reading has a right checksum.
    ArrowReaderOptions::new().with_limits(limits()).with_page_checksum_verification(false)
}

/// Maximum number of rows that are read.
const ROWS: usize = 2_000;
