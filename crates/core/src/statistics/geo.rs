//! Where the geometries of a chunk are, and of which kinds.
//!
//! Spec: Geospatial.md, "Statistics".

use crate::logical_type::LogicalType;
use crate::statistics::wkb;
use marquetry_encoding::{StringViews, Values};
use marquetry_format::{BoundingBox, GeospatialStatistics};
use std::collections::BTreeSet;

/// Extent and kinds of the geometries seen so far.
#[derive(Debug, Clone, PartialEq)]
pub struct GeoBounds {
    /// On the ellipsoid, where edges are curves.
    is_geography: bool,
    /// Whether all values so far could be read.
    is_valid: bool,
    /// Whether the coordinates bound the values.
    is_bounded: bool,
    /// Of x, y, z and m; the least is greater than the greatest where there are no numbers.
    ranges: [(f64, f64); 4],
    /// ISO codes.
    types: BTreeSet<i32>,
}

impl GeoBounds {
    /// Nothing seen yet. `None` for columns that are neither GEOMETRY nor GEOGRAPHY.
    pub fn of(logical: Option<&LogicalType>) -> Option<Self> {
        let is_geography = match logical? {
            LogicalType::Geometry { .. } => false,
            LogicalType::Geography { .. } => true,
            _ => return None,
        };
        Some(GeoBounds {
            is_geography,
            is_valid: true,
            is_bounded: true,
            ranges: [(f64::INFINITY, f64::NEG_INFINITY); 4],
            types: BTreeSet::new(),
        })
    }

    /// Takes the values that `indices` name: a range, or those of a dictionary that occur, each once is enough.
    ///
    /// # Panics
    /// If an index is not inside, or if the values are no byte strings.
    pub fn update(&mut self, values: &Values, mut indices: impl Iterator<Item = usize>) {
        let Values::Bytes(views) = values else {
            unreachable!("geometries are byte strings, not {:?}", values.shape());
        };
        while let (true, Some(i)) = (self.is_valid, indices.next()) {
            self.add(views, i);
        }
    }

    /// Takes all values that `other`, of the same column, has taken.
    pub fn merge(&mut self, other: &GeoBounds) {
        self.is_valid &= other.is_valid;
        self.is_bounded &= other.is_bounded;
        for (ours, theirs) in self.ranges.iter_mut().zip(other.ranges) {
            *ours = (ours.0.min(theirs.0), ours.1.max(theirs.1));
        }
        self.types.extend(&other.types);
    }

    /// The statistics; `None` if there were no values, or if one of them could not be read.
    ///
    /// SPEC: the box is absent if there is no x or no y, and z and m are absent from it if there are none.
    pub fn finish(&self) -> Option<GeospatialStatistics> {
        if !self.is_valid || self.types.is_empty() {
            return None;
        }
        let [x, y, z, m] = self.ranges.map(|(min, max)| (min <= max).then_some((min, max)));
        let bbox = match (x, y) {
            (Some(x), Some(y)) if self.is_bounded && self.is_canonical(x, y) => Some(BoundingBox {
                xmin: x.0,
                xmax: x.1,
                ymin: y.0,
                ymax: y.1,
                zmin: z.map(|z| z.0),
                zmax: z.map(|z| z.1),
                mmin: m.map(|m| m.0),
                mmax: m.map(|m| m.1),
            }),
            _ => None,
        };
        Some(GeospatialStatistics { bbox, geospatial_types: Some(self.types.iter().copied().collect()) })
    }

    /// SPEC: "for `GEOGRAPHY` types, X and Y values are restricted to the canonical ranges".
    fn is_canonical(&self, x: (f64, f64), y: (f64, f64)) -> bool {
        !self.is_geography || x.0 >= -180.0 && x.1 <= 180.0 && y.0 >= -90.0 && y.1 <= 90.0
    }

    fn add(&mut self, views: &StringViews, i: usize) {
        let ranges = &mut self.ranges;
        let geometry = wkb::read(views.get(i), |coordinate| {
            for (range, number) in ranges.iter_mut().zip(coordinate) {
                // SPEC: NaN is skipped, in its dimension only. Comparing with NaN is false.
                if number < range.0 {
                    range.0 = number;
                }
                if number > range.1 {
                    range.1 = number;
                }
            }
        });
        match geometry {
            Ok(geometry) => {
                self.types.insert(geometry.code);
                // An edge on the ellipsoid runs further north or south than its ends, and perhaps across the
                // antimeridian: only points are where their coordinates are.
                self.is_bounded &= !(self.is_geography && geometry.has_edges);
            }
            Err(_) => self.is_valid = false,
        }
    }
}
