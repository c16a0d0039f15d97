//! Key material in a file beside the Parquet file.

use super::material::KeyMaterial;
use marquetry_base::{Error, Result};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The key material of one Parquet file, stored in a file beside it. The file is JSON that maps the names of keys,
/// `footerKey`, `columnKey0` and so on, to their material, which is text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ExternalKeyMaterial(BTreeMap<String, String>);

impl ExternalKeyMaterial {
    /// Parses the JSON. Fails unless it is an object whose members are strings.
    pub fn parse(json: &[u8]) -> Result<Self> {
        let Ok(Value::Object(members)) = serde_json::from_slice(json) else {
            return Err(Error::corrupt("external key material is not a JSON object"));
        };
        let text = |(name, material)| match material {
            Value::String(material) => Ok((name, material)),
            _ => Err(Error::corrupt(format!("external key material: {name} is not text"))),
        };
        members.into_iter().map(text).collect::<Result<_>>().map(ExternalKeyMaterial)
    }

    /// Formats the JSON that [`parse`](Self::parse) reads.
    pub fn to_json(&self) -> String {
        let members: Map<_, _> =
            self.0.iter().map(|(name, material)| (name.clone(), Value::from(material.as_str()))).collect();
        Value::Object(members).to_string()
    }

    /// Returns the name of the key material file for the Parquet file of this name.
    ///
    /// ```
    /// use marquetry_crypto::ExternalKeyMaterial;
    /// assert_eq!(ExternalKeyMaterial::file_name("wines.parquet"), "_KEY_MATERIAL_FOR_wines.parquet.json");
    /// ```
    pub fn file_name(parquet: &str) -> String {
        format!("_KEY_MATERIAL_FOR_{parquet}.json")
    }

    /// The names of the keys.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Returns the id and the URL of the KMS that has the master keys, from the material of the footer key; `None` if
    /// no material has them. Fails if a material is not valid.
    pub fn kms_instance(&self) -> Result<Option<(String, String)>> {
        for (name, material) in &self.0 {
            let material = KeyMaterial::parse(material).map_err(|error| error.with_context(name))?;
            if let Some(instance) = material.instance {
                return Ok(Some(instance));
            }
        }
        Ok(None)
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    pub(super) fn insert(&mut self, name: &str, material: &KeyMaterial) {
        self.0.insert(name.to_owned(), material.to_external());
    }

    pub(super) fn materials(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, material)| (name.as_str(), material.as_str()))
    }
}
