//! Keys that a KMS has wrapped: a file of parquet-java with key material beside it, and files of our own.

use crate::corpus;
use crate::files::{FILES, open, table};
use crate::sample::{batch, properties, write};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use marquetry::errors::{Error, ErrorKind, Result};
use marquetry::file::encryption::{FileDecryptionProperties, KeyManagement, KmsClient, KmsKeyRetriever};
use marquetry_crypto::{EncryptionKey, ModuleCipher, SecretKey};
use std::sync::Arc;

/// The KMS of parquet-java's tests: keys are wrapped by AES-GCM with the name of the master key as additional data.
struct InMemoryKms;

fn master(name: &str) -> Result<SecretKey> {
    let keys = FILES[0];
    SecretKey::new(match name {
        "kf" => keys.footer_key(),
        "kc1" => keys.column_key(0),
        "kc2" => keys.column_key(1),
        _ => return Err(Error::encrypted(format!("no master key {name}"))),
    })
}

impl KmsClient for InMemoryKms {
    fn wrap_key(&self, key: &[u8], master_key_id: &str) -> Result<String> {
        let mut module = Vec::new();
        EncryptionKey::new(master(master_key_id)?)?.seal_gcm(key, master_key_id.as_bytes(), &mut module)?;
        Ok(STANDARD.encode(&module[4..]))
    }

    fn unwrap_key(&self, wrapped_key: &str, master_key_id: &str) -> Result<Vec<u8>> {
        let blob = STANDARD.decode(wrapped_key).unwrap();
        let module = [&(blob.len() as u32).to_le_bytes()[..], &blob].concat();
        let mut key = Vec::new();
        let cipher = ModuleCipher::new(&master(master_key_id)?)?;
        match cipher.open_gcm(&module, master_key_id.as_bytes(), &mut key)? {
            true => Ok(key),
            false => Err(Error::encrypted("wrapped with another master key")),
        }
    }
}

#[test]
fn external_key_material_of_parquet_java() {
    let Some(root) = corpus::root() else { return };
    let name = "external_key_material_java.parquet.encrypted";
    let bytes = |name: &str| corpus::bytes(&root, &format!("parquet-testing/data/{name}"));
    let keys = KmsKeyRetriever::new(Arc::new(InMemoryKms));
    let keys = keys.with_external_material(&bytes(&format!("_KEY_MATERIAL_FOR_{name}.json"))).unwrap();
    let file = open(bytes(name), FileDecryptionProperties::with_key_retriever(Arc::new(keys))).unwrap();
    assert_eq!(file.metadata().num_rows(), 100);
    let cells = table(file).unwrap();
    assert!(cells.iter().all(|column| column.len() == 100) && cells.len() >= 2);
    // Without the file beside it nothing is opened.
    let keys = KmsKeyRetriever::new(Arc::new(InMemoryKms));
    let error =
        open(bytes(name), FileDecryptionProperties::with_key_retriever(Arc::new(keys))).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Key);
    assert!(error.to_string().contains("is outside of the file"), "{error}");
}

#[test]
fn files_under_master_keys_are_read_again() {
    let batch = batch(100);
    let expected = table(marquetry::open_bytes(write(&batch, properties().build())).unwrap()).unwrap();
    for is_double in [false, true] {
        let management = KeyManagement::new(Arc::new(InMemoryKms)).with_double_wrapping(is_double);
        let encryption = management.encryption("kf", &[("kc1", "name"), ("kc2", "salary")]).unwrap();
        let file =
            write(&batch, properties().with_file_encryption_properties(encryption.build().unwrap()).build());
        let keys = KmsKeyRetriever::new(Arc::new(InMemoryKms));
        let file = open(file, FileDecryptionProperties::with_key_retriever(Arc::new(keys))).unwrap();
        assert!(table(file).unwrap() == expected);
    }
}
