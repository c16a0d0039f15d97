//! Recognizes files that are not Parquet, and names the command that reads them.

use crate::file_name;
use marquetry::errors::Error;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The message for a file of another format, instead of that it is broken; `None` if it may be a broken Parquet file.
/// Only local files are examined.
pub(crate) fn told(file: &Path, error: &Error) -> Option<String> {
    if !error.message().starts_with("not a Parquet file") || !file.is_file() {
        return None;
    }
    let mut begin = Vec::new();
    File::open(file).ok()?.take(LOOKED_AT).read_to_end(&mut begin).ok()?;
    let name = file.to_string_lossy().to_lowercase();
    let (format, from) = format_of(&begin, &name)?;
    let shown = file_name::shown(file);
    let quote = if shown.contains(char::is_whitespace) { "'" } else { "" };
    Some(match from {
        Some(from) => format!(
            "no Parquet file: it looks like {format}, which `marquetry convert {quote}{shown}{quote} OUT.parquet --from {from}` reads"
        ),
        None => format!("no Parquet file: it looks like {format}, which no command reads"),
    })
}

/// The format of a file with this beginning, and its name in `convert`.
fn format_of(begin: &[u8], name: &str) -> Option<(&'static str, Option<&'static str>)> {
    let magic = |magic: &[u8]| begin.starts_with(magic);
    let first = begin.iter().find(|byte| !byte.is_ascii_whitespace());
    Some(match first {
        _ if magic(b"PAR1") || magic(b"PARE") => return None,
        _ if magic(b"ARROW1") => ("Arrow IPC", Some("arrow")),
        _ if magic(b"ORC") => ("ORC", None),
        _ if magic(b"Obj\x01") => ("Avro", None),
        _ if magic(b"SQLite format 3") => ("a database of SQLite", None),
        _ if magic(b"PK\x03\x04") => ("a ZIP archive", None),
        _ if magic(&[0x1f, 0x8b]) => ("a file compressed with gzip", text_of(name)),
        _ if magic(&[0x28, 0xb5, 0x2f, 0xfd]) => ("a file compressed with Zstandard", text_of(name)),
        Some(b'{') if is_feature_collection(begin) => ("GeoJSON", Some("geojson")),
        Some(b'{') if is_text(begin) && ends_early(begin) => ("a JSON object over several lines", None),
        Some(b'{' | b'[') if is_text(begin) => ("JSON", Some("jsonl")),
        Some(_) if text_of(name) == Some("csv") && is_text(begin) => ("CSV", Some("csv")),
        _ => return None,
    })
}

/// The text format of a file by its extension, which may be followed by that of compression.
fn text_of(name: &str) -> Option<&'static str> {
    let name = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst")).unwrap_or(name);
    match name.rsplit_once('.')?.1 {
        "csv" | "tsv" | "tab" => Some("csv"),
        "json" | "jsonl" | "ndjson" => Some("jsonl"),
        "geojson" => Some("geojson"),
        _ => None,
    }
}

fn is_feature_collection(begin: &[u8]) -> bool {
    is_text(begin) && String::from_utf8_lossy(begin).contains("\"FeatureCollection\"")
}

/// Whether the first line that is not blank ends without closing an object: JSON Lines have one on each line.
fn ends_early(begin: &[u8]) -> bool {
    let line = begin.trim_ascii_start().split_inclusive(|byte| *byte == b'\n').next().unwrap_or_default();
    line.ends_with(b"\n") && !line.trim_ascii_end().ends_with(b"}")
}

/// Whether these bytes can be text; the last character may be cut off.
fn is_text(bytes: &[u8]) -> bool {
    let is_utf8 = std::str::from_utf8(bytes).map_or_else(|error| error.error_len().is_none(), |_| true);
    is_utf8 && !bytes.contains(&0)
}

/// Bytes at the beginning of a file that are examined.
const LOOKED_AT: u64 = 512;

#[cfg(test)]
mod tests {
    use super::format_of;

    #[test]
    fn formats_by_their_first_bytes() {
        let of = |begin: &[u8], name: &str| format_of(begin, name).map(|(format, _)| format);
        assert_eq!(of(b"  {\"a\": 1}\n", "x"), Some("JSON"));
        assert_eq!(of(b"[{\"a\": \"\xc3", "x.json"), Some("JSON"));
        assert_eq!(of(b"{\"type\":\"FeatureCollection\"", "x"), Some("GeoJSON"));
        assert_eq!(of(b"{\n \"a\": 1\n}\n", "x"), Some("a JSON object over several lines"));
        assert_eq!(of(b"\n{\"a\": {\"b\": 1}}\r\n{}\n", "x"), Some("JSON"));
        assert_eq!(of(b"ARROW1\0\0", "x.parquet"), Some("Arrow IPC"));
        assert_eq!(of(b"a,b\n", "x.csv"), Some("CSV"));
        assert_eq!(
            format_of(&[0x1f, 0x8b], "x.json.gz"),
            Some(("a file compressed with gzip", Some("jsonl")))
        );
        for broken in [&b"PAR1{}"[..], b"", b"a,b\n", b"{\0", b"{\xff\xff"] {
            assert_eq!(of(broken, "x.parquet"), None, "{broken:?}");
        }
    }
}
