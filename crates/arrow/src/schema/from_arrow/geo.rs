//! Converts GeoArrow's JSON parameters to those of GEOMETRY and GEOGRAPHY.

use marquetry_core::logical_type::LogicalType;
use marquetry_format::EdgeInterpolationAlgorithm as Edges;
use std::borrow::Cow;
use std::collections::HashMap;

/// Returns the logical type of a `geoarrow.wkb` field with these parameters: GEOGRAPHY if edges are stated as other
/// than planar. Text that is not JSON is ignored.
pub(in crate::schema) fn logical(parameters: &str) -> LogicalType {
    let members = members(parameters).unwrap_or_default();
    let text = |name: &str| member(&members, name).and_then(string);
    let crs = crs(member(&members, "crs"), text("crs_type").as_deref());
    match text("edges").as_deref() {
        None | Some("planar") => LogicalType::Geometry { crs },
        Some(edges) => LogicalType::Geography { crs, algorithm: algorithm(edges) },
    }
}

fn algorithm(edges: &str) -> Option<Edges> {
    let known = [Edges::SPHERICAL, Edges::VINCENTY, Edges::THOMAS, Edges::ANDOYER, Edges::KARNEY];
    known.into_iter().find(|known| known.name().is_some_and(|name| name.eq_ignore_ascii_case(edges)))
}

/// Converts the reference system. SPEC: Geospatial.md, "Coordinate Reference System": `srid:ID`, PROJJSON itself, or
/// any other text. OGC:CRS84 is the default, and left out. QUIRK: in GeoArrow, a missing one means "unknown"; writers
/// that leave it out mostly mean longitude and latitude.
fn crs(value: Option<&str>, crs_type: Option<&str>) -> Option<String> {
    let value = value?;
    let Some(text) = string(value) else {
        return value.starts_with('{').then(|| value.to_owned()).filter(|object| !is_crs84(object));
    };
    match (crs_type, &*text) {
        (_, "" | CRS84) => None,
        (Some("srid"), id) => Some(format!("srid:{id}")),
        (_, text) => Some(text.to_owned()),
    }
}

/// Returns the meaning of these parameters as canonical text: equal meanings have equal texts.
pub(in crate::schema) fn canonical(parameters: &str) -> String {
    let (crs, edges) = match logical(parameters) {
        LogicalType::Geography { crs, algorithm } => {
            let edges = algorithm.and_then(|algorithm| algorithm.name()).unwrap_or("unknown");
            (crs, edges.to_lowercase())
        }
        LogicalType::Geometry { crs } => (crs, "planar".to_owned()),
        _ => (None, String::new()),
    };
    format!("{}, {edges} edges", named(crs))
}

/// Returns the columns of GeoParquet metadata, with the meaning of their coordinates as canonical text. Returns none if
/// it is no such metadata.
///
/// SPEC: GeoParquet 1.1, "Column metadata": without `crs` it is OGC:CRS84, with `null` it is not known.
pub(crate) fn geoparquet_columns(metadata: &str) -> HashMap<String, String> {
    let columns = members(metadata).and_then(|all| Some(members(member(&all, "columns")?)?.into_iter()));
    let said = |(name, fields): (Cow<'_, str>, &str)| {
        let fields = members(fields)?;
        let text = |name: &str| member(&fields, name).and_then(string);
        let crs = match member(&fields, "crs") {
            Some(value) if value.trim() == "null" => "unknown reference system".to_owned(),
            value => named(crs(value, None)),
        };
        let edges = text("edges").unwrap_or(Cow::Borrowed("planar"));
        let epoch = member(&fields, "epoch").map(|epoch| format!(", epoch {epoch}")).unwrap_or_default();
        Some((name.into_owned(), format!("{crs}, {edges} edges{epoch}")))
    };
    columns.into_iter().flatten().filter_map(said).collect()
}

/// Returns the name of a reference system, if it has one: descriptions of the same system differ by writer.
fn named(crs: Option<String>) -> String {
    let crs = crs.unwrap_or_else(|| CRS84.to_owned());
    identifier(&crs).unwrap_or(crs)
}

/// Returns the identifier of a reference system in PROJJSON, such as `EPSG:3857`.
fn identifier(projjson: &str) -> Option<String> {
    let id = members(member(&members(projjson)?, "id")?)?;
    let code = member(&id, "code")?;
    let code = string(code).unwrap_or(Cow::Borrowed(code.trim()));
    Some(format!("{}:{code}", string(member(&id, "authority")?)?))
}

fn is_crs84(projjson: &str) -> bool {
    identifier(projjson).as_deref() == Some(CRS84)
}

const CRS84: &str = "OGC:CRS84";

/// Returns the value of a member, as it is written.
fn member<'a>(members: &[(Cow<'_, str>, &'a str)], name: &str) -> Option<&'a str> {
    members.iter().find(|(key, _)| key == name).map(|(_, value)| *value)
}

/// Returns the members of a JSON object: names, and values as they are written.
fn members(object: &str) -> Option<Vec<(Cow<'_, str>, &str)>> {
    let mut rest = object.trim().strip_prefix('{')?.trim_start();
    let mut out = Vec::new();
    while !rest.starts_with('}') {
        let (name, after) = rest.split_at(value_len(rest)?);
        let value = after.trim_start().strip_prefix(':')?.trim_start();
        let (value, after) = value.split_at(value_len(value)?);
        out.push((string(name)?, value.trim_end()));
        let after = after.trim_start();
        rest = match after.strip_prefix(',') {
            Some(next) => next.trim_start(),
            None => after,
        };
        if value.is_empty() {
            return None;
        }
    }
    Some(out)
}

/// Returns the length of the JSON value at the start of `text`: up to a comma, colon or bracket outside it.
fn value_len(text: &str) -> Option<usize> {
    let (mut depth, mut in_string, mut escaped) = (0usize, false, false);
    for (i, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' | b',' | b':' if depth == 0 => return Some(i),
            b'}' | b']' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Returns the text of a JSON string; `None` for other values.
fn string(value: &str) -> Option<Cow<'_, str>> {
    let inner = value.trim().strip_prefix('"')?.strip_suffix('"')?;
    if !inner.contains('\\') {
        return Some(Cow::Borrowed(inner));
    }
    let mut out = String::with_capacity(inner.len());
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        out.push(match c {
            '\\' => match chars.next()? {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                'b' => '\u{8}',
                'f' => '\u{c}',
                'u' => {
                    let digits: String = chars.by_ref().take(4).collect();
                    char::from_u32(u32::from_str_radix(&digits, 16).ok()?)?
                }
                other => other,
            },
            c => c,
        });
    }
    Some(Cow::Owned(out))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn geometry(crs: Option<&str>) -> LogicalType {
        LogicalType::Geometry { crs: crs.map(str::to_owned) }
    }

    #[test]
    fn parameters() {
        assert_eq!(logical(""), geometry(None));
        assert_eq!(logical("no json"), geometry(None));
        assert_eq!(logical("{}"), geometry(None));
        assert_eq!(logical(r#"{"crs":null}"#), geometry(None));
        assert_eq!(logical(r#"{"crs":"OGC:CRS84","crs_type":"authority_code"}"#), geometry(None));
        assert_eq!(logical(r#"{"crs":"5070","crs_type":"srid"}"#), geometry(Some("srid:5070")));
        assert_eq!(logical(r#"{ "crs" : "EPSG:3857" , "edges" : "planar" }"#), geometry(Some("EPSG:3857")));
        assert_eq!(logical(r#"{"crs":"a\"\u000a"}"#), geometry(Some("a\"\n")));
        assert_eq!(
            logical(r#"{"crs":{"id":{"authority":"OGC","code":"CRS84"},"name":"x"}}"#),
            geometry(None)
        );
        let object = r#"{"id":{"authority":"EPSG","code":3857},"name":"a, b: }"}"#;
        assert_eq!(logical(&format!(r#"{{"crs":{object},"crs_type":"projjson"}}"#)), geometry(Some(object)));
        let geography = LogicalType::Geography { crs: None, algorithm: Some(Edges::KARNEY) };
        assert_eq!(logical(r#"{"edges":"karney"}"#), geography);
    }

    #[test]
    fn columns_of_geoparquet() {
        let columns = [
            r#""a": {"encoding": "WKB"}"#,
            r#""b": {"crs": null, "epoch": 2020.5}"#,
            r#""c": {"crs": {"name": "x", "id": {"authority": "EPSG", "code": 3857}}, "edges": "spherical"}"#,
        ];
        let text =
            format!(r#"{{"version": "1.1.0", "columns": {{{}}}, "primary_column": "a"}}"#, columns.join(","));
        let mut said: Vec<_> = geoparquet_columns(&text).into_iter().collect();
        said.sort();
        let wanted = [
            ("a", "OGC:CRS84, planar edges"),
            ("b", "unknown reference system, planar edges, epoch 2020.5"),
            ("c", "EPSG:3857, spherical edges"),
        ];
        assert_eq!(said, wanted.map(|(name, said)| (name.to_owned(), said.to_owned())));
        for text in ["", "no json", "{}", r#"{"columns": 3}"#, r#"{"columns": {"a": 1}}"#] {
            assert!(geoparquet_columns(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn broken_json_ends() {
        for text in
            ["{", "{,", "{,}", "{:", "{\"a\"", "{\"a\":", "{\"a\":}", "{\"a\":1,,", "{]}", "{\"\\u12\":1}"]
        {
            assert_eq!(logical(text), geometry(None), "{text}");
        }
    }
}
