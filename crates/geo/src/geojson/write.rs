//! Writes a geometry as GeoJSON.

use crate::kind::{Dimensions, Kind};
use crate::number;
use crate::wkb::{self, Visitor};
use marquetry_base::{Error, Result};

/// Converts a geometry in well-known binary to GeoJSON. Coordinates stay unchanged, whatever the reference system.
/// Measures, which GeoJSON does not have, are left out, as are heights that are NaN. An empty point has no coordinates.
///
/// Fails if the bytes are not a geometry, for curves, surfaces and triangles, which GeoJSON does not have, and if any
/// other coordinate is NaN or infinite, because JSON has no such numbers.
///
/// ```
/// use marquetry_geo::{geojson, wkt};
/// let wkb = wkt::parse("LINESTRING (1 2, 3 4.5)")?;
/// assert_eq!(geojson::to_string(&wkb)?, r#"{"type":"LineString","coordinates":[[1,2],[3,4.5]]}"#);
/// # Ok::<(), marquetry_base::Error>(())
/// ```
pub fn to_string(wkb: &[u8]) -> Result<String> {
    let mut out = String::new();
    write_to(wkb, &mut out)?;
    Ok(out)
}

/// Appends the text that [`to_string`] returns. Appends nothing if it fails.
pub fn write_to(wkb: &[u8], out: &mut String) -> Result<()> {
    let start = out.len();
    let mut json = Json { out, open: Vec::new(), is_first: true, unknown: None, odd: None };
    let walked = wkb::walk(wkb, &mut json);
    let (unknown, odd) = (json.unknown, json.odd);
    let done = match (walked, unknown, odd) {
        (Err(error), ..) => Err(error),
        (Ok(_), Some(kind), _) => Err(Error::unsupported(format!("GeoJSON has no {}", kind.name()))),
        (Ok(_), None, Some(number)) => {
            let number = if number.is_nan() { "NaN" } else { "infinite" };
            Err(Error::unsupported(format!("GeoJSON has no coordinate that is {number}")))
        }
        (Ok(_), None, None) => Ok(()),
    };
    if done.is_err() {
        out.truncate(start);
    }
    done
}

struct Json<'a> {
    out: &'a mut String,
    open: Vec<(Kind, Dimensions)>,
    /// Whether nothing was written after the last opening bracket.
    is_first: bool,
    unknown: Option<Kind>,
    /// A coordinate that JSON cannot represent.
    odd: Option<f64>,
}

impl Json<'_> {
    fn separate(&mut self) {
        if !self.is_first {
            self.out.push(',');
        }
        self.is_first = false;
    }

    fn close(&mut self, brackets: &str) {
        self.out.push_str(brackets);
        self.is_first = false;
    }

    /// Whether the current geometry is a member of a multi-geometry, which has coordinates but no object of its own.
    fn is_member(&self) -> bool {
        self.open.len() > 1 && self.open[self.open.len() - 2].0 != Kind::GeometryCollection
    }
}

impl Visitor for Json<'_> {
    fn begin(&mut self, kind: Kind, dimensions: Dimensions, _parts: u32) {
        if kind as u32 > Kind::GeometryCollection as u32 {
            self.unknown = Some(kind);
        }
        if !self.open.is_empty() {
            self.separate();
        }
        self.open.push((kind, dimensions));
        if !self.is_member() {
            let list = if kind == Kind::GeometryCollection { "geometries" } else { "coordinates" };
            self.out.push_str(&format!(r#"{{"type":"{}","{list}":"#, kind.name()));
        }
        self.out.push('[');
        self.is_first = true;
    }

    fn ring(&mut self, _positions: u32) {
        self.separate();
        self.out.push('[');
        self.is_first = true;
    }

    fn end_ring(&mut self) {
        self.close("]");
    }

    fn position(&mut self, position: [f64; 4]) {
        let Some(&(kind, dimensions)) = self.open.last() else { return };
        if kind == Kind::Point && wkb::is_empty(position) {
            return;
        }
        let has_bracket = kind != Kind::Point;
        if has_bracket {
            self.separate();
            self.out.push('[');
        }
        // SPEC: RFC 7946, section 3.1.1: positions may have two numbers or three.
        let shown = Dimensions { z: dimensions.z && !position[2].is_nan(), m: false };
        for (i, value) in shown.numbers(position).enumerate() {
            self.out.push_str(if i > 0 { "," } else { "" });
            match value.is_finite() {
                true => number::write(value, self.out),
                false => self.odd = Some(value),
            }
        }
        if has_bracket {
            self.out.push(']');
        }
    }

    fn end(&mut self) {
        let brackets = if self.is_member() { "]" } else { "]}" };
        self.open.pop();
        self.close(brackets);
    }
}
