//! `rotate-keys`: rewraps the keys in key material files with the newest versions of the master keys.

use crate::failure::{Failure, Outcome};
use crate::file_name;
use crate::keys;
use crate::output::Output;
use crate::rewrite::report_failure;
use clap::Args as ClapArgs;
use serde_json::json;
use std::path::PathBuf;

#[derive(Debug, ClapArgs)]
pub(crate) struct RotateKeysArgs {
    /// The Parquet files
    #[arg(value_name = "FILE", required = true, value_parser = crate::remote::local())]
    files: Vec<PathBuf>,
}

pub(crate) const ROTATE_KEYS_HELP: &str = "\
The keys of an encrypted file are wrapped, that is encrypted, with master keys that a key management service (KMS)
keeps. If the wrapped keys are in a file beside FILE, _KEY_MATERIAL_FOR_FILE.json, they are wrapped again with the
newest versions of the same master keys. FILE itself is neither read nor changed. Each key material file is replaced
in one step: readers find the old one or the new one, also after a crash. The KMS is the \"kms\" of --key-file or
--key-env. Local master keys (\"master_keys\") have no versions, and are refused.

JSON: {file, keys}; `keys` is the number of keys.

Example:
  marquetry rotate-keys secret.parquet --key-file keys.json";

pub(crate) fn run(args: &RotateKeysArgs, output: &mut Output, outcome: &mut Outcome) -> Result<(), Failure> {
    for file in &args.files {
        let Some(rotated) = keys::rotate(file) else {
            return Err(Failure::Usage("rotate-keys needs a \"kms\" in --key-file or --key-env".to_owned()));
        };
        let rotated = rotated.map_err(Failure::from);
        let printed = rotated.and_then(|count| match output.is_json() {
            true => Ok(output.json(&json!({ "file": file_name::shown(file), "keys": count }))?),
            false => Ok(output.line(format!("{}: {count} keys", file_name::shown_on_line(file)))?),
        });
        printed.or_else(|failure| report_failure(file, failure, outcome))?;
    }
    Ok(())
}
