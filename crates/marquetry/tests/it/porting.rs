//! The table of calls in `marquetry::porting`: each call in it is made here or in `porting_async`, with the arguments that it names.

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, Int32Array, RecordBatch, RecordBatchReader, StringArray, StructArray,
};
use arrow_schema::{DataType, Field};
use bytes::Bytes;
use marquetry::arrow::arrow_reader::statistics::StatisticsConverter;
use marquetry::arrow::arrow_reader::{
    ArrowPredicateFn, ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder, RowFilter,
    RowNumber, RowSelection, RowSelector,
};
use marquetry::arrow::arrow_writer::compute_leaves;
use marquetry::arrow::{ARROW_SCHEMA_META_KEY, ArrowWriter, PARQUET_FIELD_ID_META_KEY, ProjectionMask};
use marquetry::basic::{Compression, Encoding, PhysicalType};
use marquetry::errors::{ErrorKind, Limits, Result};
use marquetry::file::metadata::{KeyValue, SortingColumn};
use marquetry::file::page_index::read_bloom_filter;
use marquetry::file::properties::{
    CdcOptions, DEFAULT_MAX_ROW_GROUP_ROW_COUNT, EnabledStatistics, WriterProperties,
};
use marquetry::file::{DecodeResult, ParquetMetaDataPushDecoder, read_metadata};
use marquetry::internals::encoding::Values;
use marquetry::low_level::{
    ColumnValues, ColumnWriter, DefinitionLevels, FileSettings, FileWriter, ShreddedColumn, Workspace,
};
use marquetry::predicate::Predicate;
use marquetry::prune::TrustedStatistics;
use marquetry::schema::types::{LogicalType, TimeUnit};
use marquetry::schema::{NodeKind, Schema};
use std::fs::File;
use std::sync::Arc;

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/wines.parquet");

pub(crate) fn wines() -> Bytes {
    std::fs::read(PATH).unwrap().into()
}

fn opened() -> ArrowReaderMetadata {
    ArrowReaderMetadata::load(wines(), ArrowReaderOptions::new()).unwrap()
}

#[test]
fn metadata_is_loaded_once() -> Result<()> {
    let options = ArrowReaderOptions::new();
    let loaded = ArrowReaderMetadata::load(File::open(PATH)?, options.clone())?;
    let again = ArrowReaderMetadata::try_new(loaded.metadata().clone(), options)?;
    assert_eq!(loaded.schema(), again.schema());
    let mask = ProjectionMask::all();
    let cached = loaded.with_cached_page_index(wines(), &mask)?;
    let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(wines(), cached.clone()).build()?;
    assert_eq!(reader.map(|batch| batch.unwrap().num_rows()).sum::<usize>(), 200);
    assert!(cached.memory_size() > cached.metadata().memory_size());
    let index = cached.read_page_index(wines(), &mask)?;
    assert_eq!(index.column_index(1, 2).map(|it| it.min_values.len()), Some(1));
    assert_eq!(index.offset_index(1, 2).map(|it| it.page_locations.len()), Some(1));
    let metadata = read_metadata(&wines(), &Limits::default())?.metadata;
    assert!(metadata == **cached.metadata());
    let decoder = ParquetMetaDataPushDecoder::new(wines().len() as u64);
    let DecodeResult::NeedsData(ranges) = decoder.try_decode()? else { panic!("nothing was pushed") };
    let buffers = ranges.iter().map(|it| wines().slice(it.start as usize..it.end as usize)).collect();
    decoder.push_ranges(ranges, buffers)?;
    assert!(matches!(decoder.try_decode()?, DecodeResult::Data(decoded) if decoded == metadata));
    Ok(())
}

#[test]
fn options_choose_the_schema() -> Result<()> {
    let schema = opened().schema().clone();
    let row = Field::new("row", DataType::Int64, false).with_extension_type(RowNumber);
    let options = ArrowReaderOptions::new()
        .with_schema(schema.clone())
        .with_skip_arrow_metadata(true)
        .with_page_index(false)
        .with_virtual_columns(vec![row.into()])?;
    let builder = ParquetRecordBatchReaderBuilder::try_new_with_options(wines(), options)?;
    assert_eq!(builder.schema().fields().len(), schema.fields().len() + 1);
    Ok(())
}

#[test]
fn a_builder_takes_what_it_took() -> Result<()> {
    let builder = ParquetRecordBatchReaderBuilder::try_new(wines())?;
    let schema = builder.parquet_schema();
    let masks = [
        ProjectionMask::roots(schema, [2]),
        ProjectionMask::leaves(schema, [2]),
        ProjectionMask::columns(schema, ["year"]),
    ];
    assert!(masks.iter().all(|mask| *mask == masks[0]) && masks[0] != ProjectionMask::all());
    assert!(!ProjectionMask::field_ids(schema, [1]).leaf_included(0));
    let year = masks[0].clone();
    let after_2010 = ArrowPredicateFn::new(year.clone(), |batch: RecordBatch| {
        let years = batch.column(0).as_primitive::<Int32Type>();
        Ok(years.iter().map(|year| year.map(|year| year > 2010)).collect::<BooleanArray>())
    });
    let selection = RowSelection::from(vec![RowSelector::skip(20), RowSelector::select(80)]);
    let other = RowSelection::from_consecutive_ranges(std::iter::once(10..90), 100);
    let both = selection.intersection(&other);
    assert_eq!(
        (
            both.row_count(),
            both.and_then(&RowSelection::from(vec![RowSelector::select(5), RowSelector::skip(65)]))
                .row_count()
        ),
        (70, 5)
    );
    let reader = builder
        .with_batch_size(16)
        .with_projection(year)
        .with_row_groups(vec![1])
        .with_row_selection(both)
        .with_row_filter(RowFilter::new(vec![Box::new(after_2010)]))
        .with_offset(1)
        .with_limit(10)
        .build()?;
    let batches: Vec<RecordBatch> = reader.collect::<std::result::Result<_, _>>().unwrap();
    assert_eq!(batches.iter().map(RecordBatch::num_rows).sum::<usize>(), 10);
    let years =
        batches.iter().flat_map(|batch| batch.column(0).as_primitive::<Int32Type>().values().to_vec());
    assert!(years.into_iter().all(|year| year > 2010));
    Ok(())
}

#[test]
fn statistics_are_arrays() -> Result<()> {
    let opened = opened();
    let index = opened.read_page_index(wines(), &ProjectionMask::all())?;
    let year = StatisticsConverter::try_new("year", opened.schema(), opened.parquet_schema())?;
    let same = opened.statistics("year")?;
    assert_eq!(year.parquet_column_index(), same.parquet_column_index());
    let groups = || opened.metadata().row_groups();
    let (mins, maxes) = (year.row_group_mins(groups())?, year.row_group_maxes(groups())?);
    assert_eq!(mins.as_primitive::<Int32Type>().values(), &[1985, 1985]);
    assert_eq!(maxes.as_primitive::<Int32Type>().values(), &[2022, 2022]);
    assert_eq!(year.row_group_null_counts(groups())?.values(), &[0, 0]);
    assert_eq!(year.row_group_row_counts(groups()).values(), &[100, 100]);
    assert_eq!(year.row_group_is_min_value_exact(groups())?, BooleanArray::from(vec![true, true]));
    assert_eq!(year.row_group_is_max_value_exact(groups())?, BooleanArray::from(vec![true, true]));
    assert!(
        year.data_page_mins(&index, groups())? == mins && year.data_page_maxes(&index, groups())? == maxes
    );
    assert_eq!(year.data_page_null_counts(&index, groups())?.values(), &[0, 0]);
    assert_eq!(year.data_page_row_counts(&index, groups())?.values(), &[100, 100]);
    let known = TrustedStatistics::of_chunk(opened.metadata().row_group(0), 2)?;
    assert_eq!(known.min.as_deref(), Some(&1985i32.to_le_bytes()[..]));
    Ok(())
}

#[test]
fn metadata_is_asked_by_methods() -> Result<()> {
    let opened = opened();
    let metadata = opened.metadata();
    assert_eq!((metadata.num_rows(), metadata.version(), metadata.num_row_groups()), (200, 2, 2));
    assert_eq!((metadata.schema().num_columns(), metadata.row_groups().len()), (9, 2));
    assert!(metadata.created_by().unwrap().starts_with("parquet-cpp-arrow"));
    assert!(metadata.key_value_metadata().iter().all(|pair| !pair.key.is_empty()));
    let group = metadata.row_group(0);
    assert_eq!((group.num_rows(), group.columns().count(), group.sorting_columns().len()), (100, 9, 0));
    assert!(group.total_byte_size() > 0);
    let chunk = group.column(1)?;
    assert_eq!(chunk.byte_range()?, 719..719 + chunk.compressed_size() as u64);
    assert_eq!((chunk.uncompressed_size(), chunk.num_values(), chunk.encodings().len()), (154, 100, 3));
    assert_eq!(chunk.statistics().unwrap().max_value, Some(&b"Spain"[..]));
    Ok(())
}

#[test]
fn a_writer_says_what_it_has() -> Result<()> {
    let columns: [(&str, ArrayRef); 2] = [
        ("name", Arc::new(StringArray::from(vec!["Barolo", "Rioja"]))),
        ("year", Arc::new(Int32Array::from(vec![2016, 2019]))),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let sorted = SortingColumn { column_idx: 1, descending: false, nulls_first: true };
    let properties = WriterProperties::builder()
        .set_arrow_schema(false)
        .set_sorting_columns(Some(vec![sorted]))
        .set_content_defined_chunking(Some(CdcOptions { norm_level: 1, ..CdcOptions::default() }))
        .set_column_bloom_filter_enabled("name".into(), true)
        .build();
    let mut file = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut file, batch.schema(), Some(properties))?;
    writer.write(&batch)?;
    assert_eq!(writer.in_progress_rows(), 2);
    assert!(writer.memory_size() > 0 && writer.in_progress_size() > 0);
    writer.flush()?;
    assert!(writer.bytes_written() > 0 && writer.in_progress_rows() == 0);
    writer.append_key_value_metadata(KeyValue { key: "origin".into(), value: Some("test".into()) }).unwrap();
    let metadata = writer.close()?;
    assert!(metadata.value_of(ARROW_SCHEMA_META_KEY).is_none());
    assert_eq!(metadata.value_of("origin").as_deref(), Some("test"));
    assert_eq!(PARQUET_FIELD_ID_META_KEY, "PARQUET:field_id");
    let file = Bytes::from(file);
    let chunk = metadata.row_group(0).column(0)?;
    let filter = read_bloom_filter(&file, chunk, &Limits::default())?.unwrap();
    assert!(filter.might_contain(b"Rioja"));
    let reader = ParquetRecordBatchReaderBuilder::try_new(file)?.build()?;
    assert_eq!(reader.schema().fields(), batch.schema().fields());
    Ok(())
}

#[test]
fn properties_and_schemas_have_their_names() -> Result<()> {
    let column: ArrayRef = Arc::new(Int32Array::from(vec![3, 1, 2]));
    let batch = RecordBatch::try_from_iter([("id", column)]).unwrap();
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_created_by("an engine")
        .set_max_row_group_row_count(Some(2))
        .set_max_row_group_bytes(Some(1 << 20))
        .set_data_page_size_limit(1 << 16)
        .set_dictionary_page_size_limit(1 << 17)
        .set_column_dictionary_enabled("id".into(), false)
        .build();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties))?;
    writer.write(&batch)?;
    assert!(writer.bytes_written() + writer.in_progress_size() as u64 > 0);
    let metadata = writer.finish()?;
    assert_eq!((metadata.created_by(), metadata.num_row_groups()), (Some("an engine"), 2));
    assert!(metadata.row_group(1).head().file_offset.is_some_and(|offset| offset > 4));
    let len = writer.bytes_written();
    assert_eq!(len, writer.into_sink().len() as u64);

    let schema = Schema::parse(
        "message m { required group a (MAP) = 7 { repeated group key_value { required int32 key = 8; optional int64 value (TIMESTAMP(MICROS,true)) = 9; } } }",
    )?;
    let (leaf, node) = (schema.column(1), &schema.fields()[0]);
    assert_eq!((schema.columns().len(), leaf.path().len(), node.field_id()), (2, 3, Some(7)));
    assert!(leaf.logical().is_some() && leaf.physical().to_string() == "INT64");
    assert_eq!(marquetry::open(PATH)?.metadata(), marquetry::open_bytes(wines())?.metadata());
    assert!(!ProjectionMask::none(9).leaf_included(0));
    Ok(())
}

#[test]
fn columns_are_written_by_the_host() -> Result<()> {
    let column: ArrayRef = Arc::new(Int32Array::from(vec![3, 1, 2]));
    let batch = RecordBatch::try_from_iter([("id", column)]).unwrap();
    let writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None)?;
    let (mut file, factory) = writer.into_serialized_writer()?;
    let mut columns = factory.create_column_writers(0)?;
    for (field, array) in batch.schema().fields().iter().zip(batch.columns()) {
        for (column, leaf) in columns.iter_mut().zip(compute_leaves(field, array)?) {
            column.write(&leaf)?;
            assert!(column.get_estimated_total_bytes() > 0 && column.memory_size() > 0);
        }
    }
    let mut row_group = file.next_row_group()?;
    for column in columns {
        column.close()?.append_to_row_group(&mut row_group)?;
    }
    row_group.close()?;
    assert_eq!(file.close()?.num_rows(), 3);
    Ok(())
}

#[test]
fn selections_are_made_and_asked() {
    let selection = RowSelection::from(vec![RowSelector::skip(20), RowSelector::select(80)]);
    let other = RowSelection::from(vec![RowSelector::select(30), RowSelector::skip(70)]);
    let either = selection.union(&other);
    assert!(either.selects_any() && !RowSelection::from(vec![RowSelector::skip(9)]).selects_any());
    assert_eq!((either.row_count(), selection.skipped_row_count()), (100, 20));
}

#[test]
fn columns_and_indexes_say_what_they_are() -> Result<()> {
    let opened = opened();
    let (group, schema) = (opened.metadata().row_group(1), opened.parquet_schema());
    let column = group.column(2)?;
    let leaf = column.leaf();
    assert!(matches!(schema.fields()[leaf.root()].kind(), NodeKind::Leaf(2)));
    assert_eq!((leaf.name(), leaf.max_rep(), column.file_path()), ("year", 0, None));
    assert!(schema.fields().iter().any(|node| matches!(node.kind(), NodeKind::Group(_))));
    assert!(column.column_index_range().is_some() && column.offset_index_range().is_some());
    assert_eq!(column.statistics().unwrap().distinct_count, None);
    let known = TrustedStatistics::of_chunk(group, 2)?;
    assert_eq!((known.is_min_exact, known.is_max_exact), (Some(true), Some(true)));

    let index = opened.read_page_index(wines(), &ProjectionMask::all())?;
    let bounds = index.column_index(1, 2).unwrap();
    assert_eq!((&bounds.min_values[0], &bounds.max_values[0]), (&vec![0xc1, 7, 0, 0], &vec![0xe6, 7, 0, 0]));
    assert_eq!(bounds.null_counts.as_deref(), Some(&[0][..]));
    assert_eq!(index.offset_index(1, 2).unwrap().page_locations[0].first_row_index, 0);
    let year = opened.statistics("year")?;
    assert_eq!((year.parquet_column_index(), year.arrow_field().name().as_str()), (Some(2), "year"));

    // However old the words are that a type is written with.
    let old = Schema::parse(
        "message m {
            required int64 at (TIMESTAMP_MICROS);
            required fixed_len_byte_array(9) price (DECIMAL(20, 2));
            required int32 few (INT_8);
        }",
    )?;
    let types: Vec<_> = old.columns().iter().map(|leaf| leaf.logical().unwrap().clone()).collect();
    assert_eq!(
        types,
        [
            LogicalType::Timestamp { utc: true, unit: TimeUnit::Micros },
            LogicalType::Decimal { precision: 20, scale: 2 },
            LogicalType::Integer { bits: 8, signed: true },
        ]
    );
    assert_eq!(old.column(1).physical(), PhysicalType::FixedLenByteArray(9));
    Ok(())
}

#[test]
fn a_reader_says_what_it_did() -> Result<()> {
    let builder = ParquetRecordBatchReaderBuilder::try_new(wines())?;
    let mut reader = builder.with_predicate(Predicate::parse("year >= 2015")?).build()?;
    let rows: usize = reader.by_ref().map(|batch| batch.unwrap().num_rows()).sum();
    let metrics = reader.metrics();
    assert_eq!((metrics.rows, metrics.rows + metrics.filtered_rows), (rows as u64, 200));
    Ok(())
}

#[test]
fn properties_are_set_by_their_names() -> Result<()> {
    let names: ArrayRef = Arc::new(StringArray::from_iter_values((0..500).map(|i| format!("name {i}"))));
    let batch = RecordBatch::try_from_iter([("id", names.clone()), ("name", names)]).unwrap();
    let origin = KeyValue::new("origin", "test".to_owned());
    let properties = WriterProperties::builder()
        .set_statistics_enabled(EnabledStatistics::Page)
        .set_dictionary_enabled(false)
        .set_encoding(Encoding::DELTA_BYTE_ARRAY)
        .set_column_compression("id".into(), Compression::UNCOMPRESSED)
        .set_bloom_filter_enabled(true)
        .set_bloom_filter_fpp(0.01)
        .set_bloom_filter_ndv(500)
        .set_bloom_filter_max_ndv(1_000)
        .set_column_bloom_filter_fpp("id".into(), 0.1)
        .set_column_bloom_filter_ndv("id".into(), 400)
        .set_statistics_truncate_length(Some(6))
        .set_column_index_truncate_length(Some(6))
        .set_data_page_row_count_limit(100)
        .set_write_batch_size(64)
        .set_key_value_metadata(Some(vec![origin]))
        .set_sorting_columns(None)
        .build();
    assert_eq!(properties.max_row_group_row_count(), Some(DEFAULT_MAX_ROW_GROUP_ROW_COUNT));
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties))?;
    writer.write(&batch)?;
    let file = Bytes::from(writer.into_inner()?);
    let opened = ArrowReaderMetadata::load(file.clone(), ArrowReaderOptions::new())?;
    let column = opened.metadata().row_group(0).column(0)?;
    assert_eq!(column.statistics().unwrap().min_value, Some(&b"name 0"[..]));
    assert_eq!(column.compression().to_string(), "UNCOMPRESSED");
    assert_eq!(opened.metadata().value_of("origin").as_deref(), Some("test"));
    let index = opened.read_page_index(file, &ProjectionMask::all())?;
    assert_eq!(index.offset_index(0, 0).unwrap().page_locations.len(), 5);
    Ok(())
}

#[cfg(feature = "encryption")]
#[test]
fn files_are_encrypted_and_decrypted() -> Result<()> {
    use marquetry::file::encryption::{FileDecryptionProperties, FileEncryptionProperties};
    let column: ArrayRef = Arc::new(Int32Array::from(vec![3, 1, 2]));
    let batch = RecordBatch::try_from_iter([("id", column)]).unwrap();
    let (footer_key, column_key) = (vec![1; 16], vec![2; 16]);
    let encryption = FileEncryptionProperties::builder(footer_key.clone())
        .with_plaintext_footer(true)
        .with_footer_key_metadata(b"of footers".to_vec())
        .with_column_key_and_metadata("id", column_key.clone(), b"of id".to_vec())
        .with_aad_prefix(b"table".to_vec())
        .with_aad_prefix_storage(false)
        .build()?;
    let properties = WriterProperties::builder().with_file_encryption_properties(encryption).build();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties))?;
    writer.write(&batch)?;
    let file = Bytes::from(writer.into_inner()?);
    let decryption = FileDecryptionProperties::builder(footer_key)
        .with_column_key("id", column_key)
        .with_aad_prefix(b"table".to_vec())
        .build()?;
    let options = ArrowReaderOptions::new().with_file_decryption_properties(decryption);
    let mut reader = ParquetRecordBatchReaderBuilder::try_new_with_options(file.clone(), options)?.build()?;
    assert!(reader.next_batch().unwrap()? == batch);
    let without = ParquetRecordBatchReaderBuilder::try_new(file)?.build();
    assert_eq!(
        without.and_then(|mut reader| reader.next_batch().unwrap()).unwrap_err().kind(),
        ErrorKind::Key
    );
    Ok(())
}

/// What iceberg-rust writes with `SerializedFileWriter` because its Arrow writer has no INT96.
#[test]
fn columns_without_arrow() -> Result<()> {
    let schema = Schema::parse("message m { required int32 id; }")?;
    let settings = WriterProperties::default().column_settings(schema.column(0))?;
    let (mut column, mut workspace) = (ColumnWriter::new(schema.column(0), &settings)?, Workspace::new());
    let values = ColumnValues::Values(Values::W32(vec![4, 5, 6]));
    column.write(&ShreddedColumn::flat(3, DefinitionLevels::Max, values), &mut workspace)?;
    let (chunk, _) = column.close(&mut workspace)?;
    let mut file = FileWriter::new(Vec::new(), schema.to_thrift(), FileSettings::default())?;
    file.write_row_group(3, vec![chunk], None)?;
    let file = Bytes::from(file.finish()?.0);
    let batch = ParquetRecordBatchReaderBuilder::try_new(file)?.build()?.next().unwrap().unwrap();
    assert_eq!(batch.column(0).as_primitive::<Int32Type>().values(), &[4, 5, 6]);
    Ok(())
}

#[test]
fn variants_are_written_and_read() {
    use marquetry::variant::{
        Value, Variant, VariantArrayBuilder, VariantColumn, Writer, is_variant, json, variant_get,
    };
    let mut builder = VariantArrayBuilder::new();
    builder.append_json(r#"{"a": 5}"#).unwrap();
    builder.append_null();
    let made: ArrayRef = Arc::new(builder.finish().unwrap());
    let found = variant_get(&made, &"a".parse().unwrap(), "int".parse().unwrap()).unwrap();
    assert_eq!(found.as_primitive::<Int32Type>().iter().collect::<Vec<_>>(), [Some(5), None]);
    let mut writer = Writer::new();
    writer.write(&Value::Int32(7)).unwrap();
    let (metadata, value) = writer.finish().unwrap();
    assert_eq!(json::to_string(Variant::new(&metadata, &value).unwrap()).unwrap(), "7");
    let columns: [(Field, ArrayRef); 2] = [
        (Field::new("metadata", DataType::Binary, false), Arc::new(BinaryArray::from(vec![&metadata[..]]))),
        (Field::new("value", DataType::Binary, false), Arc::new(BinaryArray::from(vec![&value[..]]))),
    ];
    let (fields, arrays): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
    let array = StructArray::new(fields.into(), arrays, None);
    let column = VariantColumn::try_new(&array).unwrap();
    assert_eq!(json::to_string(column.reader().get(0).unwrap().unwrap()).unwrap(), "7");
    assert!(!is_variant(&Field::new("a", DataType::Int32, false)));
}

/// What the table says is called, found in these files.
#[test]
fn each_call_of_the_table_is_made() {
    let text = include_str!("../../src/porting.rs");
    let calls = [include_str!("porting.rs"), include_str!("porting_async.rs")].concat();
    let table = text.split("# Calls of engines").nth(1).unwrap().split("# Versions").next().unwrap();
    let rows: Vec<&str> = table.lines().filter(|line| line.starts_with("//! | `")).skip(1).collect();
    assert!(rows.len() > 25, "{} rows", rows.len());
    let mut checked = 0;
    for row in rows {
        let cells: Vec<&str> = row.trim_start_matches("//! |").trim_end_matches('|').split(" | ").collect();
        let [theirs, ours] = cells[..] else { panic!("two columns: {row}") };
        let ours = if ours.starts_with("the same") { theirs } else { ours };
        // Each second part of a text between backticks is code.
        for code in ours.split('`').skip(1).step_by(2) {
            // The words of a call: types, methods, not arguments.
            let call = code.split('(').next().unwrap();
            let words = call.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| word.len() > 2);
            for word in words.filter(|word| {
                ![
                    "index",
                    "metadata",
                    "group",
                    "builder",
                    "filter",
                    "object_store",
                    "selection",
                    "converter",
                    "offset_index",
                    "statistics",
                    "decoder",
                    "marquetry",
                ]
                .contains(word)
            }) {
                assert!(calls.contains(word), "{word} of {row}");
                checked += 1;
            }
        }
    }
    assert!(checked > 80, "{checked}");
}
