//! Keys of encrypted files: from a file or a variable of the environment, never from the command line, where all can see them.

mod core_dump;
mod encrypt;
mod key_text;
#[cfg_attr(not(feature = "encryption"), path = "keys/kms_off.rs")]
mod kms;

pub(crate) use encrypt::{EncryptArgs, encrypted_like};

use crate::caller;
use crate::failure::{Failure, line};
use clap::{Args as ClapArgs, ValueEnum};
use key_text::{bytes, each, wrong};
use kms::KmsSettings;
use marquetry::arrow::arrow_reader::ArrowReaderOptions;
use marquetry::errors::{Limits, Result};
use marquetry::file::encryption::{EncryptionDialect, FileDecryptionProperties, KeyRetriever};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use zeroize::Zeroizing;

/// The arguments of all commands that read.
#[derive(Debug, Clone, ClapArgs)]
#[command(next_help_heading = "Encrypted files")]
pub(crate) struct KeyArgs {
    /// Read keys from this JSON file
    ///
    /// {"footer_key": K, "column_keys": {"a.b": K}, "keys": {"key metadata": K}, "aad_prefix": K, "kms": KMS}, each part optional. K
    /// is hex:.., base64:.. or utf8:..
    ///
    /// KMS is a key management service: {"command": ["program", ..], "timeout_seconds": 60}. The program runs once for each key: it
    /// reads {"action": "unwrap", "master_key": NAME, "wrapped": TEXT} and prints {"key": BASE64}, or reads {"action": "wrap",
    /// "master_key": NAME, "key": BASE64} and prints {"wrapped": TEXT}. Or KMS is {"master_keys": {NAME: K}}, which needs no program.
    /// With either, "key_material": FILE names the key material if it is not in the Parquet file.
    #[arg(long, global = true, value_name = "FILE.json", conflicts_with = "key_env")]
    pub(crate) key_file: Option<PathBuf>,
    /// Read keys from this environment variable, as the JSON of --key-file
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) key_env: Option<String>,
    /// Use all bytes of this file as the AAD prefix of the input
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) aad_prefix_file: Option<PathBuf>,
    /// The rules that encrypted files follow
    #[arg(long, global = true, value_enum, value_name = "WHOSE", default_value_t = DialectArg::Parquet)]
    pub(crate) encryption_dialect: DialectArg,
    /// Also read files that are not encrypted
    ///
    /// With keys they are an error otherwise: somebody may have put them in the place of encrypted ones.
    #[arg(long, global = true)]
    pub(crate) plain_inputs: bool,
}

/// By whose rules a file is encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DialectArg {
    /// Those of the format
    Parquet,
    /// Those of DuckDB: everything under the footer key, and no protection against swapped pages
    Duckdb,
}

static KEYS: OnceLock<Arc<FileDecryptionProperties>> = OnceLock::new();
static KMS: OnceLock<KmsSettings> = OnceLock::new();

/// Rewraps the keys of a file if their material is beside it, and returns their number; `None` if no KMS was given.
pub(crate) fn rotate(path: &Path) -> Option<Result<usize>> {
    KMS.get().map(|kms| kms.rotate(path))
}

/// The keys that were given.
pub(crate) fn given() -> Option<Arc<FileDecryptionProperties>> {
    caller::keys().unwrap_or_else(|| KEYS.get().cloned())
}

/// Whether temporary files are encrypted: if keys are given for what is read, or the output is encrypted.
pub(crate) fn seal_spills(is_encrypted: bool) -> bool {
    is_encrypted || given().is_some()
}

/// Reader options with the keys that were given.
pub(crate) fn reader_options() -> ArrowReaderOptions {
    reader_options_with(given())
}

/// Reader options with these keys.
pub(crate) fn reader_options_with(keys: Option<Arc<FileDecryptionProperties>>) -> ArrowReaderOptions {
    let options = ArrowReaderOptions::new().with_limits(Limits::default().with_cancel(caller::cancel()));
    match keys {
        Some(keys) => options.with_file_decryption_properties(keys),
        None => options,
    }
}

impl KeyArgs {
    /// Reads the keys. Must be called before any file is opened. With `reads_plain`, plaintext files are read as well.
    pub(crate) fn apply(&self, reads_plain: bool) -> Result<(), Failure> {
        self.key_file.iter().for_each(|path| warn_of_readers(path));
        let Some(members) = key_text::object(self.key_file.as_deref(), self.key_env.as_deref())? else {
            let asks = self.aad_prefix_file.is_some() || self.encryption_dialect != DialectArg::Parquet;
            return match asks {
                true => Err(Failure::Usage("encrypted files need --key-file or --key-env".to_owned())),
                false => Ok(()),
            };
        };
        let mut keys = KeyFile::parse(members)?;
        if let Some(path) = &self.aad_prefix_file {
            keys.aad_prefix = Some(key_text::read(path)?);
        }
        let kms = keys.kms.take();
        let retriever = kms.as_ref().map(KmsSettings::retriever).transpose()?;
        if let Some(kms) = kms {
            // The first settings stay: a command has only one key file.
            let _ = KMS.set(kms);
        }
        let _ = KEYS.set(keys.into_properties(retriever, self.encryption_dialect, reads_plain)?);
        Ok(())
    }
}

/// Warns if others than its owner can read a key file.
fn warn_of_readers(path: &Path) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(path).map_or(0, |metadata| metadata.permissions().mode());
        if mode & 0o077 != 0 {
            // There is nowhere left to report that this failed.
            let _ =
                writeln!(io::stderr(), "{}", line(Some(path), "others than its owner can read these keys"));
        }
    }
    #[cfg(not(unix))]
    let _ = path;
}

/// The contents of a key file.
#[derive(Default)]
struct KeyFile {
    footer_key: Option<Zeroizing<Vec<u8>>>,
    column_keys: Vec<(String, Zeroizing<Vec<u8>>)>,
    keys: BTreeMap<String, Zeroizing<Vec<u8>>>,
    aad_prefix: Option<Zeroizing<Vec<u8>>>,
    kms: Option<KmsSettings>,
}

impl KeyFile {
    fn parse(members: Map<String, Value>) -> Result<Self> {
        let mut keys = KeyFile::default();
        for (name, value) in members {
            match (name.as_str(), value) {
                ("footer_key", value) => keys.footer_key = Some(bytes(&name, value)?),
                ("aad_prefix", value) => keys.aad_prefix = Some(bytes(&name, value)?),
                ("column_keys", Value::Object(columns)) => {
                    keys.column_keys = each(columns).collect::<Result<_>>()?
                }
                ("keys", Value::Object(named)) => keys.keys = each(named).collect::<Result<_>>()?,
                ("kms", value) => keys.kms = Some(KmsSettings::parse(value)?),
                ("column_keys" | "keys", _) => return Err(wrong(&format!("{name} is not an object"))),
                _ => return Err(wrong(&format!("nothing is called {name:?}"))),
            }
        }
        Ok(keys)
    }

    fn into_properties(
        mut self,
        kms: Option<Arc<dyn KeyRetriever>>,
        dialect: DialectArg,
        reads_plain: bool,
    ) -> Result<Arc<FileDecryptionProperties>> {
        let taken = |bytes: &mut Zeroizing<Vec<u8>>| std::mem::take(&mut **bytes);
        let retriever = NamedKeys { keys: self.keys, kms };
        let mut builder = FileDecryptionProperties::with_key_retriever(Arc::new(retriever));
        if let Some(key) = &mut self.footer_key {
            builder = builder.with_footer_key(taken(key));
        }
        for (column, key) in &mut self.column_keys {
            builder = builder.with_column_key(column, taken(key));
        }
        if let Some(prefix) = &mut self.aad_prefix {
            builder = builder.with_aad_prefix(taken(prefix));
        }
        let dialect = match dialect {
            DialectArg::Parquet => EncryptionDialect::Parquet,
            DialectArg::Duckdb => EncryptionDialect::DuckDb,
        };
        builder.with_dialect(dialect).with_plaintext_files(reads_plain).build()
    }
}

/// Keys by the key metadata in a file, and a retriever of others.
struct NamedKeys {
    keys: BTreeMap<String, Zeroizing<Vec<u8>>>,
    kms: Option<Arc<dyn KeyRetriever>>,
}

impl KeyRetriever for NamedKeys {
    fn retrieve_key(&self, key_metadata: &[u8]) -> Result<Vec<u8>> {
        let key = str::from_utf8(key_metadata).ok().and_then(|name| self.keys.get(name));
        match (key, &self.kms) {
            (Some(key), _) => Ok(key.to_vec()),
            (None, Some(kms)) => kms.retrieve_key(key_metadata),
            (None, None) => Ok(Vec::new()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_written_in_three_ways() {
        let text = r#"{"footer_key": "utf8:0123456789012345", "aad_prefix": "hex:00fF",
                       "column_keys": {"a.b": "base64:MDEyMzQ1Njc4OTAxMjM0NQ=="}, "keys": {"kf": "utf8:x"}}"#;
        let keys = KeyFile::parse(key_text::members(text).unwrap()).unwrap();
        assert_eq!(keys.footer_key.as_deref().unwrap().as_slice(), b"0123456789012345");
        assert_eq!(keys.column_keys[0].1.as_slice(), b"0123456789012345");
        assert_eq!(keys.aad_prefix.as_deref().unwrap().as_slice(), [0, 255]);
        assert_eq!(keys.keys["kf"].as_slice(), b"x");
    }

    #[test]
    fn what_is_wrong_is_named_without_its_value() {
        for (text, said) in [
            ("sesame", "no JSON, line 1"),
            ("[\"sesame\"]", "no JSON object"),
            (r#"{"footer_key": "sesame"}"#, "footer_key begins with none of"),
            (r#"{"footer_key": "hex:sesame"}"#, "footer_key is not what it begins with"),
            (r#"{"footer_key": "base64:sesame!"}"#, "footer_key is not what it begins with"),
            (r#"{"column_keys": {"a.b": "sesame"}}"#, "a.b begins with none of"),
            (r#"{"column_keys": "sesame"}"#, "column_keys is not an object"),
            (r#"{"footer": "utf8:sesame"}"#, "nothing is called \"footer\""),
        ] {
            let error = key_text::members(text).and_then(KeyFile::parse).err().unwrap().to_string();
            assert!(error.contains(said) && !error.contains("sesame"), "{error}");
        }
        let short =
            key_text::members(r#"{"column_keys": {"a.b": "utf8:sesame"}}"#).and_then(KeyFile::parse).unwrap();
        let error = short.into_properties(None, DialectArg::Parquet, false).unwrap_err().to_string();
        assert_eq!(error, "argument: key of column a.b: a key of 6 bytes: AES has keys of 16, 24 and 32");
    }
}
