//! Checks the boxes of GeoParquet's covering columns against the geometries, row by row.

use crate::context::VerifyContext;
use crate::findings::Findings;
use crate::rule::{Level, Rule, Severity, rule};
use crate::slots::{bytes, is_valid, read_leaves};
use marquetry_base::{ErrorLocation, Result};
use marquetry_core::nesting::NestedField;
use marquetry_core::read::ColumnBatch;
use marquetry_encoding::Values;
use marquetry_geo::geoparquet::Covering;
use marquetry_geo::positions;

const BOXES: Rule = rule(
    "geoparquet-boxes",
    Severity::Invalid,
    Level::Deep,
    "The covering box of each geometry bounds its positions, and is null where the geometry is",
    "GeoParquet 1.1, Bounding Box Columns",
);

pub(crate) const RULES: &[Rule] = &[BOXES];

/// Compares each box with the geometry beside it.
pub(crate) fn check(
    file: &VerifyContext,
    geometry: usize,
    covering: &Covering,
    place: &ErrorLocation,
    findings: &mut Findings,
) {
    let schema = file.metadata.schema();
    let leaf_of = |path: &[String]| {
        let is_it = |leaf: &[std::sync::Arc<str>]| {
            leaf.iter().map(|name| &**name).eq(path.iter().map(String::as_str))
        };
        schema.columns().iter().position(|leaf| is_it(leaf.path()))
    };
    let paths = [&covering.xmin, &covering.ymin, &covering.xmax, &covering.ymax];
    let Some(leaves) = paths.iter().map(|path| leaf_of(path)).collect::<Option<Vec<usize>>>() else { return };
    for row_group in 0..file.metadata.num_row_groups() {
        let place = place.clone().with_row_group(row_group);
        if let Err(error) = check_row_group(file, row_group, geometry, &leaves, &place, findings) {
            // Columns that cannot be read have other findings.
            if error.stops_reading() {
                findings.add_error(&BOXES, place, error);
            }
        }
    }
}

fn check_row_group(
    file: &VerifyContext,
    row_group: usize,
    geometry: usize,
    leaves: &[usize],
    place: &ErrorLocation,
    findings: &mut Findings,
) -> Result<()> {
    let fields = NestedField::from_schema(file.metadata.schema());
    let with_root = |leaf: usize| Some((fields.iter().find(|field| field.has_leaf(leaf))?, leaf));
    let all: Option<Vec<_>> = std::iter::once(&geometry).chain(leaves).map(|leaf| with_root(*leaf)).collect();
    let Some(all) = all else { return Ok(()) };
    let mut first = 0;
    read_leaves(file, row_group, &all, |batches| {
        let Some(geometries) = bytes(batches, geometry) else { return Ok(false) };
        let rows = geometries.views.len();
        for row in 0..rows {
            file.limits.cancel.check()?;
            let numbers = leaves.iter().map(|leaf| number(batches.get(leaf)?, row));
            let bounds = numbers.collect::<Option<Vec<Bound>>>();
            let wrong = match (geometries.get(row), bounds.as_deref()) {
                (None, None) => None,
                // QUIRK: geopandas writes no numbers for empty geometries.
                (Some(wkb), None) if is_empty(wkb) => None,
                (Some(_), None) => Some("it has no box".to_owned()),
                (None, Some(_)) => Some("it is null, and has a box".to_owned()),
                (Some(wkb), Some([xmin, ymin, xmax, ymax])) => outside(wkb, (*xmin, *xmax), (*ymin, *ymax)),
                _ => None,
            };
            if let Some(wrong) = wrong {
                findings.add(&BOXES, place.clone(), || format!("row {}: {wrong}", first + row));
            }
        }
        first += rows;
        Ok(true)
    })
}

/// A side of a box, from a column of FLOAT or DOUBLE.
#[derive(Clone, Copy)]
enum Bound {
    Single(f32),
    Double(f64),
}

impl Bound {
    fn value(self) -> f64 {
        match self {
            Bound::Single(value) => value.into(),
            Bound::Double(value) => value,
        }
    }

    /// Whether the bound is at most `number`. QUIRK: some writers round to the nearest float.
    fn is_at_most(self, number: f64) -> bool {
        self.value() <= number || matches!(self, Bound::Single(value) if value <= number as f32)
    }

    fn is_at_least(self, number: f64) -> bool {
        self.value() >= number || matches!(self, Bound::Single(value) if value >= number as f32)
    }
}

/// Returns the number in a row, or `None` if it is null.
fn number(batch: &ColumnBatch, row: usize) -> Option<Bound> {
    if !is_valid(batch.validity.as_ref(), row) {
        return None;
    }
    match &batch.values {
        Values::W32(bits) => bits.get(row).map(|bits| Bound::Single(f32::from_bits(*bits))),
        Values::W64(bits) => bits.get(row).map(|bits| Bound::Double(f64::from_bits(*bits))),
        _ => None,
    }
}

/// Whether a geometry has no position at all.
fn is_empty(wkb: &[u8]) -> bool {
    let mut is_empty = true;
    // Bytes that are not a geometry have other findings.
    _ = positions(wkb, |[x, y, ..]| is_empty &= x.is_nan() && y.is_nan());
    is_empty
}

/// Returns a message about the first position outside of a box. If the least x is greater than the greatest, the box
/// crosses the antimeridian.
fn outside(wkb: &[u8], x: (Bound, Bound), y: (Bound, Bound)) -> Option<String> {
    let is_wrapped = x.0.value() > x.1.value();
    let is_in = |(min, max): (Bound, Bound), number: f64| min.is_at_most(number) && max.is_at_least(number);
    let mut found = None;
    // Bytes that are not a geometry have other findings.
    _ = positions(wkb, |[at_x, at_y, ..]| {
        let is_in_x = match is_wrapped {
            true => x.0.is_at_most(at_x) || x.1.is_at_least(at_x),
            false => is_in(x, at_x),
        };
        if (!at_x.is_nan() && !is_in_x || !at_y.is_nan() && !is_in(y, at_y)) && found.is_none() {
            found = Some([at_x, at_y]);
        }
    });
    let [at_x, at_y] = found?;
    let [xmin, ymin, xmax, ymax] = [x.0, y.0, x.1, y.1].map(Bound::value);
    Some(format!("{at_x} {at_y} is not in the box {xmin}, {ymin}, {xmax}, {ymax}"))
}
