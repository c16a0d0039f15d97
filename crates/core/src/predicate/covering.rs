//! Extends a predicate by GeoParquet's metadata: columns with the box of each geometry, and the kind of edges.
//!
//! A box test becomes `conditions on the covering columns and bbox_intersects(...)`: pages are pruned by the bounds of
//! these columns, because geometries have no bounds, and then the geometries are tested. Inside of `not` nothing is
//! added, because the conditions would have to be weaker there instead of stronger.
//!
//! SPEC: "A row MUST contain a bounding box value if and only if the row contains a geometry value". Boxes may be
//! FLOAT: the numbers of the test are rounded as these were, so that their order is the same.

use super::name::{names_of, path_of};
use super::{BBox, ColumnPath, Literal, Number, Predicate, col};
use crate::logical_type::LogicalType;
use crate::metadata::ParquetMetaData;
use crate::schema::Schema;
use marquetry_encoding::PhysicalType;
use marquetry_geo::GeoParquet;
use marquetry_geo::geoparquet::{GeoColumn, KEY};

impl Predicate {
    /// Returns the predicate for one file: the file's GeoParquet metadata of geometries is added to
    /// [`BboxIntersects`](Predicate::BboxIntersects). It is true for the same rows. Metadata that cannot be read adds
    /// nothing.
    #[must_use]
    pub fn in_file(&self, metadata: &ParquetMetaData) -> Predicate {
        match self.asks_for_boxes().then(|| geo_metadata(metadata)).flatten() {
            Some(geo) => File { geo: &geo, schema: metadata.schema() }.add_to(self, true),
            None => self.clone(),
        }
    }

    fn asks_for_boxes(&self) -> bool {
        match self {
            Predicate::And(parts) | Predicate::Or(parts) => parts.iter().any(Predicate::asks_for_boxes),
            Predicate::Not(inner) => inner.asks_for_boxes(),
            Predicate::BboxIntersects { .. } => true,
            _ => false,
        }
    }
}

/// Returns the metadata of GeoParquet, if the file has it and it can be read.
fn geo_metadata(metadata: &ParquetMetaData) -> Option<GeoParquet> {
    let pairs = metadata.key_value_metadata();
    let pair = pairs.iter().find(|pair| &*pair.key == KEY)?;
    GeoParquet::parse(pair.value.as_deref()?).ok()
}

struct File<'a> {
    geo: &'a GeoParquet,
    schema: &'a Schema,
}

impl File<'_> {
    fn add_to(&self, predicate: &Predicate, may_be_stronger: bool) -> Predicate {
        let each =
            |parts: &[Predicate]| parts.iter().map(|part| self.add_to(part, may_be_stronger)).collect();
        match predicate {
            Predicate::And(parts) => Predicate::And(each(parts)),
            Predicate::Or(parts) => Predicate::Or(each(parts)),
            Predicate::Not(inner) => !self.add_to(inner, false),
            Predicate::BboxIntersects { column, bbox, are_edges_curved } => {
                let Some((leaf, of)) = self.geo_column(column) else { return predicate.clone() };
                let is_geography = matches!(leaf, Some(LogicalType::Geography { .. }));
                let is_said = leaf.is_none() && of.edges() != "planar";
                let are_edges_curved = *are_edges_curved || is_said;
                let exact =
                    Predicate::BboxIntersects { column: column.clone(), bbox: *bbox, are_edges_curved };
                // The course of curved edges is unknown, and so are the boxes around them.
                let is_known = !(are_edges_curved || is_geography) || of.is_of_points();
                match self
                    .covered(&of, bbox, are_edges_curved || is_geography)
                    .filter(|_| may_be_stronger && is_known)
                {
                    Some(covered) => covered.and(exact),
                    None => exact,
                }
            }
            other => other.clone(),
        }
    }

    /// Returns the metadata of the column with this path, which must be outside of groups, and its logical type.
    fn geo_column(&self, path: &ColumnPath) -> Option<(Option<&LogicalType>, GeoColumn<'_>)> {
        let is_named = |name: &str| **path == *name || names_of(path) == [name];
        let (name, of) = self.geo.columns().find(|(name, _)| is_named(name))?;
        let leaf = self.schema.columns().iter().find(|leaf| leaf.path().len() == 1 && leaf.name() == name)?;
        Some((leaf.logical(), of))
    }

    /// Returns a predicate on the covering columns that is true for each geometry in the box `asked`; `None` if there
    /// are no such columns.
    ///
    /// Boxes [across the antimeridian](may_wrap) extend to both sides of it. On a globe it is known what they contain.
    /// In the plane a geometry intersects everything between its positions, and such a box does not bound these.
    fn covered(&self, of: &GeoColumn<'_>, asked: &BBox, is_globe: bool) -> Option<Predicate> {
        let covering = of.covering()?;
        let column = |names: &[String]| {
            let is_it = |path: &[std::sync::Arc<str>]| {
                path.iter().map(|name| &**name).eq(names.iter().map(String::as_str))
            };
            let leaf = self.schema.columns().iter().find(|leaf| is_it(leaf.path()))?;
            let is_number = matches!(leaf.physical(), PhysicalType::Float | PhysicalType::Double);
            (is_number && leaf.logical().is_none() && leaf.max_rep() == 0).then(|| col(path_of(names)))
        };
        let (xmin, xmax) = (column(&covering.xmin)?, column(&covering.xmax)?);
        let (ymin, ymax) = (column(&covering.ymin)?, column(&covering.ymax)?);
        let (x, y) = (asked.x(), asked.y());
        let (is_right, is_left) = (xmax.clone().ge(exactly(x.0)), xmin.clone().le(exactly(x.1)));
        let is_asked_across = x.0 > x.1;
        let mut in_x = match is_asked_across {
            false => vec![is_right.clone().and(is_left.clone())],
            true => vec![is_right.clone(), is_left.clone()],
        };
        if may_wrap(of, is_globe) {
            let is_across = xmin.ge(0).and(xmax.le(0));
            in_x.push(match is_globe && !is_asked_across {
                true => is_across.and(is_right.or(is_left)),
                false => is_across,
            });
        }
        let in_x = if in_x.len() == 1 { in_x.swap_remove(0) } else { Predicate::Or(in_x) };
        Some(Predicate::And(vec![ymax.ge(exactly(y.0)), ymin.le(exactly(y.1)), in_x]))
    }
}

/// Whether the box of a single geometry may cross the antimeridian. A box is taken to do so if it begins east of the
/// meridian of Greenwich and ends west of it. A crossing box around more than half of the globe, with both ends on the same
/// side, is not recognized.
///
/// In the plane, the box of all geometries would have to cross it as well, or span the whole globe. On a globe that is
/// the box of all points, which may be narrower than their boxes together.
fn may_wrap(of: &GeoColumn<'_>, is_globe: bool) -> bool {
    let is_single =
        of.geometry_types().is_some_and(|types| types.iter().all(|name| name.starts_with("Point")));
    let is_across = of.bbox().is_none_or(|bbox| {
        let (xmin, xmax) = (bbox[0], bbox[bbox.len() / 2]);
        xmin > xmax || xmin <= -180.0 && xmax >= 180.0
    });
    !is_single && (is_globe || is_across)
}

/// Returns a literal with all digits of a number. PERF: it is rounded once, to the type of the column.
fn exactly(value: f64) -> Literal {
    match Number::exactly(value) {
        // More digits than literals may have.
        Number::Nan => Literal::from(value),
        number => Literal::Number(number),
    }
}
