//! Reads GeoJSON as a geometry.

use crate::kind::{Body, Dimensions, Kind};
use crate::wkb::{DEPTH, Writer};
use marquetry_base::{Error, Result};
use serde_json::Value;

/// Converts a GeoJSON geometry to well-known binary: little-endian, with ISO codes. A third number is a height; further numbers are
/// ignored, as the RFC recommends. A geometry has heights if any of its positions has one; positions without a height get NaN.
///
/// Fails if the text is not JSON or not a geometry.
///
/// ```
/// use marquetry_geo::{geojson, wkt};
/// let wkb = geojson::parse(r#"{"type": "Point", "coordinates": [1, 2, 3]}"#)?;
/// assert_eq!(wkt::to_string(&wkb)?, "POINT Z (1 2 3)");
/// # Ok::<(), marquetry_base::Error>(())
/// ```
pub fn parse(text: &str) -> Result<Vec<u8>> {
    let value = serde_json::from_str(text).map_err(|error| Error::argument(format!("GeoJSON: {error}")))?;
    from_value(&value)
}

/// Like [`parse`], for JSON that was parsed already.
pub fn from_value(value: &Value) -> Result<Vec<u8>> {
    let mut out = Writer::new();
    geometry(value, DEPTH, &mut out)?;
    Ok(out.finish())
}

fn geometry(value: &Value, depth: usize, out: &mut Writer) -> Result<()> {
    let name = value.get("type").and_then(Value::as_str).ok_or_else(|| wrong("a geometry has a `type`"))?;
    let kind = Kind::ALL[..7].iter().copied().find(|kind| kind.name() == name);
    let kind = kind.ok_or_else(|| Error::argument(format!("GeoJSON has no geometry {name:?}")))?;
    if kind == Kind::GeometryCollection {
        let Some(depth) = depth.checked_sub(1) else {
            return Err(Error::unsupported(format!("geometries nested deeper than {DEPTH}")));
        };
        let members = list(value.get("geometries"), "`geometries`")?;
        let has_z = members
            .iter()
            .any(|member| member.get("coordinates").is_some_and(|coordinates| dimensions_of(coordinates).z));
        out.header(kind, Dimensions { z: has_z, m: false });
        let count = out.count();
        members.iter().try_for_each(|member| geometry(member, depth, out))?;
        return out.set_count(count, members.len());
    }
    let coordinates = value.get("coordinates").ok_or_else(|| wrong("a geometry has `coordinates`"))?;
    body(kind, dimensions_of(coordinates), coordinates, out)
}

fn body(kind: Kind, dimensions: Dimensions, value: &Value, out: &mut Writer) -> Result<()> {
    out.header(kind, dimensions);
    let parts = list(Some(value), "coordinates")?;
    if let Body::Position = kind.body() {
        match parts.is_empty() {
            true => out.position(dimensions, [f64::NAN; 4]),
            false => position(value, dimensions, out)?,
        }
        return Ok(());
    }
    let count = out.count();
    match (kind.body(), kind.unnamed_member()) {
        (Body::Rings, _) => {
            for ring in parts {
                let positions = list(Some(ring), "a ring")?;
                let count = out.count();
                positions.iter().try_for_each(|value| position(value, dimensions, out))?;
                out.set_count(count, positions.len())?;
            }
        }
        (_, Some(member)) => parts.iter().try_for_each(|value| body(member, dimensions, value, out))?,
        _ => parts.iter().try_for_each(|value| position(value, dimensions, out))?,
    }
    out.set_count(count, parts.len())
}

/// The dimensions that any of the positions has. Positions without z then get NaN.
fn dimensions_of(coordinates: &Value) -> Dimensions {
    fn has_z(value: &Value, depth: usize) -> bool {
        let Value::Array(parts) = value else { return false };
        match parts.first() {
            Some(Value::Array(_)) => depth > 0 && parts.iter().any(|part| has_z(part, depth - 1)),
            _ => parts.len() > 2,
        }
    }
    Dimensions { z: has_z(coordinates, MOST_LISTS), m: false }
}

fn position(value: &Value, dimensions: Dimensions, out: &mut Writer) -> Result<()> {
    let numbers = list(Some(value), "a position")?;
    if numbers.len() < 2 {
        return Err(wrong("a position has two numbers"));
    }
    let number = |value: &Value| value.as_f64().ok_or_else(|| wrong("a position has numbers only"));
    // QUIRK: writers in JavaScript write null for an unknown height.
    let height = numbers.get(2).filter(|value| !value.is_null()).map_or(Ok(f64::NAN), number)?;
    out.position(dimensions, [number(&numbers[0])?, number(&numbers[1])?, height, f64::NAN]);
    Ok(())
}

fn list<'a>(value: Option<&'a Value>, what: &str) -> Result<&'a Vec<Value>> {
    value.and_then(Value::as_array).ok_or_else(|| Error::argument(format!("GeoJSON: {what} is a list")))
}

fn wrong(message: &str) -> Error {
    Error::argument(format!("GeoJSON: {message}"))
}

/// Number of nested lists in a multi-polygon.
const MOST_LISTS: usize = 3;
