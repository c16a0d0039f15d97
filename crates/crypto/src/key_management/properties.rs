//! The properties by which Hadoop, Spark and parquet-java configure how files are encrypted.

use super::client::KmsClient;
use super::external::ExternalKeyMaterial;
use super::writer::KeyManagement;
use crate::encryption_properties::{EncryptionPropertiesBuilder, ParquetCipher};
use marquetry_base::{Error, Result};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

/// How files are encrypted, in the properties of parquet-java and Spark.
///
/// ```
/// use marquetry_crypto::KeyProperties;
/// let properties = KeyProperties::parse([
///     ("parquet.encryption.footer.key", "kf"),
///     ("parquet.encryption.column.keys", "kc1: salary, name; kc2: address.street"),
///     ("parquet.encryption.double.wrapping", "false"),
/// ])?;
/// assert_eq!(properties.column_keys[2], ("kc2".to_owned(), "address.street".to_owned()));
/// # Ok::<(), marquetry_base::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct KeyProperties {
    /// `footer.key`: the master key of the footer. Or `uniform.key`, if there are no column keys.
    pub footer_key: String,
    /// `column.keys`: pairs of a master key and a column.
    pub column_keys: Vec<(String, String)>,
    /// `complete.columns`: whether columns without a key are encrypted with the footer key. Default false.
    pub complete_columns: bool,
    /// `algorithm`: `AES_GCM_V1`, the default, or `AES_GCM_CTR_V1`.
    pub cipher: ParquetCipher,
    /// `plaintext.footer`: whether the footer is only signed. Default false.
    pub plaintext_footer: bool,
    /// `double.wrapping`: whether data keys are wrapped with key encryption keys. Default true.
    pub double_wrapping: bool,
    /// `key.material.store.internally`: whether key material is in the file. Default true.
    pub internal_material: bool,
    /// `data.key.length.bits`: length of data keys. Default 128.
    pub data_key_bits: usize,
    /// `kek.length.bits`: length of key encryption keys. Default 128.
    pub encryption_key_bits: usize,
    /// `cache.lifetime.seconds`: how long key encryption keys are cached. Default 600.
    pub cache_lifetime: Duration,
    /// `kms.instance.id`: the id of the KMS. Default `DEFAULT`.
    pub kms_instance_id: String,
    /// `kms.instance.url`: the URL of the KMS. Default `DEFAULT`.
    pub kms_instance_url: String,
}

/// The prefix of all property names.
const PREFIX: &str = "parquet.encryption.";
/// Properties of the KMS client, which are ignored here.
const OF_CLIENTS: [&str; 2] = ["kms.client.class", "key.access.token"];

impl KeyProperties {
    /// Parses properties, pairs of a name and a value. Skips names that do not begin with `parquet.encryption.`, and
    /// those that select the KMS client and its access token.
    ///
    /// Fails if any other name with this prefix is unknown, or if a value is invalid. There must be either a footer key
    /// with column keys or complete columns, or a uniform key; otherwise it fails, too.
    pub fn parse<N: AsRef<str>, V: AsRef<str>>(pairs: impl IntoIterator<Item = (N, V)>) -> Result<Self> {
        let mut found = KeyProperties {
            footer_key: String::new(),
            column_keys: Vec::new(),
            complete_columns: false,
            cipher: ParquetCipher::default(),
            plaintext_footer: false,
            double_wrapping: true,
            internal_material: true,
            data_key_bits: 128,
            encryption_key_bits: 128,
            cache_lifetime: Duration::from_secs(600),
            kms_instance_id: "DEFAULT".to_owned(),
            kms_instance_url: "DEFAULT".to_owned(),
        };
        let mut uniform = None;
        for (name, value) in pairs {
            let Some(name) = name.as_ref().strip_prefix(PREFIX) else { continue };
            let value = value.as_ref().trim();
            match name {
                "uniform.key" => uniform = Some(value.to_owned()),
                name if OF_CLIENTS.contains(&name) => {}
                name => {
                    found.set(name, value).map_err(|error| error.with_context(&format!("{PREFIX}{name}")))?
                }
            }
        }
        found.checked(uniform)
    }

    fn set(&mut self, name: &str, value: &str) -> Result<()> {
        match name {
            "footer.key" => self.footer_key = value.to_owned(),
            "column.keys" => self.column_keys = column_keys(value)?,
            "complete.columns" => self.complete_columns = flag(value)?,
            "algorithm" => {
                self.cipher = match value {
                    "AES_GCM_V1" => ParquetCipher::AesGcmV1,
                    "AES_GCM_CTR_V1" => ParquetCipher::AesGcmCtrV1,
                    _ => return Err(Error::argument("it is AES_GCM_V1 or AES_GCM_CTR_V1")),
                }
            }
            "plaintext.footer" => self.plaintext_footer = flag(value)?,
            "double.wrapping" => self.double_wrapping = flag(value)?,
            "key.material.store.internally" => self.internal_material = flag(value)?,
            "data.key.length.bits" => self.data_key_bits = number(value)?,
            "kek.length.bits" => self.encryption_key_bits = number(value)?,
            "cache.lifetime.seconds" => self.cache_lifetime = Duration::from_secs(number(value)?),
            "kms.instance.id" => self.kms_instance_id = value.to_owned(),
            "kms.instance.url" => self.kms_instance_url = value.to_owned(),
            _ => return Err(Error::argument("no property is called so")),
        }
        Ok(())
    }

    fn checked(mut self, uniform: Option<String>) -> Result<Self> {
        let has_columns = !self.column_keys.is_empty() || self.complete_columns;
        match (uniform, self.footer_key.is_empty()) {
            (Some(_), false) => Err(Error::argument("a uniform key and a footer key: there is one of both")),
            (Some(_), true) if has_columns => Err(Error::argument(
                "a uniform key, and keys of columns: a footer key is what goes with them",
            )),
            (Some(uniform), true) => {
                self.footer_key = uniform;
                Ok(self)
            }
            (None, true) => Err(Error::argument(format!(
                "neither a footer key nor a uniform key: {PREFIX}footer.key or {PREFIX}uniform.key names one"
            ))),
            (None, false) if !has_columns => Err(Error::argument(
                "a footer key, and no column is encrypted: a uniform key is for all of them",
            )),
            (None, false) => Ok(self),
        }
    }

    /// Creates the key management that these properties configure.
    pub fn management(&self, kms: Arc<dyn KmsClient>) -> Result<KeyManagement> {
        Ok(KeyManagement::new(kms)
            .with_double_wrapping(self.double_wrapping)
            .with_data_key_bits(self.data_key_bits)?
            .with_encryption_key_bits(self.encryption_key_bits)?
            .with_cache_lifetime(self.cache_lifetime)
            .with_kms_instance(&self.kms_instance_id, &self.kms_instance_url))
    }

    /// Creates new keys for one file. Also returns the key material to be stored beside the file, if it is not stored inside.
    /// `management` is that of [`management`](Self::management); it can be used for any number of files. Fails if the KMS does.
    pub fn encryption(
        &self,
        management: &KeyManagement,
    ) -> Result<(EncryptionPropertiesBuilder, Option<ExternalKeyMaterial>)> {
        let columns: Vec<_> =
            self.column_keys.iter().map(|(key, column)| (key.as_str(), column.as_str())).collect();
        let (builder, material) = match self.internal_material {
            true => (management.encryption(&self.footer_key, &columns)?, None),
            false => {
                let (builder, material) =
                    management.encryption_with_external_material(&self.footer_key, &columns)?;
                (builder, Some(material))
            }
        };
        let builder = builder
            .with_cipher(self.cipher)
            .with_plaintext_footer(self.plaintext_footer)
            .with_complete_columns(self.complete_columns);
        Ok((builder, material))
    }
}

/// Parses `key: column, column; key: column`.
fn column_keys(text: &str) -> Result<Vec<(String, String)>> {
    let mut out = Vec::new();
    for part in text.split(';').map(str::trim).filter(|part| !part.is_empty()) {
        let Some((key, columns)) = part.split_once(':') else {
            return Err(Error::argument(format!(
                "no columns for the key {part:?}: it is KEY:COLUMN,COLUMN;KEY:COLUMN"
            )));
        };
        let (key, columns) = (key.trim(), columns.split(',').map(str::trim));
        for column in columns {
            if key.is_empty() || column.is_empty() {
                return Err(Error::argument(format!("a key or a column without a name in {part:?}")));
            }
            out.push((key.to_owned(), column.to_owned()));
        }
    }
    Ok(out)
}

fn flag(value: &str) -> Result<bool> {
    value.parse().map_err(|_| Error::argument(format!("it is true or false, not {value:?}")))
}

fn number<T: FromStr>(value: &str) -> Result<T> {
    value.parse().map_err(|_| Error::argument(format!("it is a number, not {value:?}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(pairs: &[(&str, &str)]) -> Result<KeyProperties> {
        KeyProperties::parse(pairs.iter().map(|(name, value)| (format!("{PREFIX}{name}"), value)))
    }

    #[test]
    fn known_names_are_read() {
        let all = parse(&[
            ("footer.key", "kf"),
            ("column.keys", "a:x,y;b:z.list.element"),
            ("complete.columns", "true"),
            ("algorithm", "AES_GCM_CTR_V1"),
            ("plaintext.footer", "true"),
            ("double.wrapping", "false"),
            ("key.material.store.internally", "false"),
            ("data.key.length.bits", "256"),
            ("kek.length.bits", "192"),
            ("cache.lifetime.seconds", "7"),
            ("kms.instance.id", "one"),
            ("kms.instance.url", "https://kms"),
            ("kms.client.class", "org.example.Kms"),
        ])
        .unwrap();
        let pair = |key: &str, column: &str| (key.to_owned(), column.to_owned());
        assert_eq!(all.column_keys, [pair("a", "x"), pair("a", "y"), pair("b", "z.list.element")]);
        assert!(
            all.complete_columns && all.plaintext_footer && !all.double_wrapping && !all.internal_material
        );
        assert_eq!((all.data_key_bits, all.encryption_key_bits), (256, 192));
        assert_eq!(all.cache_lifetime, Duration::from_secs(7));
        assert_eq!(parse(&[("uniform.key", "k")]).unwrap().footer_key, "k");
    }

    #[test]
    fn what_cannot_be_is_refused() {
        for (pairs, said) in [
            (&[("footer.keys", "kf")][..], "parquet.encryption.footer.keys: no property"),
            (&[], "neither a footer key nor a uniform key"),
            (&[("footer.key", "kf")], "no column is encrypted"),
            (&[("footer.key", "kf"), ("uniform.key", "k")], "there is one of both"),
            (&[("uniform.key", "k"), ("column.keys", "a:b")], "keys of columns"),
            (&[("column.keys", "a")], "no columns for the key"),
            (&[("column.keys", "a:b,,c")], "without a name"),
            (&[("double.wrapping", "maybe")], "true or false, not \"maybe\""),
            (&[("cache.lifetime.seconds", "1h")], "a number, not \"1h\""),
            (&[("algorithm", "ROT13")], "AES_GCM_CTR_V1"),
        ] {
            let error = parse(pairs).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
    }
}
