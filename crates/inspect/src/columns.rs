//! The columns that are looked at.

use arrow_schema::{DataType, Field, FieldRef, Fields};
use marquetry_arrow::arrow_reader::{ArrowReaderMetadata, ProjectionMask};
use marquetry_arrow::variant::is_variant;
use marquetry_base::Result;
use marquetry_core::schema::Leaf;
use std::ops::Range;

/// A leaf of the file.
pub(crate) struct Column {
    /// Its number among all of the file.
    pub(crate) number: usize,
    /// The column of the table that it is in.
    pub(crate) root: usize,
    pub(crate) path: String,
    pub(crate) field: FieldRef,
    /// The path of the VARIANT that it is a part of.
    pub(crate) variant: Option<String>,
}

/// The chosen columns, dotted paths, and all below them; all columns if none are chosen. Fails if one does not exist.
pub(crate) fn columns(metadata: &ArrowReaderMetadata, chosen: Option<&[String]>) -> Result<Vec<Column>> {
    let schema = metadata.parquet_schema();
    let mask = match chosen {
        Some(columns) => ProjectionMask::existing_columns(schema, columns.iter().map(String::as_str))?,
        None => ProjectionMask::all(),
    };
    let mut leaves = Leaves::default();
    leaves.add_all(metadata.schema().fields());
    let variant_of = |number: usize| {
        let range = leaves.variants.iter().find(|range| range.contains(&number))?;
        let [first, last] = [range.start, range.end - 1].map(|number| schema.column(number).path());
        // Of `metadata`, `value` and `typed_value`.
        let common = first.iter().zip(last).take_while(|(one, other)| one == other);
        Some(common.map(|(part, _)| &**part).collect::<Vec<_>>().join("."))
    };
    let numbered = schema.columns().iter().zip(&leaves.fields).enumerate();
    let column = |(number, (leaf, field)): (usize, (&Leaf, &FieldRef))| Column {
        number,
        root: leaf.root(),
        path: leaf.dotted().to_string(),
        field: field.clone(),
        variant: variant_of(number),
    };
    Ok(numbered.filter(|(number, _)| mask.leaf_included(*number)).map(column).collect())
}

/// The fields of leaves, in the order of the file's columns.
#[derive(Default)]
struct Leaves {
    fields: Vec<FieldRef>,
    /// The numbers of the leaves of each VARIANT.
    variants: Vec<Range<usize>>,
}

impl Leaves {
    fn add_all(&mut self, fields: &Fields) {
        fields.iter().for_each(|field| self.add(field));
    }

    fn add(&mut self, field: &FieldRef) {
        let start = self.fields.len();
        self.add_below(field);
        if is_variant(field) && self.fields.len() > start {
            self.variants.push(start..self.fields.len());
        }
    }

    fn add_below(&mut self, field: &FieldRef) {
        match field.data_type() {
            DataType::Struct(fields) => self.add_all(fields),
            DataType::List(element)
            | DataType::LargeList(element)
            | DataType::ListView(element)
            | DataType::LargeListView(element)
            | DataType::FixedSizeList(element, _)
            | DataType::Map(element, _) => self.add(element),
            DataType::RunEndEncoded(_, values) => {
                let plain = Field::new(field.name(), values.data_type().clone(), field.is_nullable());
                self.fields.push(plain.into());
            }
            _ => self.fields.push(field.clone()),
        }
    }
}
