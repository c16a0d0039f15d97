//! Encrypts a new file like one that was read.

use super::file_encryptor::{ColumnKey, FileEncryptor};
use crate::metadata::ParquetMetaData;
use crate::schema::Schema;
use marquetry_base::Result;
use marquetry_crypto::{
    ColumnEncryption, EncryptionKey, EncryptionPropertiesBuilder, FileEncryptionProperties, ParquetCipher,
};
use marquetry_format::{AesGcm, EncryptionAlgorithm};
use std::sync::Arc;

/// Returns properties that encrypt a new file of the same columns like the one with footer `metadata`: with the keys
/// that it was read with, their key metadata, its algorithm and AAD prefix. `None` if nothing in it is encrypted. The
/// new keys start with the count of modules that they encrypted in the old file. The columns of a group may have other
/// names in the new file, if all of the group was encrypted alike.
///
/// ```
/// use marquetry_core::io::read_metadata;
/// use marquetry_core::write::encrypted_alike;
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/wines.parquet");
/// let file = bytes::Bytes::from(std::fs::read(path)?);
/// let metadata = read_metadata(&file, &Default::default())?.metadata;
/// assert!(encrypted_alike(&metadata)?.is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Fails if a key is missing, if row groups are encrypted in different ways, or if there are none, because then nothing
/// states which columns are encrypted.
pub fn encrypted_alike(metadata: &ParquetMetaData) -> Result<Option<Arc<FileEncryptionProperties>>> {
    let Some(encryptor) = FileEncryptor::of_file(metadata)? else { return Ok(None) };
    let bytes = |key: &EncryptionKey| key.secret().expose().to_vec();
    let mut builder = FileEncryptionProperties::builder(bytes(&encryptor.footer_key))
        .with_plaintext_footer(encryptor.has_plain_footer)
        .with_complete_columns(true)
        .with_dialect(encryptor.dialect);
    if let Some(metadata) = &encryptor.footer_key_metadata {
        builder = builder.with_footer_key_metadata(metadata.clone());
    }
    let parameters = match &encryptor.algorithm {
        EncryptionAlgorithm::AesGcmCtrV1(parameters) => {
            builder = builder.with_cipher(ParquetCipher::AesGcmCtrV1);
            Some(parameters)
        }
        EncryptionAlgorithm::AesGcmV1(parameters) => Some(parameters),
        EncryptionAlgorithm::Unknown(_) => None,
    };
    if let Some(parameters) = parameters {
        builder = with_prefix(builder, metadata, parameters);
    }
    let schema = metadata.schema();
    for (name, key) in by_name(schema, &encryptor.columns) {
        builder = match key {
            ColumnKey::Plain => builder.with_open_column(&name),
            ColumnKey::Footer => builder,
            ColumnKey::Own(key, None) => builder.with_column_key(&name, bytes(key)),
            ColumnKey::Own(key, Some(metadata)) => {
                builder.with_column_key_and_metadata(&name, bytes(key), metadata.clone())
            }
        };
    }
    let properties = builder.build()?;
    count_earlier(&encryptor, &properties, schema);
    Ok(Some(properties))
}

fn with_prefix(
    builder: EncryptionPropertiesBuilder,
    metadata: &ParquetMetaData,
    parameters: &AesGcm,
) -> EncryptionPropertiesBuilder {
    let given = || metadata.decryptor().and_then(|decryptor| decryptor.properties().aad_prefix());
    match (&parameters.aad_prefix, parameters.supply_aad_prefix) {
        (Some(stored), _) if !stored.is_empty() => builder.with_aad_prefix(stored.clone()),
        (_, Some(true)) => match given() {
            Some(given) => builder.with_aad_prefix(given.to_vec()).with_aad_prefix_storage(false),
            None => builder,
        },
        _ => builder,
    }
}

/// Returns keys by the names of the root's fields, if all columns below a field have the same key; else by the paths of
/// leaves.
fn by_name<'a>(schema: &Schema, columns: &'a [ColumnKey]) -> Vec<(String, &'a ColumnKey)> {
    let mut named = Vec::new();
    for (root, field) in schema.fields().iter().enumerate() {
        let leaves = schema.columns_of(root);
        match &columns[leaves.clone()] {
            [first, others @ ..] if others.iter().all(|other| other == first) => {
                named.push((field.name().to_string(), first));
            }
            keys => {
                let names = leaves.map(|leaf| schema.column(leaf).dotted().to_string());
                named.extend(names.zip(keys));
            }
        }
    }
    named
}

/// Adds the number of modules that each key has encrypted so far, once per key.
fn count_earlier(encryptor: &FileEncryptor, properties: &FileEncryptionProperties, schema: &Schema) {
    properties.footer_key().count_earlier(encryptor.footer_key.invocations());
    let mut counted = vec![properties.footer_key()];
    for (key, leaf) in encryptor.columns.iter().zip(schema.columns()) {
        if let (ColumnKey::Own(old, _), ColumnEncryption::ColumnKey(new, _)) =
            (key, properties.column(leaf.dotted()))
            && !counted.iter().any(|known| Arc::ptr_eq(known, new))
        {
            new.count_earlier(old.invocations());
            counted.push(new);
        }
    }
}
