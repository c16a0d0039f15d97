//! Bounding boxes to search for, and the geometries that intersect them.

use crate::kind::dimensions_of_code;
use crate::summary::{self, Extent};
use marquetry_base::{Error, Result};
use std::fmt;

/// A box to search for: ranges of x and y, and optionally of z and m. Its edges belong to it. If the minimum of x is greater than
/// the maximum, the box wraps: it includes all x from the minimum up and all up to the maximum, as across the antimeridian.
///
/// ```
/// use marquetry_geo::{BBox, wkt};
/// let pacific = BBox::new(170.0, -10.0, -170.0, 10.0)?;
/// assert!(pacific.intersects(&wkt::parse("POINT (179 0)")?, false)?);
/// assert!(!pacific.intersects(&wkt::parse("POINT (0 0)")?, false)?);
/// # Ok::<(), marquetry_base::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BBox {
    x: (f64, f64),
    y: (f64, f64),
    z: Option<(f64, f64)>,
    m: Option<(f64, f64)>,
}

impl BBox {
    /// Creates a box. Fails if a number is NaN, or if `ymin` is greater than `ymax`.
    pub fn new(xmin: f64, ymin: f64, xmax: f64, ymax: f64) -> Result<Self> {
        if xmin.is_nan() || xmax.is_nan() {
            return Err(Error::argument("NaN is not an edge of a box"));
        }
        Ok(BBox { x: (xmin, xmax), y: checked("y", ymin, ymax)?, z: None, m: None })
    }

    /// Adds a range of z, unless both numbers are infinite. Fails if a number is NaN, or if the minimum is greater than the maximum.
    pub fn with_z(self, zmin: f64, zmax: f64) -> Result<Self> {
        Ok(BBox { z: Some(checked("z", zmin, zmax)?).filter(|range| *range != EVERYTHING), ..self })
    }

    /// Adds a range of m, as [`with_z`](Self::with_z) does for z.
    pub fn with_m(self, mmin: f64, mmax: f64) -> Result<Self> {
        Ok(BBox { m: Some(checked("m", mmin, mmax)?).filter(|range| *range != EVERYTHING), ..self })
    }

    /// Creates a box from four numbers (x, y), six (x, y, z) or eight (x, y, z, m): all minima first, then all maxima.
    pub fn of_numbers(numbers: &[f64]) -> Result<Self> {
        match *numbers {
            [xmin, ymin, xmax, ymax] => BBox::new(xmin, ymin, xmax, ymax),
            [xmin, ymin, zmin, xmax, ymax, zmax] => BBox::new(xmin, ymin, xmax, ymax)?.with_z(zmin, zmax),
            [xmin, ymin, zmin, mmin, xmax, ymax, zmax, mmax] => {
                BBox::new(xmin, ymin, xmax, ymax)?.with_z(zmin, zmax)?.with_m(mmin, mmax)
            }
            _ => Err(Error::argument("a box has four numbers, six with z, or eight with z and m")),
        }
    }

    /// Returns the numbers that [`of_numbers`](Self::of_numbers) accepts. For a box with m and without z, the range of z is infinite.
    pub fn numbers(&self) -> Vec<f64> {
        let z = self.z.or(self.m.map(|_| EVERYTHING));
        let ranges = [Some(self.x), Some(self.y), z, self.m];
        let ranges = || ranges.iter().flatten();
        ranges().map(|range| range.0).chain(ranges().map(|range| range.1)).collect()
    }

    /// The range of x. It wraps if the first number is greater.
    pub fn x(&self) -> (f64, f64) {
        self.x
    }

    /// The range of y.
    pub fn y(&self) -> (f64, f64) {
        self.y
    }

    /// The range of z, if there is one.
    pub fn z(&self) -> Option<(f64, f64)> {
        self.z
    }

    /// The range of m, if there is one.
    pub fn m(&self) -> Option<(f64, f64)> {
        self.m
    }

    /// Whether a range of x overlaps the box. Either may wrap.
    pub fn meets_x(&self, (min, max): (f64, f64)) -> bool {
        let (xmin, xmax) = self.x;
        match (xmin > xmax, min > max) {
            (false, false) => overlap(self.x, (min, max)),
            (true, true) => true,
            (true, false) => max >= xmin || min <= xmax,
            (false, true) => xmax >= min || xmin <= max,
        }
    }

    /// Whether a range of y overlaps the box.
    pub fn meets_y(&self, range: (f64, f64)) -> bool {
        overlap(self.y, range)
    }

    /// Whether a range of z overlaps the box; true if the box has none.
    pub fn meets_z(&self, range: (f64, f64)) -> bool {
        self.z.is_none_or(|z| overlap(z, range))
    }

    /// Whether a range of m overlaps the box; true if the box has none.
    pub fn meets_m(&self, range: (f64, f64)) -> bool {
        self.m.is_none_or(|m| overlap(m, range))
    }

    /// Returns whether a geometry in well-known binary may intersect the box. Fails if the bytes are not a geometry.
    ///
    /// - In the plane, it does if the box of its positions does. For points this is exact.
    /// - Where edges are curves (`are_edges_curved`, as for GEOGRAPHY), a geometry of points does if one of its points
    ///   does. The course of edges is unknown, so a geometry with edges always does. So does one with arcs of circles.
    /// - An empty geometry does not, nor does one without a position that has both x and y.
    /// - A geometry without z, or m, matches any range of it. One whose z, or m, is always NaN matches none.
    pub fn intersects(&self, wkb: &[u8], are_edges_curved: bool) -> Result<bool> {
        let (mut extent, mut is_inside, mut is_empty) = (Extent::default(), false, true);
        let shape = summary::positions(wkb, |position| {
            is_empty &= position[0].is_nan() || position[1].is_nan();
            extent.add(position);
            is_inside |= are_edges_curved && self.has(position);
        })?;
        Ok(match shape {
            _ if is_empty => false,
            shape if shape.has_arcs || are_edges_curved && shape.has_edges => true,
            shape => {
                let [x, y, z, m] = extent.ranges();
                let has = dimensions_of_code(shape.code);
                let is_in_plane = match are_edges_curved {
                    true => is_inside,
                    false => x.is_some_and(|x| self.meets_x(x)) && y.is_some_and(|y| self.meets_y(y)),
                };
                is_in_plane
                    && (self.z.is_none() || z.map_or(!has.z, |z| self.meets_z(z)))
                    && (self.m.is_none() || m.map_or(!has.m, |m| self.meets_m(m)))
            }
        })
    }

    /// Whether a position is inside, by those numbers that it has.
    fn has(&self, [x, y, z, m]: [f64; 4]) -> bool {
        self.meets_x((x, x))
            && self.meets_y((y, y))
            && (z.is_nan() || self.meets_z((z, z)))
            && (m.is_nan() || self.meets_m((m, m)))
    }
}

impl fmt::Display for BBox {
    /// Writes the numbers, separated by commas.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, number) in self.numbers().into_iter().enumerate() {
            let mut text = String::new();
            crate::number::write(number, &mut text);
            write!(f, "{}{text}", if i > 0 { ", " } else { "" })?;
        }
        Ok(())
    }
}

const EVERYTHING: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

fn overlap(a: (f64, f64), b: (f64, f64)) -> bool {
    a.0 <= b.1 && b.0 <= a.1
}

fn checked(name: &str, min: f64, max: f64) -> Result<(f64, f64)> {
    match min <= max {
        true => Ok((min, max)),
        false => Err(Error::argument(format!("{name} of a box goes from {min} to {max}"))),
    }
}
