//! Detects the format of an input.

use crate::args::Source;
use crate::failure::Failure;
use std::path::Path;

/// The format of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Parquet,
    Csv,
    Tsv,
    Jsonl,
    Geojson,
    Arrow,
}

impl Kind {
    /// The format as given, or by the extension; a file with another extension is Parquet.
    pub(super) fn of(path: &Path, from: Option<Source>) -> Result<Kind, Failure> {
        match from {
            Some(Source::Parquet) => return Ok(Kind::Parquet),
            Some(Source::Csv) => return Ok(if extension(path) == "tsv" { Kind::Tsv } else { Kind::Csv }),
            Some(Source::Jsonl) => return Ok(Kind::Jsonl),
            Some(Source::Geojson) => return Ok(Kind::Geojson),
            Some(Source::Arrow) => return Ok(Kind::Arrow),
            None if path.as_os_str() == "-" => {
                return Err(Failure::Usage("standard input: which format? Say --from".to_owned()));
            }
            None => {}
        }
        Ok(match extension(path).as_str() {
            "csv" => Kind::Csv,
            "tsv" | "tab" => Kind::Tsv,
            "jsonl" | "ndjson" => Kind::Jsonl,
            "geojson" => Kind::Geojson,
            "arrow" | "arrows" | "feather" | "ipc" => Kind::Arrow,
            _ => Kind::Parquet,
        })
    }
}

/// The extension in lower case, without that of compression: `csv` for `A.CSV.gz`.
fn extension(path: &Path) -> String {
    let lower = |path: &Path| path.extension().map(|end| end.to_string_lossy().to_lowercase());
    match lower(path).as_deref() {
        Some("gz" | "zst") => path.file_stem().and_then(|stem| lower(Path::new(stem))).unwrap_or_default(),
        Some(end) => end.to_owned(),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_name_and_by_word() {
        let kind = |name: &str, from| Kind::of(Path::new(name), from).ok();
        assert_eq!(kind("a/B.CSV.gz", None), Some(Kind::Csv));
        assert_eq!(kind("b.ndjson.zst", None), Some(Kind::Jsonl));
        assert_eq!(kind("c.feather", None), Some(Kind::Arrow));
        assert_eq!(kind("C.GeoJSON.gz", None), Some(Kind::Geojson));
        assert_eq!(kind("d", None), Some(Kind::Parquet));
        assert_eq!(kind("e.tsv", Some(Source::Csv)), Some(Kind::Tsv));
        assert_eq!(kind("-", None), None);
        assert_eq!(kind("-", Some(Source::Arrow)), Some(Kind::Arrow));
    }
}
