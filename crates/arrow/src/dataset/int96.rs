//! The units of INT96 timestamps that hold those of all files, each column's own.

use super::Dataset;
use super::choice::Choice;
use crate::arrow_reader::{Int96Unit, Int96Units, ProjectionMask};
use crate::evolution::MatchBy;
use arrow_schema::TimeUnit;
use marquetry_base::Result;
use marquetry_core::nesting::{FieldKind, NestedField};
use marquetry_core::schema::{Leaf, Schema as ParquetSchema};
use marquetry_encoding::PhysicalType;
use std::collections::HashMap;

/// The units of a table's columns, where nanoseconds do not hold those of all files.
pub(super) struct TableUnits {
    by: MatchBy,
    units: HashMap<Vec<Step>, TimeUnit>,
}

/// What leads from a field to one within.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Step {
    Name(String),
    Id(i32),
    /// The element of a list, and the key and the value of a map: files have several names for them.
    Element,
    Part(usize),
}

impl TableUnits {
    pub(super) fn new(by: MatchBy) -> Self {
        TableUnits { by, units: HashMap::new() }
    }

    /// Adds those of a file.
    pub(super) fn add(&mut self, schema: &ParquetSchema, units: &Int96Units) {
        if units.is_empty() {
            return;
        }
        for (leaf, column) in int96_columns(schema, self.by) {
            if let Some(unit) = units.unit_of(leaf) {
                let known = self.units.entry(column).or_insert(unit);
                // They are ordered from coarse to fine.
                *known = unit.min(*known);
            }
        }
    }

    /// Those of a file's columns.
    pub(super) fn of_file(&self, schema: &ParquetSchema) -> Int96Units {
        let mut out = Int96Units::default();
        if self.units.is_empty() {
            return out;
        }
        for (leaf, column) in int96_columns(schema, self.by) {
            if let Some(unit) = self.units.get(&column) {
                out.coarsen(leaf, *unit);
            }
        }
        out
    }
}

/// The INT96 columns of a file, and what they are in any file of the table.
fn int96_columns(schema: &ParquetSchema, by: MatchBy) -> Vec<(&Leaf, Vec<Step>)> {
    let mut out = Vec::new();
    for field in NestedField::from_schema(schema) {
        add_columns(&field, step(&field, by), schema, by, &mut Vec::new(), &mut out);
    }
    out
}

fn add_columns<'a>(
    field: &NestedField,
    step: Step,
    schema: &'a ParquetSchema,
    by: MatchBy,
    above: &mut Vec<Step>,
    out: &mut Vec<(&'a Leaf, Vec<Step>)>,
) {
    above.push(step);
    match &field.kind {
        FieldKind::Leaf(number) => {
            let leaf = schema.column(*number);
            if is_int96(leaf) {
                out.push((leaf, above.clone()));
            }
        }
        FieldKind::Struct(fields) => {
            for field in fields {
                add_columns(field, self::step(field, by), schema, by, above, out);
            }
        }
        FieldKind::List(element) => add_columns(element, Step::Element, schema, by, above, out),
        FieldKind::Map(entries) => match &entries.kind {
            FieldKind::Struct(parts) => {
                for (place, part) in parts.iter().enumerate() {
                    add_columns(part, Step::Part(place), schema, by, above, out);
                }
            }
            _ => add_columns(entries, Step::Element, schema, by, above, out),
        },
    }
    above.pop();
}

fn step(field: &NestedField, by: MatchBy) -> Step {
    match (by, field.field_id) {
        (MatchBy::NameIgnoringCase, _) => Step::Name(field.name.to_lowercase()),
        (MatchBy::FieldId, Some(id)) => Step::Id(id),
        _ => Step::Name(field.name.to_string()),
    }
}

fn is_int96(leaf: &Leaf) -> bool {
    leaf.physical() == PhysicalType::Int96
}

impl Choice {
    /// The chosen INT96 columns, if there are any in a file and the options ask for units that fit those of all files.
    pub(super) fn has_int96(&self, schema: &ParquetSchema) -> Option<ProjectionMask> {
        let has_any = self.options.int96 == Int96Unit::Auto && schema.columns().iter().any(is_int96);
        has_any.then(|| match &self.columns {
            Some(columns) => ProjectionMask::columns(schema, columns.iter().map(String::as_str)),
            None => ProjectionMask::all(),
        })
    }
}

impl Dataset {
    /// The units of INT96 timestamps: those that hold all files, if the options ask for that and there are any.
    pub(super) fn int96(&self) -> Result<TableUnits> {
        let choice = &self.choice;
        let mut units = TableUnits::new(choice.by);
        if choice.options.int96 != Int96Unit::Auto {
            return Ok(units);
        }
        for file in &choice.files {
            let builder = self.builder(file)?;
            match choice.has_int96(builder.parquet_schema()) {
                Some(mask) => {
                    let builder = builder.with_projection(mask);
                    let fitting = builder.fitting_int96().map_err(|error| error.in_file(file.name()))?;
                    units.add(builder.parquet_schema(), &fitting);
                }
                // Where the first file has none and decides, none is read.
                None if choice.union => {}
                None => break,
            }
        }
        Ok(units)
    }
}
