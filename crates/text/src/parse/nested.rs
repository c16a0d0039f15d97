//! Parses texts inside of lists, structs and maps.

use super::error_text::message;
use super::json_form::{Expected, Unfit, reform};
use super::parse_values::{Strictness, ValueError, cast, typed};
use super::texts::Texts;
use super::variants::variants;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, GenericListArray, MapArray, OffsetSizeTrait, StructArray};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Fields};
use marquetry_arrow::variant::is_variant;
use std::sync::Arc;

/// Returns the type as which JSON is decoded first, before it becomes `field`: the same nesting, everything nullable,
/// and text for all values.
fn raw_type(field: &Field) -> DataType {
    match field.data_type() {
        _ if is_variant(field) => DataType::Utf8,
        DataType::Struct(fields) => DataType::Struct(raw_fields(fields)),
        DataType::LargeList(element) => DataType::LargeList(raw_field(element)),
        DataType::List(element)
        | DataType::FixedSizeList(element, _)
        | DataType::ListView(element)
        | DataType::LargeListView(element) => DataType::List(raw_field(element)),
        DataType::Map(entries, _) => match entries.data_type() {
            DataType::Struct(fields) if fields.len() == 2 => {
                let key = Field::new(fields[0].name(), DataType::Utf8, false);
                let value = Field::new(fields[1].name(), raw_type(&fields[1]), true);
                let entries = Field::new(entries.name(), DataType::Struct(vec![key, value].into()), false);
                DataType::Map(Arc::new(entries), false)
            }
            _ => DataType::Utf8,
        },
        _ => DataType::Utf8,
    }
}

/// Returns the fields as which JSON is decoded first, before it becomes `fields`: the same nesting, everything
/// nullable, and text for all values.
pub fn raw_fields(fields: &Fields) -> Fields {
    fields.iter().map(raw_field).collect()
}

fn raw_field(field: &FieldRef) -> FieldRef {
    Arc::new(Field::new(field.name(), raw_type(field), true))
}

/// Converts an array of the type from [`raw_fields`] to the values of `field`.
pub fn finished(raw: &ArrayRef, field: &Field, strictness: Strictness) -> Result<ArrayRef, ValueError> {
    let data_type = field.data_type();
    match (raw.data_type(), data_type) {
        (DataType::Utf8, DataType::Struct(fields)) if is_variant(field) => {
            variants(raw.as_string::<i32>(), fields)
        }
        // A map key.
        (DataType::Utf8, nested) if nested.is_nested() => {
            from_json_cells(raw.as_string::<i32>(), field, strictness)
        }
        (DataType::Utf8, _) => typed(raw.as_string(), data_type, strictness),
        (DataType::Struct(_), DataType::Struct(fields)) => {
            Ok(Arc::new(structure(raw.as_struct(), fields, strictness)?))
        }
        (DataType::List(_), DataType::List(element)) => list::<i32>(raw.as_list(), element, strictness),
        (DataType::LargeList(_), DataType::LargeList(element)) => {
            list::<i64>(raw.as_list(), element, strictness)
        }
        (DataType::List(_), DataType::FixedSizeList(element, _))
        | (DataType::List(_), DataType::ListView(element) | DataType::LargeListView(element)) => {
            let list: ArrayRef = list::<i32>(raw.as_list(), element, strictness)?;
            cast(&list, data_type)
        }
        (DataType::Map(..), DataType::Map(entries, sorted)) => {
            map(raw.as_map(), entries, *sorted, strictness)
        }
        (_, data_type) => Err(value_error(ArrowError::CastError(format!("cannot become {data_type}")))),
    }
}

fn structure(raw: &StructArray, fields: &Fields, strictness: Strictness) -> Result<StructArray, ValueError> {
    let child = |(column, field): (&ArrayRef, &FieldRef)| {
        let child = finished(column, field, strictness).map_err(|error| inside(field, error))?;
        missing(&child, raw, field)?;
        Ok(child)
    };
    let columns = raw.columns().iter().zip(fields).map(child).collect::<Result<_, _>>()?;
    StructArray::try_new_with_length(fields.clone(), columns, raw.nulls().cloned(), raw.len())
        .map_err(value_error)
}

/// Fails if a required child of a present struct is null.
fn missing(child: &ArrayRef, parent: &StructArray, field: &Field) -> Result<(), ValueError> {
    if field.is_nullable() {
        return Ok(());
    }
    match (0..child.len()).find(|at| child.is_null(*at) && parent.is_valid(*at)) {
        Some(at) => Err(ValueError { at, message: format!("{} is null", field.name()) }),
        None => Ok(()),
    }
}

fn list<O: OffsetSizeTrait>(
    raw: &GenericListArray<O>,
    element: &FieldRef,
    strictness: Strictness,
) -> Result<ArrayRef, ValueError> {
    // The elements of a list may begin anywhere in the array of all elements.
    let row = |error: ValueError| ValueError {
        at: raw.offsets().partition_point(|offset| offset.as_usize() <= error.at).saturating_sub(1),
        ..error
    };
    let values = finished(raw.values(), element, strictness).map_err(row)?;
    if !element.is_nullable()
        && let Some(at) = (0..values.len()).find(|at| values.is_null(*at))
    {
        return Err(row(ValueError { at, message: "an element is null".to_owned() }));
    }
    let (offsets, nulls) = (raw.offsets().clone(), raw.nulls().cloned());
    Ok(Arc::new(
        GenericListArray::<O>::try_new(element.clone(), offsets, values, nulls).map_err(value_error)?,
    ))
}

fn map(
    raw: &MapArray,
    entries: &FieldRef,
    sorted: bool,
    strictness: Strictness,
) -> Result<ArrayRef, ValueError> {
    let DataType::Struct(fields) = entries.data_type() else {
        return Err(value_error(ArrowError::CastError("map without entries".to_owned())));
    };
    let row = |error: ValueError| ValueError {
        at: raw.offsets().partition_point(|offset| *offset as usize <= error.at).saturating_sub(1),
        ..error
    };
    let values = structure(raw.entries(), fields, strictness).map_err(row)?;
    let (offsets, nulls) = (raw.offsets().clone(), raw.nulls().cloned());
    Ok(Arc::new(MapArray::try_new(entries.clone(), offsets, values, nulls, sorted).map_err(value_error)?))
}

fn inside(field: &Field, error: ValueError) -> ValueError {
    ValueError { message: format!("{}: {}", field.name(), error.message), ..error }
}

fn value_error(error: ArrowError) -> ValueError {
    ValueError { at: 0, message: message(&error) }
}

/// Parses JSON texts, one per cell or null, as values of a nested type.
pub(super) fn from_json_cells(
    cells: &impl Texts,
    field: &Field,
    strictness: Strictness,
) -> Result<ArrayRef, ValueError> {
    let data_type = field.data_type();
    if let DataType::Struct(fields) = data_type
        && is_variant(field)
    {
        return variants(cells, fields);
    }
    let raw_field = Arc::new(Field::new("value", raw_type(field), true));
    let Formed { text, ends, broken } = formed_cells(cells, field)?;
    let decode = |range: std::ops::Range<usize>| -> Result<ArrayRef, ArrowError> {
        let start = range.start.checked_sub(1).map_or(0, |before| ends[before]);
        let builder = arrow_json::ReaderBuilder::new_with_field(raw_field.clone());
        let builder = builder.with_batch_size(range.len() + 1).with_coerce_primitive(true);
        let mut decoder = builder.with_strict_mode(true).build_decoder()?;
        decoder.decode(&text[start..ends[range.end - 1]])?;
        match decoder.flush()? {
            Some(batch) if batch.num_rows() == range.len() => Ok(batch.column(0).clone()),
            _ => Err(ArrowError::JsonError("not one JSON value".to_owned())),
        }
    };
    if cells.len() == 0 {
        return Ok(arrow_array::new_empty_array(data_type));
    }
    let raw = decode(0..cells.len()).map_err(|all| {
        let single = (0..cells.len()).find_map(|at| Some((at, decode(at..at + 1).err()?)));
        let (at, error) = single.unwrap_or((0, all));
        ValueError { at, message: message(&error) }
    })?;
    if let Some(at) = broken {
        return Err(ValueError { at, message: "is not one JSON value".to_owned() });
    }
    finished(&raw, field, strictness)
}

/// The cells as the decoder takes them, each on a line.
struct Formed {
    text: Vec<u8>,
    /// The line end of each cell.
    ends: Vec<usize>,
    /// The first cell that is not JSON. It is kept as it is, so that the decoder reports the reason.
    broken: Option<usize>,
}

fn formed_cells(cells: &impl Texts, field: &Field) -> Result<Formed, ValueError> {
    let expected = Expected::of_field(field);
    let mut formed = Formed { text: Vec::new(), ends: Vec::with_capacity(cells.len()), broken: None };
    for at in 0..cells.len() {
        let start = formed.text.len();
        let cell = cells.get(at).unwrap_or("null").as_bytes();
        match reform(cell, &expected, false, &mut formed.text) {
            Ok(()) => {}
            Err(Unfit::Member { mut path, message, .. }) => {
                path.push(message);
                return Err(ValueError { at, message: path.join(": ") });
            }
            Err(Unfit::NotJson) => {
                formed.text.truncate(start);
                formed.text.extend_from_slice(cell);
                formed.broken = formed.broken.or(Some(at));
            }
        }
        formed.text.push(b'\n');
        formed.ends.push(formed.text.len());
    }
    Ok(formed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::StringArray;
    use arrow_array::types::Int32Type;

    fn of(data_type: &DataType) -> Field {
        Field::new("value", data_type.clone(), true)
    }

    #[test]
    fn cells_of_json() {
        let list = DataType::List(Arc::new(Field::new("item", DataType::Int32, false)));
        let cells = StringArray::from(vec![Some("[1, 2]"), None, Some("[]"), Some("[3]")]);
        let array = from_json_cells(&cells, &of(&list), Strictness::Given).unwrap();
        let lists = array.as_list::<i32>();
        assert_eq!(lists.value(0).as_primitive::<Int32Type>().values(), &[1, 2]);
        assert!(lists.is_null(1) && lists.value(2).is_empty());
        for (wrong, at) in [("[1.5]", 1), ("[null]", 1), ("{}", 1), ("[", 1), ("[1] [2]", 1)] {
            let cells = StringArray::from(vec![Some("[7, 8]"), Some(wrong)]);
            let error = from_json_cells(&cells, &of(&list), Strictness::Given).unwrap_err();
            assert_eq!(error.at, at, "{wrong}: {error:?}");
        }
    }

    #[test]
    fn structs_and_maps() {
        let fields = vec![Field::new("a", DataType::Date32, false), Field::new("b", DataType::Utf8, true)];
        let cells = StringArray::from(vec![Some(r#"{"a": "2013-07-30"}"#), None]);
        let data_type = DataType::Struct(fields.into());
        let array = from_json_cells(&cells, &of(&data_type), Strictness::Given).unwrap();
        assert_eq!(array.data_type(), &data_type);
        let cells = StringArray::from(vec![None, Some(r#"{"b": "x"}"#)]);
        assert_eq!(from_json_cells(&cells, &of(&data_type), Strictness::Given).unwrap_err().at, 1);
        let entries =
            vec![Field::new("keys", DataType::Utf8, false), Field::new("values", DataType::Int64, true)];
        let entries = Field::new("entries", DataType::Struct(entries.into()), false);
        let map = DataType::Map(Arc::new(entries), false);
        let cells = StringArray::from(vec![Some(r#"{"x": 1, "y": null}"#), Some("{}")]);
        let array = from_json_cells(&cells, &of(&map), Strictness::Given).unwrap();
        assert_eq!((array.data_type(), array.as_map().value(0).len()), (&map, 2));
    }
}
