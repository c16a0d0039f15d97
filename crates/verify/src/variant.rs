//! Checks the groups that columns of VARIANT are made of.

use crate::context::VerifyContext;
use crate::display::display_name;
use crate::findings::Findings;
use crate::rule::{Level, Rule, Severity, rule};
use marquetry_base::ErrorLocation;
use marquetry_core::logical_type::{LogicalType, TimeUnit};
use marquetry_core::schema::{Leaf, Node, NodeKind, Repetition, Schema};
use marquetry_encoding::PhysicalType;

const GROUP: Rule = rule(
    "variant-group",
    Severity::Invalid,
    Level::Quick,
    "A VARIANT is a group of required binary metadata, and of binary value, typed_value, or both",
    "VariantEncoding.md, VariantShredding.md",
);
const TYPED: Rule = rule(
    "variant-typed-value",
    Severity::Invalid,
    Level::Quick,
    "A typed_value of a VARIANT is optional, and of a type that its values have, or of groups of value and typed_value",
    "VariantShredding.md, Shredded Value Types",
);

pub(crate) const RULES: &[Rule] = &[GROUP, TYPED];

/// Checks all VARIANT columns.
pub(crate) fn check(file: &VerifyContext, findings: &mut Findings) {
    let schema = file.metadata.schema();
    let mut checks = Checks { schema, findings, path: Vec::new() };
    schema.fields().iter().for_each(|field| checks.find(field));
}

struct Checks<'a, 'f> {
    schema: &'a Schema,
    findings: &'f mut Findings,
    path: Vec<&'a str>,
}

impl<'a> Checks<'a, '_> {
    fn find(&mut self, node: &'a Node) {
        let NodeKind::Group(fields) = node.kind() else { return };
        self.path.push(node.name());
        match node.logical() {
            Some(LogicalType::Variant { .. }) => {
                self.metadata(fields);
                self.group(fields, true);
            }
            _ => fields.iter().for_each(|field| self.find(field)),
        }
        self.path.pop();
    }

    fn add(&mut self, rule: &'static Rule, message: String) {
        let place = ErrorLocation::default().with_column(self.path.join("."));
        self.findings.add(rule, place, || message);
    }

    fn metadata(&mut self, fields: &'a [Node]) {
        let message = match fields.iter().find(|field| field.name() == "metadata") {
            None => "there is no metadata".to_owned(),
            Some(field) if !self.is_binary(field) => "metadata is not binary".to_owned(),
            Some(field) if field.repetition() != Repetition::Required => {
                "metadata is not required".to_owned()
            }
            Some(_) => return,
        };
        self.add(&GROUP, message);
    }

    /// Checks a group of `value` and `typed_value`: of the column itself, of a field, or of elements.
    fn group(&mut self, fields: &'a [Node], is_root: bool) {
        let (mut value, mut typed) = (None, None);
        for field in fields {
            match field.name() {
                "value" => value = Some(field),
                "typed_value" => typed = Some(field),
                "metadata" if is_root => {}
                other => self.add(&GROUP, format!("a field is called {}", display_name(other))),
            }
        }
        if value.is_none() && typed.is_none() {
            self.add(&GROUP, "there is neither value nor typed_value".to_owned());
        }
        if value.is_some_and(|value| !self.is_binary(value)) {
            self.add(&GROUP, "value is not binary".to_owned());
        }
        if let Some(typed) = typed {
            self.path.push(typed.name());
            self.typed(typed);
            self.path.pop();
        }
    }

    fn typed(&mut self, typed: &'a Node) {
        if typed.repetition() != Repetition::Optional {
            self.add(&TYPED, "it is not optional".to_owned());
        }
        match typed.kind() {
            NodeKind::Leaf(leaf) => {
                let leaf = self.schema.column(*leaf);
                if !is_of_variant(leaf) {
                    let annotation = leaf.logical().map(|logical| format!(" {logical:?}"));
                    self.add(
                        &TYPED,
                        format!("{}{} is none", leaf.physical(), annotation.unwrap_or_default()),
                    );
                }
            }
            NodeKind::Group(fields) if typed.logical() == Some(&LogicalType::List) => {
                // Another family checks the structure of lists.
                let repeated = fields.first().map(Node::kind);
                if let Some(NodeKind::Group(elements)) = repeated
                    && let [element] = elements.as_slice()
                {
                    self.inner(element);
                }
            }
            NodeKind::Group(fields) => fields.iter().for_each(|field| self.inner(field)),
        }
    }

    /// Checks a field of an object, or the elements of an array.
    fn inner(&mut self, node: &'a Node) {
        self.path.push(node.name());
        match node.kind() {
            NodeKind::Group(fields) => self.group(fields, false),
            NodeKind::Leaf(_) => self.add(&TYPED, "it is not a group of value and typed_value".to_owned()),
        }
        self.path.pop();
    }

    fn is_binary(&self, node: &Node) -> bool {
        match node.kind() {
            NodeKind::Leaf(leaf) => self.schema.column(*leaf).physical() == PhysicalType::ByteArray,
            NodeKind::Group(_) => false,
        }
    }
}

/// Whether a column of this type can be a typed value of a variant.
fn is_of_variant(leaf: &Leaf) -> bool {
    use PhysicalType::*;
    matches!(
        (leaf.physical(), leaf.logical()),
        (Boolean | Int32 | Int64 | Float | Double | ByteArray, None)
            | (Int32, Some(LogicalType::Integer { bits: 8 | 16 | 32, signed: true } | LogicalType::Date))
            | (Int64, Some(LogicalType::Integer { bits: 64, signed: true }))
            | (Int64, Some(LogicalType::Time { utc: false, unit: TimeUnit::Micros }))
            | (Int64, Some(LogicalType::Timestamp { unit: TimeUnit::Micros | TimeUnit::Nanos, .. }))
            | (ByteArray, Some(LogicalType::String))
            | (_, Some(LogicalType::Decimal { .. }))
            | (FixedLenByteArray(16), Some(LogicalType::Uuid))
    )
}
