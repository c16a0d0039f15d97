//! Damage to encrypted files: an error, never another value. What was moved is noticed by its tag.

use crate::files::{open, table};
use crate::sample::{FOOTER, NAME, SALARY, batch, keys, properties, write};
use bytes::Bytes;
use marquetry::OpenFile;
use marquetry::arrow::arrow_reader::{ArrowReaderOptions, OnCorrupt};
use marquetry::errors::{Error, ErrorKind, Limits};
use marquetry::file::encryption::{FileEncryptionProperties, ParquetCipher};
use marquetry::file::metadata::ParquetMetaData;
use marquetry::file::page_index::{read_bloom_filter, read_column_index, read_offset_index};
use std::ops::Range;
use std::sync::Arc;

fn small(cipher: ParquetCipher, is_plain: bool) -> Bytes {
    let encryption = FileEncryptionProperties::builder(FOOTER.to_vec())
        .with_cipher(cipher)
        .with_plaintext_footer(is_plain)
        .with_column_key("name", NAME.to_vec())
        .with_column_key("salary", SALARY.to_vec())
        .with_complete_columns(true);
    let properties = properties().set_max_row_group_row_count(Some(9)).set_data_page_row_count_limit(5);
    let properties = properties.set_write_batch_size(5).set_bloom_filter_enabled(false);
    write(&batch(12), properties.with_file_encryption_properties(encryption.build().unwrap()).build())
}

/// Changes every byte of small files. Reading fails, or results in the same values if nothing depends on the byte.
#[test]
fn every_byte_flipped() {
    for (cipher, is_plain) in [
        (ParquetCipher::AesGcmV1, false),
        (ParquetCipher::AesGcmV1, true),
        (ParquetCipher::AesGcmCtrV1, false),
    ] {
        let file = small(cipher, is_plain);
        let expected = table(open(file.clone(), keys("")).unwrap()).unwrap();
        let mut harmless = 0;
        for byte in 0..file.len() {
            let mut changed = file.to_vec();
            changed[byte] ^= 0x41;
            let changed = Bytes::from(changed);
            let Ok(opened) = open(changed.clone(), keys("")) else { continue };
            if let Ok(cells) = table(opened.clone()) {
                assert!(cells == expected, "{cipher:?}: byte {byte} changes values");
                harmless += usize::from(indexes(&changed, &opened).is_ok());
            }
        }
        // The opening magic: the one at the end decides.
        assert!(harmless <= 4, "{cipher:?}: {harmless} of {} bytes", file.len());
    }
}

/// Reads all indexes.
fn indexes(file: &Bytes, opened: &OpenFile) -> Result<(), Error> {
    for group in opened.metadata().row_groups() {
        for chunk in group.columns() {
            let chunk = chunk?;
            read_column_index(file, chunk, &Limits::default())?;
            read_offset_index(file, chunk, &Limits::default())?;
        }
    }
    Ok(())
}

#[test]
fn every_length_cut() {
    for (cipher, is_plain) in [
        (ParquetCipher::AesGcmV1, false),
        (ParquetCipher::AesGcmV1, true),
        (ParquetCipher::AesGcmCtrV1, false),
    ] {
        let file = small(cipher, is_plain);
        for len in 0..file.len() {
            assert!(open(file.slice(..len), keys("")).is_err(), "{len} of {} bytes", file.len());
        }
    }
}

/// The bytes of the pages of a chunk.
fn chunk_range(metadata: &ParquetMetaData, row_group: usize, column: usize) -> Range<usize> {
    let range = metadata.row_group(row_group).column(column).unwrap().byte_range().unwrap();
    range.start as usize..range.end as usize
}

/// Where the data pages of a chunk are.
fn pages(file: &Bytes, metadata: &ParquetMetaData, row_group: usize, column: usize) -> Vec<Range<usize>> {
    let chunk = metadata.row_group(row_group).column(column).unwrap();
    let index = read_offset_index(file, chunk, &Limits::default()).unwrap().unwrap();
    index
        .page_locations
        .iter()
        .map(|page| page.offset as usize..page.offset as usize + page.compressed_page_size as usize)
        .collect()
}

/// Returns the file with two ranges of equal length exchanged.
fn swapped(file: &Bytes, a: Range<usize>, b: Range<usize>) -> Bytes {
    assert_eq!(a.len(), b.len());
    let mut out = file.to_vec();
    out[a.clone()].copy_from_slice(&file[b.clone()]);
    out[b].copy_from_slice(&file[a]);
    out.into()
}

/// A file of numbers, all of one length, so that pages could replace each other.
fn alike(prefix: &[u8]) -> Bytes {
    use arrow_array::{ArrayRef, Int64Array, RecordBatch};
    let column = |from: i64| Arc::new(Int64Array::from_iter_values(from..from + 40)) as ArrayRef;
    let batch = RecordBatch::try_from_iter([("a", column(0)), ("b", column(1_000))]).unwrap();
    let encryption = FileEncryptionProperties::builder(FOOTER.to_vec()).with_aad_prefix(prefix.to_vec());
    let properties = properties()
        .set_compression(marquetry::basic::Compression::UNCOMPRESSED)
        .set_encoding(marquetry::basic::Encoding::PLAIN)
        .set_dictionary_enabled(false)
        .set_data_page_row_count_limit(10)
        .set_write_batch_size(10)
        .set_max_row_group_row_count(Some(20))
        .set_bloom_filter_enabled(false)
        // Checksums would make headers of different lengths.
        .set_page_checksums(false)
        .with_file_encryption_properties(encryption.build().unwrap());
    write(&batch, properties.build())
}

fn refused(file: Bytes, what: &str) {
    let keys = marquetry::file::encryption::FileDecryptionProperties::builder(FOOTER.to_vec());
    let error = open(file, keys).and_then(table).expect_err(what);
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{what}: {error}");
    assert!(error.to_string().contains("written for another place"), "{what}: {error}");
}

#[test]
fn what_was_moved_is_refused() {
    let file = alike(b"one");
    let keys = || marquetry::file::encryption::FileDecryptionProperties::builder(FOOTER.to_vec());
    let metadata = open(file.clone(), keys()).unwrap().metadata().clone();
    let [first, second] = pages(&file, &metadata, 0, 0).try_into().unwrap();
    refused(swapped(&file, first, second), "pages");
    refused(swapped(&file, chunk_range(&metadata, 0, 0), chunk_range(&metadata, 0, 1)), "columns");
    refused(swapped(&file, chunk_range(&metadata, 0, 0), chunk_range(&metadata, 1, 0)), "row groups");
    // From another file with the same keys and prefix: the identifiers differ.
    let other = alike(b"one");
    let range = chunk_range(&metadata, 0, 0);
    let mixed = [&file[..range.start], &other[range.clone()], &file[range.end..]].concat();
    refused(mixed.into(), "files");
    // The prefix tells a file as a whole from another one.
    let error = open(alike(b"two"), keys().with_aad_prefix(b"one".to_vec())).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Key);
}

/// A page with a wrong tag is lost, and the others are read.
#[test]
fn pages_with_wrong_tags_are_lost_alone() {
    let file = alike(b"one");
    let keys = || marquetry::file::encryption::FileDecryptionProperties::builder(FOOTER.to_vec());
    let metadata = open(file.clone(), keys()).unwrap().metadata().clone();
    let page = pages(&file, &metadata, 1, 0)[0].clone();
    let mut bytes = file.to_vec();
    bytes[page.end - 20] ^= 1;
    let options = ArrowReaderOptions::new()
        .with_file_decryption_properties(keys().build().unwrap())
        .with_on_corrupt(OnCorrupt::SkipPage);
    let damaged = OpenFile::new(Arc::new(Bytes::from(bytes)), options).unwrap();
    let rows = table(damaged).unwrap();
    let all = table(open(file, keys()).unwrap()).unwrap();
    assert_eq!(rows[0].len(), 30);
    assert_eq!(rows[0], [&all[0][..20], &all[0][30..]].concat());
}

/// Two columns with dictionaries, indexes and bloom filters, all of the same lengths.
fn twins() -> Bytes {
    use arrow_array::{ArrayRef, Int64Array, RecordBatch};
    let column =
        |from: i64| Arc::new(Int64Array::from_iter_values((0..40).map(|i| from + i % 8))) as ArrayRef;
    let batch = RecordBatch::try_from_iter([("a", column(0)), ("b", column(1_000))]).unwrap();
    let encryption = FileEncryptionProperties::builder(FOOTER.to_vec()).build().unwrap();
    let properties = properties()
        .set_compression(marquetry::basic::Compression::UNCOMPRESSED)
        .set_max_row_group_row_count(Some(40))
        .set_bloom_filter_enabled(true)
        .set_page_checksums(false)
        .with_file_encryption_properties(encryption);
    write(&batch, properties.build())
}

#[test]
fn dictionaries_indexes_and_filters_that_were_moved_are_refused() {
    let file = twins();
    let keys = || marquetry::file::encryption::FileDecryptionProperties::builder(FOOTER.to_vec());
    let metadata = open(file.clone(), keys()).unwrap().metadata().clone();
    let chunks = [0, 1].map(|column| metadata.row_group(0).column(column).unwrap());
    let dictionary = |column: usize| {
        let (start, end) =
            (chunks[column].dictionary_page_offset().unwrap(), chunks[column].data_page_offset());
        start as usize..end as usize
    };
    refused(swapped(&file, dictionary(0), dictionary(1)), "dictionaries");
    let range =
        |range: Option<Range<u64>>| range.map(|range| range.start as usize..range.end as usize).unwrap();
    let bounds = chunks.map(|chunk| range(chunk.column_index_range()));
    let places = chunks.map(|chunk| range(chunk.offset_index_range()));
    let filters = chunks.map(|chunk| {
        let start = chunk.bloom_filter_offset().unwrap() as usize;
        start..start + chunk.bloom_filter_length().unwrap() as usize
    });
    for (what, [first, second]) in [("bounds", bounds), ("places", places), ("filters", filters)] {
        let changed = swapped(&file, first, second);
        for chunk in chunks {
            let error = match what {
                "bounds" => read_column_index(&changed, chunk, &Limits::default()).map(drop),
                "places" => read_offset_index(&changed, chunk, &Limits::default()).map(drop),
                _ => read_bloom_filter(&changed, chunk, &Limits::default()).map(drop),
            };
            let error = error.expect_err(what);
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{what}: {error}");
            assert!(error.to_string().contains("written for another place"), "{what}: {error}");
        }
    }
    assert_eq!(table(open(file, keys()).unwrap()).unwrap()[0].len(), 40);
}
