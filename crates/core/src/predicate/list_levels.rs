//! Interprets a column's definition levels as the state of the lists around its values: null, empty, or an element.

use crate::nesting::{FieldKind, NestedField};
use crate::schema::Schema;

/// The lists around a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ListLevels {
    column: usize,
    /// The definition level from which on there is an element, for each list, outermost first.
    elements: Vec<u8>,
    max_def: u8,
}

/// The meaning of an entry of the column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Entry {
    /// The row's list is null.
    NullList,
    /// The row's list has no elements.
    EmptyList,
    /// An inner list is null.
    NullInnerList,
    /// An inner list has no elements.
    EmptyInnerList,
    /// An element with a slot, null or not.
    Element,
}

impl ListLevels {
    pub(super) fn of(schema: &Schema, column: usize) -> Self {
        let leaf = schema.column(column);
        let root = NestedField::from_root(schema, leaf.root());
        let mut elements = Vec::new();
        let mut next = root.as_ref();
        while let Some(field) = next {
            next = match &field.kind {
                FieldKind::Leaf(_) => None,
                FieldKind::Struct(fields) => {
                    NestedField::place_of(fields, column).map(|place| &fields[place])
                }
                FieldKind::List(inner) | FieldKind::Map(inner) => {
                    elements.push(inner.repeated_ancestor_def_level);
                    Some(&**inner)
                }
            };
        }
        ListLevels { column, elements, max_def: leaf.max_def() }
    }

    /// Returns the column with these levels.
    pub(crate) fn column(&self) -> usize {
        self.column
    }

    /// Returns the definition level of an element of the outermost list; `None` if there is no list.
    pub(crate) fn outermost(&self) -> Option<u8> {
        self.elements.first().copied()
    }

    /// Returns the definition level of an element of the innermost list.
    pub(crate) fn innermost(&self) -> u8 {
        self.elements.last().copied().unwrap_or(0)
    }

    /// The maximum definition level.
    pub(crate) fn max_def(&self) -> u8 {
        self.max_def
    }

    /// Returns the meaning of an entry with this definition level. A level that the column does not have stands for a
    /// lost row.
    pub(crate) fn entry(&self, def: u8) -> Entry {
        if def > self.max_def {
            return Entry::NullList;
        }
        match self.elements.iter().position(|element| def < *element) {
            None => Entry::Element,
            Some(depth) => match (depth, def + 1 == self.elements[depth]) {
                (0, true) => Entry::EmptyList,
                (0, false) => Entry::NullList,
                (_, true) => Entry::EmptyInnerList,
                (_, false) => Entry::NullInnerList,
            },
        }
    }
}
