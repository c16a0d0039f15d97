//! Any choice of columns gives what a full read gives of them; and directories of other writers are one table.

use crate::corpus;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchReader, StructArray};
use arrow_schema::{DataType, Schema};
use bytes::Bytes;
use marquetry::arrow::ProjectionMask;
use marquetry::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use marquetry::arrow::evolution::Evolution;

const ROWS: usize = 1000;

fn builder(file: &Bytes) -> ParquetRecordBatchReaderBuilder<Bytes> {
    ParquetRecordBatchReaderBuilder::try_new(file.clone()).unwrap().with_batch_size(ROWS).with_limit(ROWS)
}

fn first(reader: ParquetRecordBatchReader) -> Option<RecordBatch> {
    let schema = reader.schema();
    let batch = { reader }.next_batch()?.ok()?;
    assert_eq!(batch.schema(), schema);
    Some(batch)
}

/// The files that can be read and have a row.
fn readable(root: &std::path::Path) -> Vec<(String, Bytes, RecordBatch)> {
    let paths = ["parquet-testing", "corpus"].iter().flat_map(|folder| corpus::files(root, folder));
    let files = paths.filter(|path| path.ends_with(".parquet")).filter_map(|path| {
        let bytes = std::fs::read(root.join(&path)).ok().filter(|bytes| bytes.len() < 300_000)?;
        let file = Bytes::from(bytes);
        let reader = ParquetRecordBatchReaderBuilder::try_new(file.clone()).ok()?;
        let batch = first(reader.with_batch_size(ROWS).with_limit(ROWS).build().ok()?)?;
        Some((path, file, batch))
    });
    files.collect()
}

/// Asserts that `part` is `whole` with some fields of structs left out.
fn is_part(part: &ArrayRef, whole: &ArrayRef, place: &str) {
    assert_eq!(part.len(), whole.len(), "{place}");
    match (part.data_type(), whole.data_type()) {
        (DataType::Struct(_), DataType::Struct(_)) => {
            assert_eq!(part.nulls(), whole.nulls(), "{place}");
            is_part_of(part.as_struct(), whole.as_struct(), place);
        }
        (DataType::List(_), DataType::List(_)) => {
            let (part, whole) = (part.as_list::<i32>(), whole.as_list::<i32>());
            assert_eq!((part.nulls(), part.offsets()), (whole.nulls(), whole.offsets()), "{place}");
            is_part(part.values(), whole.values(), place);
        }
        (DataType::Map(..), DataType::Map(..)) => {
            let (part, whole) = (part.as_map(), whole.as_map());
            assert_eq!((part.nulls(), part.offsets()), (whole.nulls(), whole.offsets()), "{place}");
            is_part_of(part.entries(), whole.entries(), place);
        }
        // A map without values or keys is a list of structs.
        (DataType::List(_), DataType::Map(..)) => {
            let (part, whole) = (part.as_list::<i32>(), whole.as_map());
            assert_eq!((part.nulls(), part.offsets()), (whole.nulls(), whole.offsets()), "{place}");
            is_part_of(part.values().as_struct(), whole.entries(), place);
        }
        _ => assert_eq!(part.to_data(), whole.to_data(), "{place}"),
    }
}

fn is_part_of(part: &StructArray, whole: &StructArray, place: &str) {
    for (name, column) in part.column_names().iter().zip(part.columns()) {
        // Some files have several fields with the same name: it must be one of them.
        let names = whole.column_names();
        let same = names.iter().zip(whole.columns()).filter(|(other, _)| *other == name);
        let same: Vec<_> = same.map(|(_, column)| column).collect();
        assert!(!same.is_empty(), "{place}: no {name}");
        if let [same] = same.as_slice() {
            is_part(column, same, &format!("{place}.{name}"));
        }
    }
}

#[test]
fn each_choice_of_leaves_is_a_part_of_the_whole() {
    let Some(root) = corpus::root() else { return };
    let mut nested = 0;
    for (path, file, whole) in readable(&root) {
        let whole = StructArray::from(whole);
        let schema = builder(&file).parquet_schema().clone();
        let leaves = schema.num_columns();
        let mut choices: Vec<Vec<usize>> = (0..leaves.min(40)).map(|leaf| vec![leaf]).collect();
        for step in 2..4 {
            choices.push((0..leaves).step_by(step).collect());
            choices.push((1..leaves).step_by(step).collect());
        }
        for choice in choices {
            let mask = ProjectionMask::leaves(&schema, choice.iter().copied());
            let part = first(builder(&file).with_projection(mask).build().unwrap());
            let part = part.unwrap_or_else(|| panic!("{path}: {choice:?}"));
            assert_eq!(part.num_rows(), whole.len(), "{path}");
            if part.num_columns() > 0 {
                is_part_of(&StructArray::from(part), &whole, &path);
            }
            nested += usize::from(choice.iter().any(|&leaf| schema.column(leaf).path().len() > 1));
        }
    }
    assert!(nested > 500, "{nested} choices of nested columns");
}

#[test]
fn names_decide_the_order() {
    let Some(root) = corpus::root() else { return };
    let mut files = 0;
    for (path, file, whole) in readable(&root) {
        let schema = builder(&file).parquet_schema().clone();
        let names: Vec<String> = schema.columns().iter().map(|leaf| leaf.dotted().to_string()).collect();
        let mut distinct = names.clone();
        distinct.sort();
        distinct.dedup();
        let has_prefixes = distinct.windows(2).any(|pair| pair[1].starts_with(&format!("{}.", pair[0])));
        if distinct.len() < names.len() || has_prefixes || names.len() < 2 {
            continue;
        }
        let backwards = builder(&file).with_columns(names.iter().rev().cloned()).unwrap().build().unwrap();
        let batch = first(backwards).unwrap_or_else(|| panic!("{path}"));
        let name =
            |schema: &Schema| schema.fields().iter().map(|field| field.name().clone()).collect::<Vec<_>>();
        let mut wanted = name(&whole.schema());
        wanted.reverse();
        assert_eq!(name(&batch.schema()), wanted, "{path}");
        is_part_of(&StructArray::from(batch), &StructArray::from(whole), &path);
        files += 1;
    }
    assert!(files > 100, "{files} files");
}

#[test]
fn a_file_evolves_into_itself() {
    let Some(root) = corpus::root() else { return };
    let mut files = 0;
    for (path, file, whole) in readable(&root) {
        let same = builder(&file).with_evolution(Evolution::to(whole.schema())).build();
        let same = match same {
            Ok(reader) => first(reader).unwrap_or_else(|| panic!("{path}")),
            // Two columns of the same name cannot be told apart.
            Err(error) => {
                assert!(error.to_string().contains("may be any of the file's"), "{path}: {error}");
                continue;
            }
        };
        assert_eq!(same, whole, "{path}");
        files += 1;
    }
    assert!(files > 200, "{files} files");
}

#[test]
fn directories_of_other_writers() {
    let Some(root) = corpus::root() else { return };
    let rows = |path: &str| {
        let table = marquetry::dataset([root.join(path)]).unwrap();
        let reader = table.batches().unwrap();
        let names: Vec<String> = reader.schema().fields().iter().map(|field| field.name().clone()).collect();
        let rows: usize = reader.map(|batch| batch.unwrap().num_rows()).sum();
        (rows, names.join(" "))
    };
    let split = "corpus/dask__fastparquet/test-data/split";
    let expected = (2000, "num cat catnum".to_owned());
    assert_eq!(rows(split), expected);
    assert_eq!(rows(&format!("{split}/_metadata")), expected);
    assert_eq!(
        rows(&format!("{split}/cat=fred")).0,
        marquetry::dataset([root.join(split).join("cat=fred")]).unwrap().num_rows().unwrap() as usize
    );
    let (count, names) = rows("corpus/dask__fastparquet/test-data/multi_rgs_pyarrow");
    assert!(count > 0 && names.ends_with(" b"), "{count} {names}");
    let evolved = root.join("corpus/dask__fastparquet/test-data/evo");
    let union = marquetry::dataset([&evolved]).unwrap().union_by_name(true);
    let total = union.num_rows().unwrap() as usize;
    let read: usize = union.batches().unwrap().map(|batch| batch.unwrap().num_rows()).sum();
    assert_eq!(read, total);
}
