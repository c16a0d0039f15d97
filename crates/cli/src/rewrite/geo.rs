//! Carries GeoParquet's metadata over to a new file, for the rows in it.

use super::{Edit, Input};
use marquetry::internals::format::{BoundingBox, GeospatialStatistics};
use marquetry::schema::{Node, Schema};
use marquetry_core::write::EncodedChunk;
use marquetry_geo::geoparquet::{KEY, box_around, covering_of, is_geometry_type};
use marquetry_geo::{GeoParquet, code_name};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The GeoParquet metadata of a file, if it can be read.
pub(crate) fn of_input(input: &Input) -> Option<GeoParquet> {
    GeoParquet::parse(&input.metadata.value_of(KEY)?).ok()
}

/// The metadata of the kept columns, with their new names.
pub(crate) fn renamed(mut geo: GeoParquet, old: &Schema, edit: &Edit) -> Option<GeoParquet> {
    // A dropped field has no new name.
    let names: BTreeMap<&str, String> =
        old.fields().iter().filter_map(|field| Some((field.name(), edit.new_name(field)?))).collect();
    geo.rename_columns(|name| names.get(name).cloned());
    let columns: Vec<(String, Option<String>)> = geo
        .columns()
        .map(|(name, of)| (name.to_owned(), of.covering().map(|covering| covering.xmin[0].clone())))
        .collect();
    let is_whole =
        |group: &str| edit.schema.fields().iter().any(|field| field.name() == group && has_numbers(field));
    for (name, group) in columns.iter().filter_map(|(name, group)| Some((name, group.as_ref()?))) {
        match names.get(group.as_str()).filter(|group| is_whole(group)) {
            Some(group) => _ = geo.column_mut(name).insert("covering".to_owned(), covering_of(group)),
            None => _ = geo.column_mut(name).remove("covering"),
        }
    }
    (!columns.is_empty()).then_some(geo)
}

fn has_numbers(group: &Node) -> bool {
    let marquetry::schema::NodeKind::Group(fields) = group.kind() else { return false };
    ["xmin", "ymin", "xmax", "ymax"].iter().all(|name| fields.iter().any(|field| field.name() == *name))
}

/// What the statistics of chunks say of the geometries in a new file.
#[derive(Default)]
pub(crate) struct GeoPart {
    /// The statistics of each column; `None` if a chunk lacked them.
    columns: BTreeMap<usize, Option<Vec<GeospatialStatistics>>>,
}

impl GeoPart {
    /// Takes a chunk of a column, with or without values.
    pub(crate) fn add(&mut self, column: usize, chunk: &EncodedChunk) {
        let said = chunk.metadata.geospatial_statistics.clone();
        let nulls = chunk.metadata.statistics.as_ref().and_then(|statistics| statistics.null_count);
        if nulls == Some(chunk.metadata.num_values) {
            self.columns.entry(column).or_insert_with(|| Some(Vec::new()));
            return;
        }
        let all = self.columns.entry(column).or_insert_with(|| Some(Vec::new()));
        match (said, all.as_mut()) {
            (Some(said), Some(all)) => all.push(said),
            _ => *all = None,
        }
    }

    /// A kind of geometry that GeoParquet does not have, with its column.
    pub(crate) fn foreign_kind(&self) -> Option<(usize, String)> {
        self.columns.iter().find_map(|(column, said)| {
            let codes = said.iter().flatten().flat_map(|said| said.geospatial_types.iter().flatten());
            let kind = codes.filter_map(|code| code_name(*code)).find(|name| !is_geometry_type(name))?;
            Some((*column, kind))
        })
    }

    /// The metadata, if the new file has all rows of the old one: entries that no chunk's statistics give stay.
    pub(crate) fn metadata_of_all(&self, geo: GeoParquet, schema: &Schema) -> GeoParquet {
        let mut out = self.metadata(geo.clone(), schema);
        for (name, column) in geo.columns() {
            for key in ["geometry_types", "bbox"] {
                let is_known =
                    out.column(name).is_some_and(|of| of.fields().get(key).is_some_and(is_something));
                if let Some(old) = column.fields().get(key).filter(|_| !is_known) {
                    out.column_mut(name).insert(key.to_owned(), old.clone());
                }
            }
        }
        out
    }

    /// The metadata of the new rows: without boxes that are unknown, and without kinds if there may be fewer.
    pub(crate) fn metadata(&self, mut geo: GeoParquet, schema: &Schema) -> GeoParquet {
        let names: Vec<String> = geo.columns().map(|(name, _)| name.to_owned()).collect();
        for name in names {
            let leaf = schema.columns().iter().position(|leaf| leaf.path().len() == 1 && leaf.name() == name);
            let said = leaf.and_then(|leaf| self.columns.get(&leaf)).cloned().flatten();
            let fields = geo.column_mut(&name);
            let types = said.as_ref().and_then(|said| types_of(said));
            // A list with kinds that GeoParquet lacks would be wrong; an empty one says nothing.
            let types = types.filter(|types| types.iter().all(|name| is_geometry_type(name)));
            // A single kind also holds for a part of the rows.
            let is_one =
                fields.get("geometry_types").and_then(Value::as_array).is_some_and(|types| types.len() == 1);
            if types.is_some() || !is_one {
                fields.insert("geometry_types".to_owned(), json!(types.unwrap_or_default()));
            }
            match said.and_then(|said| box_of(&said)) {
                Some(bbox) => _ = fields.insert("bbox".to_owned(), json!(bbox)),
                None => _ = fields.remove("bbox"),
            }
        }
        geo
    }
}

/// An empty list of kinds says nothing.
fn is_something(value: &Value) -> bool {
    value.as_array().is_none_or(|list| !list.is_empty())
}

fn types_of(said: &[GeospatialStatistics]) -> Option<Vec<String>> {
    let mut names = Vec::new();
    for statistics in said {
        let codes = statistics.geospatial_types.as_ref().filter(|codes| !codes.is_empty())?;
        for code in codes {
            names.push(code_name(*code)?);
        }
    }
    names.sort_unstable();
    names.dedup();
    Some(names)
}

fn box_of(said: &[GeospatialStatistics]) -> Option<Vec<f64>> {
    let flat = |bbox: &BoundingBox| vec![bbox.xmin, bbox.ymin, bbox.xmax, bbox.ymax];
    let with_z = |bbox: &BoundingBox| match bbox.zmin.zip(bbox.zmax) {
        Some((zmin, zmax)) => vec![bbox.xmin, bbox.ymin, zmin, bbox.xmax, bbox.ymax, zmax],
        None => flat(bbox),
    };
    let boxes: Option<Vec<Vec<f64>>> = said.iter().map(|said| said.bbox.as_ref().map(with_z)).collect();
    let bbox = box_around(boxes.filter(|boxes| !boxes.is_empty())?)?;
    bbox.iter().all(|number| number.is_finite()).then_some(bbox)
}
