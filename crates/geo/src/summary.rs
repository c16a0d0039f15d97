//! Walks over a geometry once: each position, and the parts of the geometry.

use crate::kind::{Dimensions, Kind, iso_code};
use crate::wkb::{self, Visitor};
use marquetry_base::Result;

/// The parts that a geometry consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Shape {
    /// The ISO code: kind + 1000 for Z, + 2000 for M, + 3000 for both.
    pub code: i32,
    /// Whether there are lines, and so more points than positions.
    pub has_edges: bool,
    /// Whether some lines may be arcs of circles, which bulge beyond their positions.
    pub has_arcs: bool,
}

/// Walks over a geometry and calls `position` with x, y, z and m of each position. Those that it does not have are NaN.
/// Fails if the bytes are not a geometry, possibly after some calls.
pub fn positions(wkb: &[u8], position: impl FnMut([f64; 4])) -> Result<Shape> {
    let mut each = Each { position, has_edges: false, has_arcs: false };
    let (kind, dimensions) = wkb::walk(wkb, &mut each)?;
    Ok(Shape { code: iso_code(kind, dimensions), has_edges: each.has_edges, has_arcs: each.has_arcs })
}

struct Each<F> {
    position: F,
    has_edges: bool,
    has_arcs: bool,
}

impl<F: FnMut([f64; 4])> Visitor for Each<F> {
    fn begin(&mut self, kind: Kind, _dimensions: Dimensions, _parts: u32) {
        self.has_edges |= kind.has_edges();
        self.has_arcs |= kind.has_arcs();
    }

    #[inline]
    fn position(&mut self, position: [f64; 4]) {
        (self.position)(position);
    }
}

/// The minimum and maximum of each dimension.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Extent {
    /// The ranges of x, y, z and m. The minimum is greater than the maximum if there are no numbers.
    ranges: [(f64, f64); 4],
}

impl Default for Extent {
    fn default() -> Self {
        Extent { ranges: [(f64::INFINITY, f64::NEG_INFINITY); 4] }
    }
}

impl Extent {
    /// Adds a position. SPEC: NaN is skipped, in its dimension only.
    #[inline]
    pub fn add(&mut self, position: [f64; 4]) {
        for (range, number) in self.ranges.iter_mut().zip(position) {
            // Comparing with NaN is false.
            if number < range.0 {
                range.0 = number;
            }
            if number > range.1 {
                range.1 = number;
            }
        }
    }

    /// Adds all positions of another extent.
    pub fn merge(&mut self, other: &Extent) {
        for (ours, theirs) in self.ranges.iter_mut().zip(other.ranges) {
            *ours = (ours.0.min(theirs.0), ours.1.max(theirs.1));
        }
    }

    /// The ranges of x, y, z and m; `None` for those without numbers.
    pub fn ranges(&self) -> [Option<(f64, f64)>; 4] {
        self.ranges.map(|(min, max)| (min <= max).then_some((min, max)))
    }

    /// Computes the extent of a geometry. Fails if the bytes are not a geometry.
    ///
    /// ```
    /// use marquetry_geo::{Extent, wkt};
    /// let (extent, _) = Extent::of(&wkt::parse("LINESTRING (1 5, 3 4)")?)?;
    /// assert_eq!(extent.ranges(), [Some((1.0, 3.0)), Some((4.0, 5.0)), None, None]);
    /// # Ok::<(), marquetry_base::Error>(())
    /// ```
    pub fn of(wkb: &[u8]) -> Result<(Extent, Shape)> {
        let mut extent = Extent::default();
        let shape = positions(wkb, |position| extent.add(position))?;
        Ok((extent, shape))
    }
}

/// A set of longitudes: their range, or the one across the antimeridian if that is narrower.
///
/// ```
/// let mut at = marquetry_geo::Longitudes::default();
/// [175.0, 179.5, -178.0].into_iter().for_each(|x| at.add(x));
/// assert_eq!(at.narrowest(), Some((175.0, -178.0)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Longitudes {
    /// The range of the negative longitudes. A box across the antimeridian ends at their maximum.
    west: (f64, f64),
    /// The range of the others. A box across the antimeridian begins at their minimum.
    east: (f64, f64),
}

impl Default for Longitudes {
    fn default() -> Self {
        let nothing = (f64::INFINITY, f64::NEG_INFINITY);
        Longitudes { west: nothing, east: nothing }
    }
}

impl Longitudes {
    /// Adds a longitude, from -180 to 180. NaN is skipped.
    #[inline]
    pub fn add(&mut self, x: f64) {
        let range = if x < 0.0 { &mut self.west } else { &mut self.east };
        // Comparing with NaN is false.
        if x < range.0 {
            range.0 = x;
        }
        if x > range.1 {
            range.1 = x;
        }
    }

    /// Adds all longitudes of another set.
    pub fn merge(&mut self, other: &Longitudes) {
        for (ours, theirs) in [(&mut self.west, other.west), (&mut self.east, other.east)] {
            *ours = (ours.0.min(theirs.0), ours.1.max(theirs.1));
        }
    }

    /// Returns the narrowest range of all longitudes; `None` if there are none. If the first number is greater, the
    /// range goes across the antimeridian: it includes all longitudes from the first number up and all up to the
    /// second. Then the first is not negative, and the second is.
    pub fn narrowest(&self) -> Option<(f64, f64)> {
        let (west, east) = (self.west, self.east);
        let plain = (west.0.min(east.0), west.1.max(east.1));
        let has_both = west.0 <= west.1 && east.0 <= east.1;
        match has_both && 360.0 - east.0 + west.1 < plain.1 - plain.0 {
            true => Some((east.0, west.1)),
            false => (plain.0 <= plain.1).then_some(plain),
        }
    }
}
