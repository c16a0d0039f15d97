//! Footers and page indexes that are read once, kept, and given to many readers.
#![allow(clippy::single_range_in_vec_init)] // What is asked for may well be one range.

use crate::arrays::Random;
use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, TimeUnit};
use bytes::Bytes;
use marquetry::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use marquetry::arrow::{ArrowWriter, ProjectionMask};
use marquetry::errors::{ErrorKind, Limits, Result};
use marquetry::file::metadata::ParquetMetaData;
use marquetry::file::page_index::{PageIndex, read_bloom_filter};
use marquetry::file::properties::WriterProperties;
use marquetry::file::{DecodeResult, ParquetMetaDataPushDecoder, Source, read_metadata};
use marquetry::internals::encoding::PhysicalType;
use marquetry::predicate::col;
use marquetry::schema::{Leaf, Schema};
use std::ops::Range;
use std::sync::{Arc, Mutex};

/// `columns` columns of numbers, and one of text with a bloom filter.
fn written(columns: usize, rows: usize) -> Bytes {
    let number =
        |i: usize| Arc::new(Int64Array::from_iter_values((0..rows as i64).map(|row| row + i as i64)));
    let mut fields: Vec<(String, ArrayRef)> =
        (0..columns).map(|i| (format!("column {i}"), number(i) as ArrayRef)).collect();
    let texts = StringArray::from_iter_values((0..rows).map(|row| format!("text {row}")));
    fields.push(("text".to_owned(), Arc::new(texts)));
    let table = RecordBatch::try_from_iter(fields).unwrap();
    let properties = WriterProperties::builder()
        .set_data_page_row_count_limit(100)
        .set_write_batch_size(100)
        .set_max_row_group_row_count(Some(1_000))
        .set_column_bloom_filter_enabled("text".into(), true);
    let mut file = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut file, table.schema(), Some(properties.build())).unwrap();
    writer.write(&table).unwrap();
    writer.close().unwrap();
    file.into()
}

/// A file that notes what is read of it.
struct Watched {
    file: Bytes,
    reads: Mutex<Vec<Range<u64>>>,
}

impl Source for Watched {
    fn len(&self) -> u64 {
        self.file.len() as u64
    }

    fn read_at(&self, offset: u64, len: usize) -> Result<Bytes> {
        self.reads.lock().unwrap().push(offset..offset + len as u64);
        self.file.read_at(offset, len)
    }
}

fn watched(file: &Bytes) -> Arc<Watched> {
    Arc::new(Watched { file: file.clone(), reads: Mutex::default() })
}

/// Pushes the requested bytes until there is a result. Returns it, with the number of requests and of pushed bytes.
fn pushed<T>(
    file: &Bytes,
    mut step: impl FnMut() -> Result<DecodeResult<T>>,
    decoder: &ParquetMetaDataPushDecoder,
) -> Result<(T, usize, u64)> {
    let (mut asked, mut bytes) = (0, 0);
    loop {
        match step()? {
            DecodeResult::Data(data) => return Ok((data, asked, bytes)),
            DecodeResult::NeedsData(ranges) => {
                assert!(ranges.iter().all(|range| range.start < range.end && range.end <= file.len() as u64));
                assert!(ranges.windows(2).all(|pair| pair[0].end < pair[1].start), "{ranges:?}");
                asked += 1;
                bytes += ranges.iter().map(|range| range.end - range.start).sum::<u64>();
                assert!(asked < 6, "asked for ever: {ranges:?}");
                let buffers =
                    ranges.iter().map(|it| file.slice(it.start as usize..it.end as usize)).collect();
                decoder.push_ranges(ranges, buffers)?;
            }
            _ => unreachable!(),
        }
    }
}

#[test]
fn a_footer_comes_of_what_is_pushed() {
    let (narrow, wide) = (written(2, 300), written(1_500, 3_000));
    assert!(wide.len() > 1 << 20);
    for file in [&narrow, &wide] {
        let expected = read_metadata(file, &Limits::default()).unwrap().metadata;
        let footer = file.len() as u64 - expected.data_end().unwrap();
        let new = || ParquetMetaDataPushDecoder::new(file.len() as u64);
        let decoder = new();
        let (metadata, asked, _) = pushed(file, || decoder.try_decode(), &decoder).unwrap();
        assert!(metadata == expected);
        assert!(asked <= 2, "{asked}");
        // With any part of the end of the file at hand, no more than the footer is requested.
        for tail in [8, 9, 100, 5_000, footer - 1, footer, footer + 1, 70_000, file.len() as u64] {
            let tail = tail.min(file.len() as u64);
            let decoder = new();
            decoder.push(file.len() as u64 - tail, file.slice((file.len() as u64 - tail) as usize..));
            let (metadata, asked, bytes) = pushed(file, || decoder.try_decode(), &decoder).unwrap();
            assert!(metadata == expected);
            assert_eq!(bytes, footer.saturating_sub(tail), "tail of {tail}, footer of {footer}");
            assert!(asked <= 1, "{asked}");
        }
        // The page index of some columns, in one go.
        let columns = [0, metadata_columns(&expected) - 1];
        let step = || decoder.try_decode_page_index(&expected, 0..expected.num_row_groups(), &columns);
        let (index, asked, _) = pushed(file, step, &decoder).unwrap();
        assert!(asked <= 1, "{asked}");
        let groups = 0..expected.num_row_groups();
        assert_eq!(index, PageIndex::read(file, &expected, groups, &columns, &Limits::default()).unwrap());
    }
}

fn metadata_columns(metadata: &ParquetMetaData) -> usize {
    metadata.schema().num_columns()
}

#[test]
fn wrong_files_are_errors_not_endless_questions() {
    let file = written(2, 300);
    let fails = |file: &Bytes, kind: ErrorKind| {
        let decoder = ParquetMetaDataPushDecoder::new(file.len() as u64);
        let error = pushed(file, || decoder.try_decode(), &decoder).unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
    };
    fails(&file.slice(..file.len() - 5), ErrorKind::Corrupt);
    fails(&file.slice(..7), ErrorKind::Truncated);
    fails(&Bytes::from(vec![7; 100_000]), ErrorKind::Corrupt);
    let mut damaged = file.to_vec();
    let footer = damaged.len() - 200;
    damaged[footer..].iter_mut().take(150).for_each(|byte| *byte ^= 0x55);
    let decoder = ParquetMetaDataPushDecoder::new(damaged.len() as u64);
    let damaged = Bytes::from(damaged);
    assert!(pushed(&damaged, || decoder.try_decode(), &decoder).is_err());
    let decoder = ParquetMetaDataPushDecoder::new(100);
    assert_eq!(decoder.push_ranges(vec![0..5], vec![]).unwrap_err().kind(), ErrorKind::Argument);
    let bytes = Bytes::from_static(b"four");
    assert_eq!(decoder.push_ranges(vec![0..5], vec![bytes]).unwrap_err().kind(), ErrorKind::Argument);
    let metadata = read_metadata(&file, &Limits::default()).unwrap().metadata;
    let decoder = ParquetMetaDataPushDecoder::new(file.len() as u64);
    assert_eq!(
        decoder.try_decode_page_index(&metadata, 0..1, &[77]).unwrap_err().kind(),
        ErrorKind::Argument
    );
}

#[test]
fn what_is_cached_is_not_read_again() {
    let file = written(3, 5_000);
    let options = ArrowReaderOptions::new();
    let opened = ArrowReaderMetadata::load(file.clone(), options).unwrap();
    let mask = ProjectionMask::columns(opened.parquet_schema(), ["column 0", "column 1"]);
    let cached = opened.clone().with_cached_page_index(file.clone(), &mask).unwrap();
    let groups = 0..opened.metadata().num_row_groups();
    let of_index: Vec<Range<u64>> = groups
        .flat_map(|group| [0, 1].map(|column| opened.metadata().row_group(group).column(column).unwrap()))
        .flat_map(|chunk| [chunk.column_index_range().unwrap(), chunk.offset_index_range().unwrap()])
        .collect();
    let read = |metadata: &ArrowReaderMetadata| {
        let source = watched(&file);
        let builder = ParquetRecordBatchReaderBuilder::<Arc<dyn Source>>::new_with_metadata(
            source.clone(),
            metadata.clone(),
        );
        let reader = builder
            .with_projection(mask.clone())
            .with_predicate(col("column 0").between(2_345, 2_400))
            .build();
        let rows: usize = reader.unwrap().map(|batch| batch.unwrap().num_rows()).sum();
        let reads = source.reads.lock().unwrap().clone();
        (
            rows,
            reads
                .iter()
                .filter(|it| of_index.iter().any(|of| it.start < of.end && of.start < it.end))
                .count(),
        )
    };
    assert_eq!(read(&cached), (56, 0));
    let (rows, reads) = read(&opened);
    assert!(rows == 56 && reads > 0, "{rows} rows, {reads} reads");
    // Parsing cached bytes has the same result as parsing the file.
    let source = watched(&file);
    let index = cached.read_page_index(source.clone() as Arc<dyn Source>, &mask).unwrap();
    assert_eq!(index, opened.read_page_index(file.clone(), &mask).unwrap());
    assert_eq!(source.reads.lock().unwrap().len(), 0);
    assert!(cached.memory_size() > opened.memory_size());
}

#[test]
fn memory_is_about_what_is_there() {
    let (small, large) = (written(2, 3_000), written(400, 3_000));
    let size = |file: &Bytes| {
        let opened = ArrowReaderMetadata::load(file.clone(), ArrowReaderOptions::new()).unwrap();
        let before = opened.memory_size();
        opened.schema();
        assert!(opened.memory_size() > before);
        (opened.metadata().footer_bytes().len(), opened.memory_size())
    };
    let ((small_footer, small), (large_footer, large)) = (size(&small), size(&large));
    assert!(small > small_footer && small < 20 * small_footer + 10_000, "{small} of {small_footer}");
    assert!(large > large_footer && large < 20 * large_footer, "{large} of {large_footer}");
}

#[test]
fn a_footer_that_was_kept_is_the_same_again() {
    let file = written(2, 300);
    let metadata = read_metadata(&file, &Limits::default()).unwrap().metadata;
    let kept = (metadata.footer_bytes().to_vec(), metadata.data_end().unwrap());
    let again = ParquetMetaData::parse(kept.0, &Limits::default()).unwrap().with_data_end(kept.1);
    assert!(again == metadata);
    let opened = ArrowReaderMetadata::try_new(Arc::new(again), ArrowReaderOptions::new()).unwrap();
    let rows = |_| -> usize {
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(file.clone(), opened.clone());
        builder.build().unwrap().map(|batch| batch.unwrap().num_rows()).sum()
    };
    assert_eq!([0, 1, 2].map(rows), [300, 300, 300]);
}

#[test]
fn bloom_filters_are_read_whole() {
    let file = written(1, 300);
    let metadata = read_metadata(&file, &Limits::default()).unwrap().metadata;
    let group = metadata.row_group(0);
    let filter =
        |column| read_bloom_filter(&file, group.column(column).unwrap(), &Limits::default()).unwrap();
    assert!(filter(0).is_none());
    let filter = filter(1).unwrap();
    assert!((0..300).all(|row| filter.might_contain(format!("text {row}").as_bytes())));
    let found = (0..10_000).filter(|i| filter.might_contain(format!("other {i}").as_bytes())).count();
    assert!(found < 1_000, "{found}");
}

#[test]
fn columns_by_field_id() {
    let schema = Schema::parse(
        "message m {
            required int64 id = 1;
            optional group tags (LIST) = 2 { repeated group list { optional binary element (STRING) = 3; } }
            optional group at = 4 { optional double x = 5; optional group to = 6 { optional double y = 7; } }
            optional group map (MAP) = 8 {
                repeated group key_value { required int32 key = 9; optional int32 value = 10; }
            }
            optional int32 none;
        }",
    )
    .unwrap();
    let chosen = |ids: &[i32]| {
        let mask = ProjectionMask::field_ids(&schema, ids.iter().copied());
        (0..schema.num_columns()).filter(|&leaf| mask.leaf_included(leaf)).collect::<Vec<_>>()
    };
    assert_eq!(chosen(&[1]), [0]);
    assert_eq!(chosen(&[2]), [1]);
    assert_eq!(chosen(&[3, 7]), [1, 3]);
    assert_eq!(chosen(&[4]), [2, 3]);
    assert_eq!(chosen(&[6, 10]), [3, 5]);
    assert_eq!(chosen(&[8]), [4, 5]);
    assert_eq!(chosen(&[99, 0, -1]), Vec::<usize>::new());
    assert!(ProjectionMask::existing_field_ids(&schema, [1, 10]).is_ok());
    let error = ProjectionMask::existing_field_ids(&schema, [1, 11]).unwrap_err();
    assert!(error.to_string().contains("no field has the id 11"), "{error}");
}

#[test]
fn type_hooks_choose_types_of_columns() {
    let random = &mut Random(3);
    let table = RecordBatch::try_from_iter([
        (
            "number",
            Arc::new(Int64Array::from_iter_values((0..50).map(|_| random.below(9) as i64))) as ArrayRef,
        ),
        ("text", Arc::new(StringArray::from_iter_values((0..50).map(|i| format!("t{i}"))))),
    ])
    .unwrap();
    let mut file = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut file, table.schema(), None).unwrap();
    writer.write(&table).unwrap();
    writer.close().unwrap();
    let file = Bytes::from(file);
    let moment = DataType::Timestamp(TimeUnit::Second, None);
    let wanted = moment.clone();
    let options = ArrowReaderOptions::new().with_type_hook(move |leaf| match leaf.physical() {
        PhysicalType::Int64 => Some(wanted.clone()),
        _ => Some(DataType::BinaryView),
    });
    let builder = ParquetRecordBatchReaderBuilder::try_new_with_options(file.clone(), options).unwrap();
    let batch = builder.build().unwrap().next().unwrap().unwrap();
    let types: Vec<&DataType> = batch.columns().iter().map(|column| column.data_type()).collect();
    assert_eq!(types, [&moment, &DataType::BinaryView]);
    for (i, data_type) in [(0, &moment), (1, &DataType::BinaryView)] {
        assert!(*batch.column(i) == arrow_cast::cast(table.column(i), data_type).unwrap());
    }
    // A type that a column cannot become is an error, wherever it is.
    let options =
        ArrowReaderOptions::new().with_type_hook(|leaf| (leaf.name() == "text").then_some(DataType::Int32));
    let error = ArrowReaderMetadata::load(file, options).unwrap_err();
    assert!(error.kind() == ErrorKind::Argument && error.to_string().contains("text"), "{error}");
}

#[test]
fn the_stored_schema_is_followed_where_the_policy_says() {
    let words = arrow_cast::cast(
        &StringArray::from(vec!["a", "b", "a"]),
        &DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::LargeUtf8)),
    );
    let table = RecordBatch::try_from_iter([
        ("words", words.unwrap()),
        ("large", Arc::new(arrow_array::LargeStringArray::from(vec!["x", "y", "z"])) as ArrayRef),
    ])
    .unwrap();
    let mut file = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut file, table.schema(), None).unwrap();
    writer.write(&table).unwrap();
    writer.close().unwrap();
    let types = |options: ArrowReaderOptions| {
        let opened = ArrowReaderMetadata::load(Bytes::from(file.clone()), options).unwrap();
        opened.schema().fields().iter().map(|field| field.data_type().clone()).collect::<Vec<_>>()
    };
    assert_eq!(types(ArrowReaderOptions::new()), [table.column(0).data_type().clone(), DataType::LargeUtf8]);
    let not_dictionaries =
        |_: &Leaf, hint: &DataType| (!matches!(hint, DataType::Dictionary(..))).then(|| hint.clone());
    let policy = ArrowReaderOptions::new().with_hint_policy(not_dictionaries);
    assert_eq!(types(policy), [DataType::Utf8, DataType::LargeUtf8]);
    let all_views = ArrowReaderOptions::new().with_hint_policy(|_, _| Some(DataType::Utf8View));
    assert_eq!(types(all_views), [DataType::Utf8View, DataType::Utf8View]);
    // A type that a column cannot become has no effect.
    let numbers = ArrowReaderOptions::new().with_hint_policy(|_, _| Some(DataType::Int64));
    assert_eq!(types(numbers), [DataType::Utf8, DataType::Utf8]);
}

#[test]
fn metadata_is_restored_whatever_the_policy_says_of_types() {
    let pairs = |key: &str| [(key.to_owned(), "v".to_owned())].into();
    let extended = pairs("ARROW:extension:name");
    let fields = [("noted", pairs("k")), ("extended", extended)].map(|(name, metadata)| {
        arrow_schema::Field::new(name, DataType::LargeUtf8, false).with_metadata(metadata)
    });
    let schema = Arc::new(arrow_schema::Schema::new(fields.to_vec()));
    let mut file = Vec::new();
    ArrowWriter::try_new(&mut file, schema, None).unwrap().close().unwrap();
    let options = ArrowReaderOptions::new().with_hint_policy(|_, _| None);
    let opened = ArrowReaderMetadata::load(Bytes::from(file), options).unwrap();
    let field = |i: usize| opened.schema().field(i);
    assert_eq!((field(0).data_type(), field(0).metadata()), (&DataType::Utf8, &pairs("k")));
    // An extension type remains the type that it was stored as.
    assert_eq!((field(1).data_type(), field(1).metadata().len()), (&DataType::Utf8, 0));
}

#[test]
fn elements_have_the_names_of_either_schema() {
    let words = Arc::new(StringArray::from(vec!["a"]));
    let offsets = arrow_buffer::OffsetBuffer::from_lengths([1]);
    let list = arrow_array::ListArray::new(
        Arc::new(arrow_schema::Field::new("item", DataType::Utf8, true)),
        offsets,
        words,
        None,
    );
    let table = RecordBatch::try_from_iter([("list", Arc::new(list) as ArrayRef)]).unwrap();
    let mut file = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut file, table.schema(), None).unwrap();
    writer.write(&table).unwrap();
    writer.close().unwrap();
    for (stored, name) in [(true, "item"), (false, "element")] {
        let options = ArrowReaderOptions::new().with_stored_element_names(stored);
        let opened = ArrowReaderMetadata::load(Bytes::from(file.clone()), options).unwrap();
        let DataType::List(element) = opened.schema().field(0).data_type() else { panic!("a list") };
        assert_eq!(element.name(), name);
    }
}
