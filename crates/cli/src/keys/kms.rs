//! Keys that a key management service (KMS) has wrapped: by a program that talks to it, or with master keys in the file of keys.

use super::key_text::{each, wrong};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use marquetry::errors::{Error, ErrorKind, Result};
use marquetry::file::AtomicFile;
use marquetry::file::encryption::{
    EncryptionPropertiesBuilder, KeyManagement, KeyProperties, KeyRetriever, KmsClient, KmsKeyRetriever,
    LocalKms, MasterKeys, MaterialOrigin, rotate_key_material,
};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use zeroize::{Zeroize, Zeroizing};

/// What a file of keys says of a KMS.
pub(super) struct KmsSettings {
    client: Arc<dyn KmsClient>,
    /// The file of the key material that is outside of a Parquet file.
    key_material: Option<PathBuf>,
}

impl KmsSettings {
    pub(super) fn parse(value: Value) -> Result<Self> {
        let Value::Object(members) = value else { return Err(wrong("kms is no object")) };
        let (mut client, mut key_material): (Option<Arc<dyn KmsClient>>, _) = (None, None);
        for (name, value) in members {
            match (name.as_str(), value) {
                ("command", Value::Array(words)) if client.is_none() => {
                    client = Some(Arc::new(Program::parse(words)?));
                }
                ("master_keys", Value::Object(keys)) if client.is_none() => {
                    client = Some(Arc::new(LocalKms::new(GivenKeys(each(keys).collect::<Result<_>>()?))));
                }
                ("key_material", Value::String(path)) => key_material = Some(PathBuf::from(path)),
                _ => {
                    return Err(wrong(&format!(
                        "kms: {name:?} is not known, is there twice, or has another kind of value"
                    )));
                }
            }
        }
        let client = client.ok_or_else(|| wrong("kms has neither command nor master_keys"))?;
        Ok(KmsSettings { client, key_material })
    }

    /// What finds keys by their material.
    pub(super) fn retriever(&self) -> Result<Arc<dyn KeyRetriever>> {
        let mut retriever = KmsKeyRetriever::new(self.client.clone());
        if let Some(path) = &self.key_material {
            let json = super::key_text::read(path)?;
            let read = retriever.with_external_material(&json);
            retriever = read.map_err(|error| error.in_file(path.display().to_string()))?;
        }
        Ok(Arc::new(retriever))
    }

    /// New keys for a file, by the properties that parquet-java has for it. Key material that is not to be in the file is stored.
    pub(super) fn encryption(&self, properties: Map<String, Value>) -> Result<EncryptionPropertiesBuilder> {
        let text = |(name, value): (String, Value)| match value {
            Value::String(text) => Ok((name, text)),
            Value::Bool(_) | Value::Number(_) => Ok((name, value.to_string())),
            _ => Err(wrong(&format!("{name} is no text, number, true or false"))),
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

    /// Has the keys of a file wrapped anew, whose material is beside it. Returns how many there are.
    pub(super) fn rotate(&self, path: &Path) -> Result<usize> {
        rotate_key_material(path, &KeyManagement::new(self.client.clone()))
    }
}

/// Whether what tells of a key, of which a file has these metadata, is outside of the file.
pub(super) fn is_outside(key_metadata: &[u8]) -> bool {
    MaterialOrigin::of(key_metadata).is_ok_and(|origin| origin.is_outside)
}

/// Master keys that were given.
struct GivenKeys(BTreeMap<String, Zeroizing<Vec<u8>>>);

impl MasterKeys for GivenKeys {
    fn master_key(&self, master_key_id: &str) -> Result<Vec<u8>> {
        let key = self.0.get(master_key_id).map(|key| key.to_vec());
        key.ok_or_else(|| {
            Error::encrypted(format!("no master key was given that is called {master_key_id:?}"))
        })
    }
}

/// A program that talks to a KMS. It is run for each key that is wrapped or unwrapped, with a JSON object on its standard input:
///
/// ```text
/// {"action": "wrap", "master_key": NAME, "key": BASE64}           answers  {"wrapped": TEXT}
/// {"action": "unwrap", "master_key": NAME, "wrapped": TEXT}       answers  {"key": BASE64}
/// ```
struct Program {
    name: String,
    arguments: Vec<String>,
}

impl Program {
    fn parse(words: Vec<Value>) -> Result<Self> {
        let text = |word| match word {
            Value::String(word) => Ok(word),
            _ => Err(wrong("kms: command is a list of texts, a program and its arguments")),
        };
        let mut words = words.into_iter().map(text).collect::<Result<Vec<_>>>()?.into_iter();
        let name = words.next().ok_or_else(|| wrong("kms: command is empty"))?;
        Ok(Program { name, arguments: words.collect() })
    }

    /// Asks, and returns a member of the answer.
    fn ask(&self, question: &Value, member: &str) -> Result<Zeroizing<String>> {
        let question = Zeroizing::new(question.to_string());
        let failed =
            |why: String| Error::new(ErrorKind::Key, format!("the program of the KMS, {}, {why}", self.name));
        let cannot =
            |error| Error::io("cannot run the program of the KMS", error).in_file(self.name.as_str());
        let mut command = Command::new(&self.name);
        command.args(&self.arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(cannot)?;
        // It may have an answer, or an error, without having read all.
        let _ = child.stdin.take().map(|mut stdin| stdin.write_all(question.as_bytes()));
        let done = child.wait_with_output().map_err(cannot)?;
        let answer = Zeroizing::new(done.stdout);
        if !done.status.success() {
            return Err(failed(format!("ended with {}", done.status)));
        }
        let Ok(Value::Object(mut members)) = serde_json::from_slice(&answer) else {
            return Err(failed("has answered with something else than a JSON object".to_owned()));
        };
        match members.remove(member) {
            Some(Value::String(text)) => Ok(Zeroizing::new(text)),
            _ => Err(failed(format!("has answered without {member}"))),
        }
    }
}

impl KmsClient for Program {
    fn wrap_key(&self, key: &[u8], master_key_id: &str) -> Result<String> {
        let mut key = STANDARD.encode(key);
        let mut question = json!({ "action": "wrap", "master_key": master_key_id, "key": key });
        let answer = self.ask(&question, "wrapped");
        key.zeroize();
        if let Some(Value::String(key)) = question.get_mut("key") {
            key.zeroize();
        }
        answer.map(|text| text.to_string())
    }

    fn unwrap_key(&self, wrapped_key: &str, master_key_id: &str) -> Result<Vec<u8>> {
        let question = json!({ "action": "unwrap", "master_key": master_key_id, "wrapped": wrapped_key });
        let answer = self.ask(&question, "key")?;
        STANDARD.decode(answer.as_bytes()).map_err(|_| {
            Error::new(
                ErrorKind::Key,
                format!("the program of the KMS, {}, has answered with a key that is not base64", self.name),
            )
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
            ("[]", "kms is no object"),
            ("{}", "neither command nor master_keys"),
            (r#"{"command": []}"#, "command is empty"),
            (r#"{"command": [1]}"#, "list of texts"),
            (r#"{"master_keys": {"kf": "sesame"}}"#, "kf begins with none of"),
            (r#"{"command": ["x"], "token": "sesame"}"#, "\"token\" is not known"),
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
