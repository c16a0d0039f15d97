//! The schema as nested values: which groups are lists, maps or structs.

use crate::logical_type::LogicalType;
use crate::schema::{Node, NodeKind, Repetition, Schema};
use std::sync::Arc;

/// A field of the schema as nested values.
#[derive(Debug, Clone, PartialEq)]
pub struct NestedField {
    /// The name; for the element of a list or the entries of a map, the name in the file.
    pub name: Arc<str>,
    /// Whether the field may be null.
    pub nullable: bool,
    /// The definition level from which on the field is not null.
    pub def: u8,
    /// The definition level from which on the field has a slot: that of an element of the innermost list around it, and
    /// 0 outside of lists. Arrow C++ uses the same name.
    pub repeated_ancestor_def_level: u8,
    /// Number of lists around the field.
    pub rep: u8,
    /// The logical type.
    pub logical: Option<LogicalType>,
    /// The field id that the writer gave it.
    pub field_id: Option<i32>,
    /// The kind of the field, and its children.
    pub kind: FieldKind,
}

/// The kind of a [`NestedField`], and its children.
#[derive(Debug, Clone, PartialEq)]
pub enum FieldKind {
    /// Values of the column with this number.
    Leaf(usize),
    /// A struct of these fields.
    Struct(Vec<NestedField>),
    /// A list of these elements.
    List(Box<NestedField>),
    /// A map with these entries, structs of key and value.
    Map(Box<NestedField>),
}

impl NestedField {
    /// Returns the fields of a schema. Groups without any column are left out, because nothing is stored for them.
    pub fn from_schema(schema: &Schema) -> Vec<NestedField> {
        let mut fields = Vec::with_capacity(schema.fields().len());
        fields.extend(schema.fields().iter().filter_map(|node| from_node(node, Above::default())));
        fields
    }

    /// Returns field `root` of the root; `None` if it is a group without any column.
    ///
    /// # Panics
    /// If the root has no such field.
    pub fn from_root(schema: &Schema, root: usize) -> Option<NestedField> {
        from_node(&schema.fields()[root], Above::default())
    }

    /// Returns this field with only the columns for which `keep` returns true, or `None` if there are none. Structs
    /// lose fields; a map without its key or value becomes a list of the other.
    pub fn project(&self, keep: &impl Fn(usize) -> bool) -> Option<NestedField> {
        let kind = match &self.kind {
            FieldKind::Leaf(leaf) => FieldKind::Leaf(keep(*leaf).then_some(*leaf)?),
            FieldKind::List(element) => FieldKind::List(Box::new(element.project(keep)?)),
            FieldKind::Struct(fields) => {
                let fields: Vec<_> = fields.iter().filter_map(|field| field.project(keep)).collect();
                if fields.is_empty() {
                    return None;
                }
                FieldKind::Struct(fields)
            }
            FieldKind::Map(entries) => {
                let entries = Box::new(entries.project(keep)?);
                match &entries.kind {
                    FieldKind::Struct(fields) if fields.len() == 2 => FieldKind::Map(entries),
                    _ => FieldKind::List(entries),
                }
            }
        };
        Some(NestedField { kind, ..self.clone_without_kind() })
    }

    /// Returns the first column below. Its levels determine this field's slots.
    pub fn first_leaf(&self) -> usize {
        match &self.kind {
            FieldKind::Leaf(leaf) => *leaf,
            FieldKind::List(child) | FieldKind::Map(child) => child.first_leaf(),
            FieldKind::Struct(fields) => fields.first().map_or(0, NestedField::first_leaf),
        }
    }

    /// Appends all columns below to `out`, in order.
    pub fn leaves(&self, out: &mut Vec<usize>) {
        match &self.kind {
            FieldKind::Leaf(leaf) => out.push(*leaf),
            FieldKind::List(child) | FieldKind::Map(child) => child.leaves(out),
            FieldKind::Struct(fields) => fields.iter().for_each(|field| field.leaves(out)),
        }
    }

    /// Whether column `leaf` is this field or below it.
    pub fn has_leaf(&self, leaf: usize) -> bool {
        match &self.kind {
            FieldKind::Leaf(own) => *own == leaf,
            FieldKind::List(child) | FieldKind::Map(child) => child.has_leaf(leaf),
            FieldKind::Struct(fields) => NestedField::place_of(fields, leaf).is_some(),
        }
    }

    /// Returns the index of the field that is or contains column `leaf`. `fields` are those of a struct or of the root.
    ///
    /// PERF: a binary search. INVARIANT: fields are in the order of the schema, which [`project`](Self::project) keeps.
    pub fn place_of(fields: &[NestedField], leaf: usize) -> Option<usize> {
        let place = fields.partition_point(|field| field.first_leaf() <= leaf).checked_sub(1)?;
        fields[place].has_leaf(leaf).then_some(place)
    }

    fn clone_without_kind(&self) -> NestedField {
        NestedField {
            name: self.name.clone(),
            logical: self.logical.clone(),
            kind: FieldKind::Struct(Vec::new()),
            ..*self
        }
    }
}

/// The levels of the nodes above.
#[derive(Debug, Clone, Copy, Default)]
struct Above {
    /// Definition level of the parent.
    def: u8,
    repeated_ancestor_def_level: u8,
    rep: u8,
}

impl Above {
    /// Returns the levels inside a list, at its repeated node.
    fn in_list(self) -> Above {
        Above { def: self.def + 1, repeated_ancestor_def_level: self.def + 1, rep: self.rep + 1 }
    }
}

fn from_node(node: &Node, above: Above) -> Option<NestedField> {
    match node.repetition() {
        Repetition::Required => from_present(node, above, false),
        Repetition::Optional => from_present(node, Above { def: above.def + 1, ..above }, true),
        // SPEC: a repeated field outside of a LIST or MAP is a required list of required elements.
        Repetition::Repeated => {
            let element = from_present(node, above.in_list(), false)?;
            Some(field(node, above, false, FieldKind::List(Box::new(element))))
        }
    }
}

/// Converts `node` as a value that is present, at definition level `above.def`.
fn from_present(node: &Node, above: Above, nullable: bool) -> Option<NestedField> {
    let kind = match node.kind() {
        NodeKind::Leaf(leaf) => FieldKind::Leaf(*leaf),
        NodeKind::Group(fields) => match node.logical() {
            Some(LogicalType::List) => list(node, fields, above)?,
            Some(LogicalType::Map | LogicalType::MapKeyValue) => map(fields, above)?,
            _ => structure(fields, above)?,
        },
    };
    Some(field(node, above, nullable, kind))
}

fn field(node: &Node, above: Above, nullable: bool, kind: FieldKind) -> NestedField {
    // `kind` replaces LIST and MAP. On a group of another form the annotation is ignored.
    let logical = node.logical().filter(|logical| {
        !matches!(logical, LogicalType::List | LogicalType::Map | LogicalType::MapKeyValue)
    });
    NestedField {
        name: node.shared_name().clone(),
        nullable,
        def: above.def,
        repeated_ancestor_def_level: above.repeated_ancestor_def_level,
        rep: above.rep,
        logical: logical.cloned(),
        field_id: node.field_id(),
        kind,
    }
}

fn structure(fields: &[Node], above: Above) -> Option<FieldKind> {
    let fields: Vec<_> = fields.iter().filter_map(|field| from_node(field, above)).collect();
    (!fields.is_empty()).then_some(FieldKind::Struct(fields))
}

fn list(node: &Node, fields: &[Node], above: Above) -> Option<FieldKind> {
    let [repeated] = fields else {
        return structure(fields, above);
    };
    if repeated.repetition() != Repetition::Repeated {
        return structure(fields, above);
    }
    let element = match repeated.kind() {
        NodeKind::Group(inner) if !is_element(node, repeated, inner) => from_node(&inner[0], above.in_list()),
        _ => from_present(repeated, above.in_list(), false),
    };
    Some(FieldKind::List(Box::new(element?)))
}

/// Whether the repeated group of a LIST is itself the element, as in two-level lists of old writers.
///
/// SPEC: LogicalTypes.md, "Lists", backward-compatibility rules 1 to 4.
fn is_element(list: &Node, repeated: &Node, inner: &[Node]) -> bool {
    let [only] = inner else { return true };
    only.repetition() == Repetition::Repeated
        || repeated.name() == "array"
        || repeated.name() == format!("{}_tuple", list.name())
        // QUIRK: two-level lists of lists or maps annotate the repeated group.
        || matches!(repeated.logical(), Some(LogicalType::List | LogicalType::Map))
}

fn map(fields: &[Node], above: Above) -> Option<FieldKind> {
    let [repeated] = fields else {
        return structure(fields, above);
    };
    let NodeKind::Group(inner) = repeated.kind() else {
        return structure(fields, above);
    };
    if repeated.repetition() != Repetition::Repeated {
        return structure(fields, above);
    }
    let inside = above.in_list();
    if let [key] = inner.as_slice() {
        // QUIRK: a map without a value is a set, read as a list of its keys.
        return Some(FieldKind::List(Box::new(from_node(key, inside)?)));
    }
    let entries = Box::new(field(repeated, inside, false, structure(inner, inside)?));
    // A key or value without any column was left out.
    let is_pair = matches!(inner.as_slice(), [key, _] if key.repetition() != Repetition::Repeated)
        && matches!(&entries.kind, FieldKind::Struct(fields) if fields.len() == 2);
    Some(if is_pair { FieldKind::Map(entries) } else { FieldKind::List(entries) })
}
