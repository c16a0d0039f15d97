//! Streams and datasets of encrypted files give what readers of plain ones give.
#![cfg(feature = "encryption")]

use super::store::{Faults, Store};
use super::{collect, file, one, read, rows, written};
use bytes::Bytes;
use futures::executor::block_on;
use marquetry_arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use marquetry_arrow::async_reader::ParquetRecordBatchStreamBuilder;
use marquetry_arrow::dataset::Dataset;
use marquetry_base::ErrorKind;
use marquetry_core::predicate::Predicate;
use marquetry_core::source::Source;
use marquetry_core::write::WriterProperties;
use marquetry_crypto::{FileDecryptionProperties, FileEncryptionProperties, ParquetCipher};
use std::sync::Arc;

const KEY: &[u8] = b"0123456789012345";
const NAME: &[u8] = b"01234567890123456789012345678901";

fn encrypted(cipher: ParquetCipher) -> Bytes {
    let encryption = FileEncryptionProperties::builder(KEY.to_vec())
        .with_cipher(cipher)
        .with_column_key("name", NAME.to_vec())
        .with_complete_columns(true);
    let properties = WriterProperties::builder()
        .set_max_row_group_row_count(Some(700))
        .set_data_page_row_count_limit(90)
        .set_write_batch_size(90)
        .set_bloom_filter_enabled(true)
        .with_file_encryption_properties(encryption.build().unwrap());
    written(&rows(2_000), properties.build())
}

fn options() -> ArrowReaderOptions {
    let keys = FileDecryptionProperties::builder(KEY.to_vec()).with_column_key("name", NAME.to_vec());
    ArrowReaderOptions::new().with_file_decryption_properties(keys.build().unwrap())
}

#[test]
fn streams_give_what_readers_give() {
    let plain = file(&rows(2_000), 700, 90);
    for cipher in [ParquetCipher::AesGcmV1, ParquetCipher::AesGcmCtrV1] {
        let file = encrypted(cipher);
        for condition in [
            "id >= 0",
            "id > 1500 and id < 1560",
            "name = 'name 9'",
            "price > 3000 and id < 900",
            "id = 5000",
        ] {
            let predicate = Predicate::parse(condition).unwrap();
            let reader = ParquetRecordBatchReaderBuilder::try_new(plain.clone()).unwrap();
            let reader = reader.with_predicate(predicate.clone()).build().unwrap();
            let schema = arrow_array::RecordBatchReader::schema(&reader);
            let expected = one(&schema, &read(reader).unwrap());
            let store = Store::with(file.clone(), Faults { latency: 1, ..Faults::default() });
            let stream =
                block_on(ParquetRecordBatchStreamBuilder::new_with_options(store, options())).unwrap();
            let stream = stream.with_predicate(predicate.clone()).build().unwrap();
            assert_eq!(one(&schema, &collect(stream).unwrap()), expected, "{cipher:?}: {condition}");
            for threads in [1, 3] {
                let reader =
                    ParquetRecordBatchReaderBuilder::try_new_with_options(file.clone(), options()).unwrap();
                let reader = reader.with_threads(threads).with_predicate(predicate.clone()).build().unwrap();
                assert_eq!(one(&schema, &read(reader).unwrap()), expected, "{cipher:?}: {condition}");
            }
        }
    }
}

#[test]
fn datasets_have_the_keys_of_all_files() {
    let files = [encrypted(ParquetCipher::AesGcmV1), encrypted(ParquetCipher::AesGcmCtrV1)];
    let open = move |path: &std::path::Path| {
        let number = if path.ends_with("a.parquet") { 0 } else { 1 };
        Ok(Arc::new(files[number].clone()) as Arc<dyn Source>)
    };
    let dataset = || Dataset::from_files(["a.parquet", "b.parquet"], open.clone()).unwrap();
    let mut reader =
        dataset().options(options()).filter(Predicate::parse("id < 10").unwrap()).batches().unwrap();
    let rows: usize = std::iter::from_fn(|| reader.next_batch()).map(|batch| batch.unwrap().num_rows()).sum();
    assert_eq!(rows, 20);
    assert_eq!(dataset().schema().unwrap_err().kind(), ErrorKind::Key);
}
