//! Whether schemas are the same, and what differs.

use marquetry::errors::Error;
use marquetry::schema::{Node, NodeKind, Schema};
use marquetry_core::logical_type::LogicalType;
use std::collections::HashMap;

/// When two schemas are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Same {
    /// The same fields in the same order, with the same ids.
    Exactly,
    /// The same fields, in any order and with any ids.
    InPages,
}

/// One field: all that must be the same of it.
#[derive(PartialEq, Clone)]
struct Line {
    path: Vec<String>,
    what: String,
    /// The text above may leave something out.
    logical: Option<LogicalType>,
    field_id: Option<i32>,
}

/// Which column of `other` each column of `first` is. Fails, saying what differs first, if the schemas are not the same.
pub(crate) fn leaf_map(first: &Schema, other: &Schema, same: Same) -> Result<Vec<usize>, Error> {
    let (ours, theirs) = (lines(first), lines(other));
    let differences = match same {
        Same::Exactly => in_order(&ours, &theirs),
        Same::InPages => by_name(&ours, &theirs),
    };
    if !differences.is_empty() {
        let shown = differences.iter().take(SHOWN).cloned().collect::<Vec<_>>().join("; ");
        let more = match differences.len().saturating_sub(SHOWN) {
            0 => String::new(),
            more => format!("; and {more} more"),
        };
        return Err(Error::argument(format!("has another schema: {shown}{more}")));
    }
    let places: HashMap<_, usize> =
        other.columns().iter().enumerate().map(|(i, leaf)| (leaf.path(), i)).collect();
    let found = first.columns().iter().map(|leaf| places.get(leaf.path()).copied());
    found.collect::<Option<_>>().ok_or_else(|| Error::argument("has several columns of the same name"))
}

fn lines(schema: &Schema) -> Vec<Line> {
    let mut out = Vec::new();
    schema.fields().iter().for_each(|field| add(schema, field, &[], &mut out));
    out
}

fn add(schema: &Schema, node: &Node, above: &[String], out: &mut Vec<Line>) {
    let mut path = above.to_vec();
    path.push(node.name().to_owned());
    let kind = match node.kind() {
        NodeKind::Leaf(leaf) => schema.column(*leaf).physical().to_string(),
        NodeKind::Group(_) => "group".to_owned(),
    };
    let logical = node.logical().map(|logical| format!(" ({logical})")).unwrap_or_default();
    let what = format!("{} {kind}{logical}", node.repetition());
    out.push(Line { path: path.clone(), what, logical: node.logical().cloned(), field_id: node.field_id() });
    if let NodeKind::Group(fields) = node.kind() {
        fields.iter().for_each(|field| add(schema, field, &path, out));
    }
}

fn in_order(ours: &[Line], theirs: &[Line]) -> Vec<String> {
    let longer = ours.len().max(theirs.len());
    let pairs = (0..longer).map(|i| (ours.get(i), theirs.get(i)));
    pairs.filter(|(ours, theirs)| ours != theirs).map(|(ours, theirs)| difference(ours, theirs)).collect()
}

fn by_name(ours: &[Line], theirs: &[Line]) -> Vec<String> {
    let by_path = |lines: &'_ [Line]| -> HashMap<Vec<String>, Line> {
        lines.iter().map(|line| (line.path.clone(), line.clone())).collect()
    };
    let (known, others) = (by_path(ours), by_path(theirs));
    let mut out = Vec::new();
    for line in ours {
        match others.get(&line.path) {
            Some(other) if (&other.what, &other.logical) == (&line.what, &line.logical) => {}
            other => out.push(difference(Some(line), other)),
        }
    }
    let extra = theirs.iter().filter(|line| !known.contains_key(&line.path));
    out.extend(extra.map(|line| difference(None, Some(line))));
    out
}

/// In words; "here" is the other schema, whose file the error is about.
fn difference(first: Option<&Line>, other: Option<&Line>) -> String {
    let id = |line: &Line| line.field_id.map_or("no id".to_owned(), |id| format!("id {id}"));
    match (first, other) {
        (Some(first), Some(other)) if first.path != other.path => {
            format!("{} here, {} in the first file", other.path.join("."), first.path.join("."))
        }
        (Some(first), Some(other)) if first.what == other.what => {
            format!("{} has {} here, {} in the first file", first.path.join("."), id(other), id(first))
        }
        (Some(first), Some(other)) => {
            format!("{} is {} here, {} in the first file", first.path.join("."), other.what, first.what)
        }
        (Some(first), None) => format!("{} is missing", first.path.join(".")),
        (None, Some(other)) => format!("{} is not in the first file", other.path.join(".")),
        (None, None) => String::new(),
    }
}

/// Differences that an error has room for.
const SHOWN: usize = 4;
