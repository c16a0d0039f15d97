//! Encryption options of commands that write.

use super::key_text::{self, bytes, wrong};
use super::kms::{self, KmsSettings};
use crate::failure::Failure;
use clap::Args as ClapArgs;
use marquetry::errors::{Error, Result};
use marquetry::file::encryption::{
    EncryptionDialect, EncryptionPropertiesBuilder, FileEncryptionProperties, ParquetCipher, encrypted_alike,
};
use marquetry::file::metadata::ParquetMetaData;
use serde_json::{Map, Value};
use std::path::PathBuf;
use std::sync::Arc;

/// The arguments of commands that write Parquet.
#[derive(Debug, Default, ClapArgs)]
pub(crate) struct EncryptArgs {
    /// Encrypt the output with the keys of this JSON file
    ///
    /// {"footer_key": K, "column_keys": {"a.b": K}}; K is hex:.., base64:.. or utf8:.. Optional are "footer_key_metadata": "name",
    /// "column_keys": {"a.b": {"key": K, "metadata": "name"}}, "complete_columns", "plaintext_footer", "store_aad_prefix": true or
    /// false, "aad_prefix": K, "algorithm": "AES_GCM_V1" or "AES_GCM_CTR_V1", "dialect": "duckdb".
    ///
    /// With {"kms": KMS}, as in --key-file, a key management service wraps new keys. Their properties have the names of parquet-java:
    /// "parquet.encryption.footer.key": NAME, "parquet.encryption.column.keys": "NAME:a,b;NAME:c.d", .uniform.key, .complete.columns,
    /// .algorithm, .plaintext.footer, .double.wrapping, .key.material.store.internally, .data.key.length.bits and so on.
    #[arg(long, help_heading = ENCRYPTING, value_name = "FILE.json", conflicts_with_all = ["encrypt_env", "decrypt"])]
    pub(crate) encrypt_file: Option<PathBuf>,
    /// Encrypt the output with the keys of this environment variable, as the JSON of --encrypt-file
    #[arg(long, help_heading = ENCRYPTING, value_name = "NAME", conflicts_with = "decrypt")]
    pub(crate) encrypt_env: Option<String>,
    /// Do not encrypt the output, although the input is encrypted
    #[arg(long, help_heading = ENCRYPTING)]
    pub(crate) decrypt: bool,
    /// What one of our own commands has decided.
    #[arg(skip)]
    pub(crate) decided: Option<Arc<FileEncryptionProperties>>,
}

/// The heading of these arguments in `--help`.
const ENCRYPTING: &str = "Encrypting the output";

impl EncryptArgs {
    /// The encryption of the output; `None` if it is not encrypted. If the input is encrypted, or keys are given,
    /// plaintext is only written on request.
    pub(crate) fn properties(&self) -> Result<Option<Arc<FileEncryptionProperties>>, Failure> {
        match self.asked()? {
            Some(asked) => Ok(Some(asked)),
            None if self.decrypt || super::given().is_none() => Ok(None),
            None => Err(Failure::Usage(
                "the input is encrypted: say how the output is to be, with --encrypt-file or --encrypt-env, or --decrypt to write it \
                 in the open"
                    .to_owned(),
            )),
        }
    }

    /// The encryption of the output, if options state it.
    pub(crate) fn asked(&self) -> Result<Option<Arc<FileEncryptionProperties>>, Failure> {
        if self.decided.is_some() {
            return Ok(self.decided.clone());
        }
        self.encrypt_file.iter().for_each(|path| super::warn_of_readers(path));
        let members = key_text::object(self.encrypt_file.as_deref(), self.encrypt_env.as_deref())?;
        Ok(members.map(parse).transpose()?)
    }

    /// Whether options ask for encryption.
    pub(crate) fn is_asked(&self) -> bool {
        self.decided.is_some() || self.encrypt_file.is_some() || self.encrypt_env.is_some()
    }

    /// The arguments of one of our own commands: with this encryption, or in plaintext.
    pub(crate) fn decided(encryption: Option<Arc<FileEncryptionProperties>>) -> Self {
        EncryptArgs { decrypt: true, decided: encryption, ..EncryptArgs::default() }
    }
}

/// The encryption of a new file like that of the file with the footer `metadata`; `None` if that is not encrypted.
///
/// Fails if keys are missing, or if their key material is not in the file.
pub(crate) fn encrypted_like(metadata: &ParquetMetaData) -> Result<Option<Arc<FileEncryptionProperties>>> {
    let Some(encryption) = encrypted_alike(metadata)? else { return Ok(None) };
    match encryption.footer_key_metadata().is_some_and(kms::is_outside) {
        true => Err(Error::unsupported(
            "what tells of its keys is in a file beside it, which a new file has not: say how that is to be, with --encrypt-file or \
             --encrypt-env",
        )),
        false => Ok(Some(encryption)),
    }
}

fn parse(mut members: Map<String, Value>) -> Result<Arc<FileEncryptionProperties>> {
    if let Some(kms) = members.remove("kms") {
        let is_property = |name: &String| name.starts_with("parquet.encryption.");
        let (properties, others): (Map<_, _>, Map<_, _>) =
            members.into_iter().partition(|(name, _)| is_property(name));
        let mut builder = KmsSettings::parse(kms)?.encryption(properties)?;
        for (name, value) in others {
            builder = match name.as_str() {
                "aad_prefix" | "store_aad_prefix" => set(builder, &name, value)?,
                _ => return Err(wrong(&format!("{name:?} does not go with kms"))),
            };
        }
        return builder.build();
    }
    let footer_key = members.remove("footer_key").ok_or_else(|| wrong("no footer_key"))?;
    let mut footer_key = bytes("footer_key", footer_key)?;
    let mut builder = FileEncryptionProperties::builder(std::mem::take(&mut *footer_key));
    for (name, value) in members {
        builder = set(builder, &name, value)?;
    }
    builder.build()
}

fn set(
    builder: EncryptionPropertiesBuilder,
    name: &str,
    value: Value,
) -> Result<EncryptionPropertiesBuilder> {
    Ok(match (name, value) {
        ("footer_key_metadata", Value::String(text)) => builder.with_footer_key_metadata(text.into_bytes()),
        ("column_keys", Value::Object(columns)) => columns.into_iter().try_fold(builder, column_key)?,
        ("complete_columns", Value::Bool(value)) => builder.with_complete_columns(value),
        ("plaintext_footer", Value::Bool(value)) => builder.with_plaintext_footer(value),
        ("store_aad_prefix", Value::Bool(value)) => builder.with_aad_prefix_storage(value),
        ("aad_prefix", value) => builder.with_aad_prefix(bytes(name, value)?.to_vec()),
        ("algorithm", Value::String(text)) if text == "AES_GCM_V1" => {
            builder.with_cipher(ParquetCipher::AesGcmV1)
        }
        ("algorithm", Value::String(text)) if text == "AES_GCM_CTR_V1" => {
            builder.with_cipher(ParquetCipher::AesGcmCtrV1)
        }
        ("dialect", Value::String(text)) if text == "duckdb" => {
            builder.with_dialect(EncryptionDialect::DuckDb)
        }
        ("dialect", Value::String(text)) if text == "parquet" => builder,
        _ => return Err(wrong(&format!("{name:?} is not known, or has another kind of value"))),
    })
}

fn column_key(
    builder: EncryptionPropertiesBuilder,
    (column, value): (String, Value),
) -> Result<EncryptionPropertiesBuilder> {
    let Value::Object(mut named) = value else {
        return Ok(builder.with_column_key(&column, std::mem::take(&mut *bytes(&column, value)?)));
    };
    let key = named.remove("key").ok_or_else(|| wrong(&format!("{column} has no key")))?;
    let key = std::mem::take(&mut *bytes(&column, key)?);
    match (named.remove("metadata"), named.is_empty()) {
        (None, true) => Ok(builder.with_column_key(&column, key)),
        (Some(Value::String(name)), true) => {
            Ok(builder.with_column_key_and_metadata(&column, key, name.into_bytes()))
        }
        _ => Err(wrong(&format!("{column} has more than a key and a text of metadata"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_keys_become_properties() {
        let text = r#"{"footer_key": "utf8:0123456789012345", "footer_key_metadata": "kf", "plaintext_footer": true,
            "column_keys": {"a": "utf8:0123456789012346", "b.c": {"key": "utf8:0123456789012347", "metadata": "kc"}},
            "algorithm": "AES_GCM_CTR_V1", "aad_prefix": "utf8:x", "store_aad_prefix": false}"#;
        let properties = parse(key_text::members(text).unwrap()).unwrap();
        assert!(properties.has_plaintext_footer() && !properties.stores_aad_prefix());
        assert_eq!(properties.cipher(), ParquetCipher::AesGcmCtrV1);
        assert_eq!(
            (properties.footer_key_metadata(), properties.aad_prefix()),
            (Some(&b"kf"[..]), Some(&b"x"[..]))
        );
    }

    #[test]
    fn what_is_wrong_is_named_without_its_value() {
        let error = |text: &str| key_text::members(text).and_then(parse).unwrap_err().to_string();
        assert!(error("{}").contains("no footer_key"));
        let with = |member: &str| error(&format!(r#"{{"footer_key": "utf8:0123456789012345", {member}}}"#));
        for member in [
            r#""algorithm": "sesame""#,
            r#""plaintext_footer": "sesame""#,
            r#""column_keys": {"a": "sesame"}"#,
            r#""column_keys": {"a": {"key": "utf8:0123456789012345", "sesame": 1}}"#,
            r#""column_keys": {"a": "utf8:sesame"}"#,
        ] {
            let error = with(member);
            assert!(!error.contains("sesame") && !error.contains("0123"), "{error}");
        }
    }
}
