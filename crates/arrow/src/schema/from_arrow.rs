//! Maps Arrow fields to Parquet fields: the mapping of `schema`, the other way round.
//!
//! Each type is stored so that our reader returns the same type, with the stored Arrow schema as a hint, and other
//! readers return the same values without it.
//!
//! | Arrow | stored as |
//! |---|---|
//! | Null | INT32, NULL |
//! | Boolean, Int32, Int64, Float32, Float64 | BOOLEAN, INT32, INT64, FLOAT, DOUBLE |
//! | other integers | INT32 or INT64, INTEGER of that width |
//! | Float16 | FIXED_LEN_BYTE_ARRAY(2), FLOAT16 |
//! | text, binary, of any layout | BYTE_ARRAY, with STRING for text |
//! | FixedSizeBinary(n) | FIXED_LEN_BYTE_ARRAY(n) |
//! | decimals | DECIMAL on INT32 up to 9 digits, INT64 up to 18, the least FIXED_LEN_BYTE_ARRAY beyond |
//! | Date32 | DATE |
//! | Date64 | INT64, no annotation: Parquet has no date with milliseconds; DATE if types are coerced |
//! | Time32, Time64, Timestamp | TIME, TIMESTAMP; seconds as milliseconds |
//! | Duration | INT64, no annotation |
//! | intervals | INTERVAL |
//! | any list, Map, Struct | LIST, MAP, a group |
//! | dictionaries, runs | as their values |

pub(super) mod geo;

use super::extension;
use super::lists::element_of;
use super::metadata_keys::FIELD_ID_KEY;
use arrow_schema::{DataType, Field as ArrowField, Schema as ArrowSchema, TimeUnit as ArrowUnit};
use marquetry_base::{Error, Result};
use marquetry_core::logical_type::{LogicalType, TimeUnit};
use marquetry_core::schema::{annotate, column, group};
use marquetry_core::write::StoredForms;
use marquetry_encoding::PhysicalType;
use marquetry_format::{Repetition, SchemaElement};

/// Options for how Arrow types are stored.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FromArrowOptions {
    /// Whether types without a Parquet equivalent become the nearest one, although they may not be read back as they
    /// were: Date64 is stored as DATE, and a value that is not a whole day is an error. Default false.
    pub coerce_types: bool,
    /// The stored form of types that have several.
    pub forms: StoredForms,
}

/// Returns the footer's list of schema nodes for the fields of `schema`, below a root named `schema`.
///
/// Field ids come from the fields' metadata ([`FIELD_ID_KEY`]), and so do extension types with a logical type in
/// Parquet. Fails on a field that Parquet cannot store: a union, a struct without fields, a decimal of negative scale,
/// binary of 0 bytes, or dictionaries and runs of nested values.
/// negative scale, binary of 0 bytes, dictionaries and runs of nested values.
pub fn from_arrow(schema: &ArrowSchema, options: &FromArrowOptions) -> Result<Vec<SchemaElement>> {
    let root = SchemaElement { repetition_type: None, ..group("schema", schema.fields().len()) };
    let mut mapping = Mapping { options, out: vec![root], path: Vec::new() };
    for field in schema.fields() {
        mapping.field(field, field.name(), field.is_nullable())?;
    }
    Ok(mapping.out)
}

/// Returns the type of the values, without dictionaries and runs around them.
pub(crate) fn value_type(data_type: &DataType) -> &DataType {
    match data_type {
        DataType::Dictionary(_, values) => value_type(values),
        DataType::RunEndEncoded(_, values) => value_type(values.data_type()),
        plain => plain,
    }
}

struct Mapping<'a> {
    options: &'a FromArrowOptions,
    out: Vec<SchemaElement>,
    path: Vec<String>,
}

impl Mapping<'_> {
    /// Appends the nodes of `field`, with this name and nullability.
    fn field(&mut self, field: &ArrowField, name: &str, nullable: bool) -> Result<()> {
        self.path.push(name.to_owned());
        if self.path.len() > MAX_DEPTH {
            return Err(Error::limit(format!("fields nest more than {MAX_DEPTH} deep")));
        }
        // A column of nulls must be nullable.
        let nullable = nullable || value_type(field.data_type()).is_null();
        let outer = |mut element: SchemaElement, logical: Option<&LogicalType>| {
            element.repetition_type =
                Some(if nullable { Repetition::OPTIONAL } else { Repetition::REQUIRED });
            element.field_id = field.metadata().get(FIELD_ID_KEY).and_then(|id| id.parse().ok());
            logical.into_iter().for_each(|logical| annotate(&mut element, logical));
            element
        };
        match field.data_type() {
            DataType::Struct(fields) => {
                if fields.is_empty() {
                    return Err(self.arrow_error("a struct without fields has no columns to be stored in"));
                }
                let logical = match () {
                    () if extension::is_variant(field) => Some(LogicalType::Variant { version: Some(1) }),
                    () if extension::is_file(field) => Some(LogicalType::File),
                    () => None,
                };
                self.out.push(outer(group(name, fields.len()), logical.as_ref()));
                for field in fields {
                    self.field(field, field.name(), field.is_nullable())?;
                }
            }
            DataType::Map(entries, _) => {
                self.out.push(outer(group(name, 1), Some(&LogicalType::Map)));
                self.entries(entries)?;
            }
            list if element_of(list).is_some() => {
                self.out.push(outer(group(name, 1), Some(&LogicalType::List)));
                self.out.push(repeated("list", 1));
                self.path.push("list".to_owned());
                if let Some(element) = element_of(list) {
                    let name = self.part_name(element, "element");
                    self.field(element, name, element.is_nullable())?;
                }
                self.path.pop();
            }
            _ => {
                let (physical, logical) = self.leaf(field)?;
                self.out.push(outer(column(name, physical), logical.as_ref()));
            }
        }
        self.path.pop();
        Ok(())
    }

    /// Appends the key and value of a map. SPEC: LogicalTypes.md, "Maps": keys are required.
    fn entries(&mut self, entries: &ArrowField) -> Result<()> {
        let DataType::Struct(parts) = entries.data_type() else {
            return Err(self.arrow_error(&format!("entries of type {} are not a map", entries.data_type())));
        };
        let [key, value] = &**parts else {
            return Err(self.arrow_error(&format!("entries of {} fields are not a map", parts.len())));
        };
        if value_type(key.data_type()).is_null() {
            return Err(self.arrow_error("keys of a map that are always null are none"));
        }
        self.out.push(repeated("key_value", 2));
        self.path.push("key_value".to_owned());
        self.field(key, self.part_name(key, "key"), false)?;
        self.field(value, self.part_name(value, "value"), value.is_nullable())?;
        self.path.pop();
        Ok(())
    }

    /// Returns the name of an element, a key or a value.
    fn part_name<'a>(&self, field: &'a ArrowField, name: &'a str) -> &'a str {
        if self.options.forms.arrow_item_names { field.name() } else { name }
    }

    fn leaf(&self, field: &ArrowField) -> Result<(PhysicalType, Option<LogicalType>)> {
        self.check_layout(field.data_type())?;
        let data_type = value_type(field.data_type());
        let (physical, plain) = self.plain(data_type)?;
        Ok((physical, extension::logical(field, data_type).or(plain)))
    }

    /// Allows only dictionaries and runs of plain values. Runs of a dictionary are the one exception, as in the reader.
    fn check_layout(&self, data_type: &DataType) -> Result<()> {
        use DataType::*;
        match data_type {
            Dictionary(_, values) if matches!(**values, Dictionary(..) | RunEndEncoded(..)) => {
                Err(self.arrow_error(&format!("{data_type}: a dictionary of what is encoded itself")))
            }
            Dictionary(_, values) if values.is_nested() => Err(self.arrow_error(&format!(
                "{data_type}: only dictionaries of values that are not nested are written; give the column as {values}"
            ))),
            RunEndEncoded(_, values) if values.data_type().is_nested() && !is_runs(values) => {
                Err(self.arrow_error(&format!(
                    "{data_type}: only runs of values that are not nested are written; give the column as {}",
                    values.data_type()
                )))
            }
            RunEndEncoded(_, values) => match values.data_type() {
                RunEndEncoded(..) => Err(self.arrow_error(&format!("{data_type}: runs of runs"))),
                values => self.check_layout(values),
            },
            _ => Ok(()),
        }
    }

    fn plain(&self, data_type: &DataType) -> Result<(PhysicalType, Option<LogicalType>)> {
        use DataType::*;
        let integer = |bits, signed| Some(LogicalType::Integer { bits, signed });
        Ok(match data_type {
            Null => (PhysicalType::Int32, Some(LogicalType::Null)),
            Boolean => (PhysicalType::Boolean, None),
            Int8 => (PhysicalType::Int32, integer(8, true)),
            Int16 => (PhysicalType::Int32, integer(16, true)),
            Int32 => (PhysicalType::Int32, None),
            Int64 => (PhysicalType::Int64, None),
            UInt8 => (PhysicalType::Int32, integer(8, false)),
            UInt16 => (PhysicalType::Int32, integer(16, false)),
            UInt32 => (PhysicalType::Int32, integer(32, false)),
            UInt64 => (PhysicalType::Int64, integer(64, false)),
            Float16 => (PhysicalType::FixedLenByteArray(2), Some(LogicalType::Float16)),
            Float32 => (PhysicalType::Float, None),
            Float64 => (PhysicalType::Double, None),
            Utf8 | LargeUtf8 | Utf8View => (PhysicalType::ByteArray, Some(LogicalType::String)),
            Binary | LargeBinary | BinaryView => (PhysicalType::ByteArray, None),
            FixedSizeBinary(0) => {
                return Err(self.arrow_error(
                    "binary of 0 bytes: Parquet's readers refuse all of a file that has it; leave the column out",
                ));
            }
            FixedSizeBinary(width) => match usize::try_from(*width) {
                Ok(width) => (PhysicalType::FixedLenByteArray(width), None),
                Err(_) => return Err(self.arrow_error(&format!("binary of {width} bytes"))),
            },
            Decimal32(p, s) => self.decimal(*p, *s, 9)?,
            Decimal64(p, s) => self.decimal(*p, *s, 18)?,
            Decimal128(p, s) => self.decimal(*p, *s, 38)?,
            Decimal256(p, s) => self.decimal(*p, *s, 76)?,
            Date64 if !self.options.coerce_types => (PhysicalType::Int64, None),
            Date32 | Date64 => (PhysicalType::Int32, Some(LogicalType::Date)),
            Time32(ArrowUnit::Second | ArrowUnit::Millisecond) => (
                PhysicalType::Int32,
                Some(LogicalType::Time { utc: self.options.forms.utc_times, unit: TimeUnit::Millis }),
            ),
            Time64(unit @ (ArrowUnit::Microsecond | ArrowUnit::Nanosecond)) => (
                PhysicalType::Int64,
                Some(LogicalType::Time { utc: self.options.forms.utc_times, unit: time_unit(*unit) }),
            ),
            Timestamp(..) if self.options.forms.int96_timestamps => (PhysicalType::Int96, None),
            Timestamp(unit, zone) => {
                // In Arrow's other libraries, a zone is always present, and an empty one means none.
                let utc = zone.as_ref().is_some_and(|zone| !zone.is_empty());
                (PhysicalType::Int64, Some(LogicalType::Timestamp { utc, unit: time_unit(*unit) }))
            }
            Duration(_) => (PhysicalType::Int64, None),
            Interval(_) => (PhysicalType::FixedLenByteArray(12), Some(LogicalType::Interval)),
            other => return Err(self.arrow_error(&format!("Parquet has no form for the Arrow type {other}"))),
        })
    }

    /// Maps a decimal. SPEC: LogicalTypes.md, "DECIMAL": the scale is not negative and not more than the precision.
    /// Other readers refuse a whole file for either.
    fn decimal(&self, precision: u8, scale: i8, most: u8) -> Result<(PhysicalType, Option<LogicalType>)> {
        if !(1..=most).contains(&precision) {
            return Err(self.arrow_error(&format!("{precision} digits; this decimal has 1 to {most}")));
        }
        if !(0..=precision as i16).contains(&scale.into()) {
            return Err(self.arrow_error(&format!(
                "Parquet decimals of {precision} digits have a scale of 0 to {precision}, not {scale}"
            )));
        }
        let physical = match precision {
            _ if self.options.forms.fixed_decimals => {
                PhysicalType::FixedLenByteArray(decimal_width(precision))
            }
            ..=9 => PhysicalType::Int32,
            10..=18 => PhysicalType::Int64,
            _ => PhysicalType::FixedLenByteArray(decimal_width(precision)),
        };
        let logical = LogicalType::Decimal { precision: precision.into(), scale: scale.into() };
        Ok((physical, Some(logical)))
    }

    #[cold]
    fn arrow_error(&self, why: &str) -> Error {
        Error::unsupported(why.to_owned()).in_column(self.path.join("."))
    }
}

fn is_runs(field: &ArrowField) -> bool {
    matches!(field.data_type(), DataType::RunEndEncoded(..))
}

/// Deeper than any reader follows, and definition levels are bytes.
const MAX_DEPTH: usize = 128;

/// Returns the smallest number of bytes that hold all integers of this many digits, and their sign.
fn decimal_width(precision: u8) -> usize {
    let bits = f64::from(precision) * std::f64::consts::LOG2_10 + 1.0;
    (bits / 8.0).ceil() as usize
}

fn repeated(name: &str, children: usize) -> SchemaElement {
    SchemaElement { repetition_type: Some(Repetition::REPEATED), ..group(name, children) }
}

/// Maps the unit. Seconds are stored as milliseconds: Parquet has nothing coarser.
fn time_unit(unit: ArrowUnit) -> TimeUnit {
    match unit {
        ArrowUnit::Second | ArrowUnit::Millisecond => TimeUnit::Millis,
        ArrowUnit::Microsecond => TimeUnit::Micros,
        ArrowUnit::Nanosecond => TimeUnit::Nanos,
    }
}

#[cfg(test)]
mod tests;
