//! ALP: the format's own sample files, bit for bit.

use crate::corpus;
use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type};
use arrow_schema::DataType;
use std::path::Path;

/// The bits of each column; those of FLOAT widened to 64.
fn read(root: &Path, path: &str) -> (Vec<String>, Vec<Vec<u64>>) {
    let mut reader = marquetry::open_bytes(corpus::bytes(root, path)).unwrap().batches().unwrap();
    let schema = arrow_array::RecordBatchReader::schema(&reader);
    let mut columns = vec![Vec::new(); schema.fields().len()];
    while let Some(batch) = reader.next_batch() {
        for (bits, array) in columns.iter_mut().zip(batch.unwrap().columns()) {
            assert_eq!(array.null_count(), 0, "{path}");
            match array.data_type() {
                DataType::Float32 => {
                    bits.extend(
                        array.as_primitive::<Float32Type>().values().iter().map(|v| u64::from(v.to_bits())),
                    );
                }
                _ => bits.extend(array.as_primitive::<Float64Type>().values().iter().map(|v| v.to_bits())),
            }
        }
    }
    (schema.fields().iter().map(|field| field.name().clone()).collect(), columns)
}

fn compare(path: &str, expected: &str, single: bool) {
    let Some(root) = corpus::root() else { return };
    let (names, columns) = read(&root, &format!("corpus/apache__parquet-testing/{path}"));
    let text = corpus::bytes(&root, &format!("corpus/apache__parquet-testing/{expected}"));
    let mut lines = std::str::from_utf8(&text).unwrap().lines();
    assert_eq!(lines.next().unwrap(), names.join(","));
    let mut rows = 0;
    for line in lines {
        for (column, value) in line.split(',').enumerate() {
            let bits = match single {
                true => u64::from(value.parse::<f32>().unwrap().to_bits()),
                false => value.parse::<f64>().unwrap().to_bits(),
            };
            assert_eq!(columns[column][rows], bits, "{} in row {rows}: {value}", names[column]);
        }
        rows += 1;
    }
    assert!(rows > 0 && columns.iter().all(|bits| bits.len() == rows), "{rows} rows expected");
}

#[test]
fn arade() {
    compare("refs/0340d48d29/data/alp_arade.parquet", "alp_arade_expect.csv", false);
}

#[test]
fn spotify() {
    compare("refs/5f2017d4b5/data/alp_spotify1.parquet", "alp_spotify1_expect.csv", false);
}

#[test]
fn arade_as_float() {
    compare("refs/773a1792fe/data/alp_float_arade.parquet", "alp_float_arade_expect.csv", true);
}

#[test]
fn spotify_as_float() {
    compare("refs/a0a56fa5f2/data/alp_float_spotify1.parquet", "alp_float_spotify1_expect.csv", true);
}
