//! Keys that were wrapped by a KMS can be retrieved.
#![cfg(feature = "encryption")]

use marquetry_base::{Error, ErrorKind, Result};
use marquetry_crypto::{
    ColumnEncryption, EncryptionKey, ExternalKeyMaterial, FileDecryptionProperties, KeyManagement,
    KeyProperties, KeyRetriever, KmsClient, KmsKeyRetriever, LocalKms, MasterKeys, MaterialOrigin,
    ModuleCipher, ParquetCipher, SecretKey,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// A KMS in memory that wraps keys as hexadecimal text and counts its calls.
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
            // With double wrapping, the KMS is called once for each master key and direction, however many files there are.
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

/// A KMS whose master keys have versions. A wrapped key names the version that it was wrapped with.
#[derive(Default)]
struct Versions(AtomicUsize);

impl Versions {
    fn master(version: usize) -> ModuleCipher {
        ModuleCipher::new(&SecretKey::new(vec![version as u8 + 1; 16]).unwrap()).unwrap()
    }
}

impl KmsClient for Versions {
    fn wrap_key(&self, key: &[u8], _: &str) -> Result<String> {
        let version = self.0.load(Ordering::Relaxed);
        let mut module = Vec::new();
        EncryptionKey::new(SecretKey::new(vec![version as u8 + 1; 16])?)?.seal_gcm(key, b"", &mut module)?;
        Ok(format!("{version}:{}", module.iter().map(|byte| format!("{byte:02x}")).collect::<String>()))
    }

    fn unwrap_key(&self, wrapped_key: &str, _: &str) -> Result<Vec<u8>> {
        let (version, hex) = wrapped_key.split_once(':').unwrap();
        let byte = |i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap();
        let module: Vec<u8> = (0..hex.len()).step_by(2).map(byte).collect();
        let mut key = Vec::new();
        match Versions::master(version.parse().unwrap()).open_gcm(&module, b"", &mut key)? {
            true => Ok(key),
            false => Err(Error::encrypted("another version")),
        }
    }
}

/// Retrieves the keys of the footer and a column from external key material.
fn keys_by(kms: Arc<dyn KmsClient>, material: &ExternalKeyMaterial, metadata: [&[u8]; 2]) -> [Vec<u8>; 2] {
    let retriever = KmsKeyRetriever::new(kms).with_external_material(material.to_json().as_bytes()).unwrap();
    metadata.map(|metadata| retriever.retrieve_key(metadata).unwrap())
}

#[test]
fn material_outside_is_rotated_and_the_keys_stay() {
    for is_double in [false, true] {
        let kms = Arc::new(Versions::default());
        let management = KeyManagement::new(kms.clone()).with_double_wrapping(is_double);
        let (builder, material) =
            management.encryption_with_external_material("kf", &[("kc", "a"), ("kc", "b")]).unwrap();
        assert_eq!(material.names().collect::<Vec<_>>(), ["columnKey0", "columnKey1", "footerKey"]);
        let encryption = builder.build().unwrap();
        let ColumnEncryption::ColumnKey(_, Some(column)) = encryption.column("b") else { panic!() };
        let metadata = [encryption.footer_key_metadata().unwrap(), column];
        assert!(str::from_utf8(column).unwrap().contains("\"keyReference\":\"columnKey1\""));
        let keys = keys_by(kms.clone(), &material, metadata);
        kms.0.store(1, Ordering::Relaxed);
        let rotated = management.rotate(&material).unwrap();
        assert!(
            rotated.to_json().contains("1:") && !rotated.to_json().contains("0:"),
            "{}",
            rotated.to_json()
        );
        assert!(rotated.to_json().contains("kmsInstanceURL"));
        assert_eq!(keys_by(kms.clone(), &rotated, metadata), keys);
        assert_eq!(keys_by(kms, &material, metadata), keys, "the old one is good until it is replaced");
    }
}

#[test]
fn another_kms_takes_keys_over() {
    let (old, new) = (Arc::new(Versions::default()), Arc::new(Versions(AtomicUsize::new(5))));
    let (builder, material) = KeyManagement::new(old.clone())
        .with_kms_instance("old", "https://old")
        .encryption_with_external_material("kf", &[("kc", "a")])
        .unwrap();
    let encryption = builder.build().unwrap();
    let ColumnEncryption::ColumnKey(_, Some(column)) = encryption.column("a") else { panic!() };
    let metadata = [encryption.footer_key_metadata().unwrap(), column];
    let named = |id: &str, url: &str| Some((id.to_owned(), url.to_owned()));
    assert_eq!(material.kms_instance().unwrap(), named("old", "https://old"));
    let keys = keys_by(old.clone(), &material, metadata);
    let management = KeyManagement::new(new.clone()).with_kms_instance("new", "https://new");
    let rotated = management.rotate_from(&material, &KmsKeyRetriever::new(old)).unwrap();
    assert_eq!(rotated.kms_instance().unwrap(), named("new", "https://new"));
    assert!(rotated.to_json().contains("5:") && !rotated.to_json().contains("0:"), "{}", rotated.to_json());
    assert_eq!(keys_by(new, &rotated, metadata), keys);
    assert_eq!(ExternalKeyMaterial::default().kms_instance().unwrap(), None);
    let none = ExternalKeyMaterial::parse(br#"{"footerKey": "kf"}"#).unwrap().kms_instance().unwrap_err();
    assert!(none.to_string().contains("footerKey"), "{none}");
}

#[test]
fn key_metadata_say_where_their_key_is() {
    let keys = KeyManagement::new(Arc::new(Kms::default())).with_kms_instance("one", "https://one");
    let encryption = keys.encryption("kf", &[("kc", "a")]).unwrap().build().unwrap();
    let ColumnEncryption::ColumnKey(_, Some(column)) = encryption.column("a") else { panic!() };
    let footer = MaterialOrigin::of(encryption.footer_key_metadata().unwrap()).unwrap();
    assert_eq!(footer.kms_instance, Some(("one".to_owned(), "https://one".to_owned())));
    let column = MaterialOrigin::of(column).unwrap();
    assert_eq!((footer.is_outside, column.is_outside, column.kms_instance), (false, false, None));
    let (builder, _) = keys.encryption_with_external_material("kf", &[]).unwrap();
    let outside = MaterialOrigin::of(builder.build().unwrap().footer_key_metadata().unwrap()).unwrap();
    assert!(outside.is_outside && outside.kms_instance.is_none());
    assert!(MaterialOrigin::of(b"kf").is_err());
}

#[test]
fn clones_of_a_retriever_share_what_was_unwrapped() {
    let kms = Arc::new(Kms::default());
    let keys = KeyManagement::new(kms.clone());
    let known = KmsKeyRetriever::new(kms.clone());
    for _ in 0..3 {
        let (builder, material) = keys.encryption_with_external_material("kf", &[]).unwrap();
        let encryption = builder.build().unwrap();
        let of_file = known.clone().with_external_material(material.to_json().as_bytes()).unwrap();
        of_file.retrieve_key(encryption.footer_key_metadata().unwrap()).unwrap();
    }
    assert_eq!(kms.0.load(Ordering::Relaxed), 2, "wrapped once, unwrapped once");
}

#[test]
fn lifetimes_end() {
    for (lifetime, asked) in [(0, 6), (3600, 1)] {
        let kms = Arc::new(Kms::default());
        let keys = KeyManagement::new(kms.clone()).with_cache_lifetime(Duration::from_secs(lifetime));
        for _ in 0..3 {
            keys.encryption("kf", &[("kf", "a")]).unwrap();
        }
        assert_eq!(kms.0.load(Ordering::Relaxed), asked);
    }
}

/// A server of master keys that counts its calls.
#[derive(Default)]
struct Server(Arc<AtomicUsize>);

impl MasterKeys for Server {
    fn master_key(&self, master_key_id: &str) -> Result<Vec<u8>> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Kms::master(master_key_id).map(|key| key.expose().to_vec())
    }
}

#[test]
fn local_wrapping() {
    for is_double in [false, true] {
        let asked = Arc::<AtomicUsize>::default();
        let kms = Arc::new(LocalKms::new(Server(asked.clone())));
        let management = KeyManagement::new(kms.clone()).with_double_wrapping(is_double);
        let encryption = management.encryption("kf", &[("kc", "a")]).unwrap().build().unwrap();
        let metadata = encryption.footer_key_metadata().unwrap();
        assert!(str::from_utf8(metadata).unwrap().contains("NO_VERSION"));
        KmsKeyRetriever::new(kms.clone()).retrieve_key(metadata).unwrap();
        assert_eq!(asked.load(Ordering::Relaxed), 2, "once for each master key");
        let (_, material) = management.encryption_with_external_material("kf", &[]).unwrap();
        let error = management.rotate(&material).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
    }
    // Wrapped by another implementation: the key `abcdefghijklmnop`, by AES-GCM with the master key `0123456789012345`, and `kf` as additional data.
    let wrapped = |version| {
        format!(
            r#"{{"masterKeyVersion":"{version}","encryptedKey":"AAECAwQFBgcICQoLwZZ/vF58icHUlMczk/C1ptJLAO5VkWNfgqxNL82QktM="}}"#
        )
    };
    let kms = LocalKms::new(Server::default());
    assert_eq!(kms.unwrap_key(&wrapped("NO_VERSION"), "kf").unwrap(), b"abcdefghijklmnop");
    assert_eq!(kms.unwrap_key(&wrapped("NO_VERSION"), "kc").unwrap_err().kind(), ErrorKind::Key);
    assert_eq!(kms.unwrap_key(&wrapped("7"), "kf").unwrap_err().kind(), ErrorKind::Unsupported);
}

#[test]
fn properties_make_keys() {
    let properties = KeyProperties::parse([
        ("parquet.encryption.footer.key", "kf"),
        ("parquet.encryption.column.keys", "kc: a, b"),
        ("parquet.encryption.algorithm", "AES_GCM_CTR_V1"),
        ("parquet.encryption.key.material.store.internally", "false"),
        ("parquet.encryption.data.key.length.bits", "256"),
        ("spark.sql.shuffle.partitions", "7"),
    ])
    .unwrap();
    let management = properties.management(Arc::new(Kms::default())).unwrap();
    let (builder, material) = properties.encryption(&management).unwrap();
    let encryption = builder.build().unwrap();
    assert_eq!(encryption.cipher(), ParquetCipher::AesGcmCtrV1);
    assert_eq!(material.unwrap().names().count(), 3);
    assert!(matches!(encryption.column("c"), ColumnEncryption::Plain));
}
