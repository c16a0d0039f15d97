//! Checks the values of VARIANT: their bytes, and where those of shredded columns are stored.

use crate::context::VerifyContext;
use crate::display::display_name;
use crate::findings::Findings;
use crate::rule::{Level, Rule, Severity, rule};
use crate::slots::{BytesColumn, bytes, child, is_valid, levels, read_slots};
use marquetry_base::{ErrorLocation, Printable, Result};
use marquetry_core::logical_type::LogicalType;
use marquetry_core::nesting::{FieldKind, ListOffsets, NestedField};
use marquetry_core::read::ColumnBatch;
use marquetry_encoding::Bitmap;
use marquetry_variant::{Metadata, Path, Step, Value, Variant};
use std::collections::BTreeMap;

const METADATA: Rule = rule(
    "variant-metadata",
    Severity::Invalid,
    Level::Deep,
    "The metadata of a VARIANT is a dictionary of names, in order if it says so",
    "VariantEncoding.md, Metadata encoding",
);
const VALUE: Rule = rule(
    "variant-value",
    Severity::Invalid,
    Level::Deep,
    "Values of a VARIANT are of known types, with names, offsets and texts that are legal",
    "VariantEncoding.md, Value encoding",
);
const RESIDUAL: Rule = rule(
    "variant-residual",
    Severity::Invalid,
    Level::Deep,
    "Beside a typed_value, value has an object's other fields, and nothing else",
    "VariantShredding.md, Value Shredding, Objects",
);
const MISSING: Rule = rule(
    "variant-missing",
    Severity::Suspicious,
    Level::Deep,
    "Of a VARIANT, and of the elements of its arrays, value or typed_value is there: only fields are missing",
    "VariantShredding.md, Value Shredding",
);

pub(crate) const RULES: &[Rule] = &[METADATA, VALUE, RESIDUAL, MISSING];

/// Checks the VARIANT columns of a row group, at level `Deep`.
pub(crate) fn check(file: &VerifyContext, row_group: usize, findings: &mut Findings) {
    if file.level < Level::Deep {
        return;
    }
    for root in &NestedField::from_schema(file.metadata.schema()) {
        find(root, &mut |variant| {
            if let Err(error) = check_column(file, row_group, root, variant, findings) {
                // Columns that cannot be read have other findings.
                if error.stops_reading() {
                    findings.add_error(&VALUE, ErrorLocation::default().with_row_group(row_group), error);
                }
            }
        });
    }
}

/// Calls `visit` for each VARIANT at or below a field.
fn find<'a>(field: &'a NestedField, visit: &mut dyn FnMut(&'a NestedField)) {
    match &field.kind {
        FieldKind::Struct(_) if matches!(field.logical, Some(LogicalType::Variant { .. })) => visit(field),
        FieldKind::Struct(fields) => fields.iter().for_each(|field| find(field, visit)),
        FieldKind::List(child) | FieldKind::Map(child) => find(child, visit),
        FieldKind::Leaf(_) => {}
    }
}

fn check_column(
    file: &VerifyContext,
    row_group: usize,
    root: &NestedField,
    variant: &NestedField,
    findings: &mut Findings,
) -> Result<()> {
    let FieldKind::Struct(fields) = &variant.kind else { return Ok(()) };
    let Some(&NestedField { kind: FieldKind::Leaf(metadata), .. }) = child(fields, "metadata") else {
        return Ok(());
    };
    let path = file.leaf(metadata).path();
    let column = path[..path.len() - 1].join(".");
    let place = ErrorLocation::default().with_row_group(row_group).with_column(column);
    let what = if variant.rep == 0 { "row" } else { "value" };
    let mut first = 0;
    read_slots(file, row_group, root, variant, |batches| {
        let (Some(metadata), Some(group)) = (bytes(batches, metadata), Group::new(variant, batches)?) else {
            return Ok(false);
        };
        Checks { findings, place: &place, what, first, slot: 0, path: Vec::new() }.batch(&metadata, &group);
        first += metadata.views.len();
        Ok(true)
    })
}

/// A `value` and its `typed_value`, by slot.
struct Group<'a> {
    present: Option<Bitmap>,
    value: Option<BytesColumn<'a>>,
    typed: Option<Typed<'a>>,
}

struct Typed<'a> {
    validity: Option<Bitmap>,
    kind: TypedKind<'a>,
}

enum TypedKind<'a> {
    Primitive,
    Object(BTreeMap<&'a str, Group<'a>>),
    Array(ListOffsets, Box<Group<'a>>),
}

impl<'a> Group<'a> {
    /// Returns `None` if the group is malformed, which rules on the schema report.
    fn new(field: &'a NestedField, batches: &'a BTreeMap<usize, ColumnBatch>) -> Result<Option<Self>> {
        let FieldKind::Struct(fields) = &field.kind else { return Ok(None) };
        let Some(levels) = levels(field, batches) else { return Ok(None) };
        let value = match child(fields, "value").map(|value| &value.kind) {
            Some(FieldKind::Leaf(leaf)) => bytes(batches, *leaf),
            _ => None,
        };
        let typed = match child(fields, "typed_value") {
            None => None,
            Some(typed) => match Typed::new(typed, batches)? {
                None => return Ok(None),
                typed => typed,
            },
        };
        let has_any = value.is_some() || typed.is_some();
        Ok(has_any.then(|| Group { present: levels.slots().validity(field), value, typed }))
    }
}

impl<'a> Typed<'a> {
    fn new(field: &'a NestedField, batches: &'a BTreeMap<usize, ColumnBatch>) -> Result<Option<Self>> {
        let Some(levels) = levels(field, batches) else { return Ok(None) };
        let (validity, kind) = match &field.kind {
            FieldKind::Leaf(_) => (levels.validity.clone(), TypedKind::Primitive),
            FieldKind::Struct(fields) => {
                let mut groups = BTreeMap::new();
                for field in fields {
                    let Some(group) = Group::new(field, batches)? else { return Ok(None) };
                    groups.insert(&*field.name, group);
                }
                (levels.slots().validity(field), TypedKind::Object(groups))
            }
            FieldKind::List(element) => {
                let list = levels.slots().list(field, element)?;
                let Some(group) = Group::new(element, batches)? else { return Ok(None) };
                (list.validity().cloned(), TypedKind::Array(list, Box::new(group)))
            }
            FieldKind::Map(_) => return Ok(None),
        };
        Ok(Some(Typed { validity, kind }))
    }
}

struct Checks<'f, 'a> {
    findings: &'f mut Findings,
    place: &'f ErrorLocation,
    /// The word for slots of the column in messages.
    what: &'static str,
    /// Number of slots before those of the batch.
    first: usize,
    /// The slot of the column that is checked.
    slot: usize,
    /// The position inside its value.
    path: Vec<Inside<'a>>,
}

/// A step into a value.
#[derive(Clone, Copy)]
enum Inside<'a> {
    Field(&'a str),
    Elements,
}

impl<'a> Checks<'_, 'a> {
    fn add(&mut self, rule: &Rule, message: impl FnOnce() -> String) {
        let (what, at, path) = (self.what, self.first + self.slot, &self.path);
        self.findings.add(rule, self.place.clone(), || match path.is_empty() {
            true => format!("{what} {at}: {}", message()),
            false => {
                let steps = path.iter().map(|step| match step {
                    Inside::Field(name) => Step::Field((*name).to_owned()),
                    Inside::Elements => Step::AllElements,
                });
                let path = Path::new(steps.collect()).to_string();
                format!("{what} {at}, in {}: {}", Printable(&path), message())
            }
        });
    }

    fn batch(&mut self, metadata: &BytesColumn<'_>, group: &Group<'a>) {
        let mut known: Option<&[u8]> = None;
        for slot in 0..metadata.views.len() {
            self.slot = slot;
            let Some(names) = metadata.get(slot).filter(|_| is_valid(group.present.as_ref(), slot)) else {
                continue;
            };
            // Most rows have the names of the row before.
            if known != Some(names) {
                if let Err(error) = Metadata::new(names).and_then(|names| names.validate()) {
                    self.add(&METADATA, || error.message().to_owned());
                    continue;
                }
                known = Some(names);
            }
            self.value(group, slot, names, true);
        }
    }

    fn value(&mut self, group: &Group<'a>, slot: usize, names: &[u8], is_due: bool) {
        let is_present = is_valid(group.present.as_ref(), slot);
        let value = group.value.as_ref().filter(|_| is_present).and_then(|value| value.get(slot));
        let typed = group.typed.as_ref();
        let is_typed = is_present && typed.is_some_and(|typed| is_valid(typed.validity.as_ref(), slot));
        if is_due && value.is_none() && !is_typed {
            self.add(&MISSING, || "neither value nor typed_value is there".to_owned());
        }
        if let Some(value) = value {
            self.residual(typed, is_typed, names, value);
        }
        let Some(typed) = typed.filter(|_| is_typed) else { return };
        match &typed.kind {
            TypedKind::Primitive => {}
            TypedKind::Object(fields) => {
                for (name, field) in fields {
                    self.path.push(Inside::Field(name));
                    self.value(field, slot, names, false);
                    self.path.pop();
                }
            }
            TypedKind::Array(list, element) => {
                let Some(&[start, end]) = list.offsets().get(slot..slot + 2) else { return };
                self.path.push(Inside::Elements);
                for slot in start as usize..end as usize {
                    self.value(element, slot, names, true);
                }
                self.path.pop();
            }
        }
    }

    /// Checks `value`, by itself and beside `typed_value`.
    fn residual(&mut self, typed: Option<&Typed<'a>>, is_typed: bool, names: &[u8], value: &[u8]) {
        let value = Variant::new(names, value).and_then(|variant| {
            variant.validate_value()?;
            variant.value()
        });
        let value = match value {
            Ok(value) => value,
            Err(error) => return self.add(&VALUE, || error.message().to_owned()),
        };
        match (typed.map(|typed| &typed.kind), value) {
            (Some(TypedKind::Object(fields)), Value::Object(object)) => {
                let shredded = object.iter().flatten().find(|(name, _)| fields.contains_key(name));
                if let Some((name, _)) = shredded {
                    let name = display_name(name);
                    self.add(&RESIDUAL, || format!("the field {name} is shredded, and in value"));
                }
            }
            (Some(_), value) if is_typed => {
                let kind = value.type_name();
                self.add(&RESIDUAL, || format!("beside a typed_value, value is of type {kind}"));
            }
            _ => {}
        }
    }
}
