//! Keys are not in the memory of the process once nothing uses them. A process of its own: it looks through all of its memory.
#![cfg(all(feature = "encryption", target_os = "linux"))]

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use bytes::Bytes;
use marquetry::OpenFile;
use marquetry::arrow::ArrowWriter;
use marquetry::arrow::arrow_reader::ArrowReaderOptions;
use marquetry::errors::Result;
use marquetry::file::encryption::{
    FileDecryptionProperties, FileEncryptionProperties, KeyManagement, KeyRetriever, KmsKeyRetriever,
    LocalKms, MasterKeys, ParquetCipher,
};
use marquetry::file::properties::WriterProperties;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

/// A key whose bytes are stored changed, so that the key itself is not in memory.
#[derive(Clone, Copy)]
struct Masked {
    len: usize,
    seed: u8,
}

impl Masked {
    /// Returns a byte of the key. Bytes are made one by one, so that the key is nowhere but where it is wanted.
    fn byte(self, at: usize) -> u8 {
        let at = at as u8;
        std::hint::black_box(self.seed).wrapping_mul(17).wrapping_add(at.wrapping_mul(29)) ^ (at << 3) ^ 0x6d
    }

    fn key(self) -> Vec<u8> {
        (0..self.len).map(|at| self.byte(at)).collect()
    }

    fn is_at(self, bytes: &[u8]) -> bool {
        bytes.iter().enumerate().all(|(at, byte)| *byte == self.byte(at))
    }
}

const FOOTER: Masked = Masked { len: 16, seed: 3 };
const NAME: Masked = Masked { len: 32, seed: 5 };
const NUMBER: Masked = Masked { len: 24, seed: 7 };
const MASTER: Masked = Masked { len: 32, seed: 11 };
const KEYS: [Masked; 4] = [FOOTER, NAME, NUMBER, MASTER];

/// Which keys are in the memory of this process, and in which parts of it.
fn found() -> Vec<(usize, String)> {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let memory = File::open("/proc/self/mem").unwrap();
    let (mut found, mut window) = (Vec::new(), vec![0; 1 << 20]);
    for line in maps.lines().filter(|line| line.contains(" rw")) {
        let (from, to) = line.split_once(' ').unwrap().0.split_once('-').unwrap();
        let [mut at, end] = [from, to].map(|address| u64::from_str_radix(address, 16).unwrap());
        while at < end {
            let len = (end - at).min(window.len() as u64) as usize;
            let Ok(read) = memory.read_at(&mut window[..len], at) else { break };
            for (number, key) in KEYS.iter().enumerate() {
                // The first two bytes are searched for alone, which is fast.
                let start = [key.byte(0), key.byte(1)];
                let mut places = window[..read].windows(2).enumerate().filter(|(_, bytes)| *bytes == start);
                if places.any(|(place, _)| {
                    window[..read].get(place..place + key.len).is_some_and(|it| key.is_at(it))
                }) {
                    found.push((number, line.to_owned()));
                }
            }
            if read < 64 {
                break;
            }
            // A key across the border is complete in the next part.
            at += if at + read as u64 == end { read as u64 } else { read as u64 - 64 };
        }
    }
    found
}

fn batch() -> RecordBatch {
    let number: ArrayRef = Arc::new(Int64Array::from_iter_values(0..1_000));
    let name: ArrayRef =
        Arc::new(StringArray::from_iter_values((0..1_000).map(|i| format!("name {}", i % 7))));
    RecordBatch::try_from_iter([("number", number), ("name", name)]).unwrap()
}

fn write(encryption: Arc<FileEncryptionProperties>) -> Bytes {
    let properties = WriterProperties::builder()
        .set_max_row_group_row_count(Some(300))
        .set_bloom_filter_enabled(true)
        .set_threads(2)
        .with_file_encryption_properties(encryption)
        .build();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch().schema(), Some(properties)).unwrap();
    writer.write(&batch()).unwrap();
    writer.into_inner().unwrap().into()
}

fn read(file: Bytes, keys: Arc<FileDecryptionProperties>, threads: usize) -> Result<usize> {
    let options = ArrowReaderOptions::new().with_file_decryption_properties(keys);
    let mut reader = OpenFile::new(Arc::new(file), options)?.threads(threads).batches()?;
    std::iter::from_fn(|| reader.next_batch()).map(|batch| Ok(batch?.num_rows())).sum()
}

/// A server of master keys, and of keys by their metadata.
struct Server;

impl MasterKeys for Server {
    fn master_key(&self, _: &str) -> Result<Vec<u8>> {
        Ok(MASTER.key())
    }
}

impl KeyRetriever for Server {
    fn retrieve_key(&self, key_metadata: &[u8]) -> Result<Vec<u8>> {
        Ok(match key_metadata {
            b"name" => NAME.key(),
            _ => FOOTER.key(),
        })
    }
}

fn use_keys() {
    for cipher in [ParquetCipher::AesGcmV1, ParquetCipher::AesGcmCtrV1] {
        for is_plain in [false, true] {
            let encryption = FileEncryptionProperties::builder(FOOTER.key())
                .with_cipher(cipher)
                .with_plaintext_footer(is_plain)
                .with_footer_key_metadata(b"footer".to_vec())
                .with_column_key("number", NUMBER.key())
                .with_column_key_and_metadata("name", NAME.key(), b"name".to_vec());
            let file = write(encryption.build().unwrap());
            let given = FileDecryptionProperties::builder(FOOTER.key())
                .with_column_key("name", NAME.key())
                .with_column_key("number", NUMBER.key());
            let retrieved = FileDecryptionProperties::with_key_retriever(Arc::new(Server))
                .with_column_key("number", NUMBER.key());
            let wrong = FileDecryptionProperties::builder(FOOTER.key())
                .with_column_key("number", NAME.key())
                .with_column_key("name", NUMBER.key());
            assert_eq!(read(file.clone(), given.build().unwrap(), 2).unwrap(), 1_000);
            assert_eq!(read(file.clone(), retrieved.build().unwrap(), 1).unwrap(), 1_000);
            assert!(read(file, wrong.build().unwrap(), 1).is_err());
        }
    }
    let kms = Arc::new(LocalKms::new(Server));
    let encryption = KeyManagement::new(kms.clone()).encryption("kf", &[("kn", "name")]).unwrap();
    let file = write(encryption.build().unwrap());
    let keys = FileDecryptionProperties::with_key_retriever(Arc::new(KmsKeyRetriever::new(kms)));
    assert_eq!(read(file, keys.build().unwrap(), 2).unwrap(), 1_000);
    assert!(FileEncryptionProperties::builder(FOOTER.key()[1..].to_vec()).build().is_err());
}

#[test]
fn keys_are_gone_when_nothing_uses_them() {
    let keys = FileDecryptionProperties::builder(FOOTER.key()).build().unwrap();
    assert!(found().iter().any(|(number, _)| *number == 0), "a key that is there is found");
    drop(keys);
    use_keys();
    let found = found();
    assert!(found.is_empty(), "keys that are left: {found:#?}");
}
