//! Well-known binary: a walk over a geometry, without an allocation, and a writer.
//!
//! Spec: OGC Simple feature access, part 1, section 8.2, with the ISO codes for Z and M; Geospatial.md.
//!
//! ```text
//! geometry      := <byte order: u8, 0 big-endian, 1 little-endian> <code: u32> body
//! point         := position                    position: x, y, then z and m if the code has them, each an f64
//! line string   := <n: u32> position^n
//! polygon       := <n: u32> line string^n      without byte order and code
//! multi, ...    := <n: u32> geometry^n
//! ```
//!
//! QUIRK: PostGIS writes flags for Z, M and an SRID in the code's upper bits, and the SRID behind the code. Such values
//! are read, although the format has only the ISO codes.

use crate::kind::{Body, Dimensions, Kind, iso_code};
use marquetry_base::{ByteCursor, Error, Result};

/// Receives the parts of a geometry in the order of its bytes. By default, each method does nothing.
pub trait Visitor {
    /// Called when a geometry begins. `parts` is the number of positions in a line string, of rings in a polygon, and
    /// of members in a multi-geometry. A point has one position, which is all NaN if the point is empty.
    fn begin(&mut self, kind: Kind, dimensions: Dimensions, parts: u32) {
        let _ = (kind, dimensions, parts);
    }

    /// Called when a ring of a polygon begins.
    fn ring(&mut self, positions: u32) {
        let _ = positions;
    }

    /// Called when a ring ends.
    fn end_ring(&mut self) {}

    /// Called with a position: x, y, z and m. Those that it does not have are NaN.
    fn position(&mut self, position: [f64; 4]) {
        let _ = position;
    }

    /// Called when the innermost open geometry ends.
    fn end(&mut self) {}
}

/// Walks over a geometry, which must be all of `bytes`. Returns its kind and dimensions. Fails, with the position of
/// the byte, if the bytes are not a geometry, are cut off, or are nested more than [`DEPTH`] deep.
///
/// ```
/// use marquetry_geo::{Kind, wkb, wkt};
/// let bytes = wkt::parse("POINT Z (1 2 3)")?;
/// struct Heights(Vec<f64>);
/// impl wkb::Visitor for Heights {
///     fn position(&mut self, [_, _, z, _]: [f64; 4]) {
///         self.0.push(z);
///     }
/// }
/// let mut heights = Heights(Vec::new());
/// let (kind, dimensions) = wkb::walk(&bytes, &mut heights)?;
/// assert_eq!((kind, dimensions.z, heights.0), (Kind::Point, true, vec![3.0]));
/// # Ok::<(), marquetry_base::Error>(())
/// ```
pub fn walk(bytes: &[u8], visitor: &mut impl Visitor) -> Result<(Kind, Dimensions)> {
    let mut cursor = ByteCursor::new(bytes);
    let found = geometry(&mut cursor, None, DEPTH, visitor)?;
    match cursor.is_empty() {
        true => Ok(found),
        false => Err(Error::corrupt(format!("{} bytes behind a geometry", cursor.remaining()))),
    }
}

/// Maximum number of nested multi-geometries and collections: the stack has to hold them.
pub const DEPTH: usize = 32;

/// How the numbers of a geometry are stored.
#[derive(Clone, Copy)]
struct Form {
    is_little_endian: bool,
    has: Dimensions,
}

fn geometry(
    cursor: &mut ByteCursor<'_>,
    holder: Option<Kind>,
    depth: usize,
    visitor: &mut impl Visitor,
) -> Result<(Kind, Dimensions)> {
    let is_little_endian = match cursor.u8()? {
        0 => false,
        1 => true,
        other => return Err(Error::corrupt(format!("byte order {other} of a geometry"))),
    };
    let mut form = Form { is_little_endian, has: Dimensions::default() };
    let code = form.u32(cursor)?;
    if code & EWKB_SRID != 0 {
        cursor.skip(4)?;
    }
    let iso = code & !(EWKB_Z | EWKB_M | EWKB_SRID);
    let thousands = iso / 1000;
    form.has.z = code & EWKB_Z != 0 || matches!(thousands, 1 | 3);
    form.has.m = code & EWKB_M != 0 || matches!(thousands, 2 | 3);
    let Some(kind) = Kind::of_code(iso % 1000).filter(|_| thousands <= 3) else {
        return Err(Error::unsupported(format!("geometry of code {code}")));
    };
    if holder.is_some_and(|holder| !holder.holds(kind)) {
        return Err(Error::corrupt(format!("geometry of code {code} here")));
    }
    match kind.body() {
        Body::Position => {
            visitor.begin(kind, form.has, 1);
            form.positions(cursor, 1, visitor)?;
        }
        Body::Positions => {
            let n = form.u32(cursor)?;
            visitor.begin(kind, form.has, n);
            form.positions(cursor, n, visitor)?;
        }
        Body::Rings => {
            let rings = form.u32(cursor)?;
            visitor.begin(kind, form.has, rings);
            for _ in 0..rings {
                let n = form.u32(cursor)?;
                visitor.ring(n);
                form.positions(cursor, n, visitor)?;
                visitor.end_ring();
            }
        }
        Body::Members => {
            let Some(depth) = depth.checked_sub(1) else {
                return Err(Error::unsupported(format!("geometries nested deeper than {DEPTH}")));
            };
            let members = form.u32(cursor)?;
            visitor.begin(kind, form.has, members);
            for _ in 0..members {
                geometry(cursor, Some(kind), depth, visitor)?;
            }
        }
    }
    visitor.end();
    Ok((kind, form.has))
}

impl Form {
    fn u32(self, cursor: &mut ByteCursor<'_>) -> Result<u32> {
        let word = cursor.u32_le()?;
        Ok(if self.is_little_endian { word } else { word.swap_bytes() })
    }

    /// Visits `n` positions. PERF: a count that exceeds the bytes is an error before any position is visited.
    fn positions(self, cursor: &mut ByteCursor<'_>, n: u32, visitor: &mut impl Visitor) -> Result<()> {
        let width = 8 * self.has.count();
        let bytes = cursor.take((n as usize).saturating_mul(width))?;
        for position in bytes.chunks_exact(width) {
            let (words, _) = position.as_chunks::<8>();
            let number = |i: usize| match self.is_little_endian {
                true => f64::from_le_bytes(words[i]),
                false => f64::from_be_bytes(words[i]),
            };
            visitor.position([
                number(0),
                number(1),
                if self.has.z { number(2) } else { f64::NAN },
                if self.has.m { number(words.len() - 1) } else { f64::NAN },
            ]);
        }
        Ok(())
    }
}

/// Whether a point at this position is an empty point: all of its numbers are NaN.
pub fn is_empty(position: [f64; 4]) -> bool {
    position.iter().all(|number| number.is_nan())
}

const EWKB_Z: u32 = 0x8000_0000;
const EWKB_M: u32 = 0x4000_0000;
const EWKB_SRID: u32 = 0x2000_0000;

/// Writes geometries with ISO codes, little-endian. The count of parts can be set after they were written.
#[derive(Debug, Default)]
#[must_use = "`finish` gives the bytes"]
pub struct Writer {
    bytes: Vec<u8>,
}

/// The position of a count of parts, which is set once it is known.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CountPlace(usize);

impl Writer {
    /// Creates a writer.
    pub fn new() -> Self {
        Writer::default()
    }

    /// Writes byte order and code.
    pub(crate) fn header(&mut self, kind: Kind, dimensions: Dimensions) {
        self.bytes.push(1);
        self.bytes.extend(iso_code(kind, dimensions).to_le_bytes());
    }

    pub(crate) fn count(&mut self) -> CountPlace {
        let place = CountPlace(self.bytes.len());
        self.bytes.extend([0; 4]);
        place
    }

    pub(crate) fn set_count(&mut self, place: CountPlace, count: usize) -> Result<()> {
        let count = u32::try_from(count).map_err(|_| Error::unsupported("a geometry of 2^32 parts"))?;
        self.bytes[place.0..place.0 + 4].copy_from_slice(&count.to_le_bytes());
        Ok(())
    }

    pub(crate) fn position(&mut self, dimensions: Dimensions, position: [f64; 4]) {
        for number in dimensions.numbers(position) {
            self.bytes.extend(number.to_le_bytes());
        }
    }

    /// Returns the bytes.
    pub fn finish(self) -> Vec<u8> {
        self.bytes
    }
}

/// Encodes a point.
///
/// ```
/// use marquetry_geo::{wkb, wkt};
/// assert_eq!(wkt::to_string(&wkb::point(1.5, -2.0))?, "POINT (1.5 -2)");
/// # Ok::<(), marquetry_base::Error>(())
/// ```
pub fn point(x: f64, y: f64) -> Vec<u8> {
    let mut writer = Writer::new();
    writer.header(Kind::Point, Dimensions::default());
    writer.position(Dimensions::default(), [x, y, f64::NAN, f64::NAN]);
    writer.finish()
}
