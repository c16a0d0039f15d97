//! Writes a geometry as well-known text.

use crate::kind::{Dimensions, Kind};
use crate::number;
use crate::wkb::{self, Visitor};
use marquetry_base::Result;

/// Converts a geometry in well-known binary to text. An SRID is left out. Fails if the bytes are not a geometry.
///
/// ```
/// use marquetry_geo::wkt;
/// let wkb = wkt::parse("polygon((0 0, 4 0, 4 4, 0 0))")?;
/// assert_eq!(wkt::to_string(&wkb)?, "POLYGON ((0 0, 4 0, 4 4, 0 0))");
/// # Ok::<(), marquetry_base::Error>(())
/// ```
pub fn to_string(wkb: &[u8]) -> Result<String> {
    let mut out = String::new();
    write_to(wkb, &mut out)?;
    Ok(out)
}

/// Appends the text that [`to_string`] returns. Appends nothing if it fails.
pub fn write_to(wkb: &[u8], out: &mut String) -> Result<()> {
    write_start(wkb, usize::MAX, out)
}

/// Appends the beginning of the text: once it has `len` bytes, no more positions follow. Fails as [`to_string`] does,
/// because all of the geometry is read.
pub fn write_start(wkb: &[u8], len: usize, out: &mut String) -> Result<()> {
    let start = out.len();
    let most = start.saturating_add(len);
    let mut text = Text { out, most, open: Vec::new(), is_first: true };
    let walked = wkb::walk(wkb, &mut text);
    if walked.is_err() {
        out.truncate(start);
    }
    walked.map(|_| ())
}

struct Text<'a> {
    out: &'a mut String,
    most: usize,
    /// The open geometries.
    open: Vec<Open>,
    /// Whether nothing was written after the last opening parenthesis.
    is_first: bool,
}

#[derive(Clone, Copy)]
struct Open {
    kind: Kind,
    dimensions: Dimensions,
    is_empty: bool,
}

impl Text<'_> {
    fn separate(&mut self) {
        if !self.is_first {
            self.push(", ");
        }
        self.is_first = false;
    }

    fn push(&mut self, text: &str) {
        if self.out.len() < self.most {
            self.out.push_str(text);
        }
    }

    fn open(&mut self, is_empty: bool) {
        self.push(if is_empty { "EMPTY" } else { "(" });
        self.is_first = true;
    }

    fn close(&mut self, is_empty: bool) {
        self.push(if is_empty { "" } else { ")" });
        self.is_first = false;
    }
}

impl Visitor for Text<'_> {
    fn begin(&mut self, kind: Kind, dimensions: Dimensions, parts: u32) {
        let holder = self.open.last().copied();
        if holder.is_some() {
            self.separate();
        }
        // Members whose kind is known have no name, unless their dimensions differ from those of the geometry around them.
        let is_named = holder.is_none_or(|holder| match holder.kind.unnamed_member() {
            Some(member) => member != kind || holder.dimensions != dimensions,
            None => true,
        });
        if is_named {
            self.push(&kind.name().to_ascii_uppercase());
            self.push(match (dimensions.z, dimensions.m) {
                (false, false) => " ",
                (true, false) => " Z ",
                (false, true) => " M ",
                (true, true) => " ZM ",
            });
        }
        let is_empty = parts == 0;
        self.open.push(Open { kind, dimensions, is_empty });
        // Only its position shows whether a point is empty.
        if kind != Kind::Point {
            self.open(is_empty);
        }
    }

    fn ring(&mut self, positions: u32) {
        self.separate();
        self.open(positions == 0);
        if let Some(open) = self.open.last_mut() {
            open.is_empty = positions == 0;
        }
    }

    fn end_ring(&mut self) {
        if let Some(open) = self.open.last_mut() {
            let is_empty = std::mem::take(&mut open.is_empty);
            self.close(is_empty);
        }
    }

    fn position(&mut self, position: [f64; 4]) {
        let Some(open) = self.open.last_mut() else { return };
        let (kind, dimensions) = (open.kind, open.dimensions);
        if kind == Kind::Point {
            let is_empty = wkb::is_empty(position);
            open.is_empty = is_empty;
            self.open(is_empty);
            if is_empty {
                return;
            }
        }
        self.separate();
        if self.out.len() >= self.most {
            return;
        }
        for (i, value) in dimensions.numbers(position).enumerate() {
            self.out.push_str(if i > 0 { " " } else { "" });
            number::write(value, self.out);
        }
    }

    fn end(&mut self) {
        if let Some(open) = self.open.pop() {
            self.close(open.is_empty);
        }
    }
}
