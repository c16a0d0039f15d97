//! The metadata of GeoParquet: what columns of geometries mean, as JSON under the key `geo` of a file.
//!
//! Spec: GeoParquet 1.0, 1.1 and 2.0. Fields that are not known are kept as they are.

mod merged;

pub use merged::box_around;

use crate::kind::code_of_name;
use marquetry_base::{Error, Result};
use serde_json::{Map, Value, json};
use std::fmt;

/// The key of the JSON in the key-value metadata of a file.
pub const KEY: &str = "geo";

/// A version of GeoParquet that can be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Version {
    /// Well-known binary in columns of bytes.
    V1_0,
    /// Columns of boxes may cover geometries.
    V1_1,
    /// Columns of GEOMETRY and GEOGRAPHY.
    V2_0,
}

impl Version {
    /// All versions, the oldest first.
    pub const ALL: [Version; 3] = [Version::V1_0, Version::V1_1, Version::V2_0];

    /// The version as in the metadata: `1.1.0`.
    pub fn full(self) -> &'static str {
        match self {
            Version::V1_0 => "1.0.0",
            Version::V1_1 => "1.1.0",
            Version::V2_0 => "2.0.0",
        }
    }
}

impl fmt::Display for Version {
    /// Writes the short form, as in options: `1.1`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.full()[..3])
    }
}

/// The GeoParquet metadata of a file. They can be created from any JSON object; [`problems`](Self::problems) reports
/// what is missing or wrong.
///
/// ```
/// use marquetry_geo::GeoParquet;
/// let geo = GeoParquet::parse(r#"{"version": "1.1.0", "primary_column": "geom",
///     "columns": {"geom": {"encoding": "WKB", "geometry_types": ["Point"], "bbox": [5, 45, 11, 48]}}}"#)?;
/// assert_eq!(geo.primary_column(), Some("geom"));
/// assert_eq!(geo.column("geom").unwrap().bbox(), Some(vec![5.0, 45.0, 11.0, 48.0]));
/// assert!(geo.problems().is_empty());
/// # Ok::<(), marquetry_base::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct GeoParquet {
    fields: Map<String, Value>,
}

impl GeoParquet {
    /// Creates metadata without columns.
    pub fn new(version: Version, primary_column: &str) -> Self {
        let mut fields = Map::new();
        fields.insert("version".to_owned(), version.full().into());
        fields.insert("primary_column".to_owned(), primary_column.into());
        fields.insert("columns".to_owned(), Value::Object(Map::new()));
        GeoParquet { fields }
    }

    /// Parses metadata. Fails if the text is not a JSON object.
    pub fn parse(text: &str) -> Result<Self> {
        match serde_json::from_str(text) {
            Ok(Value::Object(fields)) => Ok(GeoParquet { fields }),
            Ok(_) => Err(Error::corrupt("GeoParquet's metadata is not an object of JSON")),
            Err(error) => Err(Error::corrupt(format!("GeoParquet's metadata is not JSON: {error}"))),
        }
    }

    /// Formats the metadata as JSON.
    pub fn to_json(&self) -> String {
        Value::Object(self.fields.clone()).to_string()
    }

    /// The version as it is written in the metadata.
    pub fn version(&self) -> Option<&str> {
        self.fields.get("version")?.as_str()
    }

    /// The column that is used if no other is named.
    pub fn primary_column(&self) -> Option<&str> {
        self.fields.get("primary_column")?.as_str()
    }

    /// Iterates over the columns of geometries and their names.
    pub fn columns(&self) -> impl Iterator<Item = (&str, GeoColumn<'_>)> {
        let columns = self.fields.get("columns").and_then(Value::as_object);
        columns
            .into_iter()
            .flatten()
            .filter_map(|(name, column)| Some((name.as_str(), GeoColumn { fields: column.as_object()? })))
    }

    /// Returns a column of geometries.
    pub fn column(&self, name: &str) -> Option<GeoColumn<'_>> {
        let fields = self.fields.get("columns")?.get(name)?.as_object()?;
        Some(GeoColumn { fields })
    }

    /// Sets the version.
    pub fn set_version(&mut self, version: Version) {
        self.fields.insert("version".to_owned(), version.full().into());
    }

    /// Sets the column that is used if no other is named.
    pub fn set_primary_column(&mut self, name: &str) {
        self.fields.insert("primary_column".to_owned(), name.into());
    }

    /// Returns the fields of a column, to be changed. Adds the column if there is none.
    pub fn column_mut(&mut self, name: &str) -> &mut Map<String, Value> {
        let columns = object(self.fields.entry("columns").or_insert(Value::Null));
        object(columns.entry(name).or_insert(Value::Null))
    }

    /// Removes the columns for which `keep` returns `None`, and renames the others to the names that it returns.
    pub fn rename_columns(&mut self, keep: impl Fn(&str) -> Option<String>) {
        let Some(Value::Object(columns)) = self.fields.get_mut("columns") else { return };
        let renamed =
            std::mem::take(columns).into_iter().filter_map(|(name, column)| Some((keep(&name)?, column)));
        *columns = renamed.collect();
        let primary = self.primary_column().and_then(keep);
        let primary = primary.or_else(|| self.columns().next().map(|(name, _)| name.to_owned()));
        if let Some(primary) = primary {
            self.set_primary_column(&primary);
        }
    }

    /// Returns all violations of the rules of the version, one sentence each, with the place in the JSON. Does not
    /// check whether the metadata is true for the file.
    pub fn problems(&self) -> Vec<String> {
        let mut out = Vec::new();
        match self.version() {
            None => out.push("`version` is not a string".to_owned()),
            Some(version) if !has_known_major(version) => {
                out.push(format!("version {version:?} is none that is known here"));
            }
            Some(_) => {}
        }
        match self.primary_column() {
            None | Some("") => out.push("`primary_column` is not a name".to_owned()),
            Some(primary) if self.column(primary).is_none() => {
                out.push(format!("primary column {primary:?} is not among `columns`"));
            }
            Some(_) => {}
        }
        match self.fields.get("columns").and_then(Value::as_object) {
            None => out.push("`columns` is not an object".to_owned()),
            Some(columns) if columns.is_empty() => out.push("`columns` has no column".to_owned()),
            Some(columns) => {
                for (name, column) in columns {
                    let problems = match column.as_object() {
                        Some(fields) => GeoColumn { fields }.problems(self.is_native()),
                        None => vec!["is not an object".to_owned()],
                    };
                    out.extend(problems.into_iter().map(|problem| format!("column {name:?}: {problem}")));
                }
            }
        }
        out
    }

    /// Whether columns have the types GEOMETRY and GEOGRAPHY in this version.
    pub fn is_native(&self) -> bool {
        self.version().is_some_and(|version| version.starts_with("2."))
    }
}

fn object(value: &mut Value) -> &mut Map<String, Value> {
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    match value {
        Value::Object(fields) => fields,
        _ => unreachable!("it was made one"),
    }
}

/// QUIRK: drafts have suffixes, such as `2.0-dev`.
fn has_known_major(version: &str) -> bool {
    let major = version.split('.').next();
    matches!(major, Some("1" | "2")) || version.starts_with("0.4") || version.starts_with("1")
}

/// The metadata of one column.
#[derive(Debug, Clone, Copy)]
pub struct GeoColumn<'a> {
    fields: &'a Map<String, Value>,
}

/// The columns that hold the bounding box of each geometry: the name of a group, and those of its fields.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Covering {
    /// The path of the minimum of x: the names of the group and of the field.
    pub xmin: Vec<String>,
    /// The path of the minimum of y.
    pub ymin: Vec<String>,
    /// The path of the maximum of x.
    pub xmax: Vec<String>,
    /// The path of the maximum of y.
    pub ymax: Vec<String>,
}

/// The coordinate reference system of a column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Crs<'a> {
    /// Longitude and latitude: OGC:CRS84, which is the default.
    Default,
    /// Unknown.
    Unknown,
    /// A description in PROJJSON.
    Projjson(&'a Value),
}

impl Crs<'_> {
    /// The identifier, such as `EPSG:2056`, if the description has one.
    pub fn id(&self) -> Option<String> {
        let Crs::Projjson(value) = self else { return None };
        let id = value.get("id")?;
        let code = id.get("code")?;
        let code = code.as_str().map_or_else(|| code.to_string(), str::to_owned);
        Some(format!("{}:{code}", id.get("authority")?.as_str()?))
    }

    /// Whether coordinates are longitude and latitude of WGS 84. Longitude always comes first, whatever the description says.
    pub fn is_crs84(&self) -> bool {
        *self == Crs::Default || self.id().is_some_and(|id| matches!(id.as_str(), "OGC:CRS84" | "EPSG:4326"))
    }
}

impl<'a> GeoColumn<'a> {
    /// All fields, including unknown ones.
    pub fn fields(&self) -> &'a Map<String, Value> {
        self.fields
    }

    /// The encoding of geometries: `WKB`, or in 1.1 `point` and other encodings of GeoArrow.
    pub fn encoding(&self) -> Option<&'a str> {
        self.fields.get("encoding")?.as_str()
    }

    /// The kinds of geometries that occur; `None` if they are unknown.
    pub fn geometry_types(&self) -> Option<Vec<&'a str>> {
        let types: Vec<&str> =
            self.fields.get("geometry_types")?.as_array()?.iter().filter_map(Value::as_str).collect();
        (!types.is_empty()).then_some(types)
    }

    /// Whether all geometries are points or multi-points, and so have no edges.
    pub fn is_of_points(&self) -> bool {
        self.geometry_types().is_some_and(|types| {
            types.iter().all(|name| matches!(name.split(' ').next(), Some("Point" | "MultiPoint")))
        })
    }

    /// The interpretation of edges: `planar` by default.
    pub fn edges(&self) -> &'a str {
        self.fields.get("edges").and_then(Value::as_str).unwrap_or("planar")
    }

    /// The algorithm of edges on a sphere or spheroid.
    pub fn algorithm(&self) -> Option<&'a str> {
        self.fields.get("algorithm")?.as_str()
    }

    /// The numbers of the bounding box of all geometries: four, six or eight.
    pub fn bbox(&self) -> Option<Vec<f64>> {
        let numbers: Option<Vec<f64>> =
            self.fields.get("bbox")?.as_array()?.iter().map(Value::as_f64).collect();
        numbers.filter(|numbers| matches!(numbers.len(), 4 | 6 | 8))
    }

    /// The coordinate reference system.
    pub fn crs(&self) -> Crs<'a> {
        match self.fields.get("crs") {
            None => Crs::Default,
            Some(Value::Null) => Crs::Unknown,
            Some(value) => Crs::Projjson(value),
        }
    }

    /// The columns with the bounding box of each geometry, if there are any.
    pub fn covering(&self) -> Option<Covering> {
        let bbox = self.fields.get("covering")?.get("bbox")?;
        let path = |name: &str| {
            let names = bbox.get(name)?.as_array()?.iter().map(|name| Some(name.as_str()?.to_owned()));
            names.collect::<Option<Vec<String>>>().filter(|names| names.len() == 2)
        };
        Some(Covering { xmin: path("xmin")?, ymin: path("ymin")?, xmax: path("xmax")?, ymax: path("ymax")? })
    }

    fn problems(&self, is_native: bool) -> Vec<String> {
        let mut out = Vec::new();
        let geoarrow = ["point", "linestring", "polygon", "multipoint", "multilinestring", "multipolygon"];
        match self.encoding() {
            None => out.push("`encoding` is not a string".to_owned()),
            Some("WKB") => {}
            Some(encoding) if !is_native && geoarrow.contains(&encoding) => {}
            Some(encoding) => out.push(format!("encoding {encoding:?} is not known")),
        }
        match self.fields.get("geometry_types").map(Value::as_array) {
            Some(Some(types)) => {
                let is_known = |value: &Value| value.as_str().is_some_and(|name| is_type(name, is_native));
                if let Some(wrong) = types.iter().find(|value| !is_known(value)) {
                    out.push(format!("geometry type {wrong} is not known"));
                }
                if types.iter().enumerate().any(|(i, value)| types[..i].contains(value)) {
                    out.push("a geometry type stands twice in `geometry_types`".to_owned());
                }
            }
            _ => out.push("`geometry_types` is not a list".to_owned()),
        }
        let mut one_of = |name: &str, known: &[&str]| {
            if let Some(value) = self.fields.get(name)
                && !value.as_str().is_some_and(|value| known.contains(&value))
            {
                out.push(format!("`{name}` is {value}, and not one of {}", known.join(", ")));
            }
        };
        let curved = ["planar", "spherical", "vincenty", "thomas", "andoyer", "karney"];
        one_of("edges", if is_native { &curved } else { &curved[..2] });
        one_of("orientation", &["counterclockwise"]);
        if is_native {
            one_of("algorithm", &curved[1..]);
        }
        let numbers = if is_native { "four, six or eight" } else { "four or six" };
        if self.fields.contains_key("bbox") && self.bbox().is_none_or(|bbox| bbox.len() == 8 && !is_native) {
            out.push(format!("`bbox` is not a list of {numbers} numbers"));
        } else if let Some(bbox) = self.bbox()
            && bbox[1] > bbox[bbox.len() / 2 + 1]
        {
            out.push(format!("`bbox` goes from y {} to {}", bbox[1], bbox[bbox.len() / 2 + 1]));
        }
        if self.fields.get("crs").is_some_and(|crs| !crs.is_object() && !crs.is_null()) {
            out.push("`crs` is neither PROJJSON nor null".to_owned());
        }
        // Everything that PROJJSON describes has a name.
        if let Some(Value::Object(crs)) = self.fields.get("crs")
            && !crs.get("name").is_some_and(Value::is_string)
        {
            out.push("`crs` has no `name`, and so is not PROJJSON".to_owned());
        }
        if self.fields.get("epoch").is_some_and(|epoch| !epoch.is_number()) {
            out.push("`epoch` is not a number".to_owned());
        }
        if let Some(covering) = self.fields.get("covering") {
            let names = ["xmin", "ymin", "xmax", "ymax"];
            let is_right = self.covering().is_some_and(|covering| {
                let paths = [covering.xmin, covering.ymin, covering.xmax, covering.ymax];
                let group = paths[0][0].clone();
                paths.iter().zip(names).all(|(path, name)| path[0] == group && path[1] == name)
            });
            if covering.get("bbox").is_none() {
                out.push("`covering` has no `bbox`".to_owned());
            } else if !is_right {
                out.push("`covering` does not name xmin, ymin, xmax and ymax of one group".to_owned());
            }
        }
        out
    }
}

/// Creates the fields of a column of which only the encoding is known, which is WKB.
pub fn new_column() -> Map<String, Value> {
    let mut fields = Map::new();
    fields.insert("encoding".to_owned(), "WKB".into());
    fields.insert("geometry_types".to_owned(), Value::Array(Vec::new()));
    fields
}

/// Creates the field `covering` for the fields of a group.
pub fn covering_of(group: &str) -> Value {
    json!({"bbox": {
        "xmin": [group, "xmin"], "ymin": [group, "ymin"], "xmax": [group, "xmax"], "ymax": [group, "ymax"],
    }})
}

/// Whether GeoParquet has a kind of this name: points, line strings, polygons, their multi-geometries, and collections.
/// Those with M are in 2.0 only.
///
/// ```
/// use marquetry_geo::geoparquet::is_geometry_type;
/// assert!(is_geometry_type("MultiPolygon Z") && !is_geometry_type("Triangle"));
/// ```
pub fn is_geometry_type(name: &str) -> bool {
    is_type(name, true)
}

fn is_type(name: &str, is_native: bool) -> bool {
    let is_measured = name.ends_with(" M") || name.ends_with(" ZM");
    code_of_name(name).is_some_and(|code| (1..=7).contains(&(code % 1000))) && (is_native || !is_measured)
}
