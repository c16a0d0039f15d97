//! The leaf columns of a file that statistics and comparisons read, and the types to read them as.

use arrow_schema::{DataType, Field, FieldRef, Fields};
use marquetry_arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ProjectionMask};
use marquetry_arrow::variant::is_variant;
use marquetry_base::Result;
use marquetry_core::schema::Leaf;
use std::collections::HashMap;
use std::ops::Range;

/// A leaf column of the file.
pub(crate) struct Column {
    /// Its index among all leaf columns of the file.
    pub(crate) number: usize,
    /// The index of the root field that it is in.
    pub(crate) root: usize,
    pub(crate) path: String,
    pub(crate) field: FieldRef,
    /// The path of the VARIANT that it is a part of.
    #[cfg_attr(not(feature = "fs"), allow(dead_code, reason = "asked for where rows are compared, by `fs`"))]
    pub(crate) variant: Option<String>,
    /// The type to read it as, if the keys or run ends of its own type may be too narrow for the rows of a whole file.
    pub(crate) wide: Option<DataType>,
}

/// Returns the file with columns read as types whose keys and run ends are wide enough for all rows, and these types by
/// path.
///
/// The writer kept its dictionaries, or its batches, small. Those that are read extend over several row groups, and are
/// larger.
pub(crate) fn with_wide_keys(
    metadata: ArrowReaderMetadata,
    options: &ArrowReaderOptions,
) -> Result<(ArrowReaderMetadata, HashMap<String, DataType>)> {
    let wide = columns(&metadata, None)?.into_iter().filter_map(|column| Some((column.path, column.wide?)));
    let types: HashMap<String, DataType> = wide.collect();
    if types.is_empty() {
        return Ok((metadata, types));
    }
    // If two columns of one name have different types, each is read as it was written.
    match metadata.with_options(with_types(options.clone(), types.clone())) {
        Ok(wide) => Ok((wide, types)),
        Err(_) => Ok((metadata, HashMap::new())),
    }
}

/// Returns the options, with these types for the columns with these paths.
pub(crate) fn with_types(
    options: ArrowReaderOptions,
    types: HashMap<String, DataType>,
) -> ArrowReaderOptions {
    match types.is_empty() {
        true => options,
        false => options.with_type_hook(move |leaf| types.get(&**leaf.dotted()).cloned()),
    }
}

/// Returns the chosen columns, given by dotted paths, with all columns below them, or all columns if none are chosen.
/// Fails if a column does not exist.
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
        // The common path of `metadata`, `value` and `typed_value`.
        let common = first.iter().zip(last).take_while(|(one, other)| one == other);
        Some(common.map(|(part, _)| &**part).collect::<Vec<_>>().join("."))
    };
    let numbered = schema.columns().iter().zip(leaves.fields.iter().zip(&leaves.wide)).enumerate();
    type Found<'a> = (&'a FieldRef, &'a Option<DataType>);
    let column = |(number, (leaf, (field, wide))): (usize, (&Leaf, Found<'_>))| Column {
        wide: wide.clone(),
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
    /// The type to read each leaf as.
    wide: Vec<Option<DataType>>,
    /// The indexes of the leaves of each VARIANT.
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
                self.wide.push(wide(field.data_type()));
            }
            _ => {
                self.fields.push(field.clone());
                self.wide.push(wide(field.data_type()));
            }
        }
    }
}

/// Returns a type for the same values, if the keys or run ends of this one have fewer than 32 bits.
fn wide(data_type: &DataType) -> Option<DataType> {
    match data_type {
        DataType::Dictionary(keys, values) if keys.primitive_width() < Some(4) => {
            Some(DataType::Dictionary(Box::new(DataType::Int32), values.clone()))
        }
        DataType::RunEndEncoded(ends, values) if ends.data_type().primitive_width() < Some(4) => {
            Some(values.data_type().clone())
        }
        _ => None,
    }
}
