//! Checks columns of FILE: their groups, and whether their values lead to bytes, as far as these are in the file.

use crate::context::VerifyContext;
use crate::display::display_name;
use crate::findings::Findings;
use crate::rule::{Level, Rule, Severity, rule};
use crate::slots::{BytesColumn, bytes, child, is_valid, levels, read_slots};
use marquetry_base::{ErrorLocation, Result};
use marquetry_core::logical_type::LogicalType;
use marquetry_core::nesting::{FieldKind, NestedField};
use marquetry_core::read::ColumnBatch;
use marquetry_core::schema::{Node, NodeKind, Repetition, Schema};
use marquetry_encoding::{PhysicalType, Values};
use marquetry_file_refs::{FileAccess, FileRef, Location};
use std::collections::BTreeMap;

const GROUP: Rule = rule(
    "file-group",
    Severity::Invalid,
    Level::Quick,
    "FILE is a group of optional fields that the format names, of its types, and has uri, offset or inline",
    "LogicalTypes.md, FILE",
);
const VALUE: Rule = rule(
    "file-value",
    Severity::Invalid,
    Level::Deep,
    "Values of FILE lead to bytes: inline ones, those of a URI, or a range that the file has; checksums have a form",
    "LogicalTypes.md, FILE, Resolution, Validation",
);
const CHECKSUM: Rule = rule(
    "file-checksum",
    Severity::Corrupt,
    Level::Deep,
    "What values of FILE refer to in the file itself has the checksum that they say",
    "LogicalTypes.md, FILE, checksum",
);

pub(crate) const RULES: &[Rule] = &[GROUP, VALUE, CHECKSUM];

/// Checks the groups of all FILE columns.
pub(crate) fn check_schema(file: &VerifyContext, findings: &mut Findings) {
    let schema = file.metadata.schema();
    schema.fields().iter().for_each(|field| check_node(schema, field, &mut Vec::new(), findings));
}

fn check_node<'a>(schema: &Schema, node: &'a Node, path: &mut Vec<&'a str>, findings: &mut Findings) {
    let NodeKind::Group(fields) = node.kind() else { return };
    path.push(node.name());
    if node.logical() == Some(&LogicalType::File) {
        let place = ErrorLocation::default().with_column(path.join("."));
        for wrong in fields.iter().filter_map(|field| wrong_field(schema, field)) {
            findings.add(&GROUP, place.clone(), || wrong);
        }
        if !fields.iter().any(|field| matches!(field.name(), "uri" | "offset" | "inline")) {
            findings.add(&GROUP, place, || "there is neither uri nor offset nor inline".to_owned());
        }
    }
    fields.iter().for_each(|field| check_node(schema, field, path, findings));
    path.pop();
}

fn wrong_field(schema: &Schema, field: &Node) -> Option<String> {
    let name = field.name();
    let NodeKind::Leaf(leaf) = field.kind() else {
        return Some(format!("{} is a group", display_name(name)));
    };
    let leaf = schema.column(*leaf);
    let (physical, is_text) = match name {
        "uri" | "content_type" | "checksum" => (PhysicalType::ByteArray, true),
        "offset" | "size" => (PhysicalType::Int64, false),
        "inline" => (PhysicalType::ByteArray, false),
        other => return Some(format!("a field is called {}", display_name(other))),
    };
    let fits = match leaf.logical() {
        None => !is_text,
        Some(LogicalType::String) => is_text,
        Some(LogicalType::Integer { bits: 64, signed: true }) => physical == PhysicalType::Int64,
        Some(_) => false,
    };
    if leaf.physical() != physical || !fits {
        return Some(format!("{name} is not of the type that it should be"));
    }
    (field.repetition() != Repetition::Optional).then(|| format!("{name} is {}", field.repetition()))
}

/// Checks the FILE values of a row group, at level `Deep`.
pub(crate) fn check(file: &VerifyContext, row_group: usize, findings: &mut Findings) {
    if file.level < Level::Deep {
        return;
    }
    for root in &NestedField::from_schema(file.metadata.schema()) {
        find(root, &mut Vec::new(), &mut |field, path| {
            let place = ErrorLocation::default().with_row_group(row_group).with_column(path.join("."));
            if let Err(error) = check_column(file, row_group, root, field, &place, findings) {
                // Columns that cannot be read have other findings.
                if error.stops_reading() {
                    findings.add_error(&VALUE, place, error);
                }
            }
        });
    }
}

/// Calls `visit` for each FILE at or below a field, with the names that lead there.
fn find<'a>(
    field: &'a NestedField,
    path: &mut Vec<&'a str>,
    visit: &mut dyn FnMut(&'a NestedField, &[&'a str]),
) {
    path.push(&field.name);
    match &field.kind {
        FieldKind::Struct(_) if field.logical == Some(LogicalType::File) => visit(field, path),
        FieldKind::Struct(fields) => fields.iter().for_each(|field| find(field, path, visit)),
        FieldKind::List(child) | FieldKind::Map(child) => find(child, path, visit),
        FieldKind::Leaf(_) => {}
    }
    path.pop();
}

fn check_column(
    file: &VerifyContext,
    row_group: usize,
    root: &NestedField,
    field: &NestedField,
    place: &ErrorLocation,
    findings: &mut Findings,
) -> Result<()> {
    let access = FileAccess::none().with_own_file(file.source.clone());
    let what = if field.rep == 0 { "row" } else { "value" };
    let mut first = 0;
    read_slots(file, row_group, root, field, |batches| {
        let Some(columns) = Columns::new(field, batches) else { return Ok(false) };
        for slot in (0..columns.len).filter(|slot| is_valid(columns.present.as_ref(), *slot)) {
            file.limits.cancel.check()?;
            let reference = columns.get(slot);
            let at = first + slot;
            if let Err(error) = reference.check() {
                findings.add(&VALUE, place.clone(), || format!("{what} {at}: {}", error.message()));
                continue;
            }
            // Other files are not opened.
            if matches!(reference.location(), Ok(Location::Uri { .. })) {
                continue;
            }
            match access.open(&reference) {
                Err(error) => {
                    findings.add(&VALUE, place.clone(), || format!("{what} {at}: {}", error.message()));
                }
                Ok(_) if reference.checksum.is_none() => {}
                Ok(mut bytes) => loop {
                    match bytes.next_part() {
                        Ok(part) if part.is_empty() => break,
                        Ok(_) => {}
                        Err(error) if error.stops_reading() => return Err(error),
                        Err(error) => {
                            findings.add(&CHECKSUM, place.clone(), || {
                                format!("{what} {at}: {}", error.message())
                            });
                            break;
                        }
                    }
                },
            }
        }
        first += columns.len;
        Ok(true)
    })
}

/// The fields of a FILE column, by slot.
struct Columns<'a> {
    present: Option<marquetry_encoding::Bitmap>,
    len: usize,
    texts: [Option<BytesColumn<'a>>; 3],
    numbers: [Option<&'a ColumnBatch>; 2],
    inline: Option<BytesColumn<'a>>,
}

impl<'a> Columns<'a> {
    /// Returns `None` if none of its columns was read.
    fn new(field: &NestedField, batches: &'a BTreeMap<usize, ColumnBatch>) -> Option<Self> {
        let FieldKind::Struct(fields) = &field.kind else { return None };
        let leaf = |name: &str| match child(fields, name).map(|field| &field.kind) {
            Some(FieldKind::Leaf(leaf)) => Some(*leaf),
            _ => None,
        };
        let levels = levels(field, batches)?;
        Some(Columns {
            present: levels.slots().validity(field),
            len: levels.slots().count(field),
            texts: ["uri", "content_type", "checksum"].map(|name| bytes(batches, leaf(name)?)),
            numbers: ["offset", "size"].map(|name| batches.get(&leaf(name)?)),
            inline: leaf("inline").and_then(|leaf| bytes(batches, leaf)),
        })
    }

    fn get(&self, slot: usize) -> FileRef<'a> {
        let text = |column: &Option<BytesColumn<'a>>| {
            // Other rules report text that is not UTF-8.
            column.as_ref().and_then(|column| std::str::from_utf8(column.get(slot)?).ok())
        };
        let number = |column: &Option<&'a ColumnBatch>| {
            let column = column.filter(|column| is_valid(column.validity.as_ref(), slot))?;
            match &column.values {
                Values::W64(words) => words.get(slot).map(|word| *word as i64),
                _ => None,
            }
        };
        let [uri, content_type, checksum] = self.texts.each_ref().map(text);
        let [offset, size] = self.numbers.each_ref().map(number);
        let inline = self.inline.as_ref().and_then(|column| column.get(slot));
        FileRef { uri, offset, size, content_type, checksum, inline }
    }
}
