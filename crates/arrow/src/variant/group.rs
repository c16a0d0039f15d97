//! A `value` and its `typed_value`: of the column itself, of a field of a shredded object, or of the elements of a shredded array.

use super::bytes::{Bytes, bytes_of};
use super::typed::Primitive;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, StructArray};
use arrow_schema::DataType;
use marquetry_base::{Error, Result};
use marquetry_variant::{Object, Value, Variant, Writer, json};

/// A place in a shredded column, with its `value` and `typed_value`.
#[derive(Debug)]
pub(super) struct Group<'a> {
    /// The struct around both. Its nulls count: some writers make groups optional that must be required.
    array: &'a StructArray,
    value: Option<Bytes<'a>>,
    typed: Option<Typed<'a>>,
}

#[derive(Debug)]
pub(super) enum Typed<'a> {
    Primitive(Primitive<'a>),
    /// Fields are sorted by name.
    Object {
        array: &'a StructArray,
        fields: Vec<ObjectField<'a>>,
    },
    Array {
        lists: Lists<'a>,
        element: Box<Group<'a>>,
    },
}

/// A shredded field of an object.
#[derive(Debug)]
pub(super) struct ObjectField<'a> {
    pub(super) name: &'a str,
    /// The name, quoted for JSON.
    pub(super) quoted: String,
    /// The index of its name among all names of the column, see [`Group::root`].
    pub(super) at: usize,
    pub(super) group: Group<'a>,
}

/// Lists in any layout.
#[derive(Debug)]
pub(super) struct Lists<'a> {
    array: &'a dyn Array,
    spans: Spans<'a>,
}

#[derive(Debug)]
enum Spans<'a> {
    Offsets(&'a [i32]),
    LargeOffsets(&'a [i64]),
    Views(&'a [i32], &'a [i32]),
    LargeViews(&'a [i64], &'a [i64]),
}

impl<'a> Group<'a> {
    /// Returns the group of a column, and the names of all shredded fields in it, sorted and each once.
    pub(super) fn root(array: &'a StructArray) -> Result<(Self, Vec<&'a str>)> {
        let mut root = Group::new(array)?;
        let mut names = Vec::new();
        root.for_each_field(&mut |field| names.push(field.name));
        names.sort_unstable();
        names.dedup();
        root.for_each_field(&mut |field| field.at = names.binary_search(&field.name).unwrap_or(0));
        Ok((root, names))
    }

    fn for_each_field(&mut self, visit: &mut dyn FnMut(&mut ObjectField<'a>)) {
        match &mut self.typed {
            Some(Typed::Object { fields, .. }) => fields.iter_mut().for_each(|field| {
                visit(field);
                field.group.for_each_field(visit);
            }),
            Some(Typed::Array { element, .. }) => element.for_each_field(visit),
            _ => {}
        }
    }

    fn new(array: &'a StructArray) -> Result<Self> {
        let value = array.column_by_name("value").map(|value| {
            bytes_of(value)
                .ok_or_else(|| Error::argument(format!("a VARIANT whose value is of {}", value.data_type())))
        });
        let typed = array.column_by_name("typed_value").map(Typed::new).transpose()?;
        if value.is_none() && typed.is_none() {
            return Err(Error::argument("a VARIANT with neither value nor typed_value"));
        }
        Ok(Group { array, value: value.transpose()?, typed })
    }

    /// Returns its `typed_value`, if that is not null in this row.
    pub(super) fn typed_at(&self, row: usize) -> Option<&Typed<'a>> {
        self.typed.as_ref().filter(|typed| !self.array.is_null(row) && !typed.is_null(row))
    }

    /// Returns its `typed_value`.
    pub(super) fn typed(&self) -> Option<&Typed<'a>> {
        self.typed.as_ref()
    }

    /// Returns whether any row has a `value`.
    pub(super) fn has_values(&self) -> bool {
        (0..self.array.len()).any(|row| self.bytes(row).is_some())
    }

    pub(super) fn is_shredded(&self) -> bool {
        self.typed.is_some()
    }

    /// Returns the bytes in `value`, if all of the row is there.
    #[inline]
    pub(super) fn only_value(&self, row: usize) -> Option<&'a [u8]> {
        match &self.typed {
            Some(typed) if !typed.is_null(row) => None,
            _ => self.bytes(row),
        }
    }

    /// Returns the bytes in `value`.
    #[inline]
    pub(super) fn bytes(&self, row: usize) -> Option<&'a [u8]> {
        let value = self.value.as_ref().filter(|value| !value.is_null(row) && !self.array.is_null(row))?;
        Some(value.value(row))
    }

    /// Returns whether there is a value.
    pub(super) fn is_present(&self, row: usize) -> bool {
        let typed = || self.typed.as_ref().is_some_and(|typed| !typed.is_null(row));
        !self.array.is_null(row) && (self.bytes(row).is_some() || typed())
    }

    /// Writes the value with its names. Returns whether there is one.
    pub(super) fn write(&self, row: usize, metadata: &'a [u8], writer: &mut Writer) -> Result<bool> {
        let value = self.bytes(row).map(|bytes| Variant::new(metadata, bytes)).transpose()?;
        let typed = self.typed.as_ref().filter(|typed| !self.array.is_null(row) && !typed.is_null(row));
        match (value, typed) {
            (None, None) => return Ok(false),
            (Some(value), None) => writer.copy(value)?,
            (value, Some(Typed::Object { fields, .. })) => {
                write_object(fields, row, value, metadata, writer)?
            }
            (Some(_), Some(_)) => return Err(in_both()),
            (None, Some(Typed::Primitive(primitive))) => writer.write(&primitive.value(row)?)?,
            (None, Some(Typed::Array { lists, element })) => {
                writer.begin_array()?;
                for row in lists.elements(row) {
                    // SPEC: elements cannot be missing; a missing one reads as null.
                    if !element.write(row, metadata, writer)? {
                        writer.write(&Value::Null)?;
                    }
                }
                writer.end()?;
            }
        }
        Ok(true)
    }
}

/// Writes an object of the shredded fields and those in `value`.
fn write_object<'a>(
    fields: &[ObjectField<'a>],
    row: usize,
    value: Option<Variant<'_>>,
    metadata: &'a [u8],
    writer: &mut Writer,
) -> Result<()> {
    writer.begin_object()?;
    if let Some(value) = value {
        for field in rest_of(value)?.iter() {
            let (name, value) = field?;
            if fields.binary_search_by_key(&name, |shredded| shredded.name).is_ok() {
                return Err(shredded_too(name));
            }
            writer.field(name)?;
            writer.copy(value)?;
        }
    }
    for field in fields.iter().filter(|field| field.group.is_present(row)) {
        writer.field(field.name)?;
        field.group.write(row, metadata, writer)?;
    }
    writer.end()
}

/// Returns the fields that an object has besides the shredded ones.
pub(super) fn rest_of(value: Variant<'_>) -> Result<Object<'_>> {
    match value.value()? {
        Value::Object(object) => Ok(object),
        _ => Err(Error::corrupt("a VARIANT that is not an object has shredded fields")),
    }
}

#[cold]
pub(super) fn in_both() -> Error {
    Error::corrupt("a VARIANT that is not an object is in both value and typed_value")
}

#[cold]
pub(super) fn shredded_too(name: &str) -> Error {
    Error::corrupt(format!("the field {name} of a VARIANT is shredded, and in value, too"))
}

impl<'a> Typed<'a> {
    fn new(array: &'a ArrayRef) -> Result<Self> {
        let element = |values: &'a ArrayRef| -> Result<Box<Group<'a>>> {
            let group =
                values.as_struct_opt().ok_or_else(|| not_a_group("the elements", values.data_type()))?;
            Ok(Box::new(Group::new(group)?))
        };
        let lists = |spans| Lists { array, spans };
        Ok(match array.data_type() {
            DataType::Struct(fields) => {
                let array = array.as_struct();
                let fields = fields.iter().zip(array.columns()).map(|(field, column)| {
                    let group = column.as_struct_opt();
                    let group = group.ok_or_else(|| {
                        not_a_group(&format!("the field {}", field.name()), column.data_type())
                    })?;
                    let mut quoted = String::new();
                    json::write_text_to(field.name(), &mut quoted);
                    Ok(ObjectField { name: field.name(), quoted, at: 0, group: Group::new(group)? })
                });
                let mut fields = fields.collect::<Result<Vec<_>>>()?;
                fields.sort_unstable_by_key(|field| field.name);
                if let Some(pair) = fields.windows(2).find(|pair| pair[0].name == pair[1].name) {
                    let message = format!("a VARIANT with two shredded fields {}", pair[0].name);
                    return Err(Error::corrupt(message));
                }
                Typed::Object { array, fields }
            }
            DataType::List(_) => {
                let array = array.as_list::<i32>();
                Typed::Array {
                    lists: lists(Spans::Offsets(array.value_offsets())),
                    element: element(array.values())?,
                }
            }
            DataType::LargeList(_) => {
                let array = array.as_list::<i64>();
                Typed::Array {
                    lists: lists(Spans::LargeOffsets(array.value_offsets())),
                    element: element(array.values())?,
                }
            }
            DataType::ListView(_) => {
                let array = array.as_list_view::<i32>();
                let spans = Spans::Views(array.value_offsets(), array.value_sizes());
                Typed::Array { lists: lists(spans), element: element(array.values())? }
            }
            DataType::LargeListView(_) => {
                let array = array.as_list_view::<i64>();
                let spans = Spans::LargeViews(array.value_offsets(), array.value_sizes());
                Typed::Array { lists: lists(spans), element: element(array.values())? }
            }
            _ => Typed::Primitive(Primitive::new(array)?),
        })
    }

    #[inline]
    fn is_null(&self, row: usize) -> bool {
        match self {
            Typed::Primitive(primitive) => primitive.is_null(row),
            Typed::Object { array, .. } => array.is_null(row),
            Typed::Array { lists, .. } => lists.array.is_null(row),
        }
    }
}

#[cold]
fn not_a_group(what: &str, data_type: &DataType) -> Error {
    Error::argument(format!(
        "{what} of a shredded VARIANT: a struct of value and typed_value is wanted, not {data_type}"
    ))
}

impl Lists<'_> {
    /// Returns the elements of a list. Arrow guarantees that offsets are not negative, and inside the elements.
    pub(super) fn elements(&self, row: usize) -> std::ops::Range<usize> {
        match &self.spans {
            Spans::Offsets(offsets) => offsets[row] as usize..offsets[row + 1] as usize,
            Spans::LargeOffsets(offsets) => offsets[row] as usize..offsets[row + 1] as usize,
            Spans::Views(offsets, sizes) => offsets[row] as usize..(offsets[row] + sizes[row]) as usize,
            Spans::LargeViews(offsets, sizes) => offsets[row] as usize..(offsets[row] + sizes[row]) as usize,
        }
    }
}
