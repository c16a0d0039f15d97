//! Prunes by geospatial statistics: bounding boxes and geometry types of a chunk.
//!
//! A chunk is kept unless it is certain that it does not match. So these are kept: a chunk without a box, with a box of
//! NaNs, or with one that ends before it begins, and
//!
//! - with GEOGRAPHY, every chunk that has, or may have, more than points: an arc between two points runs further north or
//!   south than both, and a polygon may contain a pole. Boxes of vertices, which some writers make, do not bound these.
//! - with GEOMETRY, a box across the antimeridian, unless all values are single points: a value with positions on both
//!   sides extends over everything between them in the plane.
//! - for z and m, a chunk with values that have none, because these are in boxes with any z or m.

use crate::metadata::ColumnChunk;
use crate::predicate::BoxTest;
use marquetry_format::GeospatialStatistics;
use marquetry_geo::{Kind, dimensions_of_code};

/// Whether a value of the chunk may be in the box.
pub(super) fn may_intersect(asked: &BoxTest, chunk: ColumnChunk<'_>) -> bool {
    let statistics = chunk.meta_data().ok().and_then(|meta| meta.geospatial_statistics);
    statistics.is_none_or(|statistics| may(asked, &statistics))
}

fn may(asked: &BoxTest, statistics: &GeospatialStatistics) -> bool {
    let Some(said) = &statistics.bbox else { return true };
    // SPEC: "an empty array signals that the values are not known".
    let codes = statistics.geospatial_types.as_deref().unwrap_or_default();
    let are_all = |is: &dyn Fn(i32) -> bool| !codes.is_empty() && codes.iter().all(|code| is(*code));
    let kind = |code: i32| u32::try_from(code % 1000).ok().and_then(Kind::of_code);
    if asked.are_edges_curved && !are_all(&|code| kind(code).is_some_and(Kind::is_of_points)) {
        return true;
    }
    // Arcs may bulge out of a box of positions. The format has no codes for them.
    if codes.iter().any(|code| kind(*code).is_none_or(|kind| kind > Kind::GeometryCollection)) {
        return true;
    }
    let (x, y) = ((said.xmin, said.xmax), (said.ymin, said.ymax));
    let is_number = |range: (f64, f64)| !range.0.is_nan() && !range.1.is_nan();
    let is_range = |range: (f64, f64)| range.0 <= range.1;
    let has_x = is_number(x)
        && (is_range(x) || asked.are_edges_curved || are_all(&|code| kind(code) == Some(Kind::Point)));
    let known = |min: Option<f64>, max: Option<f64>, has: &dyn Fn(i32) -> bool| {
        min.zip(max).filter(|range| is_range(*range) && are_all(has))
    };
    let z = known(said.zmin, said.zmax, &|code| dimensions_of_code(code).z);
    let m = known(said.mmin, said.mmax, &|code| dimensions_of_code(code).m);
    (!has_x || asked.bbox.meets_x(x))
        && (!is_range(y) || asked.bbox.meets_y(y))
        && z.is_none_or(|z| asked.bbox.meets_z(z))
        && m.is_none_or(|m| asked.bbox.meets_m(m))
}
