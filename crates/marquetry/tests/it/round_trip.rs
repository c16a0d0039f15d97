//! Any batch, written with any properties, comes back: the same schema, the same values.

use crate::arrays;
use crate::arrays::Random;
use crate::cells;
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{FieldRef, Schema};
use bytes::Bytes;
use marquetry::arrow::ArrowWriter;
use marquetry::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use marquetry::basic::{BrotliLevel, Compression, Encoding, GzipLevel, ZstdLevel};
use marquetry::file::metadata::KeyValue;
use marquetry::file::properties::{
    BloomFilterPosition, Compat, EnabledStatistics, WriterProperties, WriterVersion,
};
use marquetry::schema::types::ColumnPath;
use proptest::prelude::*;
use std::sync::Arc;

/// Properties of which any may differ from the default.
fn properties(random: &mut Random, schema: &Schema) -> WriterProperties {
    let mut builder = WriterProperties::builder()
        .set_compression(random.pick(&[
            Compression::UNCOMPRESSED,
            Compression::SNAPPY,
            Compression::GZIP(GzipLevel::try_new(1).unwrap()),
            Compression::BROTLI(BrotliLevel::try_new(1).unwrap()),
            Compression::ZSTD(ZstdLevel::try_new(-5).unwrap()),
            Compression::ZSTD(ZstdLevel::try_new(1).unwrap()),
            Compression::LZ4_RAW,
        ]))
        .set_compat(random.pick(&[Compat::Maximum, Compat::Modern, Compat::Latest]))
        .set_writer_version(random.pick(&[WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0]))
        .set_statistics_enabled(random.pick(&[
            EnabledStatistics::None,
            EnabledStatistics::Chunk,
            EnabledStatistics::Page,
            EnabledStatistics::Page,
        ]))
        .set_data_page_size_limit(random.pick(&[1, 100, 4096, 1 << 20]))
        .set_data_page_row_count_limit(random.pick(&[1, 7, 100, 20_000]))
        .set_dictionary_page_size_limit(random.pick(&[1, 100, 1 << 20]))
        .set_max_row_group_row_count(Some(random.pick(&[3, 50, 1 << 20])))
        .set_page_checksums(!random.one_in(4))
        .set_total_order(random.one_in(4))
        .set_write_page_header_statistics(random.one_in(4))
        .set_bloom_filter_enabled(random.one_in(4))
        .set_bloom_filter_position(
            random.pick(&[BloomFilterPosition::End, BloomFilterPosition::AfterRowGroup]),
        )
        .set_threads(random.pick(&[1, 1, 2]))
        .set_statistics_truncate_length(random.pick(&[None, Some(1), Some(64)]))
        .set_column_index_truncate_length(random.pick(&[None, Some(1), Some(64)]));
    if random.one_in(4) {
        builder = builder.set_dictionary_enabled(random.one_in(2));
    }
    if random.one_in(4) {
        builder = builder.set_max_row_group_bytes(Some(random.pick(&[1, 1000, 100_000])));
    }
    if random.one_in(4) {
        builder = builder.set_memory_limit(Some(random.pick(&[1, 10_000])));
    }
    for field in schema.fields() {
        let encoding = random.pick(&[
            Encoding::PLAIN,
            Encoding::RLE,
            Encoding::RLE_DICTIONARY,
            Encoding::DELTA_BINARY_PACKED,
            Encoding::DELTA_LENGTH_BYTE_ARRAY,
            Encoding::DELTA_BYTE_ARRAY,
            Encoding::BYTE_STREAM_SPLIT,
            Encoding::ALP,
        ]);
        if random.one_in(2) && is_legal(field, encoding) {
            builder = builder.set_column_encoding(ColumnPath::from(field.name().as_str()), encoding);
        }
    }
    builder.build()
}

/// Whether all leaves of the field may be encoded so.
fn is_legal(field: &FieldRef, encoding: Encoding) -> bool {
    let column = ColumnPath::from(field.name().as_str());
    let properties = WriterProperties::builder().set_column_encoding(column, encoding).build();
    let schema = Schema::new(vec![field.clone()]);
    ArrowWriter::try_new(Vec::new(), Arc::new(schema), Some(properties)).is_ok()
}

fn write(batches: &[RecordBatch], schema: &Arc<Schema>, properties: WriterProperties) -> Bytes {
    let mut file = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut file, schema.clone(), Some(properties)).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.append_key_value_metadata(KeyValue { key: "k".into(), value: Some("v".into()) }).unwrap();
    let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
    assert_eq!(writer.close().unwrap().num_rows(), rows as u64);
    Bytes::from(file)
}

/// Cases of a quick run; a slow one has ten times as many.
fn cases(quick: u32) -> ProptestConfig {
    let times = if std::env::var_os("MARQUETRY_SLOW").is_some() { 10 } else { 1 };
    ProptestConfig::with_cases(quick * times)
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn any_batch_comes_back(seed: u64) {
        let random = &mut Random(seed);
        let columns = 1 + random.below(4);
        let schema = Arc::new(arrays::schema(random, columns, 3));
        let sizes = random.pick(&[vec![0usize], vec![1], vec![5, 0, 3], vec![40, 100], vec![700]]);
        let batches: Vec<_> = sizes.iter().map(|&rows| arrays::batch(random, &schema, rows)).collect();
        let file = write(&batches, &schema, properties(random, &schema));

        let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().with_batch_size(64).build().unwrap();
        let back = reader.schema();
        prop_assert_eq!(back.fields(), schema.fields());
        prop_assert_eq!(back.metadata().get("k").map(String::as_str), Some("v"));
        let written = cells::columns(batches.iter().cloned().map(Ok::<_, arrow_schema::ArrowError>)).unwrap();
        let read = cells::columns(reader).unwrap();
        let rows: usize = sizes.iter().sum();
        for (i, field) in schema.fields().iter().enumerate() {
            let (written, read) = (written.get(i), read.get(i));
            if rows == 0 {
                prop_assert!(read.is_none_or(Vec::is_empty));
                continue;
            }
            prop_assert_eq!(read, written, "{}", field);
        }
    }

}

proptest! {
    #![proptest_config(cases(30))]

    #[test]
    fn the_bytes_do_not_depend_on_threads(seed: u64) {
        let random = &mut Random(seed);
        let schema = Arc::new(arrays::schema(random, 5, 2));
        let batches: Vec<_> = [60, 200].map(|rows| arrays::batch(random, &schema, rows)).into();
        let properties = properties(random, &schema);
        let with = |threads| {
            let properties = properties.clone().into_builder().set_threads(threads).build();
            write(&batches, &schema, properties)
        };
        let one = with(1);
        prop_assert_eq!(&one, &with(2));
        prop_assert_eq!(&one, &with(5));
    }

    #[test]
    fn a_table_at_once_has_the_bytes_of_its_batches(seed: u64) {
        let random = &mut Random(seed);
        let schema = Arc::new(arrays::schema(random, 4, 2));
        let sizes = random.pick(&[vec![60usize, 0, 200], vec![1], vec![0], vec![9_000, 500]]);
        let batches: Vec<_> = sizes.iter().map(|&rows| arrays::batch(random, &schema, rows)).collect();
        let mut properties = properties(random, &schema);
        if sizes[0] > 1000 {
            // Not thousands of row groups.
            properties = properties.into_builder().set_max_row_group_row_count(Some(random.pick(&[700, 1 << 20]))).build();
        }
        let with = |threads, at_once: bool| {
            let properties = properties.clone().into_builder().set_threads(threads).build();
            let mut writer = ArrowWriter::try_new(Vec::new(), schema.clone(), Some(properties)).unwrap();
            match at_once {
                true => writer.write_table(&batches).unwrap(),
                false => batches.iter().for_each(|batch| writer.write(batch).unwrap()),
            }
            writer.flush().unwrap();
            // A row group behind it, which begins with nothing that is left of it.
            writer.write(&batches[0]).unwrap();
            writer.into_inner().unwrap()
        };
        let batch_by_batch = with(1, false);
        prop_assert!(batch_by_batch == with(1, true));
        prop_assert!(batch_by_batch == with(2, true));
        prop_assert!(batch_by_batch == with(7, true));
    }
}
