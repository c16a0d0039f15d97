//! The columns that are looked at.

use arrow_schema::{DataType, Field, FieldRef, Fields};
use marquetry_arrow::arrow_reader::{ArrowReaderMetadata, ProjectionMask};
use marquetry_base::Result;

/// A leaf of the file.
pub(crate) struct Column {
    /// Its number among all of the file.
    pub(crate) number: usize,
    /// The column of the table that it is in.
    pub(crate) root: usize,
    pub(crate) path: String,
    pub(crate) field: FieldRef,
}

/// The chosen columns, dotted paths, and all below them; all columns if none are chosen. Fails if one does not exist.
pub(crate) fn columns(metadata: &ArrowReaderMetadata, chosen: Option<&[String]>) -> Result<Vec<Column>> {
    let schema = metadata.parquet_schema();
    let mask = match chosen {
        Some(columns) => ProjectionMask::existing_columns(schema, columns.iter().map(String::as_str))?,
        None => ProjectionMask::all(),
    };
    let mut fields = Vec::new();
    leaves(metadata.schema().fields(), &mut fields);
    let leaves = schema.columns().iter().zip(fields).enumerate();
    let column = |(number, (leaf, field)): (usize, (&marquetry_core::schema::Leaf, FieldRef))| Column {
        number,
        root: leaf.root(),
        path: leaf.dotted().to_string(),
        field,
    };
    Ok(leaves.filter(|(number, _)| mask.leaf_included(*number)).map(column).collect())
}

/// The fields of leaves, in the order of the file's columns.
fn leaves(fields: &Fields, out: &mut Vec<FieldRef>) {
    fields.iter().for_each(|field| leaves_of(field, out));
}

fn leaves_of(field: &FieldRef, out: &mut Vec<FieldRef>) {
    match field.data_type() {
        DataType::Struct(fields) => leaves(fields, out),
        DataType::List(element)
        | DataType::LargeList(element)
        | DataType::ListView(element)
        | DataType::LargeListView(element)
        | DataType::FixedSizeList(element, _)
        | DataType::Map(element, _) => leaves_of(element, out),
        DataType::RunEndEncoded(_, values) => {
            out.push(Field::new(field.name(), values.data_type().clone(), field.is_nullable()).into());
        }
        _ => out.push(field.clone()),
    }
}
