//! Well-known binary, as far as bounds need it: kinds and coordinates.
//!
//! Spec: OGC Simple feature access, part 1, section 8.2, with the ISO codes for Z and M; Geospatial.md.
//!
//! ```text
//! geometry      := <byte order: u8, 0 big-endian, 1 little-endian> <code: u32> body
//! point         := coordinate                  coordinate: x, y, then z and m if the code has them, each an f64
//! line string   := <n: u32> coordinate^n
//! polygon       := <n: u32> line string^n      without byte order and code
//! multi, ...    := <n: u32> geometry^n
//! ```
//!
//! QUIRK: PostGIS writes flags for Z, M and an SRID in the code's upper bits, and the SRID behind the code. Such values
//! are read, although the format has only the ISO codes.

use marquetry_base::{ByteCursor, Error, Result};

/// What a geometry is made of.
pub(super) struct Geometry {
    /// The ISO code: kind + 1000 for Z, + 2000 for M, + 3000 for both.
    pub(super) code: i32,
    /// Whether there are lines, and so more points than coordinates.
    pub(super) has_edges: bool,
}

/// Reads one geometry, which must be all of `bytes`, and calls `coordinate` with x, y, z and m of each coordinate; what
/// it does not have is NaN.
pub(super) fn read(bytes: &[u8], mut coordinate: impl FnMut([f64; 4])) -> Result<Geometry> {
    let mut cursor = ByteCursor::new(bytes);
    let geometry = geometry(&mut cursor, None, DEPTH, &mut coordinate)?;
    match cursor.is_empty() {
        true => Ok(geometry),
        false => Err(Error::corrupt(format!("{} bytes behind a geometry", cursor.remaining()))),
    }
}

/// How a geometry's numbers are stored.
#[derive(Clone, Copy)]
struct Form {
    is_little_endian: bool,
    has_z: bool,
    has_m: bool,
}

fn geometry(
    cursor: &mut ByteCursor<'_>,
    expected: Option<u32>,
    depth: usize,
    coordinate: &mut impl FnMut([f64; 4]),
) -> Result<Geometry> {
    let is_little_endian = match cursor.u8()? {
        0 => false,
        1 => true,
        other => return Err(Error::corrupt(format!("byte order {other} of a geometry"))),
    };
    let mut form = Form { is_little_endian, has_z: false, has_m: false };
    let code = form.u32(cursor)?;
    if code & EWKB_SRID != 0 {
        cursor.skip(4)?;
    }
    let iso = code & !(EWKB_Z | EWKB_M | EWKB_SRID);
    let (dimensions, kind) = (iso / 1000, iso % 1000);
    form.has_z = code & EWKB_Z != 0 || matches!(dimensions, 1 | 3);
    form.has_m = code & EWKB_M != 0 || matches!(dimensions, 2 | 3);
    if dimensions > 3 || expected.is_some_and(|expected| expected != kind) {
        return Err(Error::corrupt(format!("geometry of code {code} here")));
    }
    let mut has_edges = !matches!(kind, POINT | MULTI_POINT | COLLECTION);
    match kind {
        POINT => form.coordinates(cursor, 1, coordinate)?,
        LINE_STRING => form.line_string(cursor, coordinate)?,
        POLYGON | TRIANGLE => {
            for _ in 0..form.u32(cursor)? {
                form.line_string(cursor, coordinate)?;
            }
        }
        MULTI_POINT | MULTI_LINE_STRING | MULTI_POLYGON | COLLECTION | POLYHEDRAL_SURFACE | TIN => {
            let Some(depth) = depth.checked_sub(1) else {
                return Err(Error::unsupported(format!("geometries nested deeper than {DEPTH}")));
            };
            let member = match kind {
                MULTI_POINT => Some(POINT),
                MULTI_LINE_STRING => Some(LINE_STRING),
                MULTI_POLYGON | POLYHEDRAL_SURFACE => Some(POLYGON),
                TIN => Some(TRIANGLE),
                _ => None,
            };
            for _ in 0..form.u32(cursor)? {
                has_edges |= geometry(cursor, member, depth, coordinate)?.has_edges;
            }
        }
        // Circles bulge beyond their points, and of other kinds not even the body is known.
        _ => return Err(Error::unsupported(format!("geometry of code {code}"))),
    }
    let code = kind + 1000 * u32::from(form.has_z) + 2000 * u32::from(form.has_m);
    Ok(Geometry { code: code as i32, has_edges })
}

impl Form {
    fn u32(self, cursor: &mut ByteCursor<'_>) -> Result<u32> {
        let word = cursor.u32_le()?;
        Ok(if self.is_little_endian { word } else { word.swap_bytes() })
    }

    fn line_string(self, cursor: &mut ByteCursor<'_>, coordinate: &mut impl FnMut([f64; 4])) -> Result<()> {
        let n = self.u32(cursor)?;
        self.coordinates(cursor, n, coordinate)
    }

    fn coordinates(
        self,
        cursor: &mut ByteCursor<'_>,
        n: u32,
        coordinate: &mut impl FnMut([f64; 4]),
    ) -> Result<()> {
        let width = 8 * (2 + usize::from(self.has_z) + usize::from(self.has_m));
        let bytes = cursor.take((n as usize).saturating_mul(width))?;
        for point in bytes.chunks_exact(width) {
            let (words, _) = point.as_chunks::<8>();
            let number = |i: usize| match self.is_little_endian {
                true => f64::from_le_bytes(words[i]),
                false => f64::from_be_bytes(words[i]),
            };
            coordinate([
                number(0),
                number(1),
                if self.has_z { number(2) } else { f64::NAN },
                if self.has_m { number(words.len() - 1) } else { f64::NAN },
            ]);
        }
        Ok(())
    }
}

const EWKB_Z: u32 = 0x8000_0000;
const EWKB_M: u32 = 0x4000_0000;
const EWKB_SRID: u32 = 0x2000_0000;

const POINT: u32 = 1;
const LINE_STRING: u32 = 2;
const POLYGON: u32 = 3;
const MULTI_POINT: u32 = 4;
const MULTI_LINE_STRING: u32 = 5;
const MULTI_POLYGON: u32 = 6;
const COLLECTION: u32 = 7;
const POLYHEDRAL_SURFACE: u32 = 15;
const TIN: u32 = 16;
const TRIANGLE: u32 = 17;
/// Collections in collections; the stack has to hold them.
const DEPTH: usize = 32;
