//! Writes what was read, and reads it again.

use crate::file::options;
use crate::memory::earned;
use arrow_array::RecordBatch;
use arrow_select::concat::concat_batches;
use bytes::Bytes;
use marquetry::arrow::ArrowWriter;
use marquetry::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use marquetry::basic::Compression;
use marquetry::file::properties::{WriterProperties, WriterVersion};

/// The first byte chooses settings, the rest is a file. Rows that can be read can be written, and must survive it.
pub fn round_trip(data: &[u8]) {
    let Some((choice, rest)) = data.split_first() else { return };
    let allowed = (160 << 20) + 16_384 * data.len();
    earned(allowed, || {
        let Some(batch) = rows(Bytes::copy_from_slice(rest)) else { return };
        let properties = WriterProperties::builder()
            .set_dictionary_enabled(choice & 1 != 0)
            .set_writer_version(if choice & 2 != 0 {
                WriterVersion::PARQUET_2_0
            } else {
                WriterVersion::PARQUET_1_0
            })
            .set_compression(if choice & 4 != 0 { Compression::SNAPPY } else { Compression::UNCOMPRESSED })
            .set_data_page_row_count_limit(1 + usize::from(choice >> 3) * 7)
            .build();
        // Types that Parquet cannot represent are refused.
        let Ok(mut writer) = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)) else {
            return;
        };
        let file = match writer.write(&batch).and_then(|()| writer.into_inner()) {
            Ok(file) => file,
            // Damaged files have decimals that are too large for their type.
            Err(error) if error.to_string().contains("a decimal of more than") => return,
            Err(error) => panic!("{error}"),
        };
        let again = rows(file.into()).expect("a file that was written");
        assert_eq!(again.columns(), batch.columns());
    });
}

fn rows(bytes: Bytes) -> Option<RecordBatch> {
    let builder = ParquetRecordBatchReaderBuilder::try_new_with_options(bytes, options()).ok()?;
    let reader = builder.with_batch_size(ROWS).with_limit(ROWS).build().ok()?;
    let schema = arrow_array::RecordBatchReader::schema(&reader);
    let batches = reader.collect::<Result<Vec<_>, _>>().ok()?;
    concat_batches(&schema, &batches).ok()
}

const ROWS: usize = 1_000;
