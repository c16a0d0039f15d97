//! Keys of encrypted files, in objects that do not reveal them.

use crate::ending::Callee;
use crate::errors::{from_python, to_python};
use crate::options::Options;
use marquetry::errors::{Error, Result};
use marquetry::file::encryption::{
    EncryptionDialect, EncryptionPropertiesBuilder, FileDecryptionProperties, FileEncryptionProperties,
    KeyRetriever, ParquetCipher, shown_metadata,
};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::sync::Arc;

/// The keys for reading encrypted files, or a function that finds them.
#[pyclass(frozen, name = "FileDecryptionProperties", module = "marquetry.encryption")]
pub(crate) struct Decryption(Arc<FileDecryptionProperties>);

/// The keys and the form of encryption for writing files.
#[pyclass(frozen, name = "FileEncryptionProperties", module = "marquetry.encryption")]
pub(crate) struct Encryption(Arc<FileEncryptionProperties>);

impl Decryption {
    /// With keys that `retriever` finds by their key metadata; plaintext files are read, too.
    pub(crate) fn by(py: Python<'_>, retriever: Arc<dyn KeyRetriever>) -> PyResult<Self> {
        let keys = FileDecryptionProperties::with_key_retriever(retriever).with_plaintext_files(true);
        keys.build().map(Decryption).map_err(|error| to_python(py, &error))
    }

    pub(crate) fn properties(&self) -> Arc<FileDecryptionProperties> {
        self.0.clone()
    }
}

impl Encryption {
    pub(crate) fn of(py: Python<'_>, builder: EncryptionPropertiesBuilder) -> PyResult<Self> {
        builder.build().map(Encryption).map_err(|error| to_python(py, &error))
    }

    pub(crate) fn properties(&self) -> Arc<FileEncryptionProperties> {
        self.0.clone()
    }
}

#[pymethods]
impl Decryption {
    /// Refuses to be pickled: keys do not leave the process.
    fn __reduce__(&self) -> PyResult<()> {
        Err(not_pickled("FileDecryptionProperties"))
    }
}

#[pymethods]
impl Encryption {
    /// Refuses to be pickled: keys do not leave the process.
    fn __reduce__(&self) -> PyResult<()> {
        Err(not_pickled("FileEncryptionProperties"))
    }
}

fn not_pickled(name: &str) -> PyErr {
    PyTypeError::new_err(format!(
        "cannot pickle {name}: keys do not leave the process; make them anew where they are needed"
    ))
}

/// Makes decryption properties from given keys.
#[pyfunction]
pub(crate) fn decryption_with_keys(py: Python<'_>, options: &Bound<'_, PyDict>) -> PyResult<Decryption> {
    let options = Options::new(py, Some(options))?;
    let footer_key: Option<Vec<u8>> = options.take("footer_key")?;
    let retriever: Option<Py<PyAny>> = options.take("key_retriever")?;
    let mut keys = match (footer_key, retriever) {
        (Some(key), None) => FileDecryptionProperties::builder(key),
        (key, retriever) => {
            let keys =
                FileDecryptionProperties::with_key_retriever(Arc::new(Retriever(retriever.map(Callee::new))));
            key.into_iter().fold(keys, |keys, key| keys.with_footer_key(key))
        }
    };
    for (column, key) in options.take::<Vec<(String, Vec<u8>)>>("column_keys")?.unwrap_or_default() {
        keys = keys.with_column_key(&column, key);
    }
    if let Some(prefix) = options.take("aad_prefix")? {
        keys = keys.with_aad_prefix(prefix);
    }
    if options.take("verifies_signature")? == Some(false) {
        keys = keys.disable_footer_signature_verification();
    }
    keys = keys.with_plaintext_files(options.take("reads_plaintext")?.unwrap_or(false));
    keys = keys.with_dialect(options.parsed("dialect", dialect)?.unwrap_or_default());
    options.finish()?;
    keys.build().map(Decryption).map_err(|error| to_python(py, &error))
}

/// Makes encryption properties from given keys.
#[pyfunction]
pub(crate) fn encryption_with_keys(py: Python<'_>, options: &Bound<'_, PyDict>) -> PyResult<Encryption> {
    let options = Options::new(py, Some(options))?;
    let mut keys =
        FileEncryptionProperties::builder(options.take::<Vec<u8>>("footer_key")?.unwrap_or_default());
    if let Some(metadata) = options.take("footer_key_metadata")? {
        keys = keys.with_footer_key_metadata(metadata);
    }
    type Columns = Vec<(String, Vec<u8>, Option<Vec<u8>>)>;
    for (column, key, metadata) in options.take::<Columns>("column_keys")?.unwrap_or_default() {
        keys = match metadata {
            Some(metadata) => keys.with_column_key_and_metadata(&column, key, metadata),
            None => keys.with_column_key(&column, key),
        };
    }
    if let Some(prefix) = options.take("aad_prefix")? {
        keys = keys.with_aad_prefix(prefix);
    }
    keys = keys
        .with_aad_prefix_storage(options.take("stores_aad_prefix")?.unwrap_or(true))
        .with_complete_columns(options.take("complete_columns")?.unwrap_or(false))
        .with_dialect(options.parsed("dialect", dialect)?.unwrap_or_default());
    let keys = with_form(&options, keys)?;
    options.finish()?;
    Encryption::of(py, keys)
}

/// Applies the options about the form of an encrypted file.
pub(crate) fn with_form(
    options: &Options<'_>,
    keys: EncryptionPropertiesBuilder,
) -> PyResult<EncryptionPropertiesBuilder> {
    Ok(keys
        .with_cipher(options.parsed("algorithm", cipher)?.unwrap_or_default())
        .with_plaintext_footer(options.take("plaintext_footer")?.unwrap_or(false)))
}

fn cipher(name: &str) -> Result<ParquetCipher> {
    match name {
        "AES_GCM_V1" => Ok(ParquetCipher::AesGcmV1),
        "AES_GCM_CTR_V1" => Ok(ParquetCipher::AesGcmCtrV1),
        other => Err(Error::argument(format!(
            "the algorithm is {other:?}, and should be AES_GCM_V1 or AES_GCM_CTR_V1"
        ))),
    }
}

fn dialect(name: &str) -> Result<EncryptionDialect> {
    match name {
        "parquet" => Ok(EncryptionDialect::Parquet),
        "duckdb" => Ok(EncryptionDialect::DuckDb),
        other => Err(Error::argument(format!("the dialect is {other:?}, and should be parquet or duckdb"))),
    }
}

/// A Python callable that returns the key for key metadata, or `None`.
struct Retriever(Option<Callee>);

impl KeyRetriever for Retriever {
    fn retrieve_key(&self, key_metadata: &[u8]) -> Result<Vec<u8>> {
        let found = match &self.0 {
            None => None,
            Some(callable) => {
                let found = callable.with(|callable| {
                    let found = callable.call1((PyBytes::new(callable.py(), key_metadata),))?;
                    key_bytes("the key retriever", &found)
                });
                found.map_err(from_python)?
            }
        };
        let none = || Error::encrypted(format!("no key was given for {}", shown_metadata(key_metadata)));
        found.ok_or_else(none)
    }
}

/// The bytes of a key; `None` for `None`. Errors reveal only the type of what was given.
pub(crate) fn key_bytes(who: &str, given: &Bound<'_, PyAny>) -> PyResult<Option<Vec<u8>>> {
    if given.is_none() {
        return Ok(None);
    }
    match given.cast::<PyBytes>() {
        Ok(bytes) => Ok(Some(bytes.as_bytes().to_vec())),
        Err(_) => {
            let name = given.get_type().name()?;
            Err(PyTypeError::new_err(format!("{who} gave {name}: a key is bytes")))
        }
    }
}
