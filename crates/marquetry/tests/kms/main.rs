//! Keys that HashiCorp Vault wraps. Its transit engine is played by a small server, as its documentation says.

mod transit_server;
#[path = "../../examples/vault_kms/vault.rs"]
mod vault;

use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use marquetry::arrow::ArrowWriter;
use marquetry::arrow::arrow_reader::ArrowReaderOptions;
use marquetry::errors::{ErrorKind, Result};
use marquetry::file::encryption::{
    FileDecryptionProperties, KeyManagement, KmsClient, KmsKeyRetriever, key_material_path,
    read_key_material, rotate_key_material, write_key_material,
};
use marquetry::file::properties::WriterProperties;
use std::path::Path;
use std::sync::Arc;
use transit_server::{TOKEN, TransitServer};
use vault::Vault;

fn batch() -> RecordBatch {
    let column: ArrayRef = Arc::new(Int64Array::from_iter_values(0..100));
    RecordBatch::try_from_iter([("salary", column)]).unwrap()
}

fn write(path: &Path, encryption: marquetry::file::encryption::EncryptionPropertiesBuilder) {
    let properties =
        WriterProperties::builder().with_file_encryption_properties(encryption.build().unwrap()).build();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch().schema(), Some(properties)).unwrap();
    writer.write(&batch()).unwrap();
    std::fs::write(path, writer.into_inner().unwrap()).unwrap();
}

fn read(path: &Path, retriever: KmsKeyRetriever) -> Result<RecordBatch> {
    let keys = FileDecryptionProperties::with_key_retriever(Arc::new(retriever)).build()?;
    let options = ArrowReaderOptions::new().with_file_decryption_properties(keys);
    marquetry::open_with_options(path, options)?.batches()?.next_batch().unwrap()
}

#[test]
fn files_are_written_read_and_rotated() {
    let server = TransitServer::start();
    let kms = Arc::new(Vault::new(server.address(), TOKEN));
    let folder = tempfile::tempdir().unwrap();
    for double_wrapping in [false, true] {
        let keys = KeyManagement::new(kms.clone()).with_double_wrapping(double_wrapping);
        let path = folder.path().join("inside.parquet");
        write(&path, keys.encryption("footer", &[("salaries", "salary")]).unwrap());
        assert_eq!(read(&path, KmsKeyRetriever::new(kms.clone())).unwrap(), batch());

        let path = folder.path().join("beside.parquet");
        let (encryption, material) =
            keys.encryption_with_external_material("footer", &[("salaries", "salary")]).unwrap();
        write_key_material(&path, &material).unwrap();
        write(&path, encryption);
        let before = std::fs::read_to_string(key_material_path(&path)).unwrap();
        server.rotate("footer");
        server.rotate("salaries");
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(rotate_key_material(&path, &keys).unwrap(), 2);
        let after = std::fs::read_to_string(key_material_path(&path)).unwrap();
        let version = |text: &str| text.split("vault:v").nth(1).unwrap().chars().next().unwrap();
        assert_eq!(version(&after) as u32, version(&before) as u32 + 1);
        assert!(std::fs::read(&path).unwrap() == bytes, "the file stays as it is");
        let material = read_key_material(&path).unwrap().to_json();
        for material in [before, material] {
            let retriever = KmsKeyRetriever::new(kms.clone()).with_external_material(material.as_bytes());
            assert_eq!(read(&path, retriever.unwrap()).unwrap(), batch());
        }
    }
}

/// The material is the old one, whole, when rotating fails.
#[test]
fn rotating_in_vain_changes_nothing() {
    let server = TransitServer::start();
    let keys = KeyManagement::new(Arc::new(Vault::new(server.address(), TOKEN)));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let (_, material) = keys.encryption_with_external_material("footer", &[("salaries", "salary")]).unwrap();
    write_key_material(&path, &material).unwrap();
    let refused = KeyManagement::new(Arc::new(Vault::new(server.address(), "a token that is no more")));
    assert_eq!(rotate_key_material(&path, &refused).unwrap_err().kind(), ErrorKind::Key);
    assert_eq!(read_key_material(&path).unwrap(), material);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no file is left beside it");
}

#[test]
fn what_vault_refuses_is_told() {
    let server = TransitServer::start();
    let kms = Vault::new(server.address(), TOKEN);
    let wrapped = kms.wrap_key(b"0123456789012345", "footer").unwrap();
    assert!(wrapped.starts_with("vault:v"));
    assert_eq!(kms.unwrap_key(&wrapped, "footer").unwrap(), b"0123456789012345");
    for (error, kind, said) in [
        (
            Vault::new(server.address(), "other").wrap_key(b"x", "footer").unwrap_err(),
            ErrorKind::Key,
            "permission denied",
        ),
        (kms.wrap_key(b"x", "no-such-key").unwrap_err(), ErrorKind::Io, "encryption key not found"),
        (kms.unwrap_key(&wrapped, "salaries").unwrap_err(), ErrorKind::Io, "invalid ciphertext"),
        (kms.unwrap_key("vault:v9:AAAA", "footer").unwrap_err(), ErrorKind::Io, "invalid ciphertext"),
        (kms.wrap_key(b"x", "../sys/seal").unwrap_err(), ErrorKind::Argument, "not a name of a key"),
        (
            Vault::new("http://127.0.0.1:1", TOKEN).wrap_key(b"x", "footer").unwrap_err(),
            ErrorKind::Io,
            "footer",
        ),
        (kms.with_mount("elsewhere").wrap_key(b"x", "footer").unwrap_err(), ErrorKind::Io, "no handler"),
    ] {
        assert!(error.kind() == kind && error.to_string().contains(said), "{error}");
        assert!(!error.to_string().contains(TOKEN), "{error}");
    }
}
