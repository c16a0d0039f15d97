//! The member `crs` in GeoJSON files from before 2016.

use marquetry_base::{Error, Result};
use serde_json::Value;

/// Returns the reference system that a member `crs` names: `OGC:CRS84`, `EPSG:` and a code, or `srid:0` if it is null,
/// which stands for an unknown system.
///
/// SPEC: RFC 7946, section 4, allows only longitudes and latitudes and has removed the member; GeoJSON 2008, section 3,
/// had it. Positions were x, y there, whatever the order of the system's axes, so `EPSG:4326` is `OGC:CRS84`.
///
/// Fails if the system is named in another way, such as by a link.
///
/// ```
/// use marquetry_geo::geojson::crs;
/// let named = |name: &str| crs(&serde_json::json!({"type": "name", "properties": {"name": name}}));
/// assert_eq!(named("urn:ogc:def:crs:EPSG::3857")?, "EPSG:3857");
/// assert_eq!(named("urn:ogc:def:crs:OGC:1.3:CRS84")?, "OGC:CRS84");
/// assert!(named("my own").is_err());
/// # Ok::<(), marquetry_base::Error>(())
/// ```
pub fn crs(value: &Value) -> Result<String> {
    if value.is_null() {
        return Ok("srid:0".to_owned());
    }
    let is_name = value.get("type").and_then(Value::as_str) == Some("name");
    let name = value.get("properties").and_then(|properties| properties.get("name")).and_then(Value::as_str);
    let name = name.filter(|_| is_name).ok_or_else(|| unknown(&value.to_string()))?;
    known(name.trim()).ok_or_else(|| unknown(name))
}

fn unknown(name: &str) -> Error {
    let shown: String = name.chars().take(MOST_SHOWN).collect();
    Error::unsupported(format!(
        "GeoJSON: `crs` is {shown:?}, which is not an EPSG code: name one, as in \"urn:ogc:def:crs:EPSG::3857\", or take `crs` out if \
         coordinates are longitudes and latitudes"
    ))
}

fn known(name: &str) -> Option<String> {
    let upper = name.to_ascii_uppercase();
    // An authority, optionally a version, and a code.
    let parts: Vec<&str> = if let Some(urn) = upper.strip_prefix("URN:OGC:DEF:CRS:") {
        urn.split(':').collect()
    } else if let Some((_, path)) = upper.split_once("://WWW.OPENGIS.NET/DEF/CRS/") {
        path.split('/').collect()
    } else if let Some((_, code)) = upper.split_once("://WWW.OPENGIS.NET/GML/SRS/EPSG.XML#") {
        vec!["EPSG", code]
    } else {
        upper.split(':').collect()
    };
    let (authority, code) = match parts[..] {
        [authority, code] | [authority, _, code] => (authority, code),
        _ => return None,
    };
    let is_code = (1..=6).contains(&code.len())
        && code.bytes().all(|byte| byte.is_ascii_digit())
        && !code.starts_with('0');
    match (authority, code) {
        ("OGC", "CRS84") | ("EPSG", "4326") => Some("OGC:CRS84".to_owned()),
        ("EPSG", code) if is_code => Some(format!("EPSG:{code}")),
        _ => None,
    }
}

const MOST_SHOWN: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_as_they_were_written() {
        for (name, expected) in [
            ("EPSG:3857", "EPSG:3857"),
            ("epsg:25832", "EPSG:25832"),
            ("urn:ogc:def:crs:EPSG:6.18:2056", "EPSG:2056"),
            ("http://www.opengis.net/def/crs/EPSG/0/3857", "EPSG:3857"),
            ("https://www.opengis.net/def/crs/OGC/1.3/CRS84", "OGC:CRS84"),
            ("http://www.opengis.net/gml/srs/epsg.xml#31370", "EPSG:31370"),
            ("urn:ogc:def:crs:OGC::CRS84", "OGC:CRS84"),
            ("OGC:CRS84", "OGC:CRS84"),
            ("urn:ogc:def:crs:EPSG::4326", "OGC:CRS84"),
        ] {
            let value = json!({"type": "name", "properties": {"name": name}});
            assert_eq!(crs(&value).unwrap(), expected, "{name}");
        }
        assert_eq!(crs(&Value::Null).unwrap(), "srid:0");
    }

    #[test]
    fn other_names_are_told() {
        let named = |name: &str| json!({"type": "name", "properties": {"name": name}});
        for value in [
            named("EPSG:"),
            named("EPSG:0"),
            named("EPSG:03857"),
            named("EPSG:3857x"),
            named("EPSG:12345678"),
            named("3857"),
            named("IGNF:LAMB93"),
            named("urn:ogc:def:crs,crs:EPSG::5555,crs:EPSG::7837"),
            named(""),
            json!({"type": "link", "properties": {"href": "http://example.com/crs/42"}}),
            json!({"type": "EPSG", "properties": {"code": 2056}}),
            json!("EPSG:3857"),
            json!({}),
        ] {
            let error = crs(&value).unwrap_err().to_string();
            assert!(
                error.contains("not an EPSG code") && error.contains("take `crs` out"),
                "{value}: {error}"
            );
        }
    }
}
