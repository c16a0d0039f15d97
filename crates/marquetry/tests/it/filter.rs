//! Whatever is chosen, and however: the rows are those that reading everything and then choosing gives.

use crate::arrays;
use crate::arrays::Random;
use crate::cells;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, BooleanArray, Int64Array, RecordBatch, RecordBatchReader, StringArray};
use arrow_schema::{DataType, Field, Schema};
use bytes::Bytes;
use marquetry::arrow::arrow_reader::{
    ArrowPredicate, ArrowPredicateFn, ArrowReaderOptions, OnCorrupt, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder, RowFilter, RowSelection, RowSelector,
};
use marquetry::arrow::{ArrowWriter, ProjectionMask};
use marquetry::basic::{Compression, Encoding};
use marquetry::errors::{Error, ErrorKind};
use marquetry::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use marquetry::predicate::{Predicate, col};
use marquetry::schema::types::ColumnPath;
use proptest::prelude::*;
use std::sync::Arc;

/// Rows `id`, `few` (a number of few different ones, or null), `text` (the same as a string), and columns of any type.
fn table(random: &mut Random, rows: usize) -> RecordBatch {
    let count = 1 + random.below(3);
    let others = arrays::schema(random, count, 2);
    let others = arrays::batch(random, &Arc::new(others), rows);
    let runs = 1 + random.below(200);
    let few: Vec<Option<i64>> = (0..rows)
        .scan(None, |few, row| {
            if row.is_multiple_of(runs) || few.is_none() {
                *few = Some((!random.one_in(6)).then(|| random.below(9) as i64));
            }
            Some(few.unwrap_or_default())
        })
        .collect();
    let text: StringArray =
        few.iter().map(|few| few.map(|few| format!("the text of number {few}"))).collect();
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(0..rows as i64));
    let mut fields = vec![
        Field::new("id", DataType::Int64, false),
        Field::new("few", DataType::Int64, true),
        Field::new("text", DataType::Utf8, true),
    ];
    fields.extend(others.schema().fields().iter().map(|field| Field::clone(field)));
    let mut columns: Vec<ArrayRef> = vec![ids, Arc::new(Int64Array::from(few)), Arc::new(text)];
    columns.extend(others.columns().iter().cloned());
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap()
}

/// Small pages, so that there are many; with and without offset indexes.
fn written(table: &RecordBatch, random: &mut Random) -> Bytes {
    let properties = WriterProperties::builder()
        .set_compression(random.pick(&[Compression::UNCOMPRESSED, Compression::SNAPPY]))
        .set_writer_version(random.pick(&[WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0]))
        .set_statistics_enabled(random.pick(&[EnabledStatistics::None, EnabledStatistics::Page]))
        .set_data_page_row_count_limit(random.pick(&[5, 40, 333, 20_000]))
        .set_write_batch_size(random.pick(&[1, 20, 1024]))
        .set_dictionary_page_size_limit(random.pick(&[1, 100, 1 << 20]))
        .set_max_row_group_row_count(Some(random.pick(&[50, 500, 1 << 20])))
        .set_dictionary_enabled(!random.one_in(3))
        .set_offset_index_disabled(random.one_in(3));
    let properties = match random.one_in(4) {
        true => properties
            .set_column_encoding(ColumnPath::from("id"), Encoding::DELTA_BINARY_PACKED)
            .set_column_encoding(ColumnPath::from("text"), Encoding::DELTA_BYTE_ARRAY),
        false => properties,
    };
    let mut file = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut file, table.schema(), Some(properties.build())).unwrap();
    writer.write(table).unwrap();
    writer.close().unwrap();
    Bytes::from(file)
}

/// What is read of a table: the expected rows, and the reader.
struct Choice {
    /// For each row whether it is wanted.
    rows: Vec<bool>,
    builder: ParquetRecordBatchReaderBuilder<Bytes>,
}

/// A set of rows: clustered or not, few or many.
fn some_rows(random: &mut Random, rows: usize) -> Vec<bool> {
    let (one_in, cluster) = (1 + random.below(30), random.pick(&[1, 1, 10, 300]));
    let mut wanted = false;
    let mut row = |i: usize| {
        if i.is_multiple_of(cluster) {
            wanted = random.one_in(one_in);
        }
        wanted
    };
    (0..rows).map(&mut row).collect()
}

/// A typed predicate, and its result for a row with this id and few.
type Says = Box<dyn Fn(i64, Option<i64>) -> Option<bool>>;

fn predicate(random: &mut Random, rows: usize, depth: usize) -> (Predicate, Says) {
    let number = random.below(rows.max(1)) as i64;
    let few = random.below(9) as i64;
    match random.below(if depth == 0 { 6 } else { 9 }) {
        0 => (col("id").lt(number), Box::new(move |id, _| Some(id < number))),
        1 => {
            let end = number + random.below(300) as i64;
            (col("id").between(number, end), Box::new(move |id, _| Some(id >= number && id <= end)))
        }
        2 => (col("few").eq(few), Box::new(move |_, found| found.map(|found| found == few))),
        3 => (col("few").is_null(), Box::new(|_, found| Some(found.is_none()))),
        4 => {
            let text = format!("the text of number {few}");
            (col("text").ne(text.as_str()), Box::new(move |_, found| found.map(|found| found != few)))
        }
        5 => {
            let list = [number, number + 7, number + 1000];
            (col("id").is_in(list), Box::new(move |id, _| Some(list.contains(&id))))
        }
        6 => {
            let (inner, says) = predicate(random, rows, depth - 1);
            (!inner, Box::new(move |id, few| says(id, few).map(|says| !says)))
        }
        7 => {
            let ((a, says), (b, too)) =
                (predicate(random, rows, depth - 1), predicate(random, rows, depth - 1));
            (
                a.and(b),
                Box::new(move |id, few| match (says(id, few), too(id, few)) {
                    (Some(false), _) | (_, Some(false)) => Some(false),
                    (a, b) => a.zip(b).map(|(a, b)| a && b),
                }),
            )
        }
        _ => {
            let ((a, says), (b, too)) =
                (predicate(random, rows, depth - 1), predicate(random, rows, depth - 1));
            (
                a.or(b),
                Box::new(move |id, few| match (says(id, few), too(id, few)) {
                    (Some(true), _) | (_, Some(true)) => Some(true),
                    (a, b) => a.zip(b).map(|(a, b)| a || b),
                }),
            )
        }
    }
}

/// A closure that knows for each id whether it is wanted, and reads another column, too.
fn closure(mask: ProjectionMask, wanted: Vec<bool>) -> Box<dyn ArrowPredicate> {
    Box::new(ArrowPredicateFn::new(mask, move |batch: RecordBatch| {
        let ids = batch.column(0).as_primitive::<Int64Type>();
        assert!(batch.columns().iter().all(|column| column.len() == ids.len()));
        // Null counts as false.
        Ok(ids
            .values()
            .iter()
            .map(|&id| {
                if wanted[id as usize] {
                    Some(true)
                } else if id % 2 == 0 {
                    None
                } else {
                    Some(false)
                }
            })
            .collect::<BooleanArray>())
    }))
}

/// Chooses rows in all ways at random.
fn choice(file: &Bytes, table: &RecordBatch, random: &mut Random) -> Choice {
    let (count, columns) = (table.num_rows(), table.num_columns());
    let options = ArrowReaderOptions::new().with_page_index(!random.one_in(4));
    let builder = ParquetRecordBatchReaderBuilder::try_new_with_options(file.clone(), options).unwrap();
    let mut builder = builder.with_batch_size(random.pick(&[1, 7, 100, 8192]));
    let mut rows = vec![true; count];
    if random.one_in(2) {
        let selected = some_rows(random, count);
        // Rows past the end of a selection are not read.
        let covered = if random.one_in(4) { random.below(count + 1) } else { count };
        let selectors = selected[..covered].iter().map(|&row| match row {
            true => RowSelector::select(1),
            false => RowSelector::skip(1),
        });
        builder = builder.with_row_selection(selectors.collect::<RowSelection>());
        rows = selected.into_iter().enumerate().map(|(i, row)| row && i < covered).collect();
    }
    if random.one_in(2) {
        let (predicate, says) = predicate(random, count, 2);
        let few = table.column(1).as_primitive::<Int64Type>();
        for (i, row) in rows.iter_mut().enumerate() {
            *row &= says(i as i64, few.is_valid(i).then(|| few.value(i))) == Some(true);
        }
        builder = builder.with_predicate(predicate);
    }
    let mut closures = Vec::new();
    while random.one_in(2) {
        let wanted = some_rows(random, count);
        rows.iter_mut().zip(&wanted).for_each(|(row, wanted)| *row &= wanted);
        let mask = ProjectionMask::roots(builder.parquet_schema(), [0, random.below(columns)]);
        closures.push(closure(mask, wanted));
    }
    if !closures.is_empty() || random.one_in(9) {
        builder = builder.with_row_filter(RowFilter::new(closures));
    }
    let (offset, limit) = (random.below(20), random.below(500));
    if random.one_in(3) {
        builder = builder.with_offset(offset);
        rows.iter_mut().filter(|row| **row).take(offset).for_each(|row| *row = false);
    }
    if random.one_in(3) {
        builder = builder.with_limit(limit);
        rows.iter_mut().filter(|row| **row).skip(limit).for_each(|row| *row = false);
    }
    Choice { rows, builder }
}

/// Returns the cells of the reader's columns. Without columns, rows are only counted.
fn read(reader: ParquetRecordBatchReader, batch_size: usize) -> Result<(usize, Vec<Vec<String>>), Error> {
    let mut rows = 0;
    let mut reader = reader;
    let batches = std::iter::from_fn(|| reader.next_batch()).inspect(|batch| {
        let n = batch.as_ref().map_or(1, RecordBatch::num_rows);
        assert!(n > 0 && n <= batch_size);
        rows += batch.as_ref().map_or(0, RecordBatch::num_rows);
    });
    let cells = cells::columns(batches)?;
    Ok((rows, cells))
}

/// The columns of a leaf projection, as all columns were written: structs and maps are compared whole.
fn mask(builder: &ParquetRecordBatchReaderBuilder<Bytes>, roots: &[usize]) -> ProjectionMask {
    ProjectionMask::roots(builder.parquet_schema(), roots.iter().copied())
}

fn cases(quick: u32) -> ProptestConfig {
    let times = if std::env::var_os("MARQUETRY_SLOW").is_some() { 10 } else { 1 };
    ProptestConfig::with_cases(quick * times)
}

/// The dictionary is read further for the third page, after some of it was skipped, and the batch already has keys.
#[test]
fn a_page_begun_as_keys_goes_on_as_values() {
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(0..200));
    let table = RecordBatch::try_from_iter([("id", ids)]).unwrap();
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_dictionary_enabled(true)
        .set_data_page_row_count_limit(40)
        .set_write_batch_size(20);
    let mut file = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut file, table.schema(), Some(properties.build())).unwrap();
    writer.write(&table).unwrap();
    writer.close().unwrap();
    let rows = [3, 75, 90, 92, 136, 199];
    let mut wanted = vec![RowSelector::skip(1); 200];
    rows.iter().for_each(|&row| wanted[row as usize] = RowSelector::select(1));
    let builder = ParquetRecordBatchReaderBuilder::try_new(Bytes::from(file)).unwrap();
    let builder = builder.with_row_selection(wanted.into_iter().collect::<RowSelection>());
    let mut reader = builder.with_predicate(col("id").ge(0)).build().unwrap();
    let batch = reader.next_batch().unwrap().unwrap();
    assert_eq!(batch.column(0).as_primitive::<Int64Type>().values(), &rows[..]);
    assert!(reader.next_batch().is_none());
}

proptest! {
    #![proptest_config(cases(150))]

    #[test]
    fn chosen_rows_are_those_of_a_full_read(seed: u64) {
        let random = &mut Random(seed);
        let rows = random.pick(&[1, 30, 200, 600]);
        let table = table(random, rows);
        let file = written(&table, random);
        let all = cells::columns([Ok::<_, Error>(table.clone())]).unwrap();
        for _ in 0..4 {
            let Choice { rows: wanted, builder } = choice(&file, &table, random);
            let roots: Vec<usize> = (0..table.num_columns()).filter(|_| !random.one_in(3)).collect();
            let builder = builder.with_projection(mask(&ParquetRecordBatchReaderBuilder::try_new(file.clone()).unwrap(), &roots));
            if random.one_in(4) {
                let selected = builder.selected_rows().unwrap();
                let selected: Vec<bool> = selected
                    .iter()
                    .flat_map(|selector| std::iter::repeat_n(!selector.skip, selector.row_count))
                    .collect();
                prop_assert_eq!(selected, wanted);
                continue;
            }
            let (rows, found) = read(builder.build().unwrap(), 8192).unwrap();
            prop_assert_eq!(rows, wanted.iter().filter(|row| **row).count());
            if rows == 0 {
                continue;
            }
            for (column, root) in found.iter().zip(&roots) {
                let expected: Vec<&String> = all[*root].iter().zip(&wanted).filter(|(_, row)| **row).map(|(cell, _)| cell).collect();
                let field = table.schema().field(*root).clone();
                prop_assert_eq!(column.iter().collect::<Vec<_>>(), expected, "{}", field);
            }
        }
    }
}

/// The rows' numbers, and those of their row groups, as virtual columns have them.
fn positions(builder: ParquetRecordBatchReaderBuilder<Bytes>) -> Vec<(i64, i64, i64)> {
    let reader = builder.build().unwrap();
    let mut out = Vec::new();
    for batch in reader {
        let batch = batch.unwrap();
        let column = |name: &str| batch.column_by_name(name).unwrap().as_primitive::<Int64Type>().clone();
        let (ids, rows, groups) = (column("id"), column("row"), column("group"));
        out.extend((0..batch.num_rows()).map(|i| (ids.value(i), rows.value(i), groups.value(i))));
    }
    out
}

#[test]
fn rows_know_where_they_are() {
    let random = &mut Random(7);
    let table = table(random, 1000);
    let mut file = Vec::new();
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(300)).build();
    let mut writer = ArrowWriter::try_new(&mut file, table.schema(), Some(properties)).unwrap();
    writer.write(&table).unwrap();
    writer.close().unwrap();
    let file = Bytes::from(file);
    let builder = || {
        let options = ArrowReaderOptions::new().with_row_numbers("row").with_row_group_numbers("group");
        let builder = ParquetRecordBatchReaderBuilder::try_new_with_options(file.clone(), options).unwrap();
        assert_eq!(builder.schema().field(table.num_columns()).name(), "row");
        let mask = ProjectionMask::columns(builder.parquet_schema(), ["id"]);
        builder.with_projection(mask)
    };
    let expected = |rows: Vec<i64>| rows.into_iter().map(|row| (row, row, row / 300)).collect::<Vec<_>>();
    assert_eq!(positions(builder()), expected((0..1000).collect()));
    assert_eq!(positions(builder().with_offset(5).with_limit(600)), expected((5..605).collect()));
    assert_eq!(
        positions(builder().with_row_groups(vec![2, 0]).with_predicate(col("id").lt(700))),
        expected((600..700).chain(0..300).collect())
    );
    let reader = builder().build().unwrap();
    assert_eq!(reader.schema().fields().len(), 3);
}

#[test]
fn what_does_not_go_together_is_refused() {
    let random = &mut Random(8);
    let table = table(random, 10);
    let file = written(&table, random);
    let builder = |on_corrupt| {
        let options = ArrowReaderOptions::new().with_on_corrupt(on_corrupt);
        ParquetRecordBatchReaderBuilder::try_new_with_options(file.clone(), options).unwrap()
    };
    let few = RowSelection::from(vec![RowSelector::select(5)]);
    let error = builder(OnCorrupt::SkipPage).with_row_selection(few).build().err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Argument);
    assert!(error.to_string().contains("filter the batches"), "{error}");
    let error = builder(OnCorrupt::Fail).with_predicate(col("ID").lt(5)).build().err().unwrap();
    assert!(error.to_string().contains("did you mean id"), "{error}");
    let failing = |_: RecordBatch| Err(arrow_schema::ArrowError::ComputeError("no".to_owned()));
    let short = |_: RecordBatch| Ok(BooleanArray::from(vec![true]));
    let all = ProjectionMask::all;
    let filters: [Box<dyn ArrowPredicate>; 2] =
        [Box::new(ArrowPredicateFn::new(all(), failing)), Box::new(ArrowPredicateFn::new(all(), short))];
    for (filter, message) in
        filters.into_iter().zip(["row filter failed: Compute error: no", "1 results for 10 rows"])
    {
        let mut reader =
            builder(OnCorrupt::Fail).with_row_filter(RowFilter::new(vec![filter])).build().unwrap();
        let error = reader.next_batch().unwrap().unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
        assert!(reader.next_batch().is_none());
    }
    let field = Arc::new(Field::new("row", DataType::Int64, false));
    assert!(ArrowReaderOptions::new().with_virtual_columns(vec![field]).is_err());
}
