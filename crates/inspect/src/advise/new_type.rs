//! Types that hold the same values in fewer bytes.

use arrow_array::builder::FixedSizeBinaryBuilder;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BinaryArray, ListArray, StructArray, UInt32Array};
use arrow_buffer::OffsetBuffer;
use arrow_cast::cast;
use arrow_schema::{DataType, Field, FieldRef, Fields};
use marquetry_base::{Error, ErrorKind, Result};
use marquetry_variant::json;
use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// A type that a column may get instead of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum NewType {
    /// 32-bit integers.
    Int32,
    /// Unsigned 32-bit integers.
    UInt32,
    /// 64-bit integers, from text.
    Int64,
    /// Decimals with this precision and scale, from text.
    Decimal {
        /// Number of digits.
        precision: u8,
        /// Number of digits after the point.
        scale: u8,
    },
    /// Dates, from text such as `2024-01-31`.
    Date,
    /// UUIDs of 16 bytes, from text in lower case.
    Uuid,
    /// Booleans, from `true` and `false`.
    Boolean,
    /// VARIANT, from JSON.
    Variant,
    /// The element type of lists that have at most one element. An empty list becomes null.
    Element,
}

impl NewType {
    /// Returns the Arrow type that replaces the type `of`.
    pub fn data_type(self, of: &DataType) -> DataType {
        match self {
            NewType::Int32 => DataType::Int32,
            NewType::UInt32 => DataType::UInt32,
            NewType::Int64 => DataType::Int64,
            NewType::Decimal { precision, scale } => DataType::Decimal128(precision, scale as i8),
            NewType::Date => DataType::Date32,
            NewType::Uuid => DataType::FixedSizeBinary(16),
            NewType::Boolean => DataType::Boolean,
            NewType::Variant => DataType::Struct(variant_fields()),
            NewType::Element => match of {
                DataType::List(element) => element.data_type().clone(),
                other => other.clone(),
            },
        }
    }

    /// Returns the field with this type, without the extension metadata of its old type.
    pub fn field(self, field: &Field) -> Field {
        if let (NewType::Element, DataType::List(element)) = (self, field.data_type()) {
            return element.as_ref().clone().with_name(field.name()).with_nullable(true);
        }
        let mut metadata: HashMap<String, String> = field.metadata().clone();
        metadata.retain(|key, _| !key.starts_with("ARROW:extension:"));
        // SPEC: Arrow's canonical extension types.
        let extension = match self {
            NewType::Uuid => Some("arrow.uuid"),
            NewType::Variant => Some("arrow.parquet.variant"),
            _ => None,
        };
        if let Some(name) = extension {
            metadata.insert("ARROW:extension:name".to_owned(), name.to_owned());
        }
        Field::new(field.name(), self.data_type(field.data_type()), field.is_nullable())
            .with_metadata(metadata)
    }

    /// Converts the values to this type.
    ///
    /// Fails if one of them does not fit.
    pub fn convert(self, array: &ArrayRef) -> Result<ArrayRef> {
        let failed =
            |error| Error::caused_by(ErrorKind::Argument, format!("a value is not a valid {self}"), error);
        let converted = match self {
            NewType::Uuid => uuids(array)?,
            NewType::Variant => variants(array)?,
            NewType::Element => return elements(array),
            _ => cast(array, &self.data_type(array.data_type())).map_err(failed)?,
        };
        // Runs and dictionaries have their nulls in their values.
        match converted.logical_null_count() == array.logical_null_count() {
            true => Ok(converted),
            false => Err(Error::argument(format!("a value is not a valid {self}"))),
        }
    }

    /// Converts the values to this type, and checks that they could be restored exactly. For VARIANT, checks only that
    /// they are JSON.
    ///
    /// Fails if one of them does not fit.
    pub fn convert_exactly(self, array: &ArrayRef) -> Result<ArrayRef> {
        let converted = self.convert(array)?;
        let comes_back = match (self, array.data_type()) {
            (NewType::Variant, _) => true,
            // Of the lists without an element, either all are null, or all are empty.
            (NewType::Element, DataType::List(element)) => {
                &lists_of(&converted, element, true)? == array
                    || &lists_of(&converted, element, false)? == array
            }
            _ => &self.restore(&converted, array.data_type())? == array,
        };
        match comes_back {
            true => Ok(converted),
            false => Err(Error::argument(format!("a value would come back from {self} as another one"))),
        }
    }

    /// Restores the values of this type to what they were: text, or wide integers.
    ///
    /// Fails if there is no way back to `data_type`. There is none from VARIANT: blanks and the order of members are
    /// lost. Lists without an element become null.
    pub fn restore(self, array: &ArrayRef, data_type: &DataType) -> Result<ArrayRef> {
        let failed = |error| Error::caused_by(ErrorKind::Argument, format!("{self} as {data_type}"), error);
        match self {
            NewType::Uuid => {
                let texts = array.as_fixed_size_binary();
                let texts = texts.iter().map(|bytes| bytes.map(uuid_text));
                let texts: ArrayRef = Arc::new(texts.collect::<arrow_array::StringArray>());
                cast(&texts, data_type).map_err(failed)
            }
            NewType::Element => match data_type {
                DataType::List(element) => lists_of(array, element, true),
                _ => Err(Error::argument(format!("{data_type} is not a list"))),
            },
            _ => cast(array, data_type).map_err(failed),
        }
    }
}

/// Returns the element of each list, null for lists without one.
fn elements(array: &ArrayRef) -> Result<ArrayRef> {
    let failed = |error| Error::caused_by(ErrorKind::Argument, "the elements of lists", error);
    let lists = array.as_list_opt::<i32>().ok_or_else(|| Error::argument("is not a list"))?;
    let (values, offsets) = (lists.values(), lists.value_offsets());
    let place = |row: usize| {
        let count = if lists.is_null(row) { 0 } else { offsets[row + 1] - offsets[row] };
        match count {
            0 => Ok(None),
            1 => Ok(Some(offsets[row] as u32)),
            _ => Err(Error::argument("a list has more than one element")),
        }
    };
    let places = (0..lists.len()).map(place).collect::<Result<UInt32Array>>()?;
    arrow_select::take::take(values, &places, None).map_err(failed)
}

/// Returns lists of one element each. A null element becomes an empty list, or a null list if `are_null`.
fn lists_of(array: &ArrayRef, element: &FieldRef, are_null: bool) -> Result<ArrayRef> {
    let failed = |error| Error::caused_by(ErrorKind::Argument, "lists of one", error);
    let has = |row: &usize| array.is_valid(*row);
    let places: UInt32Array = (0..array.len()).filter(has).map(|row| row as u32).collect();
    let values = arrow_select::take::take(array, &places, None).map_err(failed)?;
    let offsets = OffsetBuffer::from_lengths((0..array.len()).map(|row| usize::from(has(&row))));
    let nulls = array.logical_nulls().filter(|nulls| are_null && nulls.null_count() > 0);
    let lists = ListArray::try_new(element.clone(), offsets, values, nulls).map_err(failed)?;
    Ok(Arc::new(lists))
}

fn variant_fields() -> Fields {
    let bytes = |name: &str| Field::new(name, DataType::Binary, false);
    vec![bytes("metadata"), bytes("value")].into()
}

fn variants(array: &ArrayRef) -> Result<ArrayRef> {
    let failed = |error| Error::caused_by(ErrorKind::Argument, "text of JSON", error);
    let texts = cast(array, &DataType::Utf8View).map_err(failed)?;
    let (mut metadata, mut values) = (Vec::new(), Vec::new());
    for text in texts.as_string_view() {
        // Below a null, a null of VARIANT is stored: it has to be something.
        let (head, value) = json::parse(text.unwrap_or("null"))?;
        metadata.push(head);
        values.push(value);
    }
    let binary = |bytes: &[Vec<u8>]| Arc::new(BinaryArray::from_iter_values(bytes)) as ArrayRef;
    let columns = vec![binary(&metadata), binary(&values)];
    let column = StructArray::try_new(variant_fields(), columns, texts.logical_nulls()).map_err(failed)?;
    Ok(Arc::new(column))
}

fn uuids(array: &ArrayRef) -> Result<ArrayRef> {
    let failed = |error| Error::caused_by(ErrorKind::Argument, "text of UUIDs", error);
    let texts = cast(array, &DataType::Utf8View).map_err(failed)?;
    let mut out = FixedSizeBinaryBuilder::with_capacity(texts.len(), 16);
    for text in texts.as_string_view() {
        match text {
            Some(text) => {
                let bytes = parse_uuid(text).ok_or_else(|| Error::argument("a value is not a UUID"))?;
                out.append_value(bytes).map_err(failed)?;
            }
            None => out.append_null(),
        }
    }
    Ok(Arc::new(out.finish()))
}

/// Parses a UUID in the form that [`uuid_text`] writes.
pub(super) fn parse_uuid(text: &str) -> Option<[u8; 16]> {
    let text = text.as_bytes();
    if text.len() != 36 || HYPHENS.iter().any(|at| text[*at] != b'-') {
        return None;
    }
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let mut digits =
        text.iter().enumerate().filter(|(at, _)| !HYPHENS.contains(at)).map(|(_, byte)| digit(*byte));
    let mut bytes = [0; 16];
    for byte in &mut bytes {
        *byte = (digits.next()?? << 4) | digits.next()??;
    }
    Some(bytes)
}

fn uuid_text(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(36);
    for byte in bytes {
        if HYPHENS.contains(&text.len()) {
            text.push('-');
        }
        text.push(char::from(HEX[usize::from(byte >> 4)]));
        text.push(char::from(HEX[usize::from(byte & 15)]));
    }
    text
}

const HYPHENS: [usize; 4] = [8, 13, 18, 23];
const HEX: &[u8; 16] = b"0123456789abcdef";

impl fmt::Display for NewType {
    /// Writes the name as it is typed: `int32`, `decimal(9,2)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NewType::Int32 => f.pad("int32"),
            NewType::UInt32 => f.pad("uint32"),
            NewType::Int64 => f.pad("int64"),
            NewType::Decimal { precision, scale } => f.pad(&format!("decimal({precision},{scale})")),
            NewType::Date => f.pad("date"),
            NewType::Uuid => f.pad("uuid"),
            NewType::Boolean => f.pad("bool"),
            NewType::Variant => f.pad("variant"),
            NewType::Element => f.pad("element"),
        }
    }
}

impl FromStr for NewType {
    type Err = Error;

    /// Parses a name as it is displayed.
    fn from_str(text: &str) -> Result<Self> {
        let unknown = || Error::argument(format!("no type to change to is called {text:?}"));
        Ok(match text {
            "int32" => NewType::Int32,
            "uint32" => NewType::UInt32,
            "int64" => NewType::Int64,
            "date" => NewType::Date,
            "uuid" => NewType::Uuid,
            "bool" => NewType::Boolean,
            "variant" => NewType::Variant,
            "element" => NewType::Element,
            _ => {
                let inner = text.strip_prefix("decimal(").and_then(|rest| rest.strip_suffix(')'));
                let (precision, scale) = inner.and_then(|inner| inner.split_once(',')).ok_or_else(unknown)?;
                let number = |text: &str| text.trim().parse::<u8>().map_err(|_| unknown());
                let (precision, scale) = (number(precision)?, number(scale)?);
                match (1..=38).contains(&precision) && scale <= precision {
                    true => NewType::Decimal { precision, scale },
                    false => return Err(unknown()),
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::types::Int64Type;
    use arrow_array::{Int64Array, StringArray};

    #[test]
    fn values_come_back() {
        let texts = |texts: Vec<Option<&str>>| Arc::new(StringArray::from(texts)) as ArrayRef;
        let id = "01234567-89ab-cdef-0123-456789abcdef";
        for (new, array) in [
            (NewType::Uuid, texts(vec![Some(id), None])),
            (NewType::Date, texts(vec![Some("2024-02-29"), None])),
            (NewType::Int64, texts(vec![Some("-5"), Some("0")])),
            (NewType::Decimal { precision: 5, scale: 2 }, texts(vec![Some("-0.05"), Some("123.40")])),
            (NewType::Boolean, texts(vec![Some("true"), None, Some("false")])),
            (NewType::Int32, Arc::new(Int64Array::from(vec![Some(7), None])) as ArrayRef),
        ] {
            let converted = new.convert(&array).unwrap();
            assert_eq!(converted.data_type(), &new.data_type(array.data_type()));
            assert_eq!(&new.restore(&converted, array.data_type()).unwrap(), &array, "{new}");
            assert_eq!(&new.convert_exactly(&array).unwrap(), &converted, "{new}");
            assert_eq!(new.to_string().parse::<NewType>().unwrap(), new);
        }
    }

    #[test]
    fn lists_of_one_come_back() {
        let lists = |lists: Vec<Option<Vec<Option<i64>>>>| {
            Arc::new(ListArray::from_iter_primitive::<Int64Type, _, _>(lists)) as ArrayRef
        };
        let exactly = |array: &ArrayRef| NewType::Element.convert_exactly(array);
        let one = |value| Some(vec![Some(value)]);
        let elements: ArrayRef = Arc::new(Int64Array::from(vec![Some(5), None, Some(7)]));
        assert_eq!(&exactly(&lists(vec![one(5), None, one(7)])).unwrap(), &elements);
        assert_eq!(&exactly(&lists(vec![one(5), Some(vec![]), one(7)])).unwrap(), &elements);
        // Null and empty would be the same; so would null and a null within; and two are too many.
        assert!(exactly(&lists(vec![None, Some(vec![]), one(7)])).is_err());
        assert!(exactly(&lists(vec![Some(vec![None]), None])).is_err());
        assert!(exactly(&lists(vec![Some(vec![Some(1), Some(2)])])).is_err());
        assert!(exactly(&elements).is_err());
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let wide: ArrayRef = Arc::new(Int64Array::from(vec![1 << 40]));
        assert!(NewType::Int32.convert(&wide).is_err());
        let text: ArrayRef = Arc::new(StringArray::from(vec!["01234567-89AB-cdef-0123-456789abcdef"]));
        assert!(NewType::Uuid.convert(&text).is_err());
        // It is a number, and comes back as another text.
        let text: ArrayRef = Arc::new(StringArray::from(vec!["007"]));
        assert!(NewType::Int64.convert(&text).is_ok() && NewType::Int64.convert_exactly(&text).is_err());
        assert!(NewType::Variant.convert(&(Arc::new(StringArray::from(vec!["{"])) as ArrayRef)).is_err());
        for wrong in ["int", "decimal(39,1)", "decimal(3,4)", "decimal(", "decimal(a,b)"] {
            assert!(wrong.parse::<NewType>().is_err(), "{wrong}");
        }
    }
}
