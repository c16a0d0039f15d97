//! Keys that a KMS has wrapped are found again.
#![cfg(feature = "encryption")]

use marquetry_base::{Error, Result};
use marquetry_crypto::{
    ColumnEncryption, EncryptionKey, FileDecryptionProperties, KeyManagement, KeyRetriever, KmsClient,
    KmsKeyRetriever, ModuleCipher, SecretKey,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A KMS in memory, whose wrapped keys are hexadecimal; it counts what it is asked.
#[derive(Default)]
struct Kms(AtomicUsize);

impl Kms {
    fn master(name: &str) -> Result<SecretKey> {
        match name {
            "kf" => SecretKey::new(b"0123456789012345".to_vec()),
            "kc" => SecretKey::new(b"1234567890123450".to_vec()),
            _ => Err(Error::encrypted(format!("no master key {name}"))),
        }
    }
}

impl KmsClient for Kms {
    fn wrap_key(&self, key: &[u8], master_key_id: &str) -> Result<String> {
        self.0.fetch_add(1, Ordering::Relaxed);
        let mut module = Vec::new();
        EncryptionKey::new(Kms::master(master_key_id)?)?.seal_gcm(
            key,
            master_key_id.as_bytes(),
            &mut module,
        )?;
        Ok(module.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    fn unwrap_key(&self, wrapped_key: &str, master_key_id: &str) -> Result<Vec<u8>> {
        self.0.fetch_add(1, Ordering::Relaxed);
        let byte = |i| u8::from_str_radix(&wrapped_key[i..i + 2], 16).unwrap();
        let module: Vec<u8> = (0..wrapped_key.len()).step_by(2).map(byte).collect();
        let mut key = Vec::new();
        let cipher = ModuleCipher::new(&Kms::master(master_key_id)?)?;
        match cipher.open_gcm(&module, master_key_id.as_bytes(), &mut key)? {
            true => Ok(key),
            false => Err(Error::encrypted("wrapped otherwise")),
        }
    }
}

#[test]
fn keys_are_found_again() {
    for is_double in [false, true] {
        for bits in [128, 192, 256] {
            let kms = Arc::new(Kms::default());
            let management = KeyManagement::new(kms.clone()).with_double_wrapping(is_double);
            let management = management.with_data_key_bits(bits).unwrap();
            let retriever = Arc::new(KmsKeyRetriever::new(kms.clone()));
            for _ in 0..5 {
                let builder = management.encryption("kf", &[("kc", "a"), ("kc", "b")]).unwrap();
                let encryption = builder.build().unwrap();
                let keys = FileDecryptionProperties::with_key_retriever(retriever.clone()).build().unwrap();
                let footer = keys.footer_key(encryption.footer_key_metadata()).unwrap().unwrap();
                assert_eq!(8 * footer.expose().len(), bits);
                for column in ["a", "b"] {
                    let ColumnEncryption::ColumnKey(key, metadata) = encryption.column(column) else {
                        panic!()
                    };
                    let found = keys.column_key(column, metadata).unwrap().unwrap();
                    let (mut module, mut out) = (Vec::new(), Vec::new());
                    key.seal_gcm(b"a page", b"", &mut module).unwrap();
                    assert!(ModuleCipher::new(&found).unwrap().open_gcm(&module, b"", &mut out).unwrap());
                }
            }
            // With double wrapping once for each master key and direction, however many files there are.
            assert_eq!(kms.0.load(Ordering::Relaxed), if is_double { 4 } else { 30 });
        }
    }
}

#[test]
fn material_that_is_none_is_an_error() {
    let retriever = KmsKeyRetriever::new(Arc::new(Kms::default()));
    for (metadata, said) in [
        (&b"kf"[..], "not JSON"),
        (b"{}", "without a type"),
        (br#"{"keyMaterialType": "PKMT2"}"#, "type \"PKMT2\""),
        (br#"{"keyMaterialType": "PKMT1", "masterKeyID": "kf"}"#, "without wrappedDEK"),
        (
            br#"{"keyMaterialType": "PKMT1", "internalStorage": false, "keyReference": "footerKey"}"#,
            "footerKey is outside",
        ),
        (
            br#"{"keyMaterialType": "PKMT1", "masterKeyID": "kf", "wrappedDEK": "!", "doubleWrapping": true,
                "keyEncryptionKeyID": "AAAA", "wrappedKEK": "00"}"#,
            "too few",
        ),
    ] {
        let error = retriever.retrieve_key(metadata).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
    assert!(KmsKeyRetriever::new(Arc::new(Kms::default())).with_external_material(b"[]").is_err());
}
