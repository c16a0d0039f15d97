//! Checks the metadata of GeoParquet: by its own rules, against the schema, and against the geometries.

use crate::context::VerifyContext;
use crate::covering_boxes;
use crate::findings::Findings;
use crate::rule::{Level, Rule, Severity, rule};
use marquetry_base::{ErrorLocation, Result};
use marquetry_core::logical_type::LogicalType;
use marquetry_core::nesting::NestedField;
use marquetry_core::read::{ColumnReader, ReadTarget, ValueLayout};
use marquetry_core::schema::Leaf;
use marquetry_core::statistics::GeoBounds;
use marquetry_encoding::{PhysicalType, Values};
use marquetry_geo::geoparquet::{GeoColumn, KEY};
use marquetry_geo::{GeoParquet, code_name};

const JSON: Rule = rule(
    "geoparquet-json",
    Severity::Invalid,
    Level::Quick,
    "The metadata of GeoParquet is an object of JSON",
    "GeoParquet, Metadata",
);
const FIELDS: Rule = rule(
    "geoparquet-metadata",
    Severity::Invalid,
    Level::Quick,
    "GeoParquet's metadata has a version, a primary column that is among its columns, and fields that its version has",
    "GeoParquet, File metadata, Column metadata",
);
const COLUMNS: Rule = rule(
    "geoparquet-column",
    Severity::Invalid,
    Level::Quick,
    "A column that GeoParquet's metadata names is at the root, not repeated, and of bytes, in version 2 of GEOMETRY or GEOGRAPHY",
    "GeoParquet, Geometry columns",
);
const COVERING: Rule = rule(
    "geoparquet-covering",
    Severity::Invalid,
    Level::Quick,
    "Covering columns are FLOAT or DOUBLE, in a group at the root that is null where the geometry is",
    "GeoParquet 1.1, Bounding Box Columns",
);
const VALUES: Rule = rule(
    "geoparquet-values",
    Severity::Invalid,
    Level::Deep,
    "The box in GeoParquet's metadata bounds the geometries, and its list of kinds, if it has any, has all of them",
    "GeoParquet, bbox, geometry_types",
);

pub(crate) const RULES: &[Rule] = &[JSON, FIELDS, COLUMNS, COVERING, VALUES];

/// Checks the GeoParquet metadata, if the file has any.
pub(crate) fn check(file: &VerifyContext, findings: &mut Findings) {
    let Some(json) = file.metadata.value_of(KEY) else { return };
    let geo = match GeoParquet::parse(&json) {
        Ok(geo) => geo,
        Err(error) => return findings.add(&JSON, ErrorLocation::default(), || error.message().to_string()),
    };
    for problem in geo.problems() {
        findings.add(&FIELDS, ErrorLocation::default(), || problem);
    }
    for (name, of) in geo.columns() {
        let place = ErrorLocation::default().with_column(name);
        let leaves = file.metadata.schema().columns();
        let number = leaves.iter().position(|leaf| leaf.path().first().is_some_and(|root| **root == *name));
        let Some(number) = number else {
            findings.add(&COLUMNS, place, || "the file has no such column".to_owned());
            continue;
        };
        // GeoArrow's encodings are not known here.
        if of.encoding() != Some("WKB") {
            continue;
        }
        let leaf = &leaves[number];
        if let Some(wrong) = wrong_column(leaf, geo.is_native()) {
            findings.add(&COLUMNS, place, || wrong.to_owned());
            continue;
        }
        match (wrong_covering(file, leaf, &of), of.covering()) {
            (Some(wrong), _) => findings.add(&COVERING, place.clone(), || wrong),
            (None, Some(covering)) if file.level == Level::Deep => {
                covering_boxes::check(file, number, &covering, &place, findings);
            }
            _ => {}
        }
        if file.level == Level::Deep
            && let Ok(bounds) = bounds(file, number, of.edges() != "planar")
        {
            check_values(&of, &bounds, &place, findings);
        }
    }
}

fn wrong_column(leaf: &Leaf, is_native: bool) -> Option<&'static str> {
    let is_typed =
        matches!(leaf.logical(), Some(LogicalType::Geometry { .. } | LogicalType::Geography { .. }));
    match () {
        () if leaf.path().len() > 1 => Some("it is a group"),
        () if leaf.max_rep() > 0 => Some("it is repeated"),
        () if leaf.physical() != PhysicalType::ByteArray => Some("it is not of BYTE_ARRAY"),
        () if is_native && !is_typed => Some("version 2 wants GEOMETRY or GEOGRAPHY"),
        () => None,
    }
}

fn wrong_covering(file: &VerifyContext, geometry: &Leaf, of: &GeoColumn<'_>) -> Option<String> {
    let covering = of.covering()?;
    for path in [&covering.xmin, &covering.ymin, &covering.xmax, &covering.ymax] {
        let is_it = |leaf: &&Leaf| leaf.path().iter().map(|name| &**name).eq(path.iter().map(String::as_str));
        let name = path.join(".");
        let Some(leaf) = file.metadata.schema().columns().iter().find(is_it) else {
            return Some(format!("there is no column {name}"));
        };
        if !matches!(leaf.physical(), PhysicalType::Float | PhysicalType::Double) || leaf.max_rep() > 0 {
            return Some(format!("{name} is {}", leaf.physical()));
        }
        let group = file.metadata.schema().fields().iter().find(|field| field.name() == path[0])?;
        if group.repetition() != geometry.repetition() {
            let (group, geometry) = (group.repetition(), geometry.repetition());
            return Some(format!("{} is {group}, the geometries are {geometry}", path[0]));
        }
    }
    None
}

/// Returns the bounds of the geometries of the whole file. Fails if they cannot be read, which other rules report.
fn bounds(file: &VerifyContext, column: usize, are_edges_curved: bool) -> Result<Option<GeoBounds>> {
    let leaf = file.leaf(column);
    let planar = LogicalType::Geometry { crs: None };
    let curved = LogicalType::Geography { crs: None, algorithm: None };
    let Some(mut bounds) = GeoBounds::of(Some(if are_edges_curved { &curved } else { &planar })) else {
        return Ok(None);
    };
    let Some(field) = NestedField::from_root(file.metadata.schema(), leaf.root()) else { return Ok(None) };
    for group in file.metadata.row_groups() {
        let target =
            ReadTarget { is_text: false, ..ReadTarget::new(leaf, &field, column, ValueLayout::Native) };
        let (source, metadata) = (file.source.clone(), file.metadata.clone());
        let groups = [group.index()];
        let mut reader = ColumnReader::new(source, metadata, &groups, column, target, file.page_options());
        let mut left = usize::try_from(group.num_rows()).unwrap_or(usize::MAX);
        while left > 0 {
            let batch = reader.read(left.min(ROWS_PER_BATCH))?;
            let Values::Bytes(views) = &batch.values else { return Ok(None) };
            let is_valid = |row: &usize| batch.validity.as_ref().is_none_or(|validity| validity.get(*row));
            (0..views.len()).filter(is_valid).for_each(|row| bounds.add(views.get(row)));
            left -= left.min(ROWS_PER_BATCH);
        }
    }
    Ok(Some(bounds))
}

fn check_values(
    of: &GeoColumn<'_>,
    bounds: &Option<GeoBounds>,
    place: &ErrorLocation,
    findings: &mut Findings,
) {
    let Some(bounds) = bounds.as_ref().filter(|bounds| !bounds.is_empty()) else { return };
    let Some(actual) = bounds.finish() else {
        return findings
            .add(&VALUES, place.clone(), || "a value is not a geometry in well-known binary".to_owned());
    };
    if let Some(said) = of.geometry_types() {
        let names = actual.geospatial_types.iter().flatten().filter_map(|code| code_name(*code));
        for missing in names.filter(|name| !said.contains(&name.as_str())) {
            findings.add(&VALUES, place.clone(), || format!("{missing} is not in `geometry_types`"));
        }
    }
    let (Some(said), Some(actual)) = (of.bbox(), actual.bbox) else { return };
    let n = said.len() / 2;
    let z = actual.zmin.zip(actual.zmax).filter(|_| n > 2);
    let axes =
        [("x", 0, Some((actual.xmin, actual.xmax))), ("y", 1, Some((actual.ymin, actual.ymax))), ("z", 2, z)];
    for (axis, at, actual) in axes.into_iter().filter_map(|(axis, at, range)| Some((axis, at, range?))) {
        let (least, most) = (said[at], said[n + at]);
        // The direction of a box across the antimeridian is not compared.
        let is_wrapped = axis == "x" && (least > most || actual.0 > actual.1);
        if !is_wrapped && (actual.0 < least || actual.1 > most) {
            let (first, last) = actual;
            findings.add(&VALUES, place.clone(), || {
                format!("`bbox` says {axis} from {least} to {most}, there are {first} to {last}")
            });
        }
    }
}

/// Number of rows that are read at a time.
const ROWS_PER_BATCH: usize = 4096;
