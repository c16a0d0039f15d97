//! All that chooses rows at once, over columns of any type, from files of many layouts: row groups in any order and twice, a selection, a
//! predicate, filters that remember, offset and limit, other Arrow types, encryption, threads, streams that are given up and go on. The rows are
//! those that a full read gives and Arrow's kernels leave.

mod ask;
mod ways;

use crate::arrays;
use crate::arrays::Random;
use crate::cells;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, BooleanArray, Int64Array, RecordBatch, RecordBatchReader, UInt32Array};
use arrow_schema::{DataType, Field, Schema};
use ask::Asked;
use bytes::Bytes;
use marquetry::arrow::arrow_reader::{
    ArrowPredicate, ArrowPredicateFn, ArrowReaderMetadata, ArrowReaderOptions,
    ParquetRecordBatchReaderBuilder, RowFilter, RowSelection, RowSelector, bind_in_file,
};
use marquetry::arrow::{ArrowWriter, ProjectionMask, StringLayout};
use marquetry::basic::Compression;
use marquetry::file::encryption::{FileDecryptionProperties, FileEncryptionProperties, ParquetCipher};
use marquetry::file::properties::{Compat, EnabledStatistics, WriterProperties, WriterVersion};
use marquetry::predicate::Predicate;
use marquetry::schema::types::ColumnPath;
use proptest::prelude::*;
use std::sync::{Arc, Mutex};
use ways::Way;

/// Rows with a number, and columns of any type whose values come in runs, so that pages and row groups differ.
fn table(random: &mut Random, rows: usize) -> RecordBatch {
    let count = 1 + random.below(4);
    let schema = Arc::new(arrays::schema(random, count, 2));
    let different = if random.one_in(2) { 1 + random.below(30) } else { rows };
    let values = arrays::batch(random, &schema, different);
    let run = 1 + random.below(100);
    let mut at = 0;
    let places = UInt32Array::from_iter_values((0..rows).map(|row| {
        if row.is_multiple_of(run) || random.one_in(20) {
            at = random.below(different);
        }
        if different == rows { row as u32 } else { at as u32 }
    }));
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(0..rows as i64));
    let (mut fields, mut columns) = (vec![Field::new("id", DataType::Int64, false)], vec![ids]);
    for (field, column) in schema.fields().iter().zip(values.columns()).filter(|(field, _)| is_taken(field)) {
        if let Ok(taken) = arrow_select::take::take(column, &places, None) {
            fields.push(Field::clone(field));
            columns.push(taken);
        }
    }
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap()
}

/// Whether Arrow keeps the field: it loses the length of lists whose elements have no columns.
fn is_taken(field: &Field) -> bool {
    match field.data_type() {
        DataType::FixedSizeList(_, 0) => false,
        DataType::List(of)
        | DataType::LargeList(of)
        | DataType::ListView(of)
        | DataType::LargeListView(of) => is_taken(of),
        DataType::FixedSizeList(of, _) | DataType::Map(of, _) => is_taken(of),
        DataType::Struct(fields) => fields.iter().all(|field| is_taken(field)),
        _ => true,
    }
}

/// A file, and what it takes to read it.
struct File {
    bytes: Bytes,
    options: ArrowReaderOptions,
}

/// Statistics, indexes, dictionaries, bloom filters and keys differ from column to column.
fn written(table: &RecordBatch, random: &mut Random) -> File {
    let leaves = ArrowWriter::try_new(Vec::new(), table.schema(), None).unwrap().close().unwrap();
    let leaves: Vec<String> =
        leaves.schema().columns().iter().map(|leaf| leaf.dotted().to_string()).collect();
    let statistics =
        [EnabledStatistics::None, EnabledStatistics::Chunk, EnabledStatistics::Page, EnabledStatistics::Page];
    let mut properties = WriterProperties::builder()
        .set_compression(random.pick(&[Compression::UNCOMPRESSED, Compression::SNAPPY]))
        .set_writer_version(random.pick(&[WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0]))
        .set_compat(random.pick(&[Compat::Modern, Compat::Latest]))
        .set_data_page_row_count_limit(random.pick(&[5, 40, 333]))
        .set_write_batch_size(random.pick(&[1, 20, 1024]))
        .set_dictionary_page_size_limit(random.pick(&[1, 100, 1 << 20]))
        .set_max_row_group_row_count(Some(random.pick(&[50, 150, 1 << 20])))
        .set_statistics_truncate_length(random.pick(&[None, Some(1), Some(8)]))
        .set_column_index_truncate_length(random.pick(&[None, Some(1), Some(8)]))
        .set_total_order(random.one_in(2))
        .set_offset_index_disabled(random.one_in(4));
    for leaf in &leaves {
        let path = || ColumnPath::from(leaf.as_str());
        properties = properties
            .set_column_statistics_enabled(path(), random.pick(&statistics))
            .set_column_dictionary_enabled(path(), random.one_in(2))
            .set_column_bloom_filter_enabled(path(), random.one_in(2));
    }
    let mut options = ArrowReaderOptions::new();
    if random.one_in(3) {
        let (encryption, decryption) = keys(random, &leaves);
        properties = properties.with_file_encryption_properties(encryption);
        options = options.with_file_decryption_properties(decryption);
    }
    let mut file = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut file, table.schema(), Some(properties.build())).unwrap();
    writer.write(table).unwrap();
    writer.close().unwrap();
    File { bytes: Bytes::from(file), options }
}

/// Keys of the footer and of some columns.
fn keys(
    random: &mut Random,
    leaves: &[String],
) -> (Arc<FileEncryptionProperties>, Arc<FileDecryptionProperties>) {
    let mut encryption = FileEncryptionProperties::builder(vec![255; 16])
        .with_plaintext_footer(random.one_in(2))
        .with_cipher(random.pick(&[ParquetCipher::AesGcmV1, ParquetCipher::AesGcmCtrV1]));
    let mut decryption = FileDecryptionProperties::builder(vec![255; 16]);
    for (leaf, number) in leaves.iter().zip(1..) {
        if random.one_in(3) {
            encryption = encryption.with_column_key(leaf, vec![number; 16]);
            decryption = decryption.with_column_key(leaf, vec![number; 16]);
        }
    }
    (encryption.build().unwrap(), decryption.build().unwrap())
}

/// Byte strings and numbers in dictionaries, or in another layout, where the file can be read so.
fn other_types(file: &File, random: &mut Random) -> ArrowReaderOptions {
    let options = file.options.clone();
    match random.below(3) {
        0 => options.with_text(random.pick(&[StringLayout::LargeUtf8, StringLayout::Utf8View])),
        1 => {
            let schema =
                ArrowReaderMetadata::load(file.bytes.clone(), options.clone()).unwrap().schema().clone();
            let fields = schema.fields().iter().map(|field| match field.data_type() {
                plain if field.name() == "id" || plain.is_nested() || plain.is_null() => Field::clone(field),
                DataType::Dictionary(_, _) | DataType::RunEndEncoded(_, _) => Field::clone(field),
                plain => {
                    let keys = random.pick(&[DataType::Int16, DataType::Int32, DataType::UInt32]);
                    Field::clone(field)
                        .with_data_type(DataType::Dictionary(Box::new(keys), Box::new(plain.clone())))
                }
            });
            let schema = Schema::new_with_metadata(fields.collect::<Vec<_>>(), schema.metadata().clone());
            options.with_schema(Arc::new(schema))
        }
        _ => options,
    }
}

/// What is read of a file.
struct Choice {
    row_groups: Option<Vec<usize>>,
    selection: Option<RowSelection>,
    predicate: Option<Predicate>,
    filters: Vec<Filter>,
    offset: Option<usize>,
    limit: Option<usize>,
    batch_size: usize,
    projection: ProjectionMask,
}

/// A filter over arrays that knows of each number whether it is wanted, and which rows it was asked about.
#[derive(Clone)]
struct Filter {
    projection: ProjectionMask,
    wanted: Arc<Vec<bool>>,
    /// The numbers that it was asked about; `None` if any thread may ask it, in any order.
    asked: Option<Arc<Mutex<Vec<i64>>>>,
}

impl Filter {
    fn predicate(&self) -> Box<dyn ArrowPredicate> {
        let Filter { projection, wanted, asked } = self.clone();
        let test = move |batch: RecordBatch| {
            let ids = batch.column(0).as_primitive::<Int64Type>();
            if let Some(asked) = &asked {
                asked.lock().unwrap().extend(ids.values());
            }
            // Null counts as false.
            Ok(ids
                .values()
                .iter()
                .map(|id| Some(true).filter(|_| wanted[*id as usize]))
                .collect::<BooleanArray>())
        };
        match self.asked {
            Some(_) => Box::new(ArrowPredicateFn::new(projection, test)),
            None => Box::new(ArrowPredicateFn::pure(projection, test)),
        }
    }
}

impl Choice {
    /// A choice, the rows of all that are read before it, in their order, and whether they are wanted.
    fn random(
        random: &mut Random,
        metadata: &ArrowReaderMetadata,
        columns: &[Asked],
    ) -> (Choice, Vec<usize>, Vec<bool>) {
        let (schema, groups) = (metadata.parquet_schema(), metadata.metadata().num_row_groups());
        let leaves: Vec<usize> = (0..schema.num_columns()).filter(|_| random.one_in(2)).collect();
        let projection =
            if random.one_in(3) { ProjectionMask::all() } else { ProjectionMask::leaves(schema, leaves) };
        let some_groups = |random: &mut Random| {
            (0..random.below(groups + 2)).map(|_| random.below(groups)).collect::<Vec<_>>()
        };
        let row_groups = random.one_in(2).then(|| some_groups(random));
        let rows = rows_of(metadata, row_groups.as_deref());
        let mut wanted = vec![true; rows.len()];
        let (mut selection, mut predicate, mut filters) = (None, None, Vec::new());
        if random.one_in(2) {
            // Rows past its end are not read.
            let (selected, end) =
                (some_rows(random, rows.len()), random.pick(&[rows.len(), rows.len(), rows.len() / 2]));
            wanted = selected.iter().enumerate().map(|(row, selected)| *selected && row < end).collect();
            let selector =
                |&selected: &bool| if selected { RowSelector::select(1) } else { RowSelector::skip(1) };
            selection = Some(selected[..end].iter().map(selector).collect());
        }
        if let Some((asked, says)) = ask::predicate(random, columns, 2).filter(|_| !random.one_in(3)) {
            // A file does not state the meaning of all columns.
            if bind_in_file(&asked, metadata.metadata()).is_ok() {
                wanted.iter_mut().zip(&rows).for_each(|(wanted, row)| *wanted &= says[*row] == Some(true));
                predicate = Some(asked);
            }
        }
        while random.one_in(3) {
            let of_filter = some_rows(random, metadata.metadata().num_rows() as usize);
            wanted.iter_mut().zip(&rows).for_each(|(wanted, row)| *wanted &= of_filter[*row]);
            filters.push(Filter {
                projection: ProjectionMask::leaves(schema, [0, random.below(schema.num_columns())]),
                wanted: Arc::new(of_filter),
                asked: random.one_in(2).then(Arc::default),
            });
        }
        let (offset, limit) =
            (random.one_in(3).then(|| random.below(20)), random.one_in(3).then(|| random.below(300)));
        wanted.iter_mut().filter(|row| **row).take(offset.unwrap_or(0)).for_each(|row| *row = false);
        wanted.iter_mut().filter(|row| **row).skip(limit.unwrap_or(usize::MAX)).for_each(|row| *row = false);
        let batch_size = random.pick(&[1, 7, 100, 8192]);
        (
            Choice { row_groups, selection, predicate, filters, offset, limit, batch_size, projection },
            rows,
            wanted,
        )
    }

    fn row_filter(&self) -> Option<RowFilter> {
        (!self.filters.is_empty())
            .then(|| RowFilter::new(self.filters.iter().map(Filter::predicate).collect()))
    }

    /// Whether filters with a memory were asked about rows in their order, and once about each.
    fn asked_in_order(&self, rows: &[usize]) -> bool {
        self.filters.iter().filter_map(|filter| filter.asked.as_ref()).all(|asked| {
            let mut left = rows.iter();
            asked.lock().unwrap().iter().all(|id| left.any(|row| *row as i64 == *id))
        })
    }
}

impl std::fmt::Debug for Choice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let predicate = self.predicate.as_ref().map(Predicate::to_string);
        let Choice { row_groups, selection, filters, offset, limit, batch_size, .. } = self;
        write!(
            f,
            "row groups {row_groups:?}, selection {selection:?}, predicate {predicate:?}, {} filters, offset {offset:?}, limit {limit:?}, \
             batches of {batch_size}",
            filters.len()
        )
    }
}

/// The numbers of all rows of some row groups.
fn rows_of(metadata: &ArrowReaderMetadata, row_groups: Option<&[usize]>) -> Vec<usize> {
    let mut end = 0;
    let each = metadata.metadata().row_groups().map(|group| {
        let start = end;
        end += group.num_rows() as usize;
        start..end
    });
    let each: Vec<_> = each.collect();
    match row_groups {
        Some(chosen) => chosen.iter().flat_map(|group| each[*group].clone()).collect(),
        None => (0..end).collect(),
    }
}

/// A set of rows: clustered or not, few or many.
fn some_rows(random: &mut Random, rows: usize) -> Vec<bool> {
    let (one_in, cluster) = (1 + random.below(20), random.pick(&[1, 10, 100]));
    let mut wanted = false;
    let mut row = |row: usize| {
        if row.is_multiple_of(cluster) {
            wanted = random.one_in(one_in);
        }
        wanted
    };
    (0..rows).map(&mut row).collect()
}

/// The cells of a full read, of one thread.
fn full(
    file: &File,
    options: &ArrowReaderOptions,
    projection: &ProjectionMask,
) -> (Arc<Schema>, Vec<Vec<String>>) {
    let builder =
        ParquetRecordBatchReaderBuilder::try_new_with_options(file.bytes.clone(), options.clone()).unwrap();
    let reader = builder.with_projection(projection.clone()).build().unwrap();
    (reader.schema(), cells::columns(reader).unwrap())
}

fn cases(quick: u32) -> ProptestConfig {
    let times = if std::env::var_os("MARQUETRY_SLOW").is_some() { 10 } else { 1 };
    ProptestConfig::with_cases(quick * times)
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn rows_are_those_that_a_full_read_leaves(seed: u64) {
        let random = &mut Random(seed);
        let rows = random.pick(&[1, 30, 200, 500]);
        let table = table(random, rows);
        let file = written(&table, random);
        let columns = ask::columns(&table);
        let options = other_types(&file, random).with_page_index(!random.one_in(4));
        let metadata = ArrowReaderMetadata::load(file.bytes.clone(), options.clone()).unwrap();
        for _ in 0..4 {
            let (choice, rows, wanted) = Choice::random(random, &metadata, &columns);
            let way = Way::random(random);
            let batches = ways::read(&file.bytes, &options, &choice, way, random).unwrap_or_else(|error| panic!("{way:?}: {error}\n{choice:?}"));
            let what = || format!("{way:?}: {choice:?}\n{table:?}");
            prop_assert!(choice.asked_in_order(&rows), "a row was asked about twice, {}", what());
            let wanted: Vec<usize> = rows.iter().zip(&wanted).filter(|(_, wanted)| **wanted).map(|(row, _)| *row).collect();
            prop_assert_eq!(batches.iter().map(RecordBatch::num_rows).sum::<usize>(), wanted.len(), "{}", what());
            let (schema, all) = full(&file, &options, &choice.projection);
            for batch in &batches {
                prop_assert_eq!(batch.schema_ref().fields(), schema.fields());
                prop_assert!((1..=choice.batch_size).contains(&batch.num_rows()));
            }
            for ((column, all), field) in cells::columns(batches.into_iter().map(Ok::<_, ()>)).unwrap().iter().zip(&all).zip(schema.fields()) {
                prop_assert!(column.iter().eq(wanted.iter().map(|row| &all[*row])), "{}, {}", field, what());
            }
        }
    }
}
