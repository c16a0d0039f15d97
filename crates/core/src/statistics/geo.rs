//! Geospatial statistics: the bounding box and the geometry types of a chunk.
//!
//! Spec: Geospatial.md, "Statistics".

use crate::logical_type::LogicalType;
use marquetry_encoding::Values;
use marquetry_format::{BoundingBox, GeospatialStatistics};
use marquetry_geo::{Extent, Longitudes, positions};
use std::collections::BTreeSet;

/// The extent and the types of the geometries seen so far.
#[derive(Debug, Clone, PartialEq)]
pub struct GeoBounds {
    /// Whether geometries are on the ellipsoid, where edges are curves.
    is_geography: bool,
    /// Whether all values so far could be read.
    is_valid: bool,
    /// Whether the coordinates bound the values.
    is_bounded: bool,
    extent: Extent,
    /// The longitudes, for GEOGRAPHY.
    longitudes: Longitudes,
    /// ISO codes of the geometry types.
    types: BTreeSet<i32>,
}

impl GeoBounds {
    /// Creates empty bounds. `None` for columns that are neither GEOMETRY nor GEOGRAPHY.
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
            extent: Extent::default(),
            longitudes: Longitudes::default(),
            types: BTreeSet::new(),
        })
    }

    /// Adds the values at `indices`: a range, or the used entries of a dictionary, each once.
    ///
    /// # Panics
    /// If an index is out of bounds, or if the values are not byte strings.
    pub fn update(&mut self, values: &Values, mut indices: impl Iterator<Item = usize>) {
        let Values::Bytes(views) = values else {
            unreachable!("geometries are byte strings, not {:?}", values.shape());
        };
        while let (true, Some(i)) = (self.is_valid, indices.next()) {
            self.add(views.get(i));
        }
    }

    /// Whether no value was added.
    pub fn is_empty(&self) -> bool {
        self.is_valid && self.types.is_empty()
    }

    /// Adds all values of `other`, which must be of the same column.
    pub fn merge(&mut self, other: &GeoBounds) {
        self.is_valid &= other.is_valid;
        self.is_bounded &= other.is_bounded;
        self.extent.merge(&other.extent);
        self.longitudes.merge(&other.longitudes);
        self.types.extend(&other.types);
    }

    /// Returns the statistics; `None` if there were no values, or if one of them could not be read.
    ///
    /// SPEC: the box is absent if there is no x or no y, and z and m are absent from it if there are none.
    pub fn finish(&self) -> Option<GeospatialStatistics> {
        if !self.is_valid || self.types.is_empty() {
            return None;
        }
        let [x, y, z, m] = self.extent.ranges();
        let bbox = match (x, y) {
            (Some(x), Some(y)) if self.is_bounded && self.is_canonical(x, y) => Some(BoundingBox {
                xmin: self.narrowest(x).0,
                xmax: self.narrowest(x).1,
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

    /// Whether coordinates are in the allowed range. SPEC: "for `GEOGRAPHY` types, X and Y values are restricted to the
    /// canonical ranges".
    fn is_canonical(&self, x: (f64, f64), y: (f64, f64)) -> bool {
        !self.is_geography || x.0 >= -180.0 && x.1 <= 180.0 && y.0 >= -90.0 && y.1 <= 90.0
    }

    /// Returns the range of x, or for GEOGRAPHY the one across the antimeridian, if that is narrower.
    ///
    /// SPEC: "xmin may be greater than xmax": then x matches if it is at least xmin, or at most xmax.
    fn narrowest(&self, x: (f64, f64)) -> (f64, f64) {
        let narrowest = if self.is_geography { self.longitudes.narrowest() } else { None };
        narrowest.unwrap_or(x)
    }

    /// Adds one value.
    pub fn add(&mut self, wkb: &[u8]) {
        let (extent, longitudes, is_geography) = (&mut self.extent, &mut self.longitudes, self.is_geography);
        let shape = positions(wkb, |position| {
            extent.add(position);
            if is_geography {
                longitudes.add(position[0]);
            }
        });
        match shape {
            // SPEC: the format has no code for geometries that may bulge beyond their positions.
            Ok(shape) if !shape.has_arcs => {
                self.types.insert(shape.code);
                // An edge on the ellipsoid may run further north or south than its ends, and across the antimeridian:
                // coordinates bound only points.
                self.is_bounded &= !(self.is_geography && shape.has_edges);
            }
            _ => self.is_valid = false,
        }
    }
}
