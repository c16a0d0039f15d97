//! Encrypted modules: only a module that was sealed can be opened.
#![cfg(feature = "encryption")]

use marquetry_base::ErrorKind;
use marquetry_crypto::{
    CTR_OVERHEAD, ColumnEncryption, EncryptionDialect, EncryptionKey, FileDecryptionProperties,
    FileEncryptionProperties, GCM_OVERHEAD, KeyRetriever, MAX_INVOCATIONS, ModuleCipher, ParquetCipher,
    SecretKey,
};
use std::sync::Arc;

const KEYS: [&[u8]; 3] =
    [b"0123456789012345", b"012345678901234567890123", b"01234567890123456789012345678901"];

fn key(bytes: &[u8]) -> EncryptionKey {
    EncryptionKey::new(SecretKey::new(bytes).unwrap()).unwrap()
}

#[test]
fn sealed_modules_are_opened() {
    for bytes in KEYS {
        let key = key(bytes);
        for len in [0, 1, 15, 16, 17, 1_000, 70_000] {
            let content: Vec<u8> = (0..len).map(|i| (i / 7) as u8).collect();
            let (mut gcm, mut ctr, mut out) = (Vec::new(), Vec::new(), vec![9; 20]);
            key.seal_gcm(&content, b"aad", &mut gcm).unwrap();
            key.seal_ctr(&content, &mut ctr).unwrap();
            assert_eq!((gcm.len(), ctr.len()), (len + GCM_OVERHEAD, len + CTR_OVERHEAD));
            assert_eq!(ModuleCipher::framed_len(&gcm), Some(gcm.len() as u64));
            assert!(key.cipher().open_gcm(&gcm, b"aad", &mut out).unwrap());
            assert_eq!(out, content);
            key.cipher().open_ctr(&ctr, &mut out).unwrap();
            assert_eq!(out, content);
            assert_eq!(key.cipher().unauthenticated(&gcm).unwrap(), content);
            assert!(!key.cipher().open_gcm(&gcm, b"other", &mut out).unwrap());
            assert!(out.is_empty(), "nothing is given of what has a wrong tag");
        }
        assert_eq!(key.invocations(), 14);
    }
}

#[test]
fn nothing_else_is_opened() {
    let key = key(KEYS[0]);
    let (mut module, mut out) = (Vec::new(), Vec::new());
    key.seal_gcm(b"a module", b"aad", &mut module).unwrap();
    for byte in 0..module.len() {
        let mut wrong = module.clone();
        wrong[byte] ^= 0x10;
        match key.cipher().open_gcm(&wrong, b"aad", &mut out) {
            Ok(is_right) => assert!(!is_right && byte >= 4, "byte {byte}"),
            Err(error) => assert!(error.kind() == ErrorKind::Corrupt && byte < 4, "{error}"),
        }
        let cut = key.cipher().open_gcm(&module[..byte], b"aad", &mut out);
        assert_eq!(cut.unwrap_err().kind(), ErrorKind::Corrupt);
    }
    // Lengths that are too short for nonce and tag.
    for len in 0..28u32 {
        let short = [&len.to_le_bytes()[..], &vec![0; len as usize]].concat();
        assert!(key.cipher().open_gcm(&short, b"", &mut out).is_err());
        assert_eq!(key.cipher().open_ctr(&short, &mut out).is_err(), len < 12);
    }
}

#[test]
fn nonces_do_not_repeat() {
    let (key, mut nonces) = (key(KEYS[2]), std::collections::HashSet::new());
    for _ in 0..10_000 {
        let mut module = Vec::new();
        key.seal_gcm(b"", b"", &mut module).unwrap();
        assert!(nonces.insert(module[4..16].to_vec()));
    }
    assert_eq!(MAX_INVOCATIONS, 1 << 32);
}

#[test]
fn signatures_are_held_against_the_content() {
    let key = key(KEYS[1]);
    let signature = key.sign(b"a footer", b"aad").unwrap();
    let is_signed = |content: &[u8], signature: &[u8], aad: &[u8]| {
        key.cipher().is_signed(content, signature, aad).unwrap()
    };
    assert!(is_signed(b"a footer", &signature, b"aad"));
    assert!(!is_signed(b"A footer", &signature, b"aad"));
    assert!(!is_signed(b"a footer", &signature, b"AAD"));
    assert!(!is_signed(b"a footer", &signature[..27], b"aad"));
    assert!(!is_signed(b"a footer", &[], b"aad"));
}

#[test]
fn properties_say_which_key_a_column_has() {
    let builder = || FileEncryptionProperties::builder(KEYS[0].to_vec());
    let uniform = builder().build().unwrap();
    assert!(matches!(uniform.column("a.b"), ColumnEncryption::FooterKey));
    let some = builder()
        .with_column_key("a", KEYS[2].to_vec())
        .with_column_key("b.c", KEYS[2].to_vec())
        .build()
        .unwrap();
    let ColumnEncryption::ColumnKey(first, None) = some.column("a.list.element") else { panic!() };
    let ColumnEncryption::ColumnKey(second, None) = some.column("b.c") else { panic!() };
    assert!(Arc::ptr_eq(first, second), "what a key encrypts is counted in one place");
    assert!(matches!(some.column("ab"), ColumnEncryption::Plain));
    assert!(matches!(some.column("b"), ColumnEncryption::Plain));
    assert!(some.check_columns(["a.list.element", "b.c"].into_iter()).is_ok());
    assert!(some.check_columns(["a", "b.d"].into_iter()).is_err());
    let complete =
        builder().with_column_key("a", KEYS[1].to_vec()).with_complete_columns(true).build().unwrap();
    assert!(matches!(complete.column("b"), ColumnEncryption::FooterKey));
}

#[test]
fn what_cannot_be_is_refused_without_a_word_of_the_key() {
    let builder = || FileEncryptionProperties::builder(KEYS[0].to_vec());
    for wrong in [
        FileEncryptionProperties::builder(b"sesame".to_vec()),
        FileEncryptionProperties::builder(vec![0; 16]),
        builder().with_column_key("a", b"sesame".to_vec()),
        builder().with_column_key("a", KEYS[0].to_vec()).with_column_key("a.b", KEYS[0].to_vec()),
        builder().with_aad_prefix(Vec::new()),
        builder().with_dialect(EncryptionDialect::DuckDb).with_cipher(ParquetCipher::AesGcmCtrV1),
    ] {
        let error = wrong.build().unwrap_err().to_string();
        assert!(!error.contains("sesame") && !error.contains("012345"), "{error}");
    }
    assert!(builder().with_column_keys(vec!["a", "b"], vec![KEYS[0].to_vec()]).is_err());
    let shown = format!("{:?}", builder().with_column_key("a", KEYS[1].to_vec()).build().unwrap());
    assert!(!shown.contains("012345") && !shown.contains("48, 49, 50"), "{shown}");
}

struct Names;

impl KeyRetriever for Names {
    fn retrieve_key(&self, key_metadata: &[u8]) -> marquetry_base::Result<Vec<u8>> {
        Ok(if key_metadata == b"kf" { KEYS[0].to_vec() } else { b"sesame".to_vec() })
    }
}

#[test]
fn keys_are_found_by_column_or_metadata() {
    let keys = FileDecryptionProperties::with_key_retriever(Arc::new(Names))
        .with_column_key("a", KEYS[2].to_vec())
        .build()
        .unwrap();
    let bits = |key: Option<SecretKey>| key.map(|key| 8 * key.expose().len());
    assert_eq!(bits(keys.footer_key(Some(b"kf")).unwrap()), Some(128));
    assert_eq!(bits(keys.footer_key(None).unwrap()), None);
    assert_eq!(bits(keys.column_key("a", Some(b"kf")).unwrap()), Some(256));
    assert_eq!(bits(keys.column_key("b", Some(b"kf")).unwrap()), Some(128));
    let error = keys.column_key("b", Some(b"other")).unwrap_err();
    assert!(!error.to_string().contains("sesame"), "{error}");
}
