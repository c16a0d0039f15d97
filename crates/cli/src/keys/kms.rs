//! Keys wrapped by a key management service (KMS): by a program that talks to it, or with master keys in the key file.

mod program;

use super::key_text::{each, wrong};
use marquetry::errors::{Error, Result};
use marquetry::file::AtomicFile;
use marquetry::file::encryption::{
    EncryptionPropertiesBuilder, KeyManagement, KeyProperties, KeyRetriever, KmsClient, KmsKeyRetriever,
    LocalKms, MasterKeys, MaterialOrigin, rotate_key_material,
};
use program::Program;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use zeroize::Zeroizing;

/// The KMS in a key file.
pub(super) struct KmsSettings {
    client: Arc<dyn KmsClient>,
    /// The file with the key material of a Parquet file that does not contain it.
    key_material: Option<PathBuf>,
}

impl KmsSettings {
    pub(super) fn parse(value: Value) -> Result<Self> {
        let Value::Object(members) = value else { return Err(wrong("kms is not an object")) };
        let (mut program, mut master_keys, mut time_limit, mut key_material) = (None, None, None, None);
        for (name, value) in members {
            match (name.as_str(), value) {
                ("command", Value::Array(words)) if program.is_none() && master_keys.is_none() => {
                    program = Some(Program::parse(words)?);
                }
                ("master_keys", Value::Object(keys)) if program.is_none() && master_keys.is_none() => {
                    master_keys = Some(GivenKeys(each(keys).collect::<Result<_>>()?));
                }
                ("timeout_seconds", Value::Number(seconds)) => {
                    let limit =
                        seconds.as_f64().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
                    let limit = limit.filter(|limit| !limit.is_zero());
                    time_limit = Some(limit.ok_or_else(|| wrong("kms: timeout_seconds is not above 0"))?);
                }
                ("key_material", Value::String(path)) => key_material = Some(PathBuf::from(path)),
                _ => {
                    return Err(wrong(&format!(
                        "kms: {name:?} is unknown, given twice, or has a value of the wrong type"
                    )));
                }
            }
        }
        let client: Arc<dyn KmsClient> = match (program, master_keys, time_limit) {
            (Some(program), _, None) => Arc::new(program),
            (Some(program), _, Some(limit)) => Arc::new(program.with_time_limit(limit)),
            (None, Some(keys), None) => Arc::new(LocalKms::new(keys)),
            (None, Some(_), Some(_)) => return Err(wrong("kms: timeout_seconds is for a command")),
            (None, None, _) => return Err(wrong("kms has neither command nor master_keys")),
        };
        Ok(KmsSettings { client, key_material })
    }

    /// A retriever of keys by their key material.
    pub(super) fn retriever(&self) -> Result<Arc<dyn KeyRetriever>> {
        let mut retriever = KmsKeyRetriever::new(self.client.clone());
        if let Some(path) = &self.key_material {
            let json = super::key_text::read(path)?;
            let read = retriever.with_external_material(&json);
            retriever = read.map_err(|error| error.in_file(path.display().to_string()))?;
        }
        Ok(Arc::new(retriever))
    }

    /// New keys for a file, by the properties of parquet-java. Key material that is not to be in the file is stored.
    pub(super) fn encryption(&self, properties: Map<String, Value>) -> Result<EncryptionPropertiesBuilder> {
        let text = |(name, value): (String, Value)| match value {
            Value::String(text) => Ok((name, text)),
            Value::Bool(_) | Value::Number(_) => Ok((name, value.to_string())),
            _ => Err(wrong(&format!("{name} is not text, number, true or false"))),
        };
        let properties = KeyProperties::parse(properties.into_iter().map(text).collect::<Result<Vec<_>>>()?)?;
        let management = properties.management(self.client.clone())?;
        let (builder, material) = properties.encryption(&management)?;
        if let Some(material) = material {
            let path = self.key_material.as_ref().ok_or_else(|| {
                wrong("key material is to be outside of the file: kms has no key_material, which says where")
            })?;
            let mut file = AtomicFile::create(path)?;
            file.write_all(material.to_json().as_bytes()).map_err(|error| {
                Error::io("cannot write the key material", error).in_file(path.display().to_string())
            })?;
            file.finish()?;
        }
        Ok(builder)
    }

    /// Rewraps the keys of a file whose key material is beside it. Returns their number.
    pub(super) fn rotate(&self, path: &Path) -> Result<usize> {
        rotate_key_material(path, &KeyManagement::new(self.client.clone()))
    }
}

/// Whether the key material that these key metadata refer to is outside of the file.
pub(super) fn is_outside(key_metadata: &[u8]) -> bool {
    MaterialOrigin::of(key_metadata).is_ok_and(|origin| origin.is_outside)
}

/// Master keys from the key file.
struct GivenKeys(BTreeMap<String, Zeroizing<Vec<u8>>>);

impl MasterKeys for GivenKeys {
    fn master_key(&self, master_key_id: &str) -> Result<Vec<u8>> {
        let key = self.0.get(master_key_id).map(|key| key.to_vec());
        key.ok_or_else(|| {
            Error::encrypted(format!("no master key was given that is called {master_key_id:?}"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<KmsSettings> {
        KmsSettings::parse(serde_json::from_str(text).unwrap())
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, said) in [
            ("[]", "kms is not an object"),
            ("{}", "neither command nor master_keys"),
            (r#"{"command": []}"#, "command is empty"),
            (r#"{"command": [1]}"#, "list of texts"),
            (r#"{"master_keys": {"kf": "sesame"}}"#, "kf begins with none of"),
            (r#"{"command": ["x"], "token": "sesame"}"#, "\"token\" is unknown"),
            (r#"{"command": ["x"], "master_keys": {}}"#, "given twice"),
            (r#"{"command": ["x"], "timeout_seconds": 0}"#, "timeout_seconds is not above 0"),
            (r#"{"command": ["x"], "timeout_seconds": -1}"#, "timeout_seconds is not above 0"),
            (r#"{"command": ["x"], "timeout_seconds": "sesame"}"#, "a value of the wrong type"),
            (r#"{"master_keys": {}, "timeout_seconds": 5}"#, "timeout_seconds is for a command"),
        ] {
            let error = parse(text).err().unwrap().to_string();
            assert!(error.contains(said) && !error.contains("sesame"), "{error}");
        }
    }

    #[test]
    fn master_keys_wrap() {
        let kms = parse(r#"{"master_keys": {"kf": "utf8:0123456789012345"}}"#).unwrap();
        let wrapped = kms.client.wrap_key(b"0123456789abcdef", "kf").unwrap();
        assert_eq!(kms.client.unwrap_key(&wrapped, "kf").unwrap(), b"0123456789abcdef");
        assert!(kms.client.unwrap_key(&wrapped, "other").unwrap_err().to_string().contains("\"other\""));
    }
}
