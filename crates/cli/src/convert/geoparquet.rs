//! Geometry columns in a version of GeoParquet: their types, covering columns with the box of each geometry, and the
//! metadata, whose boxes and kinds are those of the values that were written.

use crate::failure::Failure;
use arrow_array::builder::Float32Builder;
use arrow_array::{Array, ArrayRef, RecordBatch, StructArray};
use arrow_schema::{DataType, Field, Fields, Schema, SchemaRef};
use marquetry::errors::Error;
use marquetry::file::encryption::FileEncryptionProperties;
use marquetry::internals::format::BoundingBox;
use marquetry_core::logical_type::LogicalType;
use marquetry_core::statistics::GeoBounds;
use marquetry_core::write::{KeyValue, WriterProperties};
use marquetry_geo::geoparquet::{self, Crs, Version};
use marquetry_geo::{Extent, GeoParquet, Longitudes, code_name, positions};
use marquetry_text::format::geojson;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::sync::Arc;

/// What the user asked for.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct GeoWish {
    /// The version; by default that of the input, if it has one.
    pub(crate) version: Option<Version>,
    /// Whether to add columns with the box of each geometry.
    pub(crate) covering: bool,
}

/// How geometry columns are written.
pub(crate) struct GeoPlan {
    version: Version,
    /// Whether it was asked for: then anything that GeoParquet does not support is an error.
    is_asked: bool,
    schema: SchemaRef,
    columns: Vec<GeoOutput>,
    metadata: GeoParquet,
}

struct GeoOutput {
    name: String,
    /// Index of the column.
    at: usize,
    bounds: GeoBounds,
    /// Whether a covering column is added.
    is_covered: bool,
    /// Whether edges are curves on a globe.
    is_globe: bool,
}

impl GeoPlan {
    /// `None` if no version is asked for, and the input, whose metadata is `source`, has none that can be read.
    ///
    /// Fails if there are no geometries for a version, or if the version does not support them.
    pub(crate) fn new(
        wish: GeoWish,
        schema: &SchemaRef,
        source: &[KeyValue],
    ) -> Result<Option<Self>, Failure> {
        let value =
            |key: &str| source.iter().find(|pair| pair.key == key).and_then(|pair| pair.value.as_deref());
        let old = value(geoparquet::KEY).and_then(|json| GeoParquet::parse(json).ok());
        let Some(version) = wish.version.or_else(|| old.as_ref().map(version_of)) else {
            return match wish.covering {
                true => Err(Failure::Usage("--covering is for --geoparquet 1.1 or 2.0".to_owned())),
                false => Ok(None),
            };
        };
        if wish.covering && version == Version::V1_0 {
            return Err(Failure::Usage("--covering: GeoParquet 1.0 has no such columns".to_owned()));
        }
        let found = geometries(schema, old.as_ref(), &value);
        let Some(primary) = primary(schema, &found, old.as_ref()) else {
            return match wish.version {
                Some(_) => Err(Failure::Check("no column of geometries is there for GeoParquet".to_owned())),
                None => Ok(None),
            };
        };
        let is_there = |name: &&str| found.iter().any(|(at, _)| schema.field(*at).name() == name);
        let primary = primary.to_owned();
        let mut metadata = old.clone().unwrap_or_else(|| GeoParquet::new(version, &primary));
        metadata.rename_columns(|name| is_there(&name).then(|| name.to_owned()));
        metadata.set_version(version);
        metadata.set_primary_column(&primary);
        let (mut fields, mut columns): (Vec<Arc<Field>>, _) = (schema.fields().to_vec(), Vec::new());
        for (at, meaning) in found {
            let name = schema.field(at).name().clone();
            let failed = |message: String| Failure::Check(format!("column {name}: {message}"));
            let is_asked = wish.version.is_some();
            if is_asked {
                meaning.check(version).map_err(failed)?;
            }
            fields[at] = Arc::new(meaning.field(&fields[at], version));
            let has_covering = old.as_ref().and_then(|geo| geo.column(&name)).and_then(|of| of.covering());
            let covering = has_covering.map(|covering| covering.xmin[0].clone()).filter(|group| {
                version != Version::V1_0 && schema.fields().iter().any(|field| field.name() == group)
            });
            let is_covered = wish.covering && covering.is_none();
            let covering = match is_covered {
                true => Some(covering_name(&name, &primary, &fields).map_err(failed)?),
                false => covering,
            };
            if let Some(group) = covering.as_ref().filter(|_| is_covered) {
                fields.push(Arc::new(covering_field(group, fields[at].is_nullable())));
            }
            meaning.write(metadata.column_mut(&name), version, covering.as_deref());
            let bounds = GeoBounds::of(Some(&meaning.logical()));
            let bounds = bounds.ok_or_else(|| failed("it is not a column of geometries".to_owned()))?;
            columns.push(GeoOutput { name, at, bounds, is_covered, is_globe: meaning.edges != "planar" });
        }
        let schema = with_metadata(&Schema::new_with_metadata(fields, schema.metadata().clone()), &[]);
        Ok(Some(GeoPlan { version, is_asked: wish.version.is_some(), schema, columns, metadata }))
    }

    /// The schema of the output.
    pub(crate) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The names of the geometry columns.
    pub(crate) fn columns(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|column| column.name.as_str())
    }

    /// Adds encryption. Covering columns reveal where geometries are, so they get the key of their geometries.
    pub(crate) fn encrypted(
        plan: Option<&GeoPlan>,
        properties: WriterProperties,
        mut encryption: Arc<FileEncryptionProperties>,
    ) -> WriterProperties {
        if let Some(plan) = plan {
            for column in plan.columns.iter().filter(|column| column.is_covered) {
                let covering = plan.metadata.column(&column.name).and_then(|of| of.covering());
                if let Some(covering) = covering {
                    encryption = Arc::new(encryption.with_derived_column(&covering.xmin[0], &column.name));
                }
            }
        }
        properties.into_builder().with_file_encryption_properties(encryption).build()
    }

    /// The output schema, and the metadata without the parts that only the values determine.
    pub(crate) fn into_schema_and_metadata(self) -> (SchemaRef, GeoParquet) {
        (self.schema, self.metadata)
    }

    /// Whether columns are added to the rows.
    pub(crate) fn adds_columns(&self) -> bool {
        self.columns.iter().any(|column| column.is_covered)
    }

    /// Converts rows for the output, and records the bounds of their geometries.
    pub(crate) fn apply(&mut self, batch: &RecordBatch) -> Result<RecordBatch, Failure> {
        let mut arrays = batch.columns().to_vec();
        for column in &mut self.columns {
            let array = batch.column(column.at).clone();
            (0..array.len())
                .filter_map(|row| geojson::value(&array, row))
                .for_each(|wkb| column.bounds.add(wkb));
            if column.is_covered {
                arrays.push(
                    covering(&array, column.is_globe)
                        .map_err(|error| error.in_column(column.name.as_str()))?,
                );
            }
        }
        Ok(RecordBatch::try_new(self.schema.clone(), arrays)?)
    }

    /// The metadata, after all rows were written.
    pub(crate) fn finish(mut self) -> Result<KeyValue, Failure> {
        for column in &self.columns {
            let found = column.bounds.finish();
            if found.is_none() && self.is_asked && !column.bounds.is_empty() {
                let name = &column.name;
                let message = format!("column {name}: a value is not a geometry that GeoParquet could have");
                return Err(Failure::Check(message));
            }
            let found = found.unwrap_or_default();
            let codes = found.geospatial_types.unwrap_or_default();
            let names: Vec<String> = codes.iter().filter_map(|code| code_name(*code)).collect();
            let unknown = names.iter().find(|name| !geoparquet::is_geometry_type(name));
            if let (Some(kind), true) = (unknown, self.is_asked) {
                let (name, version) = (&column.name, self.version);
                let message = format!("column {name}: GeoParquet {version} has no geometries of kind {kind}");
                return Err(Failure::Check(message));
            }
            let names = if unknown.is_none() { names } else { Vec::new() };
            let is_measured = |name: &String| name.ends_with('M');
            let names = match self.version == Version::V2_0 || !names.iter().any(is_measured) {
                true => names,
                false if self.is_asked => {
                    let (name, version) = (&column.name, self.version);
                    let message = format!("column {name}: GeoParquet {version} has no geometries with M");
                    return Err(Failure::Check(message));
                }
                false => Vec::new(),
            };
            let fields = self.metadata.column_mut(&column.name);
            fields.insert("geometry_types".to_owned(), json!(names));
            match found.bbox.and_then(|bbox| numbers(&bbox, self.version)) {
                Some(numbers) => fields.insert("bbox".to_owned(), json!(numbers)),
                None => fields.remove("bbox"),
            };
        }
        Ok(KeyValue::new(geoparquet::KEY, self.metadata.to_json()))
    }
}

/// The schema without the input's metadata of geometries, which a stored Arrow schema would keep, and with these pairs
/// replacing others.
pub(crate) fn with_metadata(schema: &Schema, pairs: &[(String, String)]) -> SchemaRef {
    let mut schema = schema.clone();
    schema.metadata.remove(geoparquet::KEY);
    // If a schema has no metadata, readers use that of the file.
    if !schema.metadata.is_empty() {
        let is_of_geometries = |(key, _): &&(String, String)| key == geoparquet::KEY;
        schema.metadata.extend(pairs.iter().filter(|pair| !is_of_geometries(pair)).cloned());
    }
    Arc::new(schema)
}

/// The geometry column of GeoJSON features.
///
/// Fails if there is none, or if its coordinates are not longitude and latitude.
pub(crate) fn geometry_column(schema: &SchemaRef, source: &[KeyValue]) -> Result<usize, Failure> {
    let value = |key: &str| source.iter().find(|pair| pair.key == key).and_then(|pair| pair.value.as_deref());
    let old = value(geoparquet::KEY).and_then(|json| GeoParquet::parse(json).ok());
    let found = geometries(schema, old.as_ref(), &value);
    let none = || Failure::Check("no column of geometries is there for GeoJSON".to_owned());
    let name = primary(schema, &found, old.as_ref()).ok_or_else(none)?;
    let (at, meaning) = found.iter().find(|(at, _)| schema.field(*at).name() == name).ok_or_else(none)?;
    let is_right = match &meaning.crs {
        Reference::Default | Reference::Unknown => true,
        Reference::Projjson(object) => Crs::Projjson(object).is_crs84(),
        Reference::Named(_) => false,
    };
    match is_right {
        true => Ok(*at),
        false => Err(Failure::Check(format!(
            "column {name}: GeoJSON has longitudes and latitudes (OGC:CRS84), and these coordinates are in another system"
        ))),
    }
}

/// The geometry columns.
fn geometries<'a>(
    schema: &SchemaRef,
    old: Option<&GeoParquet>,
    value: &dyn Fn(&str) -> Option<&'a str>,
) -> Vec<(usize, Meaning)> {
    let fields = schema.fields().iter().enumerate();
    fields.filter_map(|(at, field)| Some((at, Meaning::of(field, old, value)?))).collect()
}

/// The default geometry column; `None` if there is none.
fn primary<'s>(
    schema: &'s SchemaRef,
    found: &[(usize, Meaning)],
    old: Option<&GeoParquet>,
) -> Option<&'s str> {
    let names: Vec<&str> = found.iter().map(|(at, _)| schema.field(*at).name().as_str()).collect();
    let wanted = [old.and_then(GeoParquet::primary_column), Some("geometry"), Some("geom")];
    let known = wanted.into_iter().flatten().find_map(|name| names.iter().find(|known| **known == name));
    known.or(names.first()).copied()
}

/// The version of the input, or the newest one that is compatible.
fn version_of(geo: &GeoParquet) -> Version {
    match geo.version() {
        _ if geo.is_native() => Version::V2_0,
        Some(version) if version.starts_with("1.0") => Version::V1_0,
        _ => Version::V1_1,
    }
}

/// The box as in the metadata: M only after Z. `None` if a number cannot be in JSON.
fn numbers(bbox: &BoundingBox, version: Version) -> Option<Vec<f64>> {
    let z = bbox.zmin.zip(bbox.zmax);
    let m = bbox.mmin.zip(bbox.mmax).filter(|_| z.is_some() && version == Version::V2_0);
    let least = [Some(bbox.xmin), Some(bbox.ymin), z.map(|z| z.0), m.map(|m| m.0)];
    let most = [Some(bbox.xmax), Some(bbox.ymax), z.map(|z| z.1), m.map(|m| m.1)];
    let numbers: Vec<f64> = least.into_iter().chain(most).flatten().collect();
    numbers.iter().all(|number| number.is_finite()).then_some(numbers)
}

/// The meaning of a column's coordinates and edges, whatever declares it.
struct Meaning {
    crs: Reference,
    /// As named by GeoParquet and GeoArrow.
    edges: String,
}

enum Reference {
    Default,
    Unknown,
    Projjson(Value),
    /// The name of a description that is missing.
    Named(String),
}

impl Meaning {
    /// `None` if neither the column's type nor the file's metadata declares geometries.
    fn of<'a>(
        field: &Field,
        old: Option<&GeoParquet>,
        value: &dyn Fn(&str) -> Option<&'a str>,
    ) -> Option<Self> {
        if !is_binary(field.data_type()) {
            return None;
        }
        let known = old.and_then(|geo| geo.column(field.name())).filter(|of| of.encoding() == Some("WKB"));
        if field.metadata().get(EXTENSION).is_some_and(|name| name == GEOARROW) {
            let parameters = field.metadata().get(PARAMETERS).map_or("{}", String::as_str);
            let parameters: Value = serde_json::from_str(parameters).unwrap_or_default();
            let edges = parameters.get("edges").and_then(Value::as_str).unwrap_or("planar").to_owned();
            let by_type = parameters.get("crs_type").and_then(Value::as_str);
            let crs = match parameters.get("crs") {
                None | Some(Value::Null) => Reference::Default,
                Some(Value::String(id)) if by_type == Some("srid") && id == "0" => Reference::Unknown,
                Some(Value::String(id)) if by_type == Some("srid") => Reference::Named(format!("srid:{id}")),
                Some(Value::String(text)) => named(text, value),
                Some(object) => Reference::Projjson(object.clone()),
            };
            // The metadata describes more than a name. QUIRK: GeoArrow omits a reference system that is unknown.
            let crs = match (crs, known.map(|of| of.crs())) {
                (Reference::Default, Some(Crs::Unknown)) => Reference::Unknown,
                (Reference::Named(_), Some(Crs::Projjson(object))) => Reference::Projjson(object.clone()),
                (crs, _) => crs,
            };
            return Some(Meaning { crs, edges });
        }
        let known = known?;
        let crs = match known.crs() {
            Crs::Default => Reference::Default,
            Crs::Unknown => Reference::Unknown,
            Crs::Projjson(object) => Reference::Projjson(object.clone()),
        };
        let edges = match known.edges() {
            "spherical" => known.algorithm().unwrap_or("spherical"),
            other => other,
        };
        Some(Meaning { crs, edges: edges.to_owned() })
    }

    /// Fails with the reason if a version does not support it.
    fn check(&self, version: Version) -> Result<(), String> {
        if let Reference::Named(name) = &self.crs {
            return Err(format!("GeoParquet wants {name} described by PROJJSON, which is not there"));
        }
        if version != Version::V2_0 && !matches!(self.edges.as_str(), "planar" | "spherical") {
            return Err(format!("GeoParquet {version} has no edges of {}", self.edges));
        }
        Ok(())
    }

    fn logical(&self) -> LogicalType {
        match self.edges.as_str() {
            "planar" => LogicalType::Geometry { crs: None },
            _ => LogicalType::Geography { crs: None, algorithm: None },
        }
    }

    /// The field with its type in a version.
    fn field(&self, field: &Field, version: Version) -> Field {
        let mut metadata: HashMap<String, String> = field.metadata().clone();
        metadata.retain(|key, _| key != EXTENSION && key != PARAMETERS);
        if version == Version::V2_0 {
            let mut parameters = match &self.crs {
                Reference::Default => json!({"crs": "OGC:CRS84", "crs_type": "authority_code"}),
                Reference::Unknown => json!({"crs": "0", "crs_type": "srid"}),
                Reference::Projjson(object) => json!({"crs": object, "crs_type": "projjson"}),
                Reference::Named(name) => json!({"crs": name}),
            };
            if self.edges != "planar" {
                parameters["edges"] = self.edges.as_str().into();
            }
            metadata.insert(EXTENSION.to_owned(), GEOARROW.to_owned());
            metadata.insert(PARAMETERS.to_owned(), parameters.to_string());
        }
        field.clone().with_metadata(metadata)
    }

    fn write(&self, fields: &mut Map<String, Value>, version: Version, covering: Option<&str>) {
        for (name, value) in geoparquet::new_column() {
            fields.entry(name).or_insert(value);
        }
        let mut set = |name: &str, value: Option<Value>| match value {
            Some(value) => _ = fields.insert(name.to_owned(), value),
            None => _ = fields.remove(name),
        };
        match &self.crs {
            Reference::Default => set("crs", None),
            Reference::Unknown => set("crs", Some(Value::Null)),
            Reference::Projjson(object) => set("crs", Some(object.clone())),
            Reference::Named(_) => {}
        }
        let is_other = !matches!(self.edges.as_str(), "planar" | "spherical");
        set("edges", (self.edges != "planar").then(|| "spherical".into()));
        set("algorithm", (is_other && version == Version::V2_0).then(|| self.edges.as_str().into()));
        set("covering", covering.map(geoparquet::covering_of));
    }
}

/// A reference system by its name, or by the key of its description.
fn named<'a>(text: &str, value: &dyn Fn(&str) -> Option<&'a str>) -> Reference {
    let described = text.strip_prefix("projjson:").and_then(value).unwrap_or(text);
    match (text, serde_json::from_str(described)) {
        // With this order of axes they are the same.
        ("" | "OGC:CRS84" | "EPSG:4326", _) => Reference::Default,
        (_, Ok(object @ Value::Object(_))) => Reference::Projjson(object),
        _ => Reference::Named(text.to_owned()),
    }
}

fn covering_name(name: &str, primary: &str, fields: &[Arc<Field>]) -> Result<String, String> {
    let is_free = |name: &String| !fields.iter().any(|field| field.name() == name);
    let wanted = [(name == primary).then(|| "bbox".to_owned()), Some(format!("{name}_bbox"))];
    let found = wanted.into_iter().flatten().find(is_free);
    found.ok_or_else(|| format!("--covering: there is a column {name}_bbox already"))
}

const NUMBERS: [&str; 4] = ["xmin", "ymin", "xmax", "ymax"];

fn covering_field(group: &str, is_nullable: bool) -> Field {
    Field::new(group, DataType::Struct(covering_fields()), is_nullable)
}

fn covering_fields() -> Fields {
    NUMBERS.iter().map(|name| Field::new(*name, DataType::Float32, false)).collect()
}

/// The box of each geometry, rounded outwards. An empty geometry has NaNs.
///
/// On a globe, the box of points crosses the antimeridian if it is narrower that way. Others do not: in the plane a
/// geometry includes everything between its positions, and where curved edges run is not known here.
fn covering(geometries: &ArrayRef, is_globe: bool) -> Result<ArrayRef, Error> {
    let mut numbers: [Float32Builder; 4] =
        std::array::from_fn(|_| Float32Builder::with_capacity(geometries.len()));
    for row in 0..geometries.len() {
        let rounded = match geojson::value(geometries, row) {
            Some(wkb) => bbox(wkb, is_globe)?,
            None => [f32::NAN; 4],
        };
        numbers.iter_mut().zip(rounded).for_each(|(builder, number)| builder.append_value(number));
    }
    let columns = numbers.into_iter().map(|mut builder| Arc::new(builder.finish()) as ArrayRef).collect();
    let made = StructArray::try_new(covering_fields(), columns, geometries.logical_nulls());
    made.map(|boxes| Arc::new(boxes) as ArrayRef).map_err(Error::from)
}

fn bbox(wkb: &[u8], is_globe: bool) -> Result<[f32; 4], Error> {
    let (mut extent, mut longitudes) = (Extent::default(), Longitudes::default());
    let shape = positions(wkb, |position| {
        extent.add(position);
        longitudes.add(position[0]);
    })?;
    let [x, y, ..] = extent.ranges();
    let is_of_points = !shape.has_edges && !shape.has_arcs;
    let is_canonical = x.is_some_and(|(min, max)| min >= -180.0 && max <= 180.0);
    let x = if is_globe && is_of_points && is_canonical { longitudes.narrowest() } else { x };
    let [x, y] = [x, y].map(|range| range.unwrap_or((f64::NAN, f64::NAN)));
    Ok([down(x.0), down(y.0), up(x.1), up(y.1)])
}

/// The greatest float that is not above `number`.
fn down(number: f64) -> f32 {
    let near = number as f32;
    if f64::from(near) > number { near.next_down() } else { near }
}

fn up(number: f64) -> f32 {
    -down(-number)
}

fn is_binary(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Binary | DataType::LargeBinary | DataType::BinaryView)
}

const EXTENSION: &str = "ARROW:extension:name";
const PARAMETERS: &str = "ARROW:extension:metadata";
const GEOARROW: &str = "geoarrow.wkb";
