//! Compares and merges the schemas of several files.

use marquetry::errors::{Error, Limits, Result};
use marquetry::internals::encoding::PhysicalType;
use marquetry::internals::format::{self, SchemaElement};
use marquetry::schema::{Node, NodeKind, Repetition, Schema};
use marquetry_core::logical_type::LogicalType;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// When two schemas are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Same {
    /// The same fields in the same order, with the same ids.
    Exactly,
    /// The same fields, in any order and with any ids. Fields that are required in the first may be optional in the other.
    Compatible,
    /// The same fields, if the first schema stays as it is: its required fields must be required in the other.
    Fitting,
}

/// A field, with everything that is compared.
#[derive(PartialEq, Clone)]
struct Line {
    path: Vec<String>,
    repetition: Repetition,
    kind: String,
    /// The text below may leave a part of it out.
    logical: Option<LogicalType>,
    /// Kind and annotation as text.
    shown: String,
    field_id: Option<i32>,
}

impl Line {
    /// Whether two fields differ only in field ids, and in nullability as far as `same` allows.
    fn is_like(&self, other: &Line, same: Same) -> bool {
        let repetition = match (self.repetition, other.repetition, same) {
            (Repetition::Optional, Repetition::Required, Same::Compatible | Same::Fitting) => true,
            (Repetition::Required, Repetition::Optional, Same::Compatible) => true,
            (ours, theirs, _) => ours == theirs,
        };
        repetition && (&self.path, &self.kind, &self.logical) == (&other.path, &other.kind, &other.logical)
    }
}

/// The column of `other` for each column of `first`. Fails with the first differences if the schemas are not the same.
///
/// Annotations with the same meaning are equal: an INT64 may or may not be annotated as INTEGER(64, signed).
pub(crate) fn leaf_map(first: &Schema, other: &Schema, same: Same) -> Result<Vec<usize>> {
    let (ours, theirs) = (lines(first), lines(other));
    let differences = match same {
        Same::Exactly => in_order(&ours, &theirs),
        Same::Compatible | Same::Fitting => by_name(&ours, &theirs, same),
    };
    if !differences.is_empty() {
        let shown = differences.iter().take(SHOWN).cloned().collect::<Vec<_>>().join("; ");
        let more = match differences.len().saturating_sub(SHOWN) {
            0 => String::new(),
            more => format!("; and {more} more"),
        };
        return Err(Error::argument(format!("has another schema: {shown}{more}")));
    }
    let columns = other.columns();
    // Columns with the same name are only distinguished by position.
    if same == Same::Exactly {
        return Ok((0..columns.len()).collect());
    }
    let places: HashMap<_, usize> = columns.iter().enumerate().map(|(i, leaf)| (leaf.path(), i)).collect();
    let found = first.columns().iter().map(|leaf| places.get(leaf.path()).copied());
    let found: Option<Vec<usize>> = found.collect();
    // A position must not be used twice.
    let is_each_once = |found: &Vec<usize>| found.iter().collect::<HashSet<_>>().len() == columns.len();
    found.filter(is_each_once).ok_or_else(|| Error::argument("has several columns of the same name"))
}

/// As [`leaf_map`], with an error that names the file `name` and a solution.
pub(crate) fn leaf_map_of_file(
    first: &Schema,
    other: &Schema,
    same: Same,
    name: String,
) -> Result<Vec<usize>> {
    leaf_map(first, other, same).map_err(|error| {
        let would_do = |wider| leaf_map(first, other, wider).is_ok();
        let hint = match same {
            Same::Exactly if would_do(Same::Fitting) => "; --compatible would take it",
            Same::Exactly if would_do(Same::Compatible) => "; merge --compatible would take it",
            Same::Fitting if would_do(Same::Compatible) => {
                "; merge --compatible makes a file of both in which it is optional"
            }
            _ => "; pages are copied as they are: marquetry convert encodes the rows of several files as one table",
        };
        Error::argument(format!("{}{hint}", error.message())).in_file(name)
    })
}

/// The first schema as in its footer, with fields optional that are optional in any of the others. All are
/// [compatible](Same::Compatible) with it.
pub(crate) fn unified(
    elements: &[SchemaElement],
    others: &[&Schema],
) -> Result<(Vec<SchemaElement>, Schema)> {
    let mut out = elements.to_vec();
    let lines: Vec<Vec<Line>> = others.iter().map(|schema| lines(schema)).collect();
    let is_optional = |line: &&Line| line.repetition == Repetition::Optional;
    let optional: HashSet<&[String]> =
        lines.iter().flatten().filter(is_optional).map(|line| line.path.as_slice()).collect();
    let first = Schema::from_thrift(elements, &Limits::default())?;
    // The footer lists fields in the order of a walk over the tree, after the root.
    for (element, line) in out.iter_mut().skip(1).zip(self::lines(&first)) {
        if line.repetition == Repetition::Required && optional.contains(line.path.as_slice()) {
            element.repetition_type = Some(format::Repetition::OPTIONAL);
        }
    }
    let schema = Schema::from_thrift(&out, &Limits::default())?;
    Ok((out, schema))
}

/// The repetition of each field on the path to a leaf, from the root downwards.
pub(crate) fn repetitions(schema: &Schema, leaf: usize) -> Vec<Repetition> {
    let mut out = Vec::new();
    let mut fields = schema.fields();
    let path: &[Arc<str>] = schema.column(leaf).path();
    for name in path {
        let Some(field) = fields.iter().find(|field| field.name() == &**name) else { break };
        out.push(field.repetition());
        fields = match field.kind() {
            NodeKind::Group(fields) => fields,
            NodeKind::Leaf(_) => &[],
        };
    }
    out
}

fn lines(schema: &Schema) -> Vec<Line> {
    let mut out = Vec::new();
    schema.fields().iter().for_each(|field| add(schema, field, &[], &mut out));
    out
}

fn add(schema: &Schema, node: &Node, above: &[String], out: &mut Vec<Line>) {
    let mut path = above.to_vec();
    path.push(node.name().to_owned());
    let physical = match node.kind() {
        NodeKind::Leaf(leaf) => Some(schema.column(*leaf).physical()),
        NodeKind::Group(_) => None,
    };
    let kind = physical.map_or("group".to_owned(), |physical| physical.to_string());
    let annotation = node.logical().map(|logical| format!(" ({logical})")).unwrap_or_default();
    out.push(Line {
        path: path.clone(),
        repetition: node.repetition(),
        shown: format!("{kind}{annotation}"),
        kind,
        logical: node.logical().filter(|logical| says_more(logical, physical, node.repetition())).cloned(),
        field_id: node.field_id(),
    });
    if let NodeKind::Group(fields) = node.kind() {
        fields.iter().for_each(|field| add(schema, field, &path, out));
    }
}

/// Whether an annotation adds meaning to the field.
fn says_more(logical: &LogicalType, physical: Option<PhysicalType>, repetition: Repetition) -> bool {
    match (logical, physical) {
        (LogicalType::Integer { bits: 32, signed: true }, Some(PhysicalType::Int32)) => false,
        (LogicalType::Integer { bits: 64, signed: true }, Some(PhysicalType::Int64)) => false,
        // QUIRK: parquet-mr annotates the entries of maps.
        (LogicalType::MapKeyValue, None) => repetition != Repetition::Repeated,
        _ => true,
    }
}

fn in_order(ours: &[Line], theirs: &[Line]) -> Vec<String> {
    let longer = ours.len().max(theirs.len());
    let pairs = (0..longer).map(|i| (ours.get(i), theirs.get(i)));
    let is_same =
        |ours: &Line, theirs: &Line| ours.is_like(theirs, Same::Exactly) && ours.field_id == theirs.field_id;
    let differ = |pair: &(Option<&Line>, Option<&Line>)| !matches!(pair, (Some(ours), Some(theirs)) if is_same(ours, theirs));
    pairs.filter(differ).map(|(ours, theirs)| difference(ours, theirs)).collect()
}

fn by_name(ours: &[Line], theirs: &[Line], same: Same) -> Vec<String> {
    let by_path = |lines: &'_ [Line]| -> HashMap<Vec<String>, Line> {
        lines.iter().map(|line| (line.path.clone(), line.clone())).collect()
    };
    let (known, others) = (by_path(ours), by_path(theirs));
    let mut out = Vec::new();
    for line in ours {
        match others.get(&line.path) {
            Some(other) if line.is_like(other, same) => {}
            other => out.push(difference(Some(line), other)),
        }
    }
    let extra = theirs.iter().filter(|line| !known.contains_key(&line.path));
    out.extend(extra.map(|line| difference(None, Some(line))));
    out
}

/// A difference as text; "here" is the other schema, whose file the error is about.
fn difference(first: Option<&Line>, other: Option<&Line>) -> String {
    let what = |line: &Line| format!("{} {}", line.repetition, line.shown);
    let id = |line: &Line| line.field_id.map_or("no id".to_owned(), |id| format!("id {id}"));
    match (first, other) {
        (Some(first), Some(other)) if first.path != other.path => {
            format!("{} here, {} in the first file", other.path.join("."), first.path.join("."))
        }
        (Some(first), Some(other)) if first.is_like(other, Same::Exactly) => {
            format!("{} has {} here, {} in the first file", first.path.join("."), id(other), id(first))
        }
        (Some(first), Some(other)) => {
            let (name, here, there) = (first.path.join("."), what(other), what(first));
            format!("{name} is {here} here, {there} in the first file")
        }
        (Some(first), None) => format!("{} is missing", first.path.join(".")),
        (None, Some(other)) => format!("{} is not in the first file", other.path.join(".")),
        (None, None) => String::new(),
    }
}

/// Maximum number of differences in an error.
const SHOWN: usize = 4;
