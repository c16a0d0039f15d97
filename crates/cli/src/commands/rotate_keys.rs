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
The keys of an encrypted file are themselves encrypted, wrapped, with master keys that a key management service (KMS) keeps.
Where they stand in a file beside it, _KEY_MATERIAL_FOR_FILE.json, they are wrapped anew, with the newest versions of the same
master keys. FILE itself is not touched, nor read. Each of these files is replaced in one step: readers, also after a crash,
find the old one or the new one. The KMS is the \"kms\" of --key-file or --key-env; one that only gives master keys away
(\"master_keys\") has no versions of them, and is refused.

JSON: {file, keys}; `keys` is how many.

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
