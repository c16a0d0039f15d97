//! The format's test files of shredded variants: each row is what the file beside it says, or the error is there. They stand
//! beside the repository, or where `MARQUETRY_CORPUS` says; without them this passes and says so.
//!
//! `MARQUETRY_VARIANT_FLIPS=all` has every byte of them wrong once, in three ways; without it a share of them.

use bytes::Bytes;
use marquetry_arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use marquetry_arrow::variant::{Shredder, VariantColumn};
use marquetry_base::Result;
use marquetry_variant::{InferShreddingOptions, Metadata, ShreddingInference, Variant};
use std::path::{Path, PathBuf};

fn folder(name: &str) -> Option<PathBuf> {
    let shared = std::env::var_os("MARQUETRY_CORPUS").map(PathBuf::from);
    let beside = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared"));
    let folder = shared.unwrap_or(beside).join("parquet-testing").join(name);
    if folder.is_dir() {
        return Some(folder);
    }
    assert!(std::env::var_os("CI").is_none(), "{} is not there", folder.display());
    eprintln!("{} is not there: nothing was tested", folder.display());
    None
}

/// Metadata and value of each row; `None` where the row is NULL.
type Rows = Vec<Option<(Vec<u8>, Vec<u8>)>>;

/// The rows of the column `var`, read row by row; `unshredded` has to give the same.
fn rows(file: &Path) -> Result<Rows> {
    rows_of(Bytes::from(std::fs::read(file).unwrap()))
}

fn rows_of(bytes: Bytes) -> Result<Rows> {
    let mut all = Vec::new();
    for batch in ParquetRecordBatchReaderBuilder::try_new(bytes)?.build()? {
        let batch = batch.map_err(|error| marquetry_base::Error::argument(error.to_string()))?;
        let array = batch.column_by_name("var");
        let array = array.ok_or_else(|| marquetry_base::Error::argument("no column var"))?;
        let column = VariantColumn::try_new(array)?;
        let mut reader = column.reader();
        let before = all.len();
        for row in 0..column.len() {
            let variant = reader.get(row)?;
            variant.map_or(Ok(()), |variant| variant.validate())?;
            all.push(
                variant.map(|variant| (variant.metadata().as_bytes().to_vec(), variant.bytes().to_vec())),
            );
        }
        let unshredded = column.unshredded()?;
        let again = VariantColumn::try_new(&unshredded)?;
        assert!(again.is_unshredded());
        let mut reader = again.reader();
        for (row, expected) in all[before..].iter().enumerate() {
            match (reader.get(row)?, expected) {
                (Some(found), Some((metadata, value))) => {
                    assert!(found.is_same(&Variant::new(metadata, value)?)?);
                }
                (found, expected) => assert_eq!(found.is_none(), expected.is_none()),
            }
        }
    }
    Ok(all)
}

/// A file of metadata and value, one behind the other: the metadata tells where it ends.
fn expected(file: &Path) -> (Vec<u8>, Vec<u8>) {
    let bytes = std::fs::read(file).unwrap();
    let metadata = (3..=bytes.len()).find(|end| {
        let metadata = Metadata::new(&bytes[..*end]);
        metadata.is_ok_and(|metadata| metadata.validate().is_ok())
            && Variant::new(&bytes[..*end], &bytes[*end..]).is_ok()
    });
    let end = metadata.unwrap_or_else(|| panic!("{} has no metadata", file.display()));
    (bytes[..end].to_vec(), bytes[end..].to_vec())
}

#[test]
fn each_case_is_what_it_says() {
    let Some(folder) = folder("shredded_variant") else { return };
    let cases: serde_json::Value =
        serde_json::from_slice(&std::fs::read(folder.join("cases.json")).unwrap()).unwrap();
    let (mut right, mut refused) = (0, 0);
    for case in cases.as_array().unwrap() {
        let Some(name) = case["parquet_file"].as_str() else { continue };
        let found = rows(&folder.join(name));
        if case.get("error_message").is_some() {
            assert!(found.is_err(), "{name} is read, though {}", case["error_message"]);
            refused += 1;
            continue;
        }
        // Of files that are not legal either an error or the shredded value is right.
        if name.contains("INVALID") && found.is_err() {
            refused += 1;
            continue;
        }
        let found = found.unwrap_or_else(|error| panic!("{name}: {error}"));
        let files: Vec<Option<&str>> = match case["variant_files"].as_array() {
            Some(files) => files.iter().map(serde_json::Value::as_str).collect(),
            None => vec![case["variant_file"].as_str()],
        };
        assert_eq!(found.len(), files.len(), "{name}");
        for (row, (found, file)) in found.iter().zip(files).enumerate() {
            match (found, file) {
                (None, None) => {}
                (Some((metadata, value)), Some(file)) => {
                    let (expected_metadata, expected_value) = expected(&folder.join(file));
                    let expected = Variant::new(&expected_metadata, &expected_value).unwrap();
                    let found = Variant::new(metadata, value).unwrap();
                    assert!(
                        found.is_same(&expected).unwrap(),
                        "{name}, row {row}: {} is not {}",
                        marquetry_variant::json::to_string(found).unwrap(),
                        marquetry_variant::json::to_string(expected).unwrap()
                    );
                }
                (found, file) => panic!("{name}, row {row}: {:?}, {file:?} expected", found.is_some()),
            }
        }
        right += 1;
    }
    assert_eq!((right, refused), (129, 8));
}

/// Each case that is read, shredded into the shape that is inferred of it, is the same again; nothing that can stand in a column
/// of its own is left in binary.
#[test]
fn each_case_is_shredded_again() {
    let Some(folder) = folder("shredded_variant") else { return };
    let (mut shredded, mut typed) = (0, 0);
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    for file in files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "parquet")) {
        // Those that are refused stand in the other test.
        let Ok(expected) = rows(file) else { continue };
        let mut sample = ShreddingInference::new(InferShreddingOptions::new().with_exact_widths(true));
        for (metadata, value) in expected.iter().flatten() {
            sample.add(Variant::new(metadata, value).unwrap()).unwrap();
        }
        let shape = sample.shredding();
        typed += usize::from(shape.is_some());
        // What is of no type is shredded into something else, and stays in binary.
        let shape = shape.unwrap_or("{a: int64}".parse().unwrap());
        let shredder = Shredder::new(&shape).unwrap().with_exact_widths(true);
        let bytes = Bytes::from(std::fs::read(file).unwrap());
        let mut found = 0;
        for batch in ParquetRecordBatchReaderBuilder::try_new(bytes).unwrap().build().unwrap() {
            let batch = batch.unwrap();
            let column = VariantColumn::try_new(batch.column_by_name("var").unwrap()).unwrap();
            let again = shredder.shred(&column).unwrap();
            let again = VariantColumn::try_new(&again).unwrap();
            let mut reader = again.reader();
            for row in 0..again.len() {
                match (reader.get(row).unwrap(), &expected[found]) {
                    (Some(found), Some((metadata, value))) => {
                        let expected = Variant::new(metadata, value).unwrap();
                        assert!(
                            found.is_same(&expected).unwrap(),
                            "{}, row {row}, as {shape}",
                            file.display()
                        );
                    }
                    (found, expected) => {
                        assert_eq!(found.is_none(), expected.is_none(), "{}", file.display())
                    }
                }
                found += 1;
            }
        }
        shredded += 1;
    }
    // Of the others nothing has a type.
    assert_eq!((shredded, typed), (129, 122));
}

/// Files of these extensions, in order, and their bytes.
fn files(folder: &Path, extensions: &[&str]) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| {
        extensions.iter().any(|extension| file.extension().is_some_and(|found| found == *extension))
    });
    files.sort();
    files.into_iter().map(|file| (file.clone(), std::fs::read(file).unwrap())).collect()
}

/// The bytes with each wrong once in three ways, or a share of these.
fn flipped(bytes: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    let is_all = std::env::var("MARQUETRY_VARIANT_FLIPS").is_ok_and(|value| value == "all");
    let step = if is_all || bytes.len() < 300 { 1 } else { 41 };
    let places = (0..bytes.len()).flat_map(|at| [0x01, 0x80, 0xff].map(|flip| (at, flip))).step_by(step);
    places.map(|(at, flip)| {
        let mut wrong = bytes.to_vec();
        wrong[at] ^= flip;
        wrong
    })
}

#[test]
fn a_wrong_byte_of_a_file_is_an_error_or_values() {
    let Some(folder) = folder("shredded_variant") else { return };
    let shredder = Shredder::new(&"{a: string, b: [int64]}".parse().unwrap()).unwrap();
    let (mut errors, mut read) = (0, 0);
    for (_, bytes) in files(&folder, &["parquet"]) {
        for wrong in flipped(&bytes) {
            let bytes = Bytes::from(wrong);
            let Ok(rows) = rows_of(bytes.clone()) else {
                errors += 1;
                continue;
            };
            read += 1;
            // What is read can be shredded, and shows as JSON.
            for (metadata, value) in rows.iter().flatten() {
                marquetry_variant::json::to_string(Variant::new(metadata, value).unwrap()).unwrap();
            }
            for batch in ParquetRecordBatchReaderBuilder::try_new(bytes).unwrap().build().unwrap() {
                let batch = batch.unwrap();
                let column = VariantColumn::try_new(batch.column_by_name("var").unwrap()).unwrap();
                shredder.shred(&column).unwrap();
            }
        }
    }
    assert!(errors > 1000 && read > 1000, "{errors} errors, {read} files that are read");
}

#[test]
fn a_wrong_byte_of_a_value_is_an_error_or_a_value() {
    let Some(folder) = folder("variant") else { return };
    let path = "object_field.array_field[*]".parse().unwrap();
    let look = |metadata: &[u8], value: &[u8]| -> Result<()> {
        let variant = Variant::new(metadata, value)?;
        // Each looks at what it needs, and stops at what is wrong there.
        let found = variant.get_all(&path).map(|found| found.len());
        let text = marquetry_variant::json::to_string(variant);
        let mut writer = marquetry_variant::Writer::new();
        let copied = writer.copy(variant);
        variant.validate()?;
        found?;
        text?;
        copied?;
        let (metadata, value) = writer.finish()?;
        assert!(Variant::new(&metadata, &value)?.is_same(&variant)?);
        Ok(())
    };
    let (mut errors, mut read) = (0, 0);
    for (file, value) in files(&folder, &["value"]) {
        let metadata = std::fs::read(file.with_extension("metadata")).unwrap();
        look(&metadata, &value).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let wrong_values = flipped(&value).map(|value| (metadata.clone(), value));
        let wrong_metadata = flipped(&metadata).map(|metadata| (metadata, value.clone()));
        for (metadata, value) in wrong_values.chain(wrong_metadata) {
            match look(&metadata, &value) {
                Ok(()) => read += 1,
                Err(_) => errors += 1,
            }
        }
    }
    assert!(errors > 300 && read > 300, "{errors} errors, {read} values that are read");
}

#[test]
fn nothing_else_is_taken_for_a_variant() {
    let wrong = arrow_array::Int32Array::from(vec![1]);
    assert!(VariantColumn::try_new(&wrong).is_err());
    let empty = arrow_array::StructArray::new_empty_fields(1, None);
    let error = VariantColumn::try_new(&empty).unwrap_err();
    assert_eq!(error.message(), "a VARIANT without binary metadata");
}
