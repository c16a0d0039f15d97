//! Shredding: arrays of structs, lists and maps as levels and values of their columns. The mirror of `assemble`.
//!
//! From the top down: at each field, the slots that are still in play are a short list of ranges of its array, and the
//! levels of the entries so far are known ([`Entries`]). Fields side by side share both. What a null struct or list has
//! below it, and what of an array is before or behind a slice, is in no range and never looked at.

mod encoded;

use crate::leaf::{self, Picks, Unfit};
use crate::schema::{element_of, value_type};
use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, GenericListArray, GenericListViewArray, MapArray, OffsetSizeTrait, new_empty_array,
};
use arrow_buffer::ArrowNativeType;
use arrow_schema::{DataType, Field as ArrowField};
use encoded::DictionaryValues;
use marquetry_base::{Error, Result};
use marquetry_core::nesting::{ColumnValues, DefinitionLevels, Entries, ShreddedColumn};
use marquetry_core::schema::{Leaf, Node, NodeKind, Repetition, Schema};
use marquetry_encoding::{Bitmap, Values};
use std::ops::Range;
use std::sync::Arc;

/// Shreds the arrays of one field of the root. Keeps its memory, and what it made of dictionaries, from array to array.
#[derive(Debug)]
pub(crate) struct Shredder {
    plan: Plan,
    leaves: usize,
    rows: Entries,
}

impl Shredder {
    /// For arrays of `field`, which is field number `root` of `schema`: of a schema that [`crate::schema::from_arrow`]
    /// made of it.
    ///
    /// Fails with an argument error that names the first field that the schema has otherwise.
    pub(crate) fn new(field: &ArrowField, schema: &Schema, root: usize) -> Result<Self> {
        let node = schema.fields().get(root).ok_or_else(|| {
            Error::argument(format!("the schema has {} fields, no field {root}", schema.fields().len()))
        })?;
        let plan = Plan::new(field, node, schema, &mut Vec::new())?;
        let leaves = schema.columns().iter().filter(|leaf| leaf.root() == root).count();
        Ok(Shredder { plan, leaves, rows: Entries::default() })
    }

    /// Shreds `rows` of `array` into one [`ShreddedColumn`] for each column below, in order. What is in `out` is replaced, and
    /// its memory used again.
    ///
    /// Fails on an array of another type than the field's, on a null where the schema has none, and on a value that the
    /// column cannot hold; the error names column and row, counted from the start of `array`.
    pub(crate) fn shred(
        &mut self,
        array: &dyn Array,
        rows: Range<usize>,
        out: &mut Vec<ShreddedColumn>,
    ) -> Result<()> {
        if rows.start > rows.end || rows.end > array.len() {
            return Err(Error::argument(format!("rows {rows:?} of an array of {}", array.len())));
        }
        out.resize_with(self.leaves, || ShreddedColumn {
            rows: 0,
            entries: 0,
            def: DefinitionLevels::Max,
            rep: Vec::new(),
            values: ColumnValues::Values(Values::W32(Vec::new())),
        });
        self.rows.restart(rows.clone());
        self.plan.shred(array, &self.rows, rows.start, &mut out.iter_mut())
    }
}

/// One field, and the entries below it, whose memory is used again.
#[derive(Debug)]
struct Plan {
    path: Arc<str>,
    nullable: bool,
    present: Entries,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Leaf(Box<Column>),
    Struct(Vec<Plan>),
    List { elements: Entries, element: Box<Plan> },
    Map { entries: Entries, key: Box<Plan>, value: Box<Plan> },
}

/// A leaf: the column, and the type of its arrays.
#[derive(Debug)]
struct Column {
    leaf: Leaf,
    data_type: DataType,
    dictionary: Option<DictionaryValues>,
}

type Outs<'a> = std::slice::IterMut<'a, ShreddedColumn>;

impl Plan {
    fn new(field: &ArrowField, node: &Node, schema: &Schema, path: &mut Vec<String>) -> Result<Plan> {
        path.push(node.name().to_owned());
        let dotted: Arc<str> = path.join(".").into();
        let other = || {
            let message = format!("an array of {} does not fit the schema", field.data_type());
            Err(Error::argument(message).in_column(dotted.clone()))
        };
        let kind = match (field.data_type(), node.kind()) {
            _ if node.repetition() == Repetition::Repeated => return other(),
            (DataType::Struct(fields), NodeKind::Group(nodes)) if same_names(fields, nodes) => {
                let plan = |(field, node): (&Arc<ArrowField>, &Node)| Plan::new(field, node, schema, path);
                Kind::Struct(fields.iter().zip(nodes).map(plan).collect::<Result<_>>()?)
            }
            (DataType::Map(entries, _), NodeKind::Group(nodes)) => {
                match (entries.data_type(), repeated(nodes)) {
                    (DataType::Struct(fields), Some((name, [key, value]))) if fields.len() == 2 => {
                        path.push(name.to_owned());
                        let key = Box::new(Plan::new(&fields[0], key, schema, path)?);
                        let value = Box::new(Plan::new(&fields[1], value, schema, path)?);
                        path.pop();
                        Kind::Map { entries: Entries::default(), key, value }
                    }
                    _ => return other(),
                }
            }
            (list, NodeKind::Group(nodes)) => match (element_of(list), repeated(nodes)) {
                (Some(field), Some((name, [element]))) => {
                    path.push(name.to_owned());
                    let element = Box::new(Plan::new(field, element, schema, path)?);
                    path.pop();
                    Kind::List { elements: Entries::default(), element }
                }
                _ => return other(),
            },
            (data_type, NodeKind::Leaf(number)) => {
                let column = Column::new(data_type, schema.column(*number));
                Kind::Leaf(Box::new(column.map_err(|error| error.in_column(dotted.clone()))?))
            }
        };
        path.pop();
        let nullable = node.repetition() == Repetition::Optional;
        Ok(Plan { path: dotted, nullable, present: Entries::default(), kind })
    }

    /// `above` are the entries of the field's parent, whose slots are those of `array`; `first` is the row that they begin
    /// with.
    fn shred(&mut self, array: &dyn Array, above: &Entries, first: usize, outs: &mut Outs<'_>) -> Result<()> {
        if let Kind::Leaf(column) = &mut self.kind {
            let out = outs.next().ok_or_else(|| Error::argument("a column more than the schema has"))?;
            let shredded = column.shred(array, above, self.nullable, out);
            return shredded.map_err(|unfit| not_stored(unfit, above, first).in_column(self.path.clone()));
        }
        let valid = leaf::validity(array.nulls(), above.slots());
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
            Kind::Struct(fields) => {
                let array = array.as_struct_opt().ok_or_else(other)?;
                if array.num_columns() != fields.len() {
                    return Err(other());
                }
                for (plan, array) in fields.iter_mut().zip(array.columns()) {
                    plan.shred(array, present, first, outs)?;
                }
                Ok(())
            }
            Kind::List { elements, element } => {
                let array = list_entries(array, present, elements).ok_or_else(other)?;
                element.shred(array, elements, first, outs)
            }
            Kind::Map { entries, key, value } => {
                let array = map_entries(array, present, entries).ok_or_else(other)?;
                key.shred(array.keys(), entries, first, outs)?;
                value.shred(array.values(), entries, first, outs)
            }
        }
    }
}

/// The elements of any of Arrow's lists, and the entries of those that are in live slots of `above`.
fn list_entries<'a>(array: &'a dyn Array, above: &Entries, out: &mut Entries) -> Option<&'a ArrayRef> {
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
    above: &Entries,
    out: &mut Entries,
) -> &'a ArrayRef {
    let offsets = array.value_offsets();
    above.repeated(|i| offsets[i].as_usize()..offsets[i + 1].as_usize(), out);
    array.values()
}

fn by_views<'a, O: OffsetSizeTrait>(
    array: &'a GenericListViewArray<O>,
    above: &Entries,
    out: &mut Entries,
) -> &'a ArrayRef {
    let (starts, sizes) = (array.value_offsets(), array.value_sizes());
    above.repeated(|i| starts[i].as_usize()..starts[i].as_usize() + sizes[i].as_usize(), out);
    array.values()
}

fn map_entries<'a>(array: &'a dyn Array, above: &Entries, out: &mut Entries) -> Option<&'a MapArray> {
    let array = array.as_map_opt()?;
    let offsets = array.value_offsets();
    above.repeated(|i| offsets[i].as_usize()..offsets[i + 1].as_usize(), out);
    Some(array)
}

impl Column {
    fn new(data_type: &DataType, leaf: &Leaf) -> Result<Column> {
        // Whether there is a way to store the type shows with an array of no values.
        let (none, mut values) = (Entries::rows(0..0), leaf.physical().shape().empty());
        let empty = match value_type(data_type) {
            nested if nested.is_nested() => return Err(Error::argument(format!("{nested} in one column"))),
            plain => new_empty_array(plain),
        };
        leaf::from_array(&empty, &Picks::new(none.slots(), None), leaf, &mut values)
            .map_err(|unfit| Error::argument(unfit.why))?;
        Ok(Column { leaf: leaf.clone(), data_type: data_type.clone(), dictionary: None })
    }

    fn shred(
        &mut self,
        array: &dyn Array,
        above: &Entries,
        nullable: bool,
        out: &mut ShreddedColumn,
    ) -> Result<(), Unfit> {
        if array.data_type() != &self.data_type && !array.data_type().equals_datatype(&self.data_type) {
            return Err(Unfit {
                value: None,
                why: format!("an array of {} where {} was announced", array.data_type(), self.data_type),
            });
        }
        let valid = match array.data_type() {
            DataType::Dictionary(..) | DataType::RunEndEncoded(..) => {
                self.encoded(array, above.slots(), nullable, &mut out.values)?
            }
            DataType::Null => {
                let mut none = Bitmap::new();
                none.push_run(false, above.slots().len());
                let none = Some(none).filter(|none| !none.is_empty());
                check_nullable(nullable, none.as_ref())?;
                cleared(&mut out.values, &self.leaf);
                none
            }
            // PERF: where all is null, nothing is looked at.
            _ if nullable && array.null_count() == array.len() && !above.slots().is_empty() => {
                cleared(&mut out.values, &self.leaf);
                above.null_leaf(out);
                return Ok(());
            }
            _ => self.plain(array, above, nullable, &mut out.values)?,
        };
        match valid {
            Some(_) if out.values.is_empty() => above.null_leaf(out),
            valid => above.leaf(nullable, valid, out),
        }
        Ok(())
    }

    fn plain(
        &self,
        array: &dyn Array,
        above: &Entries,
        nullable: bool,
        out: &mut ColumnValues,
    ) -> Result<Option<Bitmap>, Unfit> {
        let valid = leaf::validity(array.nulls(), above.slots());
        check_nullable(nullable, valid.as_ref())?;
        let picks = Picks::new(above.slots(), valid.as_ref());
        leaf::from_array(array, &picks, &self.leaf, cleared(out, &self.leaf))
            .map_err(|unfit| in_slots(unfit, valid.as_ref()))?;
        Ok(valid)
    }
}

/// No values of the shape of `leaf`, in the memory of those that are there if it can be.
fn cleared<'a>(out: &'a mut ColumnValues, leaf: &Leaf) -> &'a mut Values {
    let shape = leaf.physical().shape();
    if !matches!(out, ColumnValues::Values(values) if values.shape() == shape) {
        *out = ColumnValues::Values(shape.empty());
    }
    match out {
        ColumnValues::Values(values) => {
            values.clear();
            values
        }
        ColumnValues::Keys { .. } => unreachable!("values were put there"),
    }
}

fn check_nullable(nullable: bool, valid: Option<&Bitmap>) -> Result<(), Unfit> {
    match valid {
        Some(valid) if !nullable => Err(not_nullable(valid)),
        _ => Ok(()),
    }
}

#[cold]
fn not_nullable(valid: &Bitmap) -> Unfit {
    let first = (0..valid.len()).find(|&slot| !valid.get(slot));
    Unfit { value: first, why: "a null, where the schema says that there is none".to_owned() }
}

/// The value's number among all slots, where it was counted among those that are not null.
#[cold]
fn in_slots(unfit: Unfit, valid: Option<&Bitmap>) -> Unfit {
    let slot = |value| match valid {
        Some(valid) => (0..valid.len()).filter(|&slot| valid.get(slot)).nth(value),
        None => Some(value),
    };
    Unfit { value: unfit.value.and_then(slot), ..unfit }
}

#[cold]
fn not_stored(unfit: Unfit, above: &Entries, first: usize) -> Error {
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

/// The repeated group that a LIST or MAP consists of: its name and its fields.
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
