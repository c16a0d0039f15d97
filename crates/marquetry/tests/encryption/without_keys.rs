//! What is said and what can still be read where a key is missing, or a wrong one.

use crate::corpus;
use crate::files::{Encrypted, FILES, open, table};
use marquetry::errors::ErrorKind;
use marquetry::file::encryption::FileDecryptionProperties;

const PARE: Encrypted = FILES[0];
const PLAIN: Encrypted = FILES[4];
const SUPPLIED: Encrypted = FILES[3];

#[test]
fn three_sentences() {
    let Some(root) = corpus::root() else { return };
    let said = |file: Encrypted, keys| match open(file.bytes(&root), keys) {
        Ok(_) => panic!("{file:?} was opened"),
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Key, "{error}");
            error.to_string()
        }
    };
    let missing = marquetry::open_bytes(PARE.bytes(&root)).err().unwrap().to_string();
    assert!(
        missing.contains("the footer is encrypted (PARE) with the key \"kf\", and no key was given"),
        "{missing}"
    );
    let wrong = said(PARE, FileDecryptionProperties::builder(PARE.column_key(0)));
    assert!(wrong.contains("a wrong key was given for the footer"), "{wrong}");
    let prefix = said(
        SUPPLIED,
        FileDecryptionProperties::builder(PARE.footer_key()).with_aad_prefix(b"other".to_vec()),
    );
    assert!(prefix.contains("the key of the footer is right, but not the AAD"), "{prefix}");
    let none = said(SUPPLIED, FileDecryptionProperties::builder(PARE.footer_key()));
    assert!(none.contains("an AAD prefix that is not stored in it"), "{none}");
    let given =
        said(PARE, FileDecryptionProperties::builder(PARE.footer_key()).with_aad_prefix(b"tester".to_vec()));
    assert!(given.contains("the file has none"), "{given}");
    let stored = said(
        FILES[1],
        FileDecryptionProperties::builder(PARE.footer_key()).with_aad_prefix(b"other".to_vec()),
    );
    assert!(stored.contains("the AAD prefix of the file is \"tester\""), "{stored}");
    let signature = said(PLAIN, FileDecryptionProperties::builder(PARE.column_key(0)));
    assert!(signature.contains("the signature of the footer does not fit"), "{signature}");
    let length = said(PARE, FileDecryptionProperties::builder(FILES[6].footer_key()));
    assert!(length.contains("a wrong key"), "{length}");
}

#[test]
fn keys_for_a_file_that_is_not_encrypted_are_an_error() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/wines.parquet");
    let error = open(std::fs::read(path).unwrap().into(), PARE.keys()).err().unwrap();
    assert!(error.to_string().contains("the file is not encrypted"), "{error}");
    let file = open(std::fs::read(path).unwrap().into(), PARE.keys().with_plaintext_files(true)).unwrap();
    assert!(file.metadata().encryption().is_none());
    assert!(table(file).unwrap().iter().all(|column| !column.is_empty()));
}

/// Columns whose keys are missing or wrong do not prevent reading others.
#[test]
fn other_columns_are_read() {
    let Some(root) = corpus::root() else { return };
    for encrypted in [PARE, PLAIN, FILES[2]] {
        let all = table(encrypted.open(&root)).unwrap();
        let footer_only = || FileDecryptionProperties::builder(encrypted.footer_key());
        let wrong = footer_only().with_column_key("double_field", encrypted.column_key(7));
        for (keys, said) in
            [(footer_only(), "is encrypted with the key \"kc1\""), (wrong, "a wrong key was given")]
        {
            let file = open(encrypted.bytes(&root), keys).unwrap();
            for (number, leaf) in file.metadata().schema().columns().iter().enumerate() {
                let cells = table(file.clone().columns([leaf.dotted().to_string()]));
                match &**leaf.dotted() {
                    "double_field" => {
                        let error = cells.unwrap_err();
                        assert_eq!(error.kind(), ErrorKind::Key, "{encrypted:?}: {error}");
                        assert!(error.to_string().contains(said), "{encrypted:?}: {error}");
                        assert!(error.to_string().contains("double_field"), "{encrypted:?}: {error}");
                    }
                    "float_field" => assert_eq!(cells.unwrap_err().kind(), ErrorKind::Key),
                    _ => assert_eq!(cells.unwrap()[0], all[number.min(leaf.root())], "{encrypted:?}"),
                }
            }
        }
    }
}
