//! Keys as text in JSON: `hex:..`, `base64:..` or `utf8:..`.

use super::core_dump;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use marquetry::errors::{Error, Result};
use marquetry_base::from_hex;
use serde_json::{Map, Value};
use std::path::Path;
use zeroize::{Zeroize, Zeroizing};

/// The members of a JSON object in a file, or in an environment variable; `None` if neither is named. Forbids core
/// dumps before keys are read.
pub(super) fn object(file: Option<&Path>, variable: Option<&str>) -> Result<Option<Map<String, Value>>> {
    if file.is_some() || variable.is_some() {
        core_dump::forbid()?;
    }
    let text =
        match (file, variable) {
            (Some(path), _) => in_file(path)?,
            (None, Some(name)) => Zeroizing::new(std::env::var(name).map_err(|_| {
                Error::argument(format!("no environment variable {name}, or it is not UTF-8"))
            })?),
            (None, None) => return Ok(None),
        };
    members(&text).map(Some)
}

fn in_file(path: &Path) -> Result<Zeroizing<String>> {
    let mut bytes = read(path)?;
    let text = String::from_utf8(std::mem::take(&mut *bytes));
    let text = text.map_err(|error| {
        error.into_bytes().zeroize();
        Error::argument("the keys are not UTF-8").in_file(path.display().to_string())
    });
    text.map(Zeroizing::new)
}

/// Reads all bytes of a file.
pub(super) fn read(path: &Path) -> Result<Zeroizing<Vec<u8>>> {
    let bytes = std::fs::read(path).map_err(|error| Error::io("cannot read it", error));
    bytes.map(Zeroizing::new).map_err(|error| error.in_file(path.display().to_string()))
}

/// Parses a JSON object.
pub(super) fn members(text: &str) -> Result<Map<String, Value>> {
    // The message of serde_json about invalid JSON may contain a part of a key.
    match serde_json::from_str(text) {
        Ok(Value::Object(members)) => Ok(members),
        Ok(_) => Err(wrong("no JSON object")),
        Err(error) => Err(wrong(&format!("no JSON, line {}", error.line()))),
    }
}

/// The name and key of each member.
pub(super) fn each(
    members: Map<String, Value>,
) -> impl Iterator<Item = Result<(String, Zeroizing<Vec<u8>>)>> {
    members.into_iter().map(|(name, value)| bytes(&name, value).map(|bytes| (name, bytes)))
}

/// The bytes of a text such as `hex:00ff`. Errors contain the name, but nothing of the text.
pub(super) fn bytes(name: &str, value: Value) -> Result<Zeroizing<Vec<u8>>> {
    let Value::String(text) = value else { return Err(wrong(&format!("{name} is not text"))) };
    let text = Zeroizing::new(text);
    let bytes = match text.split_once(':') {
        Some(("utf8", text)) => Some(text.as_bytes().to_vec()),
        Some(("base64", text)) => STANDARD.decode(text).ok(),
        Some(("hex", text)) => from_hex(text),
        _ => return Err(wrong(&format!("{name} begins with none of hex:, base64: and utf8:"))),
    };
    bytes.map(Zeroizing::new).ok_or_else(|| wrong(&format!("{name} is not what it begins with")))
}

/// The error of invalid keys.
pub(super) fn wrong(what: &str) -> Error {
    Error::argument(format!("the keys: {what}"))
}
