//! Keys that a key management service has wrapped, with a client in Python.
//!
//! Whichever thread needs a key calls the client, and holds the interpreter's lock for that call.

use crate::encryption::{Decryption, Encryption, key_bytes, with_form};
use crate::ending::Callee;
use crate::errors::{from_python, to_python};
use crate::options::Options;
use marquetry::errors::{Error, Result};
use marquetry::file::encryption::{
    ExternalKeyMaterial, KeyManagement, KeyRetriever, KmsClient, KmsKeyRetriever, MaterialOrigin,
    write_key_material as write_material,
};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// A `KmsClient` in Python.
struct Client(Callee);

impl KmsClient for Client {
    fn wrap_key(&self, key: &[u8], master_key_id: &str) -> Result<String> {
        let wrapped = self.0.with(|client| {
            let key = PyBytes::new(client.py(), key);
            let wrapped = client.call_method1("wrap_key", (key, master_key_id))?;
            if let Ok(bytes) = wrapped.cast::<PyBytes>() {
                return Ok(String::from_utf8(bytes.as_bytes().to_vec())?);
            }
            match wrapped.cast::<PyString>() {
                Ok(text) => Ok(text.to_str()?.to_owned()),
                Err(_) => Err(wrong_type("wrap_key", &wrapped)),
            }
        });
        wrapped.map_err(from_python)
    }

    fn unwrap_key(&self, wrapped_key: &str, master_key_id: &str) -> Result<Vec<u8>> {
        let key = self.0.with(|client| {
            let key = client.call_method1("unwrap_key", (wrapped_key, master_key_id))?;
            if let Ok(text) = key.cast::<PyString>() {
                return Ok(text.to_str()?.as_bytes().to_vec());
            }
            key_bytes("KmsClient.unwrap_key", &key)?.ok_or_else(|| wrong_type("unwrap_key", &key))
        });
        key.map_err(from_python)
    }
}

fn wrong_type(method: &str, given: &Bound<'_, PyAny>) -> PyErr {
    let name = given.get_type().name().map_or_else(|_| "something else".to_owned(), |name| name.to_string());
    PyTypeError::new_err(format!("KmsClient.{method} must return bytes or text, and gave {name}"))
}

fn lifetime(seconds: f64) -> Result<Duration> {
    Duration::try_from_secs_f64(seconds)
        .map_err(|_| Error::argument(format!("a cache cannot live for {seconds} seconds")))
}

/// Makes and wraps the keys of files to write.
#[pyclass(frozen, module = "marquetry._marquetry")]
pub(crate) struct KeyWrapper(KeyManagement);

#[pymethods]
impl KeyWrapper {
    #[new]
    fn new(py: Python<'_>, client: Py<PyAny>, options: &Bound<'_, PyDict>) -> PyResult<Self> {
        let options = Options::new(py, Some(options))?;
        let double_wrapping = options.take("double_wrapping")?.unwrap_or(true);
        let bits: Option<usize> = options.take("data_key_bits")?;
        let seconds: Option<f64> = options.take("cache_seconds")?;
        let instance: Option<(String, String)> = options.take("kms_instance")?;
        options.finish()?;
        let make = || {
            let mut keys = KeyManagement::new(Arc::new(Client(Callee::new(client))))
                .with_double_wrapping(double_wrapping);
            if let Some(bits) = bits {
                keys = keys.with_data_key_bits(bits)?;
            }
            if let Some(seconds) = seconds {
                keys = keys.with_cache_lifetime(lifetime(seconds)?);
            }
            Ok(match &instance {
                Some((id, url)) => keys.with_kms_instance(id, url),
                None => keys,
            })
        };
        make().map(KeyWrapper).map_err(|error| to_python(py, &error))
    }

    /// Makes the keys of a file: of its footer, and of its columns, which are pairs of a master key and a column.
    ///
    /// With the option `external`, the key material is returned as text instead of being stored in the file.
    fn encryption(
        &self,
        py: Python<'_>,
        footer_key: &str,
        columns: Vec<(String, String)>,
        options: &Bound<'_, PyDict>,
    ) -> PyResult<(Encryption, Option<String>)> {
        let options = Options::new(py, Some(options))?;
        let is_external = options.take("external")?.unwrap_or(false);
        let columns: Vec<_> = columns.iter().map(|(key, column)| (key.as_str(), column.as_str())).collect();
        // Detached, because this calls the client, which may take long.
        let made = py.detach(|| match is_external {
            false => self.0.encryption(footer_key, &columns).map(|keys| (keys, None)),
            true => self
                .0
                .encryption_with_external_material(footer_key, &columns)
                .map(|(keys, material)| (keys, Some(material.to_json()))),
        });
        let (keys, material) = made.map_err(|error| to_python(py, &error))?;
        let keys = with_form(&options, keys)?;
        options.finish()?;
        Ok((Encryption::of(py, keys)?, material))
    }

    /// Unwraps the key material of a file with `unwrapper`, wraps its keys again, and returns the new material.
    fn rotate(&self, py: Python<'_>, material: &[u8], unwrapper: &KeyUnwrapper) -> PyResult<String> {
        let rotated = py.detach(|| {
            let material = ExternalKeyMaterial::parse(material)?;
            self.0.rotate_from(&material, &unwrapper.0).map(|rotated| rotated.to_json())
        });
        rotated.map_err(|error| to_python(py, &error))
    }
}

/// Unwraps keys, and caches the wrapping keys for a while.
#[pyclass(frozen, module = "marquetry._marquetry")]
pub(crate) struct KeyUnwrapper(KmsKeyRetriever);

#[pymethods]
impl KeyUnwrapper {
    #[new]
    fn new(py: Python<'_>, client: Py<PyAny>, cache_seconds: f64) -> PyResult<Self> {
        let lifetime = lifetime(cache_seconds).map_err(|error| to_python(py, &error))?;
        Ok(KeyUnwrapper(
            KmsKeyRetriever::new(Arc::new(Client(Callee::new(client)))).with_cache_lifetime(lifetime),
        ))
    }
}

/// Makes decryption properties for files whose key metadata are key material.
///
/// `unwrapper` returns a [`KeyUnwrapper`] for the id and the URL of the KMS that a file names, or for two `None`s. `material` returns the
/// key material that is beside a file.
#[pyfunction]
pub(crate) fn decryption_with_kms(
    py: Python<'_>,
    unwrapper: Py<PyAny>,
    material: Py<PyAny>,
) -> PyResult<Decryption> {
    let (unwrapper, material) = (Callee::new(unwrapper), Callee::new(material));
    Decryption::by(py, Arc::new(LateRetriever { unwrapper, material, made: OnceLock::new() }))
}

/// Retrieves keys with a client that is created for the first key: only then is the KMS known.
struct LateRetriever {
    unwrapper: Callee,
    material: Callee,
    made: OnceLock<KmsKeyRetriever>,
}

impl LateRetriever {
    fn make(&self, key_metadata: &[u8]) -> Result<KmsKeyRetriever> {
        let origin = MaterialOrigin::of(key_metadata)?;
        let read = || -> PyResult<Vec<u8>> {
            self.material.with(|material| Ok(material.call0()?.cast::<PyBytes>()?.as_bytes().to_vec()))
        };
        let material = origin.is_outside.then(read).transpose().map_err(from_python)?;
        let instance = match &material {
            Some(json) => ExternalKeyMaterial::parse(json)?.kms_instance()?,
            None => origin.kms_instance,
        };
        let (id, url) = instance.unzip();
        let known = self.unwrapper.with(|unwrapper| {
            let made = unwrapper.call1((id, url))?;
            Ok(made.cast::<KeyUnwrapper>()?.get().0.clone())
        });
        let known = known.map_err(from_python)?;
        match material {
            Some(json) => known.with_external_material(&json),
            None => Ok(known),
        }
    }
}

impl KeyRetriever for LateRetriever {
    fn retrieve_key(&self, key_metadata: &[u8]) -> Result<Vec<u8>> {
        if let Some(made) = self.made.get() {
            return made.retrieve_key(key_metadata);
        }
        // Concurrent threads create it twice, and Python returns the same client to both.
        let made = self.make(key_metadata)?;
        self.made.get_or_init(|| made).retrieve_key(key_metadata)
    }
}

/// Returns the id and the URL of the KMS that key material names.
#[pyfunction]
pub(crate) fn kms_instance(py: Python<'_>, material: &[u8]) -> PyResult<Option<(String, String)>> {
    let instance = ExternalKeyMaterial::parse(material).and_then(|material| material.kms_instance());
    instance.map_err(|error| to_python(py, &error))
}

/// Returns the name of the key material file of a Parquet file.
#[pyfunction]
pub(crate) fn key_material_name(parquet: &str) -> String {
    ExternalKeyMaterial::file_name(parquet)
}

/// Writes key material beside a Parquet file on this machine, in one step.
#[pyfunction]
pub(crate) fn write_key_material(py: Python<'_>, parquet: PathBuf, material: &[u8]) -> PyResult<()> {
    let write = || write_material(&parquet, &ExternalKeyMaterial::parse(material)?);
    py.detach(write).map_err(|error| to_python(py, &error))
}
