//! Extension types, for meanings that Arrow has no type for: a name in the field's metadata.

use super::binary_metadata;
use super::from_arrow::geo;
use super::hint::is_same_but_layout;
use arrow_schema::extension::{EXTENSION_TYPE_METADATA_KEY, EXTENSION_TYPE_NAME_KEY};
use arrow_schema::{DataType, Field as ArrowField};
use marquetry_core::logical_type::LogicalType;
use marquetry_core::nesting::NestedField;
use std::collections::HashMap;

/// Returns the metadata of a field that becomes `data_type`: its extension type, if it has one with that storage type.
/// `file` is the file's key-value metadata, where GEOMETRY columns store their coordinate reference systems.
pub(super) fn metadata(
    field: &NestedField,
    data_type: &DataType,
    file: &HashMap<&str, &str>,
) -> HashMap<String, String> {
    let entry = |key: &str, value: String| (key.to_owned(), value);
    let Some((name, parameters)) = extension(field, data_type, file) else {
        return HashMap::new();
    };
    let mut metadata = HashMap::from([entry(EXTENSION_TYPE_NAME_KEY, name.to_owned())]);
    metadata.extend(parameters.map(|parameters| entry(EXTENSION_TYPE_METADATA_KEY, parameters)));
    metadata
}

/// Returns whether the extension type that a field was stored with, if any, may apply to values of this type.
pub(super) fn is_of(stored: &ArrowField, data_type: &DataType) -> bool {
    let binary = || binary_metadata::extension_name(stored.metadata());
    match stored.metadata().get(EXTENSION_TYPE_NAME_KEY).cloned().or_else(binary) {
        None => true,
        // These accept all layouts of text and bytes.
        Some(name) if ["arrow.", "geoarrow.", "marquetry."].iter().any(|prefix| name.starts_with(prefix)) => {
            is_same_but_layout(data_type, stored.data_type())
        }
        Some(_) => data_type.equals_datatype(stored.data_type()),
    }
}

/// Removes the extension type from a field's metadata.
pub(crate) fn forget(metadata: &mut HashMap<String, String>) {
    metadata.remove(EXTENSION_TYPE_NAME_KEY);
    metadata.remove(EXTENSION_TYPE_METADATA_KEY);
    binary_metadata::forget_extension(metadata);
}

fn extension(
    field: &NestedField,
    data_type: &DataType,
    file: &HashMap<&str, &str>,
) -> Option<(&'static str, Option<String>)> {
    use DataType::*;
    match (field.logical.as_ref()?, data_type) {
        (LogicalType::Uuid, FixedSizeBinary(16)) => Some(("arrow.uuid", None)),
        // Its parameters are reserved: readers expect them to be present, and empty.
        (LogicalType::Json, Utf8 | LargeUtf8 | Utf8View) => Some(("arrow.json", Some(String::new()))),
        (LogicalType::Variant { .. }, Struct(_)) => Some(("arrow.parquet.variant", None)),
        (LogicalType::File, Struct(_)) => Some((FILE, None)),
        (LogicalType::Geometry { crs }, Binary | LargeBinary | BinaryView) => {
            Some(("geoarrow.wkb", Some(geo(crs.as_deref(), None, file))))
        }
        (LogicalType::Geography { crs, algorithm }, Binary | LargeBinary | BinaryView) => {
            let edges = algorithm.and_then(|algorithm| algorithm.name()).unwrap_or("SPHERICAL");
            Some(("geoarrow.wkb", Some(geo(crs.as_deref(), Some(&edges.to_lowercase()), file))))
        }
        _ => None,
    }
}

/// Returns the logical type of the extension type of `field`, for values of type `data_type`; `None` if it has none, or
/// one that Parquet lacks or stores in another way.
pub(super) fn logical(field: &ArrowField, data_type: &DataType) -> Option<LogicalType> {
    use DataType::*;
    Some(match (field.metadata().get(EXTENSION_TYPE_NAME_KEY)?.as_str(), data_type) {
        ("arrow.uuid", FixedSizeBinary(16)) => LogicalType::Uuid,
        ("arrow.json", Utf8 | LargeUtf8 | Utf8View) => LogicalType::Json,
        ("geoarrow.wkb", Binary | LargeBinary | BinaryView) => {
            geo::logical(field.metadata().get(EXTENSION_TYPE_METADATA_KEY).map_or("", String::as_str))
        }
        _ => return None,
    })
}

/// Returns whether `field` is a VARIANT.
///
/// SPEC: VariantEncoding.md, VariantShredding.md: a group of required binary `metadata`, and binary `value` or a
/// `typed_value`, or both.
pub fn is_variant(field: &ArrowField) -> bool {
    let DataType::Struct(fields) = field.data_type() else {
        return false;
    };
    let is_binary = |field: &ArrowField| {
        matches!(field.data_type(), DataType::Binary | DataType::LargeBinary | DataType::BinaryView)
    };
    field.metadata().get(EXTENSION_TYPE_NAME_KEY).is_some_and(|name| name == "arrow.parquet.variant")
        && fields.len() > 1
        && fields.iter().all(|field| match field.name().as_str() {
            "metadata" => is_binary(field) && !field.is_nullable(),
            "value" => is_binary(field),
            "typed_value" => true,
            _ => false,
        })
        && fields.iter().any(|field| field.name() == "metadata")
}

/// Returns whether a field is FILE: a struct of FILE's fields, with our own extension type, since Arrow has none.
///
/// SPEC: LogicalTypes.md, FILE: any of its fields, all of them optional.
pub(super) fn is_file(field: &ArrowField) -> bool {
    let DataType::Struct(fields) = field.data_type() else { return false };
    field.metadata().get(EXTENSION_TYPE_NAME_KEY).is_some_and(|name| name == FILE)
        && fields.iter().all(|field| {
            field.is_nullable()
                && match field.name().as_str() {
                    "uri" | "content_type" | "checksum" => {
                        matches!(field.data_type(), DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
                    }
                    "offset" | "size" => matches!(field.data_type(), DataType::Int64),
                    "inline" => matches!(
                        field.data_type(),
                        DataType::Binary | DataType::LargeBinary | DataType::BinaryView
                    ),
                    _ => false,
                }
        })
}

const FILE: &str = "marquetry.file";

/// Returns GeoArrow's parameters as JSON: the coordinate reference system, the form in which it is written, and the edges.
///
/// SPEC: Geospatial.md, "Coordinate Reference System": `srid:ID`, `projjson:KEY` with the definition under KEY in the
/// file's metadata, or any other text; OGC:CRS84 if absent.
fn geo(crs: Option<&str>, edges: Option<&str>, file: &HashMap<&str, &str>) -> String {
    let crs = crs.filter(|crs| !crs.is_empty()).unwrap_or("OGC:CRS84");
    let mut members = Vec::new();
    let definition = match crs.strip_prefix("projjson:") {
        Some(key) => file.get(key).copied().unwrap_or(crs),
        None => crs,
    };
    if let Some(id) = crs.strip_prefix("srid:") {
        members.push(format!(r#""crs":{},"crs_type":"srid""#, json_string(id)));
    } else if definition.starts_with('{') && definition.ends_with('}') {
        members.push(format!(r#""crs":{definition},"crs_type":"projjson""#));
    } else if crs == "OGC:CRS84" {
        members.push(format!(r#""crs":{},"crs_type":"authority_code""#, json_string(crs)));
    } else {
        members.push(format!(r#""crs":{}"#, json_string(crs)));
    }
    members.extend(edges.map(|edges| format!(r#""edges":{}"#, json_string(edges))));
    format!("{{{}}}", members.join(","))
}

fn json_string(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinate_reference_systems() {
        let file = HashMap::from([("k", r#"{"id":1}"#)]);
        assert_eq!(geo(None, None, &file), r#"{"crs":"OGC:CRS84","crs_type":"authority_code"}"#);
        assert_eq!(geo(Some("srid:5070"), None, &file), r#"{"crs":"5070","crs_type":"srid"}"#);
        assert_eq!(geo(Some("projjson:k"), None, &file), r#"{"crs":{"id":1},"crs_type":"projjson"}"#);
        assert_eq!(geo(Some("projjson:x"), None, &file), r#"{"crs":"projjson:x"}"#);
        assert_eq!(geo(Some("a\"\n"), Some("karney"), &file), r#"{"crs":"a\"\u000a","edges":"karney"}"#);
    }
}
