//! Shreds the VARIANT columns of record batches before they are written.

use super::column::VariantColumn;
use super::shredder::Shredder;
use crate::schema::{element_of, is_variant};
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions, StructArray, make_array};
use arrow_schema::{DataType, Field, FieldRef, Fields, Schema, SchemaRef};
use marquetry_base::{Error, Result};
use marquetry_variant::Shredding;
use std::sync::Arc;

/// The shapes that VARIANT columns are shredded into. Other columns keep theirs.
///
/// ```
/// use marquetry_arrow::variant::Shreddings;
/// let shreddings = Shreddings::new().with_column("event", "{at: int64, kind: string}".parse()?);
/// assert_eq!(shreddings.to_string(), "event={at: int64, kind: string}");
/// # Ok::<(), marquetry_base::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Shreddings {
    columns: Vec<(String, Shredding)>,
}

impl Shreddings {
    /// Creates shreddings of no column.
    pub fn new() -> Self {
        Self::default()
    }

    /// Shreds a column into a shape. `path` is the dotted path in the Parquet schema, in which a list's element is
    /// `list.element`. [`Shredding::Variant`] unshreds values. Replaces any earlier shape of the column.
    pub fn with_column(mut self, path: impl Into<String>, shredding: Shredding) -> Self {
        let path = path.into();
        self.columns.retain(|(known, _)| *known != path);
        self.columns.push((path, shredding));
        self
    }

    /// Returns whether no column has a shape.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// Iterates over paths and shapes.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Shredding)> {
        self.columns.iter().map(|(path, shredding)| (path.as_str(), shredding))
    }

    /// Returns the shape of a column, if it has one.
    pub fn get(&self, path: &str) -> Option<&Shredding> {
        self.iter().find(|(known, _)| *known == path).map(|(_, shredding)| shredding)
    }
}

impl std::fmt::Display for Shreddings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (i, (path, shredding)) in self.iter().enumerate() {
            let comma = if i > 0 { ", " } else { "" };
            write!(f, "{comma}{path}={shredding}")?;
        }
        Ok(())
    }
}

/// Returns the dotted paths of all VARIANT columns of a schema, at any depth.
pub fn variant_columns(schema: &Schema) -> Vec<String> {
    let mut out = Vec::new();
    schema.fields().iter().for_each(|field| add_variants(field, field.name().clone(), &mut out));
    out.into_iter().map(|(path, _)| path).collect()
}

/// Appends paths and fields of the VARIANT columns in a field.
pub(super) fn add_variants<'a>(field: &'a Field, path: String, out: &mut Vec<(String, &'a Field)>) {
    if is_variant(field) {
        out.push((path, field));
        return;
    }
    for (child, step) in children(field.data_type()) {
        add_variants(child, format!("{path}.{step}"), out);
    }
}

/// Returns the column at a dotted path, and its field. For a list, that is the array of all elements.
pub(crate) fn arrays_of_path(batch: &RecordBatch, path: &str) -> Option<(FieldRef, ArrayRef)> {
    let schema = batch.schema();
    let mut columns = schema.fields().iter().zip(batch.columns());
    columns.find_map(|(field, array)| array_below(field, array, field.name(), path))
}

fn array_below(field: &FieldRef, array: &ArrayRef, here: &str, wanted: &str) -> Option<(FieldRef, ArrayRef)> {
    if here == wanted {
        return Some((field.clone(), array.clone()));
    }
    if is_variant(field) || !wanted.starts_with(here) {
        return None;
    }
    let data = array.to_data();
    children(field.data_type()).into_iter().zip(data.child_data()).find_map(|((child, step), data)| {
        array_below(child, &make_array(data.clone()), &format!("{here}.{step}"), wanted)
    })
}

/// Returns the fields inside a type, each with the text that its path adds.
fn children(data_type: &DataType) -> Vec<(&FieldRef, String)> {
    match data_type {
        DataType::Struct(fields) => fields.iter().map(|field| (field, field.name().clone())).collect(),
        DataType::Map(entries, _) => vec![(entries, "key_value".to_owned())],
        list => element_of(list).map(|element| (element, "list.element".to_owned())).into_iter().collect(),
    }
}

/// Shreds columns of batches.
///
/// ```
/// use marquetry_arrow::arrow_writer::ArrowWriter;
/// use marquetry_arrow::variant::{BatchShredder, Shreddings};
/// # use arrow_array::{ArrayRef, BinaryArray, RecordBatch, StructArray};
/// # use arrow_schema::{DataType, Field, Schema};
/// # let bytes = |name: &str| Field::new(name, DataType::Binary, false);
/// # let storage = DataType::Struct(vec![bytes("metadata"), bytes("value")].into());
/// # let extension = std::collections::HashMap::from([("ARROW:extension:name".to_owned(), "arrow.parquet.variant".to_owned())]);
/// # let schema = std::sync::Arc::new(Schema::new(vec![Field::new("event", storage, true).with_metadata(extension)]));
/// # let (metadata, value) = marquetry_variant::json::parse(r#"{"kind": "click", "x": 7}"#)?;
/// # let binary = |bytes: &[u8]| std::sync::Arc::new(BinaryArray::from_vec(vec![bytes])) as ArrayRef;
/// # let DataType::Struct(fields) = schema.field(0).data_type().clone() else { unreachable!() };
/// # let column = StructArray::new(fields, vec![binary(&metadata), binary(&value)], None);
/// # let batch = RecordBatch::try_new(schema, vec![std::sync::Arc::new(column)])?;
/// // `batch` has a column `event` of VARIANT.
/// let shreddings = Shreddings::new().with_column("event", "{kind: string}".parse()?);
/// let shredder = BatchShredder::new(batch.schema(), &shreddings)?;
/// let mut writer = ArrowWriter::try_new(Vec::new(), shredder.schema().clone(), None)?;
/// writer.write(&shredder.shred(&batch)?)?;
/// let metadata = writer.close()?;
/// let columns: Vec<&str> = metadata.schema().columns().iter().map(|column| &**column.dotted()).collect();
/// assert_eq!(columns[3], "event.typed_value.kind.typed_value");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct BatchShredder {
    schema: SchemaRef,
    columns: Vec<Column>,
}

/// What to do with a field.
#[derive(Debug)]
enum Column {
    Keep,
    /// A VARIANT that is not shredded stays so, with sorted fields. QUIRK: DuckDB 2.0 writes fields of objects in any order.
    Sort,
    Shred(Shredder),
    /// Changes fields inside it.
    Inside(DataType, Vec<Column>),
}

impl BatchShredder {
    /// Creates a shredder of batches of `schema`.
    ///
    /// # Errors
    ///
    /// If a path does not lead to a VARIANT column, or if a shape is not possible.
    pub fn new(schema: SchemaRef, shreddings: &Shreddings) -> Result<Self> {
        let variants = variant_columns(&schema);
        if let Some((path, _)) =
            shreddings.iter().find(|(path, _)| !variants.iter().any(|known| known == path))
        {
            let known = match variants.is_empty() {
                true => "there is none".to_owned(),
                false => format!("there are: {}", variants.join(", ")),
            };
            return Err(Error::argument(format!("no column of VARIANT is called {path}; {known}")));
        }
        let plans: Vec<(FieldRef, Column)> = schema
            .fields()
            .iter()
            .map(|field| column(field, field.name(), shreddings))
            .collect::<Result<_>>()?;
        let (fields, columns): (Vec<FieldRef>, Vec<Column>) = plans.into_iter().unzip();
        let schema = Schema::new_with_metadata(fields, schema.metadata().clone());
        Ok(BatchShredder { schema: Arc::new(schema), columns })
    }

    /// Returns the schema of the batches that [`shred`](Self::shred) returns.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Shreds a batch. Its columns must be those of the schema.
    ///
    /// # Errors
    ///
    /// Those of [`Shredder::shred`], with the column.
    pub fn shred(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        if batch.num_columns() != self.columns.len() {
            let (given, wanted) = (batch.num_columns(), self.columns.len());
            return Err(Error::argument(format!(
                "a batch of {given} columns where {wanted} are to be shredded"
            )));
        }
        let columns = batch.columns().iter().zip(&self.columns).zip(self.schema.fields());
        let columns = columns.map(|((array, column), field)| {
            shredded(array, column).map_err(|error| error.in_column(field.name().as_str()))
        });
        let columns = columns.collect::<Result<Vec<_>>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        RecordBatch::try_new_with_options(self.schema.clone(), columns, &options).map_err(crate::arrow_error)
    }
}

fn column(field: &FieldRef, path: &str, shreddings: &Shreddings) -> Result<(FieldRef, Column)> {
    let keep = || (field.clone(), Column::Keep);
    if let (true, Some(shredding), DataType::Struct(storage)) =
        (is_variant(field), shreddings.get(path), field.data_type())
    {
        if *shredding == Shredding::Variant && storage.find("typed_value").is_none() {
            return Ok((field.clone(), Column::Sort));
        }
        let shredder = Shredder::new(shredding).map_err(|error| error.in_column(path))?;
        let fields = shredder.fields(&Shredder::metadata_type(storage));
        let field = Field::clone(field).with_data_type(DataType::Struct(fields));
        return Ok((Arc::new(field), Column::Shred(shredder)));
    }
    if is_variant(field) {
        return Ok((field.clone(), Column::Sort));
    }
    let inside = children(field.data_type());
    let parts = inside.iter().map(|(child, step)| column(child, &format!("{path}.{step}"), shreddings));
    let (fields, columns): (Vec<FieldRef>, Vec<Column>) =
        parts.collect::<Result<Vec<_>>>()?.into_iter().unzip();
    if columns.iter().all(|column| matches!(column, Column::Keep)) {
        return Ok(keep());
    }
    let data_type = with_children(field.data_type(), fields);
    let field = Field::clone(field).with_data_type(data_type.clone());
    Ok((Arc::new(field), Column::Inside(data_type, columns)))
}

/// Returns the type with these fields in place of its own.
fn with_children(data_type: &DataType, fields: Vec<FieldRef>) -> DataType {
    let Some(first) = fields.first().cloned() else { return data_type.clone() };
    match data_type {
        DataType::Struct(_) => DataType::Struct(Fields::from(fields)),
        DataType::Map(_, sorted) => DataType::Map(first, *sorted),
        DataType::List(_) => DataType::List(first),
        DataType::LargeList(_) => DataType::LargeList(first),
        DataType::ListView(_) => DataType::ListView(first),
        DataType::LargeListView(_) => DataType::LargeListView(first),
        DataType::FixedSizeList(_, len) => DataType::FixedSizeList(first, *len),
        other => other.clone(),
    }
}

fn shredded(array: &ArrayRef, column: &Column) -> Result<ArrayRef> {
    match column {
        Column::Keep => Ok(array.clone()),
        Column::Sort => {
            let sorted = VariantColumn::try_new(array)?.sorted()?;
            Ok(sorted.map_or_else(|| array.clone(), |sorted| Arc::new(sorted)))
        }
        Column::Shred(shredder) => {
            let shredded: StructArray = shredder.shred(&VariantColumn::try_new(array)?)?;
            Ok(Arc::new(shredded))
        }
        Column::Inside(data_type, columns) => {
            let data = array.to_data();
            let children = data.child_data().iter().zip(columns);
            let children =
                children.map(|(child, column)| Ok(shredded(&make_array(child.clone()), column)?.to_data()));
            let children = children.collect::<Result<Vec<_>>>()?;
            let data = data.into_builder().data_type(data_type.clone()).child_data(children).build();
            Ok(make_array(data.map_err(crate::arrow_error)?))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::variant::bytes::bytes_of;
    use arrow_array::BinaryArray;
    use marquetry_variant::{Variant, json};

    /// QUIRK: DuckDB 2.0 has fields of objects in any order.
    #[test]
    fn fields_out_of_order_are_written_in_order() {
        let (metadata, sorted) = json::parse(r#"{"a": {"b": 1, "c": 2}, "d": 3}"#).unwrap();
        let mut value = sorted.clone();
        // The ids of both objects, and their offsets.
        for (one, other) in [(2, 3), (4, 5), (9, 10), (11, 12)] {
            value.swap(one, other);
        }
        let variant = Variant::new(&metadata, &value).unwrap();
        assert!(
            variant.validate().is_err()
                && json::to_string(variant).unwrap() == r#"{"a":{"b":1,"c":2},"d":3}"#
        );
        let of_rows = |rows: [Option<&[u8]>; 3]| Arc::new(BinaryArray::from_iter(rows)) as ArrayRef;
        let names = of_rows([Some(&metadata); 3]);
        let values = of_rows([None, Some(&value), Some(&sorted)]);
        let fields = vec![
            Field::new("metadata", DataType::Binary, false),
            Field::new("value", DataType::Binary, true),
        ];
        let nulls = Some(vec![false, true, true].into());
        let array: ArrayRef = Arc::new(StructArray::new(fields.into(), vec![names, values], nulls));
        let extension = [("ARROW:extension:name".to_owned(), "arrow.parquet.variant".to_owned())].into();
        let field = Field::new("v", array.data_type().clone(), true).with_metadata(extension);
        let schema = Arc::new(Schema::new(vec![field]));
        let batch = RecordBatch::try_new(schema.clone(), vec![array]).unwrap();
        for shape in [None, Some("variant"), Some("{d: int64}"), Some("{a: {b: int64}}"), Some("string")] {
            let shreddings = shape.map_or_else(Shreddings::new, |shape| {
                Shreddings::new().with_column("v", shape.parse().unwrap())
            });
            let written = BatchShredder::new(schema.clone(), &shreddings).unwrap().shred(&batch).unwrap();
            let column = VariantColumn::try_new(written.column(0)).unwrap();
            assert!(column.is_null(0));
            let mut reader = column.reader();
            for row in [1, 2] {
                let read = reader.get(row).unwrap().unwrap();
                read.validate().unwrap();
                assert_eq!(json::to_string(read).unwrap(), json::to_string(variant).unwrap(), "{shape:?}");
            }
            let stored = written.column(0).as_any().downcast_ref::<StructArray>().unwrap();
            let values = stored.column_by_name("value").and_then(bytes_of).unwrap();
            if !values.is_null(1) {
                Variant::new(&metadata, values.value(1)).unwrap().validate_value().unwrap();
            }
        }
    }
}
