//! Shreds VARIANT columns into a shape: the reverse of `group`.
//!
//! Spec: VariantShredding.md, "Value Shredding". Visits each row once. Values with a column of their own are appended
//! there at the row's position. Positions where nothing is appended are null, without being visited.

use super::column::{EMPTY_METADATA, VariantColumn};
use super::shredded_fields::{group_field, group_fields, unshredded_fields};
use super::typed_builder::TypedBuilder;
use super::value_bytes::ValueBytes;
use arrow_array::builder::BinaryViewBuilder;
use arrow_array::{Array as _, ArrayRef, ListArray, StructArray};
use arrow_buffer::{NullBufferBuilder, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field, Fields};
use marquetry_base::{Error, Result};
use marquetry_variant::{Array, Object, Shredding, Value, Variant};
use std::sync::Arc;

/// Shreds VARIANT columns, whether they are shredded already or not.
///
/// Values are preserved: NULL rows, null variants and missing fields are read back as they were, and so are numbers,
/// with their digits. The binary width of an integer or decimal is preserved only with [exact
/// widths](Self::with_exact_widths): the format treats different widths as the same number.
///
/// ```
/// use arrow_array::{Array, ArrayRef, BinaryArray, StructArray, cast::AsArray, types::Int64Type};
/// use marquetry_arrow::variant::{Shredder, VariantColumn};
/// use marquetry_variant::json;
/// # use arrow_schema::{DataType, Field};
/// # let field = |name: &str| std::sync::Arc::new(Field::new(name, DataType::Binary, false));
/// # let binary = |bytes: &[Vec<u8>]| std::sync::Arc::new(BinaryArray::from_iter_values(bytes)) as ArrayRef;
/// # let rows = [r#"{"id": 1, "x": true}"#, r#"{"id": "n/a"}"#].map(|row| json::parse(row).unwrap());
/// # let (metadata, value): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
/// # let array = StructArray::from(vec![(field("metadata"), binary(&metadata)), (field("value"), binary(&value))]);
/// // `array` is a column of a batch, of {"id": 1, "x": true} and {"id": "n/a"}.
/// let shredder = Shredder::new(&"{id: int64}".parse()?)?;
/// let shredded = shredder.shred(&VariantColumn::try_new(&array)?)?;
/// let ids = shredded.column_by_name("typed_value").unwrap().as_struct().column(0).as_struct();
/// let numbers = ids.column_by_name("typed_value").unwrap().as_primitive::<Int64Type>();
/// assert_eq!((numbers.value(0), numbers.is_null(1)), (1, true));
///
/// let again = VariantColumn::try_new(&shredded)?;
/// assert_eq!(json::to_string(again.reader().get(0)?.unwrap())?, r#"{"id":1,"x":true}"#);
/// # Ok::<(), marquetry_base::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Shredder {
    shredding: Shredding,
    exact_widths: bool,
}

impl Shredder {
    /// Creates a shredder into this shape.
    ///
    /// # Errors
    ///
    /// If the shape is not possible, see [`Shredding::check`].
    pub fn new(shredding: &Shredding) -> Result<Self> {
        shredding.check()?;
        Ok(Shredder { shredding: shredding.clone(), exact_widths: false })
    }

    /// Sets whether integers and decimals are only stored in columns of their own binary width, so that the types of
    /// values are preserved exactly. Default false: all values that fit go there, so that statistics cover them.
    pub fn with_exact_widths(mut self, exact: bool) -> Self {
        self.exact_widths = exact;
        self
    }

    /// Returns the shape.
    pub fn shredding(&self) -> &Shredding {
        &self.shredding
    }

    /// Returns the fields of the struct that [`shred`](Self::shred) returns, with `metadata` of this type.
    pub(super) fn fields(&self, metadata: &DataType) -> Fields {
        if self.shredding == Shredding::Variant {
            return unshredded_fields(metadata);
        }
        let metadata = Arc::new(Field::new("metadata", metadata.clone(), false));
        let rest = group_fields(&self.shredding);
        std::iter::once(metadata).chain(rest.iter().cloned()).collect()
    }

    /// Returns the type that `metadata` has after a struct of this type is shredded.
    pub(super) fn metadata_type(storage: &Fields) -> DataType {
        let is_unshredded = storage.find("typed_value").is_none();
        let metadata = storage.find("metadata").filter(|_| is_unshredded);
        metadata.map_or(DataType::BinaryView, |(_, field)| field.data_type().clone())
    }

    /// Shreds a column into this shape: a struct of `metadata`, `value` and, unless the shape is
    /// [`Shredding::Variant`], `typed_value`.
    ///
    /// # Errors
    ///
    /// Those of [`VariantReader::get`](super::VariantReader::get), with the row. Also fails if a value has damaged
    /// fields or elements.
    pub fn shred(&self, column: &VariantColumn<'_>) -> Result<StructArray> {
        if self.shredding == Shredding::Variant {
            return column.unshredded();
        }
        let mut group = Group::new(&self.shredding, self.exact_widths);
        let len = column.len();
        // The metadata keeps the names of all fields, shredded or not. So without assembled values it stays the same.
        let metadata = match column.metadata_of_unshredded() {
            Some(metadata) => {
                (0..len).filter(|row| !column.is_null(*row)).try_for_each(|row| {
                    let variant = column.unshredded_at(row);
                    variant.and_then(|variant| group.push(row, variant)).map_err(|error| in_row(error, row))
                })?;
                metadata.clone()
            }
            None => self.shred_rows(column, &mut group)?,
        };
        let fields = self.fields(metadata.data_type());
        let columns = std::iter::once(metadata).chain(group.finish(len)?).collect();
        StructArray::try_new(fields, columns, column.nulls().cloned()).map_err(crate::arrow_error)
    }

    /// Shreds rows that must be assembled first. Returns their metadata.
    fn shred_rows(&self, column: &VariantColumn<'_>, group: &mut Group) -> Result<ArrayRef> {
        let mut metadata = BinaryViewBuilder::with_capacity(column.len());
        let mut reader = column.reader();
        for row in 0..column.len() {
            let names = match reader.get(row).map_err(|error| in_row(error, row))? {
                Some(variant) => {
                    group.push(row, variant).map_err(|error| in_row(error, row))?;
                    variant.metadata().as_bytes()
                }
                None => &EMPTY_METADATA,
            };
            metadata.try_append_value(names).map_err(crate::arrow_error)?;
        }
        Ok(Arc::new(metadata.finish()))
    }
}

#[cold]
fn in_row(error: Error, row: usize) -> Error {
    error.with_help(&format!("in row {row} of the batch"))
}

/// Builds a place in the shape: its `value` and `typed_value`.
#[derive(Debug)]
struct Group {
    value: ValueBytes,
    typed: Option<Typed>,
}

#[derive(Debug)]
enum Typed {
    Primitive(TypedBuilder),
    Object(Objects),
    Array(Arrays),
}

impl Group {
    fn new(shredding: &Shredding, exact_widths: bool) -> Self {
        let typed = match shredding {
            Shredding::Primitive(kind) => Some(Typed::Primitive(TypedBuilder::new(*kind, exact_widths))),
            Shredding::Object(fields) => {
                let group = |(name, field): (&String, &Shredding)| {
                    (name.clone(), group_field(name, field), Group::new(field, exact_widths))
                };
                let fields = fields.iter().map(group).collect();
                Some(Typed::Object(Objects { fields, present: NullBufferBuilder::new(0), rest: Vec::new() }))
            }
            Shredding::Array(element) => Some(Typed::Array(Arrays {
                field: group_field("element", element),
                offsets: vec![0],
                present: NullBufferBuilder::new(0),
                element: Box::new(Group::new(element, exact_widths)),
            })),
            _ => None,
        };
        Group { value: ValueBytes::new(), typed }
    }

    /// Appends the value at position `at`, which is after all earlier ones.
    fn push(&mut self, at: usize, variant: Variant<'_>) -> Result<()> {
        let Some(typed) = &mut self.typed else { return self.value.push_sorted(at, variant) };
        let fits = match (typed, variant.value()?) {
            (Typed::Primitive(values), value) => values.push(at, &value)?,
            (Typed::Object(objects), Value::Object(object)) => {
                return objects.push(at, &object, &mut self.value);
            }
            (Typed::Array(arrays), Value::Array(array)) => return arrays.push(at, &array),
            _ => false,
        };
        if fits { Ok(()) } else { self.value.push_sorted(at, variant) }
    }

    /// Returns the arrays of the group's fields, of length `len`.
    fn finish(self, len: usize) -> Result<Vec<ArrayRef>> {
        let value = self.value.finish(len)?;
        let typed = match self.typed {
            None => return Ok(vec![value]),
            Some(Typed::Primitive(values)) => values.finish(len),
            Some(Typed::Object(objects)) => objects.finish(len)?,
            Some(Typed::Array(arrays)) => arrays.finish(len)?,
        };
        Ok(vec![value, typed])
    }

    /// Returns the struct of both fields. The group itself is never null.
    fn finish_struct(self, field: &Field, len: usize) -> Result<ArrayRef> {
        let columns = self.finish(len)?;
        let DataType::Struct(fields) = field.data_type() else {
            return Err(Error::argument("a group of a VARIANT is a struct"));
        };
        Ok(Arc::new(StructArray::try_new(fields.clone(), columns, None).map_err(crate::arrow_error)?))
    }
}

#[derive(Debug)]
struct Objects {
    /// Name, field and group, sorted by the bytes of the name, as in objects.
    fields: Vec<(String, Field, Group)>,
    present: NullBufferBuilder,
    /// The positions of an object's fields that are not shredded. Reused from object to object.
    rest: Vec<usize>,
}

impl Objects {
    fn push(&mut self, at: usize, object: &Object<'_>, value: &mut ValueBytes) -> Result<()> {
        self.present.append_n_nulls(at - self.present.len());
        self.present.append_non_null();
        self.rest.clear();
        let mut next = 0;
        for field in object.entries() {
            let (i, name, variant) = field?;
            while self.fields.get(next).is_some_and(|(shredded, ..)| shredded.as_str() < name) {
                next += 1;
            }
            match self.fields.get_mut(next) {
                Some((shredded, _, group)) if shredded == name => {
                    group.push(at, variant)?;
                    next += 1;
                }
                _ => self.rest.push(i),
            }
        }
        match self.rest.is_empty() {
            true => Ok(()),
            false => value.write(at, |out| object.write_some(&self.rest, out)),
        }
    }

    fn finish(mut self, len: usize) -> Result<ArrayRef> {
        self.present.append_n_nulls(len - self.present.len());
        let fields: Fields = self.fields.iter().map(|(_, field, _)| field.clone()).collect();
        let columns = self.fields.into_iter().map(|(_, field, group)| group.finish_struct(&field, len));
        let columns = columns.collect::<Result<_>>()?;
        let array = StructArray::try_new(fields, columns, self.present.build());
        Ok(Arc::new(array.map_err(crate::arrow_error)?))
    }
}

#[derive(Debug)]
struct Arrays {
    field: Field,
    /// One more than there are positions.
    offsets: Vec<i32>,
    present: NullBufferBuilder,
    element: Box<Group>,
}

impl Arrays {
    fn push(&mut self, at: usize, array: &Array<'_>) -> Result<()> {
        self.pad(at);
        let start = self.end();
        let end = i32::try_from(start + array.len());
        let end = end.map_err(|_| Error::limit("a batch with more than 2^31 elements of a VARIANT"))?;
        for (i, element) in array.iter().enumerate() {
            self.element.push(start + i, element?)?;
        }
        self.offsets.push(end);
        self.present.append_non_null();
        Ok(())
    }

    /// Returns the number of elements.
    fn end(&self) -> usize {
        self.offsets.last().map_or(0, |end| *end as usize)
    }

    /// Appends nulls up to position `at`.
    fn pad(&mut self, at: usize) {
        let n = at - self.present.len();
        self.present.append_n_nulls(n);
        let end = self.end() as i32;
        self.offsets.extend(std::iter::repeat_n(end, n));
    }

    fn finish(mut self, len: usize) -> Result<ArrayRef> {
        self.pad(len);
        let elements =
            self.element.finish_struct(&self.field, self.offsets.last().map_or(0, |end| *end as usize))?;
        // The offsets ascend: each is the previous one plus a length.
        let offsets = OffsetBuffer::new(ScalarBuffer::from(self.offsets));
        let array = ListArray::try_new(Arc::new(self.field), offsets, elements, self.present.build());
        Ok(Arc::new(array.map_err(crate::arrow_error)?))
    }
}
