//! Writes and reads a file whose keys HashiCorp Vault has wrapped, and has them wrapped anew.
//!
//! ```text
//! vault secrets enable transit && vault write -f transit/keys/footer && vault write -f transit/keys/salaries
//! VAULT_ADDR=http://127.0.0.1:8200 VAULT_TOKEN=.. cargo run -p marquetry --example vault_kms
//! ```

mod vault;

use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use marquetry::arrow::ArrowWriter;
use marquetry::arrow::arrow_reader::ArrowReaderOptions;
use marquetry::file::AtomicFile;
use marquetry::file::encryption::{
    FileDecryptionProperties, KeyManagement, KmsKeyRetriever, read_key_material, rotate_key_material,
    write_key_material,
};
use marquetry::file::properties::WriterProperties;
use std::error::Error;
use std::sync::Arc;
use vault::Vault;

fn main() -> Result<(), Box<dyn Error>> {
    let address = std::env::var("VAULT_ADDR").unwrap_or_else(|_| "http://127.0.0.1:8200".to_owned());
    let mount = std::env::var("VAULT_TRANSIT_MOUNT").unwrap_or_else(|_| "transit".to_owned());
    let kms = Arc::new(Vault::new(&address, &std::env::var("VAULT_TOKEN")?).with_mount(&mount));
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("salaries.parquet");

    // Each file gets new data keys. Their wrapped form is in a file beside it, so that they can be wrapped anew.
    let keys = KeyManagement::new(kms.clone());
    let (encryption, material) =
        keys.encryption_with_external_material("footer", &[("salaries", "salary")])?;
    write_key_material(&path, &material)?;
    let properties = WriterProperties::builder().with_file_encryption_properties(encryption.build()?).build();
    let salary: ArrayRef = Arc::new(Int64Array::from_iter_values(40_000..40_100));
    let batch = RecordBatch::try_from_iter([("salary", salary)])?;
    let mut writer = ArrowWriter::try_new(AtomicFile::create(&path)?, batch.schema(), Some(properties))?;
    writer.write(&batch)?;
    writer.into_inner()?.finish()?;

    // After `vault write -f transit/keys/salaries/rotate`, the keys are wrapped with the new version. The Parquet file
    // is not touched.
    let count = rotate_key_material(&path, &keys)?;
    println!("{count} keys are wrapped with the newest versions of their master keys");

    let retriever =
        KmsKeyRetriever::new(kms).with_external_material(read_key_material(&path)?.to_json().as_bytes())?;
    let decryption = FileDecryptionProperties::with_key_retriever(Arc::new(retriever)).build()?;
    let options = ArrowReaderOptions::new().with_file_decryption_properties(decryption);
    let file = marquetry::open_with_options(&path, options)?;
    println!("{} rows", file.metadata().num_rows());
    Ok(())
}
