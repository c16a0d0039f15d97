//! GeoArrow's parameters, which are JSON, as those of GEOMETRY and GEOGRAPHY.

use marquetry_core::logical_type::LogicalType;
use marquetry_format::EdgeInterpolationAlgorithm as Edges;
use std::borrow::Cow;

/// The logical type of a `geoarrow.wkb` field with these parameters: GEOGRAPHY where edges are said to be other than
/// planar. What is no JSON says nothing.
pub(in crate::schema) fn logical(parameters: &str) -> LogicalType {
    let members = members(parameters).unwrap_or_default();
    let member = |name: &str| members.iter().find(|(key, _)| key == name).map(|(_, value)| *value);
    let text = |name: &str| member(name).and_then(string);
    let crs = crs(member("crs"), text("crs_type").as_deref());
    match text("edges").as_deref() {
        None | Some("planar") => LogicalType::Geometry { crs },
        Some(edges) => LogicalType::Geography { crs, algorithm: algorithm(edges) },
    }
}

fn algorithm(edges: &str) -> Option<Edges> {
    let known = [Edges::SPHERICAL, Edges::VINCENTY, Edges::THOMAS, Edges::ANDOYER, Edges::KARNEY];
    known.into_iter().find(|known| known.name().is_some_and(|name| name.eq_ignore_ascii_case(edges)))
}

/// SPEC: Geospatial.md, "Coordinate Reference System": `srid:ID`, PROJJSON itself, or any other text. OGC:CRS84 is what
/// is left out. QUIRK: GeoArrow takes none for "unknown"; those who leave it out mostly mean longitude and latitude.
fn crs(value: Option<&str>, crs_type: Option<&str>) -> Option<String> {
    let value = value?;
    let Some(text) = string(value) else {
        return value.starts_with('{').then(|| value.to_owned()).filter(|object| !is_crs84(object));
    };
    match (crs_type, &*text) {
        (_, "" | "OGC:CRS84") => None,
        (Some("srid"), id) => Some(format!("srid:{id}")),
        (_, text) => Some(text.to_owned()),
    }
}

fn is_crs84(projjson: &str) -> bool {
    let member = |object: &str, name: &str| {
        let members = members(object)?;
        members.into_iter().find(|(key, _)| key == name).map(|(_, value)| value.to_owned())
    };
    let part = |name: &str| member(&member(projjson, "id")?, name);
    part("authority").as_deref().and_then(string).as_deref() == Some("OGC")
        && part("code").as_deref().and_then(string).as_deref() == Some("CRS84")
}

/// The members of a JSON object: names, and values as they are written.
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

/// How long the JSON value is that `text` begins with: up to a comma, colon or bracket that is not inside it.
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

/// The text of a JSON string; `None` for other values.
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
    fn broken_json_ends() {
        for text in
            ["{", "{,", "{,}", "{:", "{\"a\"", "{\"a\":", "{\"a\":}", "{\"a\":1,,", "{]}", "{\"\\u12\":1}"]
        {
            assert_eq!(logical(text), geometry(None), "{text}");
        }
    }
}
