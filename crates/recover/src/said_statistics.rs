//! Detects statistics of a page or chunk that its values contradict.

use marquetry_core::schema::Leaf;
use marquetry_core::sort_order::SortOrder;
use marquetry_core::statistics::{GeoBounds, ObservedPage, exceeded_axis, inexact_bounds, wrong_bounds};
use marquetry_format::{BoundingBox, GeospatialStatistics, Statistics};

/// Returns what statistics get wrong. Bounds are compared if their `order` is known.
pub(crate) fn statistics_contradiction(
    leaf: &Leaf,
    order: Option<SortOrder>,
    statistics: &Statistics,
    seen: &ObservedPage,
) -> Option<String> {
    if let (Some(nulls), Some(counted)) = (statistics.null_count, seen.nulls())
        && !counted.contains(&nulls)
    {
        return Some(format!("null_count is {nulls}, there are {}", counted.end()));
    }
    let bounds = seen.bounds.as_ref()?;
    if let (Some(said), Some(counted)) = (statistics.nan_count, bounds.nan_count())
        && u64::try_from(said) != Ok(counted)
    {
        return Some(format!("nan_count is {said}, there are {counted}"));
    }
    let mut pairs = Vec::new();
    if let Some(order) = order {
        pairs.push((order, statistics.min_value.as_deref(), statistics.max_value.as_deref()));
    }
    // The values were compared in the order of the deprecated bounds, or in totalOrder, which is finer.
    if let Some(order) = SortOrder::for_deprecated(leaf).filter(|order| *order == bounds.order()) {
        pairs.push((order, statistics.min.as_deref(), statistics.max.as_deref()));
    }
    for (order, min, max) in pairs {
        if let Some(why) = malformed(order, [("min", min), ("max", max)]) {
            return Some(why);
        }
        if let Some(wrong) = wrong_bounds(bounds, min, max).first() {
            return Some(wrong.describe(leaf));
        }
    }
    let inexact = order.map(|_| inexact_bounds(bounds, statistics)).unwrap_or_default();
    inexact.first().map(|wrong| format!("{}, which is stated to be exact", wrong.describe(leaf)))
}

/// Returns the first bound that cannot be a value of the column because of its length. NaN cannot be one either, but
/// readers ignore it.
pub(crate) fn malformed(order: SortOrder, bounds: [(&str, Option<&[u8]>); 2]) -> Option<String> {
    let is_value = |bound: &[u8]| order.compare(bound, bound).is_some() || order.is_nan(bound);
    let mut wrong = bounds.into_iter().filter(|(_, bound)| bound.is_some_and(|bound| !is_value(bound)));
    wrong.next().map(|(name, _)| format!("{name} is not a value of the column"))
}

/// Returns what geospatial statistics get wrong. Boxes that curves may exceed are not compared.
pub(crate) fn geospatial_contradiction(said: &GeospatialStatistics, seen: &GeoBounds) -> Option<String> {
    let Some(actual) = seen.finish() else {
        return (!seen.is_empty()).then(|| "there are values that are not geometries".to_owned());
    };
    if let (Some(said), Some(actual)) = (&said.bbox, &actual.bbox) {
        if [said.xmin, said.xmax, said.ymin, said.ymax].iter().any(|side| side.is_nan()) {
            return Some("a side of its box is NaN".to_owned());
        }
        if let Some((axis, said, actual)) = exceeded_axis(said, actual) {
            let [(a, b), (c, d)] = [said, actual];
            return Some(format!("{axis} from {a} to {b}, there are {c} to {d}"));
        }
        if !covers_wrapped(said, actual) {
            return Some("x has another range across the antimeridian".to_owned());
        }
    }
    let types = |types: &Option<Vec<i32>>| types.clone().filter(|types| !types.is_empty());
    let (said, actual) = (types(&said.geospatial_types)?, types(&actual.geospatial_types)?);
    let missing = actual.iter().find(|code| !said.contains(code))?;
    Some(format!("geometry type {missing} is not in its list"))
}

/// Whether `said` covers all x of `actual`, if one of them crosses the antimeridian.
fn covers_wrapped(said: &BoundingBox, actual: &BoundingBox) -> bool {
    match (said.xmin > said.xmax, actual.xmin > actual.xmax) {
        (false, false) => true,
        (true, true) => said.xmin <= actual.xmin && said.xmax >= actual.xmax,
        (false, true) => said.xmin <= -180.0 && said.xmax >= 180.0,
        (true, false) => said.xmin <= actual.xmin || said.xmax >= actual.xmax,
    }
}
