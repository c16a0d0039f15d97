//! The sort columns, and how to compare rows by these.

use super::columns::SortColumn;
use super::{curve, times};
use crate::column_list::several_columns;
use crate::failure::Failure;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float16Type, Float32Type, Float64Type};
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, RecordBatch, make_array};
use arrow_buffer::NullBuffer;
use arrow_row::{Row, RowConverter, Rows, SortField};
use arrow_schema::{ArrowError, DataType, FieldRef, Fields, Schema, SortOptions};
use marquetry::errors::Error;
use marquetry_core::schema::no_such_column;
use marquetry_text::format::scalar::INT96_MARK;
use std::sync::Arc;

/// A column that rows are sorted by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SortKey {
    /// Field indices from the root downwards.
    path: Vec<usize>,
    data_type: DataType,
    /// The index of the column among the leaves of the schema, as in Parquet.
    pub(crate) leaf: usize,
    pub(crate) descending: bool,
    pub(crate) nulls_first: bool,
    /// Whether rows are sorted by places of geometries on a curve, instead of by their bytes.
    pub(crate) is_on_curve: bool,
    /// Whether these are the bytes of INT96, whose order is that of the times.
    is_int96: bool,
}

/// The sort columns, and a converter to comparable bytes.
pub(crate) struct Keys {
    keys: Vec<SortKey>,
    converter: RowConverter,
    /// Whether the [`Prefix`] of a row has all of its bytes.
    are_short: bool,
}

/// The first comparable bytes of a row, which decide if they differ.
pub(super) type Prefix = [u64; 3];

impl SortKey {
    /// The column with that name, and its order.
    pub(crate) fn new(column: &SortColumn, schema: &Schema) -> Result<Self, Failure> {
        let (mut descending, mut nulls_first) = (false, false);
        let (name, words) = column.parts(|name| schema.fields().find(name).is_some());
        for word in &words {
            match *word {
                "asc" => descending = false,
                "desc" => descending = true,
                "nulls-first" => nulls_first = true,
                "nulls-last" => nulls_first = false,
                _ => {
                    let text = column.text();
                    let message =
                        format!("--sort-by {text}: {word:?} is none of asc, desc, nulls-first, nulls-last");
                    return Err(Failure::Usage(message));
                }
            }
        }
        for both in [["asc", "desc"], ["nulls-first", "nulls-last"]] {
            if both.iter().all(|word| words.contains(word)) {
                let (text, [one, other]) = (column.text(), both);
                return Err(Failure::Usage(format!(
                    "--sort-by {text}: {one} and {other} contradict each other"
                )));
            }
        }
        let missing = || {
            let mut known = Vec::new();
            all_names(schema.fields(), "", &mut known);
            Failure::from(no_such_column(name, known.iter().map(String::as_str)).with_context("--sort-by"))
        };
        let mut found = Vec::new();
        find(schema.fields(), name, 0, &mut Vec::new(), &mut found);
        // A single quoted name may also be a path with these dots, if no column has that name.
        let is_exact =
            |(path, ..): &Found| fields_on(schema.fields(), path).map(|field| field.name()).eq(&column.names);
        if !column.names.is_empty() && (column.names.len() > 1 || found.iter().any(is_exact)) {
            found.retain(is_exact);
        }
        if found.len() > 1 {
            return Err(several_columns(name).with_context("--sort-by").into());
        }
        let (path, leaf, data_type) = found.pop().ok_or_else(missing)?;
        let is_on_curve = column.is_on_curve;
        let field = fields_on(schema.fields(), &path).last();
        let is_int96 = field.is_some_and(|field| field.metadata().contains_key(INT96_MARK));
        let key = SortKey { path, data_type, leaf, descending, nulls_first, is_on_curve, is_int96 };
        if is_on_curve && !is_binary(&key.data_type) {
            let data_type = &key.data_type;
            return Err(Error::argument(format!("column {name}: {data_type} has no geometries")).into());
        }
        if !key.has_order() {
            let data_type = &key.data_type;
            return Err(Error::argument(format!("column {name}: {data_type} has no order to sort by")).into());
        }
        Ok(key)
    }

    /// The index of the root column that it is, or is in.
    pub(crate) fn root(&self) -> usize {
        self.path[0]
    }

    fn has_order(&self) -> bool {
        let values = match &self.data_type {
            DataType::Dictionary(_, values) => values.as_ref(),
            DataType::RunEndEncoded(_, values) => values.data_type(),
            other => other,
        };
        // The nulls of structs cannot be applied to run-end encoded arrays.
        let is_run = self.path.len() > 1 && matches!(self.data_type, DataType::RunEndEncoded(..));
        let is_odd = is_run || values.is_nested() || matches!(values, DataType::Interval(_) | DataType::Null);
        !is_odd && RowConverter::supports_fields(&[self.field()])
    }

    fn field(&self) -> SortField {
        let options = SortOptions { descending: self.descending, nulls_first: self.nulls_first };
        SortField::new_with_options(self.compared_type(), options)
    }

    /// The type of the values that rows are compared by.
    fn compared_type(&self) -> DataType {
        match (self.is_on_curve, self.is_int96) {
            (true, _) => DataType::FixedSizeBinary(curve::BYTES),
            (false, true) => times::COMPARED,
            (false, false) => self.data_type.clone(),
        }
    }

    fn array(&self, batch: &RecordBatch) -> Result<ArrayRef, ArrowError> {
        let mut array = batch.column(self.path[0]).clone();
        for child in &self.path[1..] {
            let parent = array.as_struct();
            array = beneath(parent.column(*child), parent.nulls())?;
        }
        if self.is_on_curve {
            return curve::places(&array);
        }
        if self.is_int96 {
            return Ok(times::nanoseconds(&array));
        }
        canonical(array)
    }
}

/// Floats in the order of Parquet: both zeros are equal, and all NaNs are equal and greater than all numbers. Rows with
/// equal keys keep their order, or are compared by further keys. The rows themselves keep their bits.
fn canonical(array: ArrayRef) -> Result<ArrayRef, ArrowError> {
    Ok(match array.data_type() {
        DataType::Float16 => {
            type Float16 = <Float16Type as ArrowPrimitiveType>::Native;
            let value = |float: Float16| if float.is_nan() { Float16::NAN } else { float + Float16::ZERO };
            Arc::new(array.as_primitive::<Float16Type>().unary::<_, Float16Type>(value))
        }
        DataType::Float32 => {
            let value = |float: f32| if float.is_nan() { f32::NAN } else { float + 0.0 };
            Arc::new(array.as_primitive::<Float32Type>().unary::<_, Float32Type>(value))
        }
        DataType::Float64 => {
            let value = |float: f64| if float.is_nan() { f64::NAN } else { float + 0.0 };
            Arc::new(array.as_primitive::<Float64Type>().unary::<_, Float64Type>(value))
        }
        DataType::Dictionary(_, values) if values.is_floating() => {
            let dictionary = array.as_any_dictionary();
            dictionary.with_values(canonical(dictionary.values().clone())?)
        }
        DataType::RunEndEncoded(_, values) if values.data_type().is_floating() => {
            let data = array.to_data();
            let [ends, values] = data.child_data() else { return Ok(array) };
            let values = canonical(make_array(values.clone()))?.to_data();
            make_array(data.clone().into_builder().child_data(vec![ends.clone(), values]).build()?)
        }
        _ => array,
    })
}

/// The child of a struct, null where the struct is.
fn beneath(child: &ArrayRef, parents: Option<&NullBuffer>) -> Result<ArrayRef, ArrowError> {
    if parents.is_none() || matches!(child.data_type(), DataType::RunEndEncoded(..)) {
        return Ok(child.clone());
    }
    let nulls = NullBuffer::union(parents, child.nulls());
    Ok(make_array(child.to_data().into_builder().nulls(nulls).build()?))
}

/// The dotted names of all fields that [`find`] finds.
fn all_names(fields: &Fields, above: &str, names: &mut Vec<String>) {
    for field in fields {
        let name = format!("{above}{}", field.name());
        if let DataType::Struct(children) = field.data_type() {
            all_names(children, &format!("{name}."), names);
        }
        names.push(name);
    }
}

/// A field: its path, the index of its first leaf, and its type.
type Found = (Vec<usize>, usize, DataType);

/// The fields on a path that [`find`] found.
fn fields_on<'a>(fields: &'a Fields, path: &'a [usize]) -> impl Iterator<Item = &'a FieldRef> {
    let mut fields = Some(fields);
    path.iter().map_while(move |place| {
        let field = fields?.get(*place)?;
        fields = match field.data_type() {
            DataType::Struct(children) => Some(children),
            _ => None,
        };
        Some(field)
    })
}

/// Finds all fields with the dotted name. `before` leaves precede the fields, `above` is the path to these.
fn find(fields: &Fields, name: &str, before: usize, above: &mut Vec<usize>, found: &mut Vec<Found>) {
    let mut leaf = before;
    for (i, field) in fields.iter().enumerate() {
        above.push(i);
        if field.name() == name {
            found.push((above.clone(), leaf, field.data_type().clone()));
        }
        let rest = name.strip_prefix(field.name().as_str()).and_then(|rest| rest.strip_prefix('.'));
        if let (Some(rest), DataType::Struct(children)) = (rest, field.data_type()) {
            find(children, rest, leaf, above, found);
        }
        above.pop();
        leaf += crate::leaf_sizes::count(field.data_type());
    }
}

impl Keys {
    /// The keys in order of precedence.
    pub(crate) fn new(keys: Vec<SortKey>) -> Result<Self, Failure> {
        let fields = keys.iter().map(SortKey::field).collect();
        let width: Option<usize> = keys.iter().map(|key| encoded_width(&key.compared_type())).sum();
        let are_short = width.is_some_and(|width| width <= size_of::<Prefix>());
        Ok(Keys { converter: RowConverter::new(fields)?, keys, are_short })
    }

    /// Whether rows with equal prefixes are equal.
    pub(super) fn are_short(&self) -> bool {
        self.are_short
    }

    /// Comparable bytes for each row of the batch.
    pub(super) fn rows(&self, batch: &RecordBatch) -> Result<Rows, ArrowError> {
        let arrays = self.keys.iter().map(|key| key.array(batch)).collect::<Result<Vec<_>, _>>()?;
        self.converter.convert_columns(&arrays)
    }
}

/// The first bytes of a row, as numbers with the order of the rows.
#[inline]
pub(super) fn prefix(row: Row<'_>) -> Prefix {
    let mut bytes = [0; size_of::<Prefix>()];
    let row = row.as_ref();
    let length = row.len().min(bytes.len());
    bytes[..length].copy_from_slice(&row[..length]);
    let (words, _) = bytes.as_chunks::<8>();
    [u64::from_be_bytes(words[0]), u64::from_be_bytes(words[1]), u64::from_be_bytes(words[2])]
}

fn is_binary(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Binary | DataType::LargeBinary | DataType::BinaryView)
}

/// The number of comparable bytes of each value of a type, if it is fixed: one of them marks nulls.
fn encoded_width(data_type: &DataType) -> Option<usize> {
    match data_type {
        DataType::Boolean => Some(2),
        DataType::FixedSizeBinary(width) => Some(1 + usize::try_from(*width).ok()?),
        other => Some(1 + other.primitive_width()?),
    }
}

#[cfg(test)]
mod tests {
    use super::super::columns::SortColumns;
    use super::*;
    use arrow_schema::Field;
    use std::sync::Arc;

    #[test]
    fn names_and_orders() {
        let inner = vec![Field::new("x", DataType::Int32, true), Field::new("y", DataType::Utf8, true)];
        let list = DataType::List(Arc::new(Field::new_list_field(DataType::Int32, true)));
        let schema = Schema::new(vec![
            Field::new("l", list, true),
            Field::new("s", DataType::Struct(inner.into()), true),
            Field::new("a:desc", DataType::Int64, true),
            Field::new("b.c", DataType::Int64, true),
        ]);
        let parse = |text: &str| SortKey::new(&text.parse::<SortColumns>().unwrap().0[0], &schema);
        let key = parse("s.y:desc:nulls-first").unwrap();
        assert_eq!((key.path, key.leaf, key.descending, key.nulls_first), (vec![1, 1], 2, true, true));
        assert!(!parse("a:desc").unwrap().descending);
        assert!(parse("a:desc:desc").unwrap().descending);
        assert_eq!(parse("b.c").unwrap().leaf, 4);
        for wrong in ["l", "s", "x", "s.z", "b.c:down"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
        // Of several columns the first one may be the wrong one.
        let inner = vec![Field::new("c", DataType::Int32, true)];
        let schema = Schema::new(vec![
            Field::new("a", DataType::Int32, true),
            Field::new("b", DataType::Struct(inner.into()), true),
            Field::new("a", DataType::Int32, true),
            Field::new("b.c", DataType::Int32, true),
        ]);
        for name in ["a", "b.c"] {
            let told = SortKey::new(&name.parse::<SortColumns>().unwrap().0[0], &schema).unwrap_err();
            let why = format!(
                "argument: --sort-by: several columns are called \"{name}\", so the name is ambiguous"
            );
            assert!(told.to_string().starts_with(&why), "{told}");
        }
        let leaf =
            |text: &str| SortKey::new(&text.parse::<SortColumns>().unwrap().0[0], &schema).unwrap().leaf;
        assert_eq!([leaf("b.\"c\""), leaf("\"b.c\"")], [1, 3]);
    }
}
