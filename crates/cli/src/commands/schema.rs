//! `schema`: the file's own, or the Arrow schema it is read as.

use super::heading::title;
use crate::args::InputTables;
use crate::failure::{Failure, Outcome};
use crate::file_name;
use crate::output::Output;
use crate::table_source::TableSource;
use arrow_schema::{Field, Schema as ArrowSchema};
use clap::Args as ClapArgs;
use marquetry::OpenFile;
use marquetry::schema::{Node, NodeKind, Schema};
use marquetry::variant::{Shredding, Shreddings, shreddings_of};
use marquetry_base::Printable;
use marquetry_geo::GeoParquet;
use marquetry_geo::geoparquet::{self, Crs};
use serde_json::{Value, json};
use std::path::Path;

/// The arguments of `schema`.
#[derive(Debug, ClapArgs)]
pub(crate) struct SchemaArgs {
    #[command(flatten)]
    pub(crate) tables: InputTables,
    /// Print the Arrow schema that readers get, instead of the Parquet schema
    #[arg(long)]
    pub(crate) arrow: bool,
}

pub(crate) fn run(args: &SchemaArgs, output: &mut Output, outcome: &mut Outcome) -> Result<(), Failure> {
    let are_several = args.tables.are_several();
    args.tables.for_each(outcome, |path, table| {
        if are_several && !output.is_json() {
            title(path, output)?;
        }
        let arrow = match &table {
            TableSource::File(file) if !args.arrow => {
                let schema = file.metadata().schema();
                return match output.is_json() {
                    true => {
                        let mut tree = tree(path, schema);
                        if let Some(json) =
                            geo(file).and_then(|geo| serde_json::from_str::<Value>(&geo.to_json()).ok())
                        {
                            tree["geo"] = json;
                        }
                        let shreddings = shreddings(file);
                        if !shreddings.is_empty() {
                            let shape = |(column, shape): (&str, &Shredding)| json!({"column": column, "shape": shape.to_string()});
                            tree["shredding"] = shreddings.iter().map(shape).collect();
                        }
                        Ok(output.json(&tree)?)
                    }
                    false => {
                        output.line(schema.to_string())?;
                        for (column, shape) in shreddings(file).iter() {
                            output.line(Printable(&format!("VARIANT {column} shredded as {shape}")).to_string())?;
                        }
                        geo(file).iter().flat_map(geo_lines).try_for_each(|line| Ok(output.line(line)?))
                    }
                };
            }
            TableSource::File(file) => file.schema()?,
            TableSource::Files(files) => files.schema()?,
        };
        match output.is_json() {
            true => Ok(output.json(&arrow_tree(path, &arrow))?),
            false => print_arrow(&arrow, output),
        }
    })
}

/// The shreddings of VARIANT columns.
fn shreddings(file: &OpenFile) -> Shreddings {
    file.schema().map(|schema| shreddings_of(&schema)).unwrap_or_default()
}

/// GeoParquet's metadata of the file, if it can be read.
fn geo(file: &OpenFile) -> Option<GeoParquet> {
    GeoParquet::parse(&file.metadata().value_of(geoparquet::KEY)?).ok()
}

fn geo_lines(geo: &GeoParquet) -> Vec<String> {
    let version = geo.version().unwrap_or("without a version");
    let mut lines = vec![format!("GeoParquet {}", Printable(version))];
    for (name, of) in geo.columns() {
        let crs = match of.crs() {
            Crs::Default => "OGC:CRS84".to_owned(),
            Crs::Unknown => "an unknown reference system".to_owned(),
            crs @ Crs::Projjson(object) => crs.id().unwrap_or_else(|| {
                let name = object.get("name").and_then(Value::as_str);
                name.unwrap_or("a reference system without a name").to_owned()
            }),
        };
        let edges = of.algorithm().unwrap_or(of.edges());
        let mut line = format!("  {name}: {}, {crs}, {edges} edges", of.encoding().unwrap_or("no encoding"));
        if let Some(types) = of.geometry_types() {
            line.push_str(&format!(", {}", types.join(", ")));
        }
        if let Some(covering) = of.covering() {
            line.push_str(&format!(", boxes in {}", covering.xmin[0]));
        }
        if geo.primary_column() == Some(name) {
            line.push_str(" (primary)");
        }
        lines.push(Printable(&line).to_string());
    }
    lines
}

fn tree(path: &Path, schema: &Schema) -> Value {
    let fields: Vec<Value> = schema.fields().iter().map(|field| node(field, schema)).collect();
    json!({"file": file_name::shown(path), "name": schema.name(), "fields": fields})
}

fn node(node: &Node, schema: &Schema) -> Value {
    let logical = node.logical().map(ToString::to_string);
    let (physical, column, fields) = match node.kind() {
        NodeKind::Leaf(leaf) => (Some(schema.column(*leaf).physical().to_string()), Some(*leaf), None),
        NodeKind::Group(fields) => {
            (None, None, Some(fields.iter().map(|field| self::node(field, schema)).collect::<Vec<_>>()))
        }
    };
    json!({
        "name": node.name(),
        "repetition": node.repetition().to_string(),
        "type": physical,
        "logical": logical,
        "field_id": node.field_id(),
        "column": column,
        "fields": fields,
    })
}

fn arrow_tree(path: &Path, schema: &ArrowSchema) -> Value {
    let fields: Vec<Value> = schema.fields().iter().map(|field| arrow_field(field)).collect();
    json!({"file": file_name::shown(path), "metadata": schema.metadata(), "fields": fields})
}

fn arrow_field(field: &Field) -> Value {
    json!({
        "name": field.name(),
        "type": field.data_type().to_string(),
        "nullable": field.is_nullable(),
        "metadata": field.metadata(),
    })
}

fn print_arrow(schema: &ArrowSchema, output: &mut Output) -> Result<(), Failure> {
    for field in schema.fields() {
        let required = if field.is_nullable() { "" } else { " not null" };
        let (name, data_type) = (field.name(), field.data_type().to_string());
        output.line(format!("{}: {}{required}", Printable(name), Printable(&data_type)))?;
    }
    Ok(())
}

/// Text after the options in `--help`.
pub(crate) const SCHEMA_HELP: &str = "\
JSON: {file, name, fields: [{name, repetition, type, logical, field_id, column, fields}]}; `column` is the number of a
leaf column, `fields` are the children of a group. `geo` is the GeoParquet metadata, if there is any. With --arrow:
{file, metadata, fields: [{name, type, nullable, metadata}]}. Directories, and the files that a _metadata names, have
the Arrow schema of their table.

Examples:
  marquetry schema wines.parquet
  marquetry schema warehouse/wines --union-by-name
  marquetry schema --arrow wines.parquet";
