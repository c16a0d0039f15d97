//! The shape of a shredding: which types of values have typed columns.

use crate::path::is_bare;
use marquetry_base::{Error, Result, quote_name};
use std::collections::BTreeMap;
use std::fmt;

/// The shape that values of a VARIANT are shredded into. Values that fit it are stored in typed columns, with encodings
/// and statistics of their own; all others stay in binary beside them.
///
/// As text, a primitive type is a word, an object has its fields in `{ }`, and an array has the type of its elements in `[ ]`:
///
/// | text | values | stored as |
/// |---|---|---|
/// | `boolean` | true and false | BOOLEAN |
/// | `int8`, `int16`, `int32`, `int64`; `tinyint`, `smallint`, `int`, `bigint` | integers that fit, however wide they are in binary | INT32, INT64 |
/// | `float`, `double` | numbers of just this type | FLOAT, DOUBLE |
/// | `decimal(9, 2)` | decimals of just this scale, of up to so many digits | DECIMAL |
/// | `date`, `time` | days; microseconds of a day | DATE, TIME |
/// | `timestamp(us)`, `timestamp(us, UTC)`, `timestamp(ns)`, `timestamp(ns, UTC)` | timestamps of just this unit, with and without a zone | TIMESTAMP |
/// | `string`, `binary`, `uuid` | | BYTE_ARRAY, and 16 bytes for `uuid` |
/// | `{a: int64, "odd name": string}` | objects; fields that are not named stay in binary | a group |
/// | `[string]` | arrays | LIST |
/// | `variant` | anything, in binary: a column of its own for a field or for elements | |
///
/// ```
/// use marquetry_variant::Shredding;
///
/// let shredding: Shredding = "{user: {id: bigint, tags: [string]}, price: decimal(9,2)}".parse()?;
/// assert_eq!(shredding.to_string(), "{price: decimal(9, 2), user: {id: int64, tags: [string]}}");
/// // One for each object and array, two for each of the other types.
/// assert_eq!(shredding.columns(), 9);
/// # Ok::<(), marquetry_variant::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Shredding {
    /// Values of any kind in binary, without a typed column.
    Variant,
    /// Values of one type that contain no others.
    Primitive(PrimitiveType),
    /// Objects of which these fields are shredded.
    Object(BTreeMap<String, Shredding>),
    /// Arrays whose elements are all shredded in the same way.
    Array(Box<Shredding>),
}

/// A type that values can be shredded as. These are all types that the format allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PrimitiveType {
    /// True or false.
    Boolean,
    /// An integer of 8 bits.
    Int8,
    /// An integer of 16 bits.
    Int16,
    /// An integer of 32 bits.
    Int32,
    /// An integer of 64 bits.
    Int64,
    /// A 32-bit floating-point number.
    Float,
    /// A 64-bit floating-point number.
    Double,
    /// A decimal.
    Decimal {
        /// Maximum number of digits: 1 to 38.
        precision: u8,
        /// Number of digits after the decimal point: 0 to `precision`.
        scale: u8,
    },
    /// Days since 1970-01-01.
    Date,
    /// Microseconds since midnight.
    Time,
    /// Microseconds since 1970-01-01T00:00:00Z.
    TimestampMicros,
    /// Microseconds since 1970-01-01T00:00:00, without a time zone.
    LocalTimestampMicros,
    /// Nanoseconds since 1970-01-01T00:00:00Z.
    TimestampNanos,
    /// Nanoseconds since 1970-01-01T00:00:00, without a time zone.
    LocalTimestampNanos,
    /// Bytes.
    Binary,
    /// Text.
    String,
    /// A UUID.
    Uuid,
}

impl Shredding {
    /// The number of Parquet columns, without `metadata`. Each place has one for values that do not fit, and each
    /// primitive type one for values that do.
    pub fn columns(&self) -> usize {
        match self {
            Shredding::Variant => 1,
            Shredding::Primitive(_) => 2,
            Shredding::Object(fields) => 1 + fields.values().map(Shredding::columns).sum::<usize>(),
            Shredding::Array(element) => 1 + element.columns(),
        }
    }

    /// The number of nested objects and arrays.
    pub fn depth(&self) -> usize {
        match self {
            Shredding::Variant | Shredding::Primitive(_) => 0,
            Shredding::Object(fields) => 1 + fields.values().map(Shredding::depth).max().unwrap_or(0),
            Shredding::Array(element) => 1 + element.depth(),
        }
    }

    /// Checks that a column of VARIANT can be shredded like this.
    ///
    /// # Errors
    ///
    /// If it has more than [`MAX_SHREDDED_COLUMNS`] columns, is nested deeper than [`MAX_SHREDDING_DEPTH`], or has an
    /// object without fields or a decimal with an invalid precision or scale.
    pub fn check(&self) -> Result<()> {
        // Comes first, because counting columns would recurse into a shape that is too deep.
        self.check_below(0)?;
        match self.columns() {
            0..=MAX_SHREDDED_COLUMNS => Ok(()),
            columns => Err(Error::limit(format!(
                "a shredding of {columns} columns, {MAX_SHREDDED_COLUMNS} are the most"
            ))),
        }
    }

    fn check_below(&self, depth: usize) -> Result<()> {
        if depth > MAX_SHREDDING_DEPTH {
            return Err(too_deep());
        }
        match self {
            Shredding::Variant => Ok(()),
            Shredding::Primitive(primitive) => primitive.check(),
            Shredding::Object(fields) if fields.is_empty() => Err(Error::argument(
                "an object of a shredding has no fields: Parquet has no groups without any",
            )),
            Shredding::Object(fields) => fields.values().try_for_each(|field| field.check_below(depth + 1)),
            Shredding::Array(element) => element.check_below(depth + 1),
        }
    }
}

#[cold]
pub(super) fn too_deep() -> Error {
    Error::limit(format!(
        "a shredding of more than {MAX_SHREDDING_DEPTH} objects and arrays inside each other"
    ))
}

impl PrimitiveType {
    fn check(self) -> Result<()> {
        match self {
            PrimitiveType::Decimal { precision, scale }
                if !(1..=38).contains(&precision) || scale > precision =>
            {
                Err(Error::argument(format!(
                    "{self}: a decimal has 1 to 38 digits, and no more behind the point than it has"
                )))
            }
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Shredding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Shredding::Variant => f.write_str("variant"),
            Shredding::Primitive(primitive) => write!(f, "{primitive}"),
            Shredding::Object(fields) => {
                f.write_str("{")?;
                for (i, (name, field)) in fields.iter().enumerate() {
                    let comma = if i > 0 { ", " } else { "" };
                    match !name.is_empty() && name.chars().all(is_bare) {
                        true => write!(f, "{comma}{name}: {field}")?,
                        false => write!(f, "{comma}{}: {field}", quote_name(name))?,
                    }
                }
                f.write_str("}")
            }
            Shredding::Array(element) => write!(f, "[{element}]"),
        }
    }
}

impl fmt::Display for PrimitiveType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PrimitiveType::Boolean => "boolean",
            PrimitiveType::Int8 => "int8",
            PrimitiveType::Int16 => "int16",
            PrimitiveType::Int32 => "int32",
            PrimitiveType::Int64 => "int64",
            PrimitiveType::Float => "float",
            PrimitiveType::Double => "double",
            PrimitiveType::Decimal { precision, scale } => return write!(f, "decimal({precision}, {scale})"),
            PrimitiveType::Date => "date",
            PrimitiveType::Time => "time",
            PrimitiveType::TimestampMicros => "timestamp(us, UTC)",
            PrimitiveType::LocalTimestampMicros => "timestamp(us)",
            PrimitiveType::TimestampNanos => "timestamp(ns, UTC)",
            PrimitiveType::LocalTimestampNanos => "timestamp(ns)",
            PrimitiveType::Binary => "binary",
            PrimitiveType::String => "string",
            PrimitiveType::Uuid => "uuid",
        })
    }
}

/// Maximum number of columns in a shredding. Each column has pages, statistics and an entry in the footer for each row group.
pub const MAX_SHREDDED_COLUMNS: usize = 1000;

/// Maximum number of nested objects and arrays in a shredding. An array takes three levels of the schema, which may have 128.
pub const MAX_SHREDDING_DEPTH: usize = 40;
