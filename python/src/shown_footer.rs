//! Footers of encrypted files for a plaintext file, such as `_metadata`: without anything that reveals values.

use marquetry::arrow::{ARROW_SCHEMA_META_KEY, parse_stored_schema, print_stored_schema};
use marquetry::errors::{Limits, Result};
use marquetry::file::encryption::{ColumnEncryption, FileEncryptionProperties};
use marquetry::file::metadata::ParquetMetaData;
use marquetry::geo::GeoParquet;
use marquetry::geo::geoparquet::KEY;
use marquetry::internals::format::{
    ColumnCryptoMetaData, ColumnMetaData, EncryptionWithColumnKey, FileMetaData, KeyValue,
};

/// The metadata of a written file, with a note of how each column is encrypted: a writer returns them as before encryption.
pub(crate) fn noted(
    metadata: ParquetMetaData,
    encryption: Option<&FileEncryptionProperties>,
) -> Result<ParquetMetaData> {
    let Some(encryption) = encryption else { return Ok(metadata) };
    let mut thrift = metadata.to_thrift()?;
    for group in &mut thrift.row_groups {
        for (chunk, leaf) in group.columns.iter_mut().zip(metadata.schema().columns()) {
            chunk.crypto_metadata = match encryption.column(leaf.dotted()) {
                ColumnEncryption::Plain => None,
                ColumnEncryption::FooterKey => Some(ColumnCryptoMetaData::FooterKey),
                ColumnEncryption::ColumnKey(_, key_metadata) => {
                    let (path_in_schema, key_metadata) =
                        (leaf.path_in_schema(), key_metadata.map(<[u8]>::to_vec));
                    let own = EncryptionWithColumnKey { path_in_schema, key_metadata };
                    Some(ColumnCryptoMetaData::ColumnKey(own))
                }
            };
        }
    }
    ParquetMetaData::from_thrift(thrift, &Limits::default())
}

/// The whole footer in plaintext: encrypted columns have no statistics, and no boxes around geometries.
pub(crate) fn shown(metadata: &ParquetMetaData) -> Result<FileMetaData> {
    let mut thrift = metadata.to_thrift()?;
    let hidden: Vec<bool> =
        (0..metadata.schema().num_columns()).map(|column| is_hidden(metadata, &thrift, column)).collect();
    if !hidden.contains(&true) {
        return Ok(thrift);
    }
    for group in &mut thrift.row_groups {
        for (chunk, _) in group.columns.iter_mut().zip(&hidden).filter(|(_, is_hidden)| **is_hidden) {
            chunk.meta_data = chunk.meta_data.take().map(ColumnMetaData::without_contents);
            if chunk.encrypted_column_metadata.is_none() {
                // Nothing here is encrypted, and readers without keys refuse chunks that claim to be.
                chunk.crypto_metadata = None;
            }
        }
    }
    hide_boxes(thrift.key_value_metadata.as_deref_mut().unwrap_or_default(), metadata, &hidden);
    Ok(thrift)
}

/// Whether the chunks of a column are encrypted. An unreadable chunk of an encrypted file may be.
fn is_hidden(metadata: &ParquetMetaData, thrift: &FileMetaData, column: usize) -> bool {
    // Appended row groups have no crypto metadata.
    let mut chunks = thrift.row_groups.iter().filter_map(|group| group.columns.get(column));
    let (mut groups, may_be) = (metadata.row_groups(), metadata.encryption().is_some());
    chunks.any(|chunk| chunk.crypto_metadata.is_some())
        || groups.any(|group| group.column(column).map_or(may_be, |chunk| chunk.is_encrypted()))
}

/// Removes the boxes of hidden columns from GeoParquet's metadata, which the Arrow schema may repeat.
fn hide_boxes(pairs: &mut [KeyValue], metadata: &ParquetMetaData, hidden: &[bool]) {
    for pair in pairs {
        let Some(text) = pair.value.as_deref() else { continue };
        if pair.key == KEY {
            if let Some(shown) = without_boxes(text, metadata, hidden) {
                pair.value = Some(shown.into());
            }
        } else if pair.key == ARROW_SCHEMA_META_KEY
            && let Some(mut arrow) = parse_stored_schema(text)
            && let Some(geo) = arrow.metadata.get_mut(KEY)
            && let Some(shown) = without_boxes(geo, metadata, hidden)
        {
            *geo = shown;
            pair.value = Some(print_stored_schema(&arrow).into());
        }
    }
}

fn without_boxes(geo: &str, metadata: &ParquetMetaData, hidden: &[bool]) -> Option<String> {
    let mut geo = GeoParquet::parse(geo).ok()?;
    let schema = metadata.schema();
    let is_hidden = |name: &str| {
        let root = schema.fields().iter().position(|field| field.name() == name);
        root.is_some_and(|root| schema.columns_of(root).any(|leaf| hidden[leaf]))
    };
    let names: Vec<String> =
        geo.columns().map(|(name, _)| name.to_owned()).filter(|name| is_hidden(name)).collect();
    let mut removed = false;
    for name in names {
        removed |= geo.column_mut(&name).remove("bbox").is_some();
    }
    removed.then(|| geo.to_json())
}
