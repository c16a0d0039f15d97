//! Merges the GeoParquet metadata of several files into one for all their rows.

use super::{Crs, GeoColumn, GeoParquet};
use marquetry_base::{Error, Result};
use serde_json::{Value, json};

impl GeoParquet {
    /// Merges the metadata of several files into that for all their rows: boxes around all boxes, and all kinds. Facts
    /// that one file does not state are unknown for all. Returns `None` if no file has metadata.
    ///
    /// Fails if the reference system, the epoch, the edges or the encoding of a column differ between files.
    ///
    /// ```
    /// use marquetry_geo::GeoParquet;
    /// let geo = |bbox: &str| GeoParquet::parse(&format!(r#"{{"version": "1.1.0", "primary_column": "geom",
    ///     "columns": {{"geom": {{"encoding": "WKB", "geometry_types": ["Point"], "bbox": {bbox}}}}}}}"#)).map(Some);
    /// let both = GeoParquet::merged(&[geo("[5, 45, 6, 48]")?, geo("[4, 46, 5, 49]")?])?.unwrap();
    /// assert_eq!(both.column("geom").unwrap().bbox(), Some(vec![4.0, 45.0, 6.0, 49.0]));
    /// # Ok::<(), marquetry_base::Error>(())
    /// ```
    pub fn merged(all: &[Option<GeoParquet>]) -> Result<Option<GeoParquet>> {
        let Some(mut out) = all.iter().flatten().next().cloned() else { return Ok(None) };
        for later in all.iter().flatten() {
            for (name, column) in later.columns() {
                if out.column(name).is_none() {
                    out.column_mut(name).extend(column.fields().clone());
                }
            }
        }
        let names: Vec<String> = out.columns().map(|(name, _)| name.to_owned()).collect();
        for name in names {
            let known =
                |geo: &'_ Option<GeoParquet>| geo.as_ref().is_some_and(|geo| geo.column(&name).is_some());
            let columns: Vec<GeoColumn<'_>> =
                all.iter().flatten().filter_map(|geo| geo.column(&name)).collect();
            let Some(first) = columns.first() else { continue };
            check_same_meaning(&name, *first, &columns)?;
            let is_known = all.iter().all(known);
            let types: Option<Vec<Vec<&str>>> = columns.iter().map(GeoColumn::geometry_types).collect();
            let mut types = types.filter(|_| is_known).unwrap_or_default().concat();
            types.sort_unstable();
            types.dedup();
            let boxes: Option<Vec<Vec<f64>>> = columns.iter().map(GeoColumn::bbox).collect();
            let bbox = boxes.filter(|_| is_known).and_then(box_around);
            let covering = first
                .covering()
                .filter(|it| columns.iter().all(|other| other.covering().as_ref() == Some(it)));
            let orientation = |column: &GeoColumn<'_>| column.fields().get("orientation").cloned();
            let is_oriented =
                is_known && columns.iter().all(|other| orientation(other) == orientation(first));
            let (types, is_covered) = (json!(types), covering.is_some() && is_known);
            let fields = out.column_mut(&name);
            fields.insert("geometry_types".to_owned(), types);
            match bbox {
                Some(bbox) => _ = fields.insert("bbox".to_owned(), json!(bbox)),
                None => _ = fields.remove("bbox"),
            }
            if !is_covered {
                fields.remove("covering");
            }
            if !is_oriented {
                fields.remove("orientation");
            }
        }
        Ok(Some(out))
    }

    /// Returns the metadata that are valid whatever rows the columns have: without boxes and kinds.
    #[must_use]
    pub fn of_any_rows(mut self) -> Self {
        let names: Vec<String> = self.columns().map(|(name, _)| name.to_owned()).collect();
        for name in names {
            let fields = self.column_mut(&name);
            fields.remove("bbox");
            fields.insert("geometry_types".to_owned(), Value::Array(Vec::new()));
        }
        self
    }
}

fn check_same_meaning(name: &str, first: GeoColumn<'_>, columns: &[GeoColumn<'_>]) -> Result<()> {
    for other in columns {
        let differs = [
            ("reference system", !is_same_crs(first.crs(), other.crs())),
            ("epoch", first.fields().get("epoch") != other.fields().get("epoch")),
            ("edges", first.edges() != other.edges() || first.algorithm() != other.algorithm()),
            ("encoding", first.encoding() != other.encoding()),
        ];
        if let Some((what, _)) = differs.into_iter().find(|(_, differs)| *differs) {
            let message = format!("the {what} of its geometries is another one in another file");
            return Err(Error::argument(message).in_column(name));
        }
    }
    Ok(())
}

/// Whether two reference systems are the same. Descriptions of a system differ between writers; its identifier does not.
fn is_same_crs(a: Crs<'_>, b: Crs<'_>) -> bool {
    let has_same_name = || a.id().is_some_and(|id| b.id() == Some(id));
    a == b || a.is_crs84() && b.is_crs84() || has_same_name()
}

/// Returns the box around all boxes. `None` if one of them goes across the antimeridian, because it is unknown which
/// way around is shorter for the others.
pub fn box_around(boxes: Vec<Vec<f64>>) -> Option<Vec<f64>> {
    let has_z = boxes.iter().all(|bbox| bbox.len() == 6);
    let dimensions = if has_z { 3 } else { 2 };
    let mut out = [vec![f64::INFINITY; dimensions], vec![f64::NEG_INFINITY; dimensions]].concat();
    for bbox in &boxes {
        let n = bbox.len() / 2;
        if bbox[0] > bbox[n] {
            return None;
        }
        for axis in 0..dimensions {
            out[axis] = out[axis].min(bbox[axis]);
            out[dimensions + axis] = out[dimensions + axis].max(bbox[n + axis]);
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn geo(fields: &str) -> Option<GeoParquet> {
        let column = format!(r#""geom": {{"encoding": "WKB", "geometry_types": ["Point"]{fields}}}"#);
        let text = format!(r#"{{"version": "1.1.0", "primary_column": "geom", "columns": {{{column}}}}}"#);
        GeoParquet::parse(&text).ok()
    }

    const CRS84: &str = r#", "crs": {"name": "WGS 84", "id": {"authority": "OGC", "code": "CRS84"}}"#;
    const MERCATOR: &str = r#", "crs": {"name": "Mercator", "id": {"authority": "EPSG", "code": 3857}}"#;
    const SAME_MERCATOR: &str = r#", "crs": {"name": "Pseudo", "id": {"authority": "EPSG", "code": 3857}}"#;

    #[test]
    fn coordinates_mean_one_thing() {
        for (a, b) in [("", CRS84), (MERCATOR, SAME_MERCATOR), ("", r#", "edges": "planar""#)] {
            assert!(GeoParquet::merged(&[geo(a), geo(b)]).is_ok(), "{a} and {b}");
        }
        for (a, b) in [
            ("", MERCATOR),
            ("", r#", "crs": null"#),
            ("", r#", "edges": "spherical""#),
            (r#", "epoch": 2020.0"#, r#", "epoch": 2021.0"#),
        ] {
            assert!(GeoParquet::merged(&[geo(a), geo(b)]).is_err(), "{a} and {b}");
            assert!(GeoParquet::merged(&[geo(b), None, geo(a)]).is_err(), "{b} and {a}");
        }
    }

    #[test]
    fn what_is_not_true_of_all_is_left_out() {
        let said = r#", "bbox": [0, 0, 1, 1], "orientation": "counterclockwise""#;
        let column = |others: &[Option<GeoParquet>]| {
            let all = [&[geo(said)], others].concat();
            let merged = GeoParquet::merged(&all).expect("the same meaning").expect("metadata");
            merged.column("geom").expect("a column").fields().clone()
        };
        assert_eq!(column(&[geo(said)])["orientation"], "counterclockwise");
        for other in [geo(""), None] {
            let fields = column(&[other]);
            assert!(!fields.contains_key("orientation") && !fields.contains_key("bbox"), "{fields:?}");
        }
        let any = geo(said).expect("metadata").of_any_rows();
        let any = any.column("geom").expect("a column");
        assert_eq!((any.bbox(), any.geometry_types()), (None, None));
    }
}
