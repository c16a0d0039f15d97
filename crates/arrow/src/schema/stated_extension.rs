//! The extension type that a field states, in a form that can be compared.

use super::binary_metadata::as_text;
use super::from_arrow::geo;
use arrow_schema::Field as ArrowField;
use arrow_schema::extension::{EXTENSION_TYPE_METADATA_KEY, EXTENSION_TYPE_NAME_KEY};
use std::fmt;

/// An extension type. Two are equal if they mean the same, however their parameters are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StatedExtension {
    pub(crate) name: String,
    /// Empty if it has none.
    parameters: String,
}

impl StatedExtension {
    /// Returns the extension type of a field; `None` if it states none.
    pub(crate) fn of(field: &ArrowField) -> Option<Self> {
        let metadata = field.metadata();
        if metadata.is_empty() {
            return None;
        }
        let value = |key: &str| {
            let digits = || metadata.get(&as_text(key.as_bytes(), b"\xff").0);
            metadata.get(key).or_else(digits)
        };
        let name = value(EXTENSION_TYPE_NAME_KEY)?.clone();
        let written = value(EXTENSION_TYPE_METADATA_KEY).map_or("", String::as_str);
        let parameters = match name.as_str() {
            // These have no parameters. Some writers write `{}` for that, others nothing.
            "arrow.json" | "arrow.uuid" | "arrow.parquet.variant" | "marquetry.file" => String::new(),
            _ if name.starts_with("geoarrow.") => geo::canonical(written),
            _ => written.to_owned(),
        };
        Some(StatedExtension { name, parameters })
    }
}

impl fmt::Display for StatedExtension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let StatedExtension { name, parameters } = self;
        match parameters.as_str() {
            "" => f.write_str(name),
            parameters => write!(f, "{name} ({parameters})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_schema::DataType;

    fn stated(name: &str, parameters: Option<&str>) -> Option<StatedExtension> {
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        let parameters = parameters.map(|text| pair(EXTENSION_TYPE_METADATA_KEY, text));
        let pairs = [pair(EXTENSION_TYPE_NAME_KEY, name)].into_iter().chain(parameters);
        let field = ArrowField::new("c", DataType::BinaryView, true).with_metadata(pairs.collect());
        StatedExtension::of(&field)
    }

    #[test]
    fn parameters_may_be_written_in_several_ways() {
        let projjson = r#"{"crs": {"name": "Mercator", "id": {"authority": "EPSG", "code": 3857}}}"#;
        for (name, a, b) in [
            ("arrow.json", None, Some("{}")),
            ("other.type", None, Some("")),
            ("geoarrow.wkb", Some("{}"), Some(r#"{"crs":"OGC:CRS84","crs_type":"authority_code"}"#)),
            ("geoarrow.wkb", Some(r#"{"crs":"EPSG:3857"}"#), Some(projjson)),
            ("geoarrow.wkb", Some(r#"{"edges":"planar"}"#), None),
        ] {
            assert_eq!(stated(name, a), stated(name, b), "{name}");
        }
    }

    #[test]
    fn what_differs_is_shown() {
        let geometry = |parameters| stated("geoarrow.wkb", Some(parameters)).expect("it is stated");
        let (mercator, unnamed) = (geometry(r#"{"crs":"EPSG:3857"}"#), geometry(r#"{"crs":{"name":"x"}}"#));
        let (srid, karney) =
            (geometry(r#"{"crs":"3857","crs_type":"srid"}"#), geometry(r#"{"edges":"karney"}"#));
        let all = [geometry(""), mercator, unnamed, srid, karney];
        for (i, a) in all.iter().enumerate() {
            assert!(all[..i].iter().all(|b| a != b), "{a}");
        }
        let shown = all.map(|extension| extension.to_string());
        assert_eq!(
            shown,
            [
                "geoarrow.wkb (OGC:CRS84, planar edges)",
                "geoarrow.wkb (EPSG:3857, planar edges)",
                r#"geoarrow.wkb ({"name":"x"}, planar edges)"#,
                "geoarrow.wkb (srid:3857, planar edges)",
                "geoarrow.wkb (OGC:CRS84, karney edges)",
            ]
        );
        assert_ne!(stated("tensor", Some("2 x 3")), stated("tensor", Some("3 x 2")));
        assert_eq!(StatedExtension::of(&ArrowField::new("c", DataType::Utf8, true)), None);
    }
}
