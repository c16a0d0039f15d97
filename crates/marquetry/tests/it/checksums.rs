//! Wrong checksums are found, and the error says where; who does not want to know reads the values all the same.

use crate::cells;
use crate::corpus;
use bytes::Bytes;
use marquetry::errors::{Error, ErrorKind};

fn read(bytes: Bytes, columns: &[&str], verify: bool) -> Result<Vec<Vec<String>>, Error> {
    let mut file = marquetry::open_bytes(bytes)?.verify_checksums(verify);
    if !columns.is_empty() {
        file = file.columns(columns.iter().copied());
    }
    let mut reader = file.batches()?;
    cells::columns(std::iter::from_fn(|| reader.next_batch()))
}

/// File, column, page: as `parquet-testing/data/README.md` has them. Dictionary pages count.
const BAD: [(&str, &str, usize); 5] = [
    ("parquet-testing/data/datapage_v1-corrupt-checksum.parquet", "a", 0),
    ("parquet-testing/data/datapage_v1-corrupt-checksum.parquet", "b", 1),
    ("parquet-testing/data/rle-dict-uncompressed-corrupt-checksum.parquet", "long_field", 0),
    ("parquet-testing/data/rle-dict-uncompressed-corrupt-checksum.parquet", "binary_field", 0),
    (
        "corpus/cashmand__spark/sql/core/src/test/resources/test-data/delta_length_byte_array.parquet",
        "FRUIT",
        0,
    ),
];

#[test]
fn wrong_ones_are_errors_that_name_the_page() {
    let Some(root) = corpus::root() else { return };
    for (path, column, page) in BAD {
        let error = read(corpus::bytes(&root, path), &[column], true).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{path}: {error}");
        assert!(error.message().contains("checksum"), "{path}: {error}");
        let place = error.place();
        assert_eq!(place.column.as_deref(), Some(column), "{path}: {error}");
        assert_eq!((place.row_group, place.page), (Some(0), Some(page)), "{path}: {error}");
        assert!(place.offset.is_some_and(|offset| offset >= 4), "{path}: {error}");
    }
}

#[test]
fn the_values_are_there_all_the_same() {
    let Some(root) = corpus::root() else { return };
    for (path, column, _) in BAD {
        let cells = read(corpus::bytes(&root, path), &[column], false).unwrap();
        assert!(!cells[0].is_empty(), "{path}");
    }
}

#[test]
fn right_ones_pass() {
    let Some(root) = corpus::root() else { return };
    for name in [
        "datapage_v1-uncompressed-checksum",
        "datapage_v1-snappy-compressed-checksum",
        "plain-dict-uncompressed-checksum",
        "rle-dict-snappy-checksum",
    ] {
        let bytes = corpus::bytes(&root, &format!("parquet-testing/data/{name}.parquet"));
        read(bytes, &[], true).unwrap();
    }
}

/// Any bit of a page may be the wrong one.
#[test]
fn a_flipped_bit_is_found() {
    let Some(root) = corpus::root() else { return };
    let good = corpus::bytes(&root, "parquet-testing/data/datapage_v1-snappy-compressed-checksum.parquet");
    let metadata = marquetry::open_bytes(good.clone()).unwrap().metadata().clone();
    let chunk = metadata.row_group(0).column(0).unwrap().byte_range().unwrap();
    let header_bytes = 64;
    for at in (chunk.start as usize + header_bytes..chunk.end as usize - header_bytes).step_by(997) {
        let mut bytes = good.to_vec();
        bytes[at] ^= 0x10;
        assert!(read(bytes.into(), &["a"], true).is_err(), "byte {at}");
    }
}
