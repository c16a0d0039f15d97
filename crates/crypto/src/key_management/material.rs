//! Key material: JSON of type PKMT1.

use crate::encryption_key::EncryptionKey;
use crate::module_cipher::{LENGTH_BYTES, ModuleCipher};
use crate::secret_key::SecretKey;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use marquetry_base::{Error, Result};
use serde_json::{Map, Value, json};
use zeroize::Zeroizing;

/// A wrapped data key, and the data needed to unwrap it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct KeyMaterial {
    pub(super) master_key_id: String,
    pub(super) wrapped_key: String,
    /// With double wrapping, the key encryption key: its id in base64, and the key itself, wrapped by the KMS.
    pub(super) encryption_key: Option<(String, String)>,
    /// The id and the URL of the KMS that has the master keys. Only the material of the footer key has them.
    pub(super) instance: Option<(String, String)>,
}

/// Where the material of a data key is.
pub(super) enum Found {
    /// In the key metadata.
    Here(KeyMaterial),
    /// In the external key material, under this name.
    Outside(String),
}

impl KeyMaterial {
    /// Parses key metadata. Fails unless they are of type PKMT1.
    pub(super) fn find(key_metadata: &[u8]) -> Result<Found> {
        let members = object(key_metadata)?;
        match members.get("internalStorage") {
            Some(Value::Bool(false)) => Ok(Found::Outside(text(&members, "keyReference")?)),
            _ => KeyMaterial::of(&members).map(Found::Here),
        }
    }

    /// Parses material that is stored outside of the Parquet file.
    pub(super) fn parse(material: &str) -> Result<Self> {
        KeyMaterial::of(&object(material.as_bytes())?)
    }

    fn of(members: &Map<String, Value>) -> Result<Self> {
        let is_double = matches!(members.get("doubleWrapping"), Some(Value::Bool(true)));
        let encryption_key = match is_double {
            true => Some((text(members, "keyEncryptionKeyID")?, text(members, "wrappedKEK")?)),
            false => None,
        };
        let is_footer = matches!(members.get("isFooterKey"), Some(Value::Bool(true)));
        let named = |name: &str| members.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        Ok(KeyMaterial {
            master_key_id: text(members, "masterKeyID")?,
            wrapped_key: text(members, "wrappedDEK")?,
            encryption_key,
            instance: is_footer.then(|| (named("kmsInstanceID"), named("kmsInstanceURL"))),
        })
    }

    /// Formats key metadata that contain the material.
    pub(super) fn to_metadata(&self) -> Vec<u8> {
        let mut members = self.members();
        members["internalStorage"] = true.into();
        members.to_string().into_bytes()
    }

    /// Formats key metadata that refer to material outside of the Parquet file, under this name.
    pub(super) fn reference(name: &str) -> Vec<u8> {
        json!({ "keyMaterialType": PKMT1, "internalStorage": false, "keyReference": name })
            .to_string()
            .into_bytes()
    }

    /// Formats the material for storage outside of the Parquet file.
    pub(super) fn to_external(&self) -> String {
        self.members().to_string()
    }

    fn members(&self) -> Value {
        let mut members = json!({
            "keyMaterialType": PKMT1,
            "isFooterKey": self.instance.is_some(),
            "masterKeyID": self.master_key_id,
            "wrappedDEK": self.wrapped_key,
            "doubleWrapping": self.encryption_key.is_some(),
        });
        if let Some((instance, url)) = &self.instance {
            members["kmsInstanceID"] = instance.as_str().into();
            members["kmsInstanceURL"] = url.as_str().into();
        }
        if let Some((id, wrapped)) = &self.encryption_key {
            members["keyEncryptionKeyID"] = id.as_str().into();
            members["wrappedKEK"] = wrapped.as_str().into();
        }
        members
    }
}

fn object(json: &[u8]) -> Result<Map<String, Value>> {
    let Ok(Value::Object(members)) = serde_json::from_slice(json) else {
        return Err(Error::encrypted("the key metadata is not key material: not JSON"));
    };
    match members.get("keyMaterialType").and_then(Value::as_str) {
        Some(PKMT1) => Ok(members),
        Some(other) => Err(Error::unsupported(format!("key material of type {other:?}"))),
        None => Err(Error::encrypted("the key metadata is not key material: without a type")),
    }
}

fn text(members: &Map<String, Value>, name: &str) -> Result<String> {
    let text = members.get(name).and_then(Value::as_str).map(str::to_owned);
    text.ok_or_else(|| Error::corrupt(format!("key material without {name}")))
}

/// Wraps a key with another one. Returns nonce, ciphertext and tag in base64.
pub(super) fn wrap(key: &[u8], with: &SecretKey, aad: &[u8]) -> Result<String> {
    let mut module = Vec::new();
    EncryptionKey::new(with.clone())?.seal_gcm(key, aad, &mut module)?;
    Ok(STANDARD.encode(&module[LENGTH_BYTES..]))
}

/// Unwraps a key that [`wrap`] returned as text.
pub(super) fn unwrap(wrapped: &str, with: &SecretKey, aad: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
    let blob = decode(wrapped)?;
    let length = u32::try_from(blob.len()).map_err(|_| Error::corrupt("a wrapped key of over 4 GiB"))?;
    let module = [&length.to_le_bytes()[..], &blob].concat();
    let mut key = Zeroizing::new(Vec::new());
    match ModuleCipher::new(with)?.open_gcm(&module, aad, &mut key)? {
        true => Ok(key),
        false => Err(Error::encrypted(
            "a wrapped key cannot be unwrapped: it was wrapped with another key, or changed",
        )),
    }
}

/// Decodes a text in base64.
pub(super) fn decode(text: &str) -> Result<Vec<u8>> {
    STANDARD.decode(text).map_err(|_| Error::corrupt("key material that is not base64"))
}

pub(super) fn encode(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

const PKMT1: &str = "PKMT1";
