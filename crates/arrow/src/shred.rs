//! Shredding: converts arrays of structs, lists and maps to levels and values of their columns. The mirror of `assemble`.
//!
//! Works from the top down. At each field, the slots that are still present are a short list of ranges of its array,
//! and the levels of the entries so far are known ([`LevelBuilder`]). Sibling fields share both. Values below a null
//! struct or list, and values outside a slice, are in no range and never read.

mod dictionary;
mod leaf;
mod leaf_values;

use crate::convert::{ConversionError, validity};
use crate::schema::element_of;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, GenericListArray, GenericListViewArray, MapArray, OffsetSizeTrait};
use arrow_buffer::ArrowNativeType;
use arrow_schema::{DataType, Field as ArrowField};
use leaf::LeafShredder;
use leaf_values::not_nullable;
use marquetry_base::{Error, Result};
use marquetry_core::nesting::{ColumnValues, DefinitionLevels, LevelBuilder, ShreddedColumn};
use marquetry_core::schema::{Node, NodeKind, Repetition, Schema};
use marquetry_encoding::Values;
use std::ops::Range;
use std::sync::Arc;

/// Shreds the arrays of one field of the root. Reuses its memory, and converted dictionaries, from array to array.
#[derive(Debug)]
pub(crate) struct Shredder {
    root: FieldShredder,
    leaves: usize,
    rows: LevelBuilder,
}

impl Shredder {
    /// Creates a shredder for arrays of `field`, which is field number `root` of `schema`.
    /// [`crate::schema::from_arrow`] must have made the schema of it.
    ///
    /// Fails with an argument error that names the first field that differs in the schema.
    pub(crate) fn new(field: &ArrowField, schema: &Schema, root: usize) -> Result<Self> {
        let leaves = schema.columns_of(root).len();
        Shredder::of(field, schema, root, None, leaves)
    }

    /// Creates a shredder for only one of the columns below the field: `leaf`, by its number in the schema.
    pub(crate) fn of_leaf(field: &ArrowField, schema: &Schema, leaf: usize) -> Result<Self> {
        Shredder::of(field, schema, schema.column(leaf).root(), Some(leaf), 1)
    }

    fn of(
        field: &ArrowField,
        schema: &Schema,
        root: usize,
        only: Option<usize>,
        leaves: usize,
    ) -> Result<Self> {
        let node = schema.fields().get(root).ok_or_else(|| {
            Error::argument(format!("the schema has {} fields, no field {root}", schema.fields().len()))
        })?;
        let root = FieldShredder::new(field, node, &Wanted { schema, only }, &mut Vec::new())?;
        Ok(Shredder { root, leaves, rows: LevelBuilder::default() })
    }

    /// Shreds `rows` of `array` into one [`ShreddedColumn`] for each column below, in order. Replaces the contents of
    /// `out`, and reuses its memory.
    ///
    /// Fails on an array of another type than the field's, on a null that the schema does not allow, and on a value
    /// that the column cannot hold. The error names column and row, counted from the start of `array`.
    pub(crate) fn shred(
        &mut self,
        array: &dyn Array,
        rows: Range<usize>,
        out: &mut Vec<ShreddedColumn>,
    ) -> Result<()> {
        if rows.start > rows.end || rows.end > array.len() {
            return Err(Error::argument(format!("rows {rows:?} of an array of {}", array.len())));
        }
        out.resize_with(self.leaves, || {
            ShreddedColumn::flat(0, DefinitionLevels::Max, ColumnValues::Values(Values::W32(Vec::new())))
        });
        self.rows.restart(rows.clone());
        self.root.shred(array, &self.rows, rows.start, &mut out.iter_mut())
    }
}

/// The columns of a schema to shred: one, or all.
struct Wanted<'a> {
    schema: &'a Schema,
    only: Option<usize>,
}

impl Wanted<'_> {
    /// Returns whether any wanted column is below `node`.
    fn is_below(&self, node: &Node) -> bool {
        fn end(node: &Node, of: fn(&[Node]) -> Option<&Node>) -> Option<usize> {
            match node.kind() {
                NodeKind::Leaf(leaf) => Some(*leaf),
                NodeKind::Group(nodes) => end(of(nodes)?, of),
            }
        }
        self.only.is_none_or(|only| {
            end(node, <[Node]>::first).is_some_and(|first| first <= only)
                && end(node, <[Node]>::last).is_some_and(|last| only <= last)
        })
    }
}

/// Shreds one field. The memory of the entries below it is reused.
#[derive(Debug)]
struct FieldShredder {
    path: Arc<str>,
    nullable: bool,
    present: LevelBuilder,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Leaf(Box<LeafShredder>),
    /// The wanted fields with their numbers, and the number of all fields.
    Struct(Vec<(usize, FieldShredder)>, usize),
    List {
        elements: LevelBuilder,
        element: Box<FieldShredder>,
    },
    /// Keys and values, each if it is wanted.
    Map {
        entries: LevelBuilder,
        parts: [Option<Box<FieldShredder>>; 2],
    },
}

type Outs<'a> = std::slice::IterMut<'a, ShreddedColumn>;

impl FieldShredder {
    fn new(
        field: &ArrowField,
        node: &Node,
        wanted: &Wanted<'_>,
        path: &mut Vec<String>,
    ) -> Result<FieldShredder> {
        path.push(node.name().to_owned());
        let dotted: Arc<str> = path.join(".").into();
        let other = || {
            let message = format!("an array of {} does not fit the schema", field.data_type());
            Err(Error::argument(message).in_column(dotted.clone()))
        };
        let kind = match (field.data_type(), node.kind()) {
            _ if node.repetition() == Repetition::Repeated => return other(),
            (DataType::Struct(fields), NodeKind::Group(nodes)) if same_names(fields, nodes) => {
                let children = fields.iter().zip(nodes).enumerate();
                let children = children.filter(|(_, (_, node))| wanted.is_below(node));
                let child = |(i, (field, node)): (usize, (&Arc<ArrowField>, &Node))| {
                    Ok((i, FieldShredder::new(field, node, wanted, path)?))
                };
                Kind::Struct(children.map(child).collect::<Result<_>>()?, fields.len())
            }
            (DataType::Map(entries, _), NodeKind::Group(nodes)) => {
                match (entries.data_type(), repeated(nodes)) {
                    (DataType::Struct(fields), Some((name, [key, value]))) if fields.len() == 2 => {
                        path.push(name.to_owned());
                        let mut part = |field: &ArrowField, node: &Node| match wanted.is_below(node) {
                            true => FieldShredder::new(field, node, wanted, path).map(Box::new).map(Some),
                            false => Ok(None),
                        };
                        let parts = [part(&fields[0], key)?, part(&fields[1], value)?];
                        path.pop();
                        Kind::Map { entries: LevelBuilder::default(), parts }
                    }
                    _ => return other(),
                }
            }
            (list, NodeKind::Group(nodes)) => match (element_of(list), repeated(nodes)) {
                (Some(field), Some((name, [element]))) => {
                    path.push(name.to_owned());
                    let element = Box::new(FieldShredder::new(field, element, wanted, path)?);
                    path.pop();
                    Kind::List { elements: LevelBuilder::default(), element }
                }
                _ => return other(),
            },
            (data_type, NodeKind::Leaf(number)) => {
                let column = LeafShredder::new(data_type, wanted.schema.column(*number));
                Kind::Leaf(Box::new(column.map_err(|error| error.in_column(dotted.clone()))?))
            }
        };
        path.pop();
        let nullable = node.repetition() == Repetition::Optional;
        Ok(FieldShredder { path: dotted, nullable, present: LevelBuilder::default(), kind })
    }

    /// Shreds an array. `above` are the entries of the field's parent, whose slots are those of `array`; `first` is the
    /// row at which they begin.
    fn shred(
        &mut self,
        array: &dyn Array,
        above: &LevelBuilder,
        first: usize,
        outs: &mut Outs<'_>,
    ) -> Result<()> {
        if let Kind::Leaf(column) = &mut self.kind {
            let out = outs.next().ok_or_else(|| Error::argument("a column more than the schema has"))?;
            let shredded = column.shred(array, above, self.nullable, out);
            return shredded.map_err(|unfit| not_stored(unfit, above, first).in_column(self.path.clone()));
        }
        let valid = validity(array.nulls(), above.slots());
        let present = match (self.nullable, &valid) {
            (true, valid) => {
                above.optional(valid.as_ref(), &mut self.present);
                &self.present
            }
            (false, None) => above,
            (false, Some(valid)) => {
                let unfit = not_nullable(valid);
                return Err(not_stored(unfit, above, first).in_column(self.path.clone()));
            }
        };
        let other = || not_expected(array).in_column(self.path.clone());
        match &mut self.kind {
            Kind::Leaf(_) => Ok(()),
            Kind::Struct(fields, of) => {
                let array = array.as_struct_opt().ok_or_else(other)?;
                if array.num_columns() != *of {
                    return Err(other());
                }
                for (i, field) in fields {
                    field.shred(array.column(*i), present, first, outs)?;
                }
                Ok(())
            }
            Kind::List { elements, element } => {
                let array = list_entries(array, present, elements).ok_or_else(other)?;
                element.shred(array, elements, first, outs)
            }
            Kind::Map { entries, parts } => {
                let array = map_entries(array, present, entries).ok_or_else(other)?;
                for (part, array) in parts.iter_mut().zip([array.keys(), array.values()]) {
                    if let Some(part) = part {
                        part.shred(array, entries, first, outs)?;
                    }
                }
                Ok(())
            }
        }
    }
}

/// Returns the elements of any of Arrow's list arrays. Adds the entries of the lists in present slots of `above`.
fn list_entries<'a>(
    array: &'a dyn Array,
    above: &LevelBuilder,
    out: &mut LevelBuilder,
) -> Option<&'a ArrayRef> {
    match array.data_type() {
        DataType::List(_) => Some(by_offsets(array.as_list_opt::<i32>()?, above, out)),
        DataType::LargeList(_) => Some(by_offsets(array.as_list_opt::<i64>()?, above, out)),
        DataType::ListView(_) => Some(by_views(array.as_list_view_opt::<i32>()?, above, out)),
        DataType::LargeListView(_) => Some(by_views(array.as_list_view_opt::<i64>()?, above, out)),
        DataType::FixedSizeList(..) => {
            let array = array.as_fixed_size_list_opt()?;
            let size = usize::try_from(array.value_length()).ok()?;
            above.repeated(|i| i * size..(i + 1) * size, out);
            Some(array.values())
        }
        _ => None,
    }
}

fn by_offsets<'a, O: OffsetSizeTrait>(
    array: &'a GenericListArray<O>,
    above: &LevelBuilder,
    out: &mut LevelBuilder,
) -> &'a ArrayRef {
    let offsets = array.value_offsets();
    above.repeated(|i| offsets[i].as_usize()..offsets[i + 1].as_usize(), out);
    array.values()
}

fn by_views<'a, O: OffsetSizeTrait>(
    array: &'a GenericListViewArray<O>,
    above: &LevelBuilder,
    out: &mut LevelBuilder,
) -> &'a ArrayRef {
    let (starts, sizes) = (array.value_offsets(), array.value_sizes());
    above.repeated(|i| starts[i].as_usize()..starts[i].as_usize() + sizes[i].as_usize(), out);
    array.values()
}

fn map_entries<'a>(
    array: &'a dyn Array,
    above: &LevelBuilder,
    out: &mut LevelBuilder,
) -> Option<&'a MapArray> {
    let array = array.as_map_opt()?;
    let offsets = array.value_offsets();
    above.repeated(|i| offsets[i].as_usize()..offsets[i + 1].as_usize(), out);
    Some(array)
}

#[cold]
fn not_stored(unfit: ConversionError, above: &LevelBuilder, first: usize) -> Error {
    Error::argument(match unfit.value {
        Some(slot) => format!("{}, in row {}", unfit.why, first + above.row(slot)),
        None => unfit.why,
    })
}

#[cold]
fn not_expected(array: &dyn Array) -> Error {
    Error::argument(format!("an array of {} where another type was announced", array.data_type()))
}

fn same_names(fields: &arrow_schema::Fields, nodes: &[Node]) -> bool {
    fields.len() == nodes.len() && fields.iter().zip(nodes).all(|(field, node)| field.name() == node.name())
}

/// Returns the repeated group inside a LIST or MAP: its name and its fields.
fn repeated(nodes: &[Node]) -> Option<(&str, &[Node])> {
    match nodes {
        [only] if only.repetition() == Repetition::Repeated => match only.kind() {
            NodeKind::Group(nodes) => Some((only.name(), nodes)),
            NodeKind::Leaf(_) => None,
        },
        _ => None,
    }
}

#[cfg(test)]
pub(crate) mod tests;
