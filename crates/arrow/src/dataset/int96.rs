//! The units of INT96 timestamps that hold the values of all files, for each column.

use super::Dataset;
use super::choice::Choice;
use crate::arrow_reader::{Int96Unit, Int96Units, ProjectionMask};
use crate::evolution::MatchBy;
use arrow_schema::TimeUnit;
use marquetry_base::Result;
use marquetry_core::nesting::{FieldKind, NestedField};
use marquetry_core::schema::{Leaf, Schema as ParquetSchema};
use marquetry_encoding::PhysicalType;
use std::collections::{HashMap, HashSet};

/// The units of a table's columns that nanoseconds are too fine for.
pub(super) struct TableUnits {
    by: MatchBy,
    units: HashMap<Vec<Step>, TimeUnit>,
    /// The chosen columns, by their paths in any file. Set if files may name them differently than the table does.
    chosen: HashSet<Vec<Step>>,
}

/// A step from a field to one inside it.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Step {
    Name(String),
    Id(i32),
    /// The element of a list, or the key or value of a map: files name them differently.
    Element,
    Part(usize),
}

impl TableUnits {
    pub(super) fn new(by: MatchBy) -> Self {
        TableUnits { by, units: HashMap::new(), chosen: HashSet::new() }
    }

    /// Adds the units of a file.
    pub(super) fn add(&mut self, schema: &ParquetSchema, units: &Int96Units) {
        if units.is_empty() {
            return;
        }
        for (number, column) in int96_columns(schema, self.by) {
            if let Some(unit) = units.unit_of(schema.column(number)) {
                let known = self.units.entry(column).or_insert(unit);
                // Units are ordered from coarse to fine.
                *known = unit.min(*known);
            }
        }
    }

    /// Returns the units of a file's columns.
    pub(super) fn of_file(&self, schema: &ParquetSchema) -> Int96Units {
        let mut out = Int96Units::default();
        if self.units.is_empty() {
            return out;
        }
        for (number, column) in int96_columns(schema, self.by) {
            if let Some(unit) = self.units.get(&column) {
                out.coarsen(schema.column(number), *unit);
            }
        }
        out
    }
}

/// Returns the numbers of a file's INT96 columns, and their paths in any file of the table.
fn int96_columns(schema: &ParquetSchema, by: MatchBy) -> impl Iterator<Item = (usize, Vec<Step>)> {
    columns(schema, by).into_iter().filter(move |(number, _)| is_int96(schema.column(*number)))
}

/// Like [`int96_columns`], for all columns.
fn columns(schema: &ParquetSchema, by: MatchBy) -> Vec<(usize, Vec<Step>)> {
    let mut out = Vec::new();
    for field in NestedField::from_schema(schema) {
        add_columns(&field, step(&field, by), by, &mut Vec::new(), &mut out);
    }
    out
}

fn add_columns(
    field: &NestedField,
    step: Step,
    by: MatchBy,
    above: &mut Vec<Step>,
    out: &mut Vec<(usize, Vec<Step>)>,
) {
    above.push(step);
    match &field.kind {
        FieldKind::Leaf(number) => out.push((*number, above.clone())),
        FieldKind::Struct(fields) => {
            for field in fields {
                add_columns(field, self::step(field, by), by, above, out);
            }
        }
        FieldKind::List(element) => add_columns(element, Step::Element, by, above, out),
        FieldKind::Map(entries) => match &entries.kind {
            FieldKind::Struct(parts) => {
                for (place, part) in parts.iter().enumerate() {
                    add_columns(part, Step::Part(place), by, above, out);
                }
            }
            _ => add_columns(entries, Step::Element, by, above, out),
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

impl TableUnits {
    /// Returns the chosen columns of the next file. `named` are its columns with chosen names: the first file that has
    /// such a name decides which column it means.
    fn chosen(&mut self, schema: &ParquetSchema, named: &ProjectionMask) -> ProjectionMask {
        let all = columns(schema, self.by);
        let is_named = |(number, _): &&(usize, Vec<Step>)| named.leaf_included(*number);
        self.chosen.extend(all.iter().filter(is_named).map(|(_, column)| column.clone()));
        let chosen = all.iter().filter(|(_, column)| self.chosen.contains(column));
        ProjectionMask::leaves(schema, chosen.map(|(number, _)| *number))
    }
}

impl Choice {
    /// Returns the chosen columns of the next file, if it has INT96 columns and the options request units that fit all files.
    pub(super) fn has_int96(&self, schema: &ParquetSchema, units: &mut TableUnits) -> Option<ProjectionMask> {
        if self.options.int96 != Int96Unit::Auto {
            return None;
        }
        let mask = self.columns.as_ref().map_or_else(ProjectionMask::all, |columns| {
            let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
            let named = ProjectionMask::of_names(schema, &columns).0;
            match self.by {
                MatchBy::Name => named,
                MatchBy::NameIgnoringCase | MatchBy::FieldId => units.chosen(schema, &named),
            }
        });
        schema.columns().iter().any(is_int96).then_some(mask)
    }
}

impl Dataset {
    /// Returns the units of INT96 timestamps that hold the values of all files, if the options request it and there are any.
    pub(super) fn int96(&self) -> Result<TableUnits> {
        let choice = &self.choice;
        let mut units = TableUnits::new(choice.by);
        if choice.options.int96 != Int96Unit::Auto {
            return Ok(units);
        }
        for (i, file) in choice.files.iter().enumerate() {
            let builder = self.builder(file)?;
            match choice.has_int96(builder.parquet_schema(), &mut units) {
                Some(mask) => {
                    let builder = builder.with_projection(mask);
                    let fitting = builder.fitting_int96().map_err(|error| error.in_file(file.name()))?;
                    units.add(builder.parquet_schema(), &fitting);
                }
                // If the first file alone decides the schema and has no INT96 column, none is read.
                None if i == 0 && !choice.union => break,
                None => {}
            }
        }
        Ok(units)
    }
}
