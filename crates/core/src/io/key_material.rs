//! External key material, in files beside encrypted files.

use super::AtomicFile;
use marquetry_base::{Error, Result};
use marquetry_crypto::{ExternalKeyMaterial, KeyManagement};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Returns the path of a Parquet file's key material: `_KEY_MATERIAL_FOR_<name>.json` in the same directory.
///
/// ```
/// use marquetry_core::io::key_material_path;
/// use std::path::Path;
/// let path = key_material_path(Path::new("table/wines.parquet"));
/// assert_eq!(path, Path::new("table/_KEY_MATERIAL_FOR_wines.parquet.json"));
/// ```
pub fn key_material_path(parquet: &Path) -> PathBuf {
    let name = parquet.file_name().unwrap_or_default().to_string_lossy();
    parquet.with_file_name(ExternalKeyMaterial::file_name(&name))
}

/// Reads the key material of a Parquet file. Fails, naming the file with the material, if it cannot be read or is
/// invalid.
pub fn read_key_material(parquet: impl AsRef<Path>) -> Result<ExternalKeyMaterial> {
    let path = key_material_path(parquet.as_ref());
    let read = std::fs::read(&path).map_err(|error| Error::io("cannot read the key material", error));
    read.and_then(|json| ExternalKeyMaterial::parse(&json))
        .map_err(|error| error.in_file(path.display().to_string()))
}

/// Stores the key material of a Parquet file, in one step: readers find all of the old material, or all of the new.
/// Must be called before the Parquet file is written.
///
/// Fails if the file cannot be created.
pub fn write_key_material(parquet: impl AsRef<Path>, material: &ExternalKeyMaterial) -> Result<()> {
    let path = key_material_path(parquet.as_ref());
    let mut file = AtomicFile::create(&path)?;
    let written = file.write_all(material.to_json().as_bytes());
    written.map_err(|error| {
        Error::io("cannot write the key material", error).in_file(path.display().to_string())
    })?;
    file.finish()
}

/// Wraps the data keys of a Parquet file anew, with the newest versions of their master keys, in one step: at any
/// moment, and after a crash, readers find the old key material or the new one. The Parquet file is not changed.
///
/// Returns the number of keys. Fails if there is no key material beside the file, if the KMS fails, or if it wraps
/// locally; then everything stays as it was.
pub fn rotate_key_material(parquet: impl AsRef<Path>, keys: &KeyManagement) -> Result<usize> {
    let parquet = parquet.as_ref();
    let old = read_key_material(parquet)?;
    let new =
        keys.rotate(&old).map_err(|error| error.in_file(key_material_path(parquet).display().to_string()))?;
    write_key_material(parquet, &new)?;
    Ok(new.names().count())
}
