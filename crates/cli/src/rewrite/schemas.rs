//! Compares and unites the schemas of several files.

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
    /// The same fields, in any order and with any ids. What the first has as required may be optional in the other.
    Compatible,
    /// The same, where the first schema stays as it is: what it has as required is required in the other.
    Fitting,
}

/// One field: all that must be the same of it.
#[derive(PartialEq, Clone)]
struct Line {
    path: Vec<String>,
    repetition: Repetition,
    kind: String,
    /// The text below may leave something out.
    logical: Option<LogicalType>,
    /// Kind and annotation in words.
    shown: String,
    field_id: Option<i32>,
}

impl Line {
    /// Whether they differ in no more than field ids, and in what may be null if that is no matter.
    fn is_like(&self, other: &Line, same: Same) -> bool {
        let repetition = match (self.repetition, other.repetition, same) {
            (Repetition::Optional, Repetition::Required, Same::Compatible | Same::Fitting) => true,
            (Repetition::Required, Repetition::Optional, Same::Compatible) => true,
            (ours, theirs, _) => ours == theirs,
        };
        repetition && (&self.path, &self.kind, &self.logical) == (&other.path, &other.kind, &other.logical)
    }
}

/// Which column of `other` each column of `first` is. Fails, saying what differs first, if the schemas are not the same.
///
/// Annotations that mean the same are the same: INT64 is INTEGER(64, signed) whether it says so or not.
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
    // Of columns that have one name, only their places say which is which.
    if same == Same::Exactly {
        return Ok((0..columns.len()).collect());
    }
    let places: HashMap<_, usize> = columns.iter().enumerate().map(|(i, leaf)| (leaf.path(), i)).collect();
    let found = first.columns().iter().map(|leaf| places.get(leaf.path()).copied());
    let found: Option<Vec<usize>> = found.collect();
    // A place that two have is that of one of them.
    let is_each_once = |found: &Vec<usize>| found.iter().collect::<HashSet<_>>().len() == columns.len();
    found.filter(is_each_once).ok_or_else(|| Error::argument("has several columns of the same name"))
}

/// The same, where a difference is the error of the file `name`, and says what would help.
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

/// The first schema, as its footer has it, with a field optional where any of the others has it so. All are
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
    // Fields stand in the footer's list in the order in which they are walked over, behind the root.
    for (element, line) in out.iter_mut().skip(1).zip(self::lines(&first)) {
        if line.repetition == Repetition::Required && optional.contains(line.path.as_slice()) {
            element.repetition_type = Some(format::Repetition::OPTIONAL);
        }
    }
    let schema = Schema::from_thrift(&out, &Limits::default())?;
    Ok((out, schema))
}

/// How optional each field on the way to a leaf is, from the root downwards.
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

/// Whether an annotation says more than the field does without it.
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

/// In words; "here" is the other schema, whose file the error is about.
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

/// Differences that an error has room for.
const SHOWN: usize = 4;
