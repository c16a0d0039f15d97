//! Schemas and batches for the tests of this crate.

use marquetry_base::Limits;
use marquetry_core::nesting::NestedField;
use marquetry_core::read::ColumnBatch;
use marquetry_core::schema::{Leaf, Schema};
use marquetry_encoding::{Shape, Values};
use marquetry_format::{LogicalType, Repetition, SchemaElement, Type};

pub(crate) const REQUIRED: Repetition = Repetition::REQUIRED;
pub(crate) const OPTIONAL: Repetition = Repetition::OPTIONAL;
pub(crate) const REPEATED: Repetition = Repetition::REPEATED;

pub(crate) fn group(
    name: &str,
    repetition: Repetition,
    children: i32,
    logical: Option<LogicalType>,
) -> SchemaElement {
    SchemaElement {
        name: name.into(),
        repetition_type: Some(repetition),
        num_children: Some(children),
        logical_type: logical,
        ..SchemaElement::default()
    }
}

pub(crate) fn column(
    name: &str,
    repetition: Repetition,
    physical: Type,
    logical: Option<LogicalType>,
) -> SchemaElement {
    SchemaElement {
        name: name.into(),
        type_: Some(physical),
        repetition_type: Some(repetition),
        logical_type: logical,
        ..SchemaElement::default()
    }
}

/// A FIXED_LEN_BYTE_ARRAY column.
pub(crate) fn fixed(name: &str, width: i32, logical: Option<LogicalType>) -> SchemaElement {
    SchemaElement { type_length: Some(width), ..column(name, OPTIONAL, Type::FIXED_LEN_BYTE_ARRAY, logical) }
}

/// The schema below a root of `roots` fields.
pub(crate) fn schema(
    roots: i32,
    elements: impl IntoIterator<Item = SchemaElement>,
) -> (Schema, Vec<NestedField>) {
    let root = SchemaElement { repetition_type: None, ..group("m", REQUIRED, roots, None) };
    let elements: Vec<_> = [root].into_iter().chain(elements).collect();
    let schema = Schema::from_thrift(&elements, &Limits::default()).unwrap();
    let fields = NestedField::from_schema(&schema);
    (schema, fields)
}

/// The leaf of a schema of one column.
pub(crate) fn leaf(element: SchemaElement) -> Leaf {
    schema(1, [element]).0.column(0).clone()
}

/// A batch of a column that is in no list.
pub(crate) fn batch(values: Values, validity: Option<&[bool]>) -> ColumnBatch {
    let entries = values.len();
    let validity = validity.map(|bits| bits.iter().copied().collect());
    ColumnBatch { values, validity, entries, ..ColumnBatch::new(Shape::Bit) }
}
