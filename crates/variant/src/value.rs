//! The types of values: the enum `Value`.

use crate::array::Array;
use crate::decimal::Decimal;
use crate::object::Object;

/// The value of a [`Variant`](crate::Variant). Objects and arrays are read only up to their offsets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'a> {
    /// A JSON null. It is not the null of SQL, for which a column has no variant at all.
    Null,
    /// True or false.
    Boolean(bool),
    /// An integer of 8 bits.
    Int8(i8),
    /// An integer of 16 bits.
    Int16(i16),
    /// An integer of 32 bits.
    Int32(i32),
    /// An integer of 64 bits.
    Int64(i64),
    /// A 64-bit floating-point number.
    Double(f64),
    /// A 32-bit floating-point number.
    Float(f32),
    /// A decimal of up to 9 digits.
    Decimal4(Decimal),
    /// A decimal of up to 18 digits.
    Decimal8(Decimal),
    /// A decimal of up to 38 digits.
    Decimal16(Decimal),
    /// Days since 1970-01-01.
    Date(i32),
    /// Microseconds since midnight, without a time zone.
    Time(i64),
    /// Microseconds since 1970-01-01T00:00:00Z.
    TimestampMicros(i64),
    /// Microseconds since 1970-01-01T00:00:00, without a time zone.
    LocalTimestampMicros(i64),
    /// Nanoseconds since 1970-01-01T00:00:00Z.
    TimestampNanos(i64),
    /// Nanoseconds since 1970-01-01T00:00:00, without a time zone.
    LocalTimestampNanos(i64),
    /// Bytes.
    Binary(&'a [u8]),
    /// Text. Short and long strings are not distinguished.
    String(&'a str),
    /// A UUID, big-endian.
    Uuid(&'a [u8; 16]),
    /// Fields by name.
    Object(Object<'a>),
    /// Elements by position.
    Array(Array<'a>),
}

impl Value<'_> {
    /// The name of the value's type.
    pub fn type_name(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Boolean(_) => "boolean",
            Value::Int8(_) => "int8",
            Value::Int16(_) => "int16",
            Value::Int32(_) => "int32",
            Value::Int64(_) => "int64",
            Value::Double(_) => "double",
            Value::Float(_) => "float",
            Value::Decimal4(_) => "decimal4",
            Value::Decimal8(_) => "decimal8",
            Value::Decimal16(_) => "decimal16",
            Value::Date(_) => "date",
            Value::Time(_) => "time",
            Value::TimestampMicros(_) => "timestamp",
            Value::LocalTimestampMicros(_) => "timestamp without time zone",
            Value::TimestampNanos(_) => "timestamp in nanoseconds",
            Value::LocalTimestampNanos(_) => "timestamp in nanoseconds without time zone",
            Value::Binary(_) => "binary",
            Value::String(_) => "string",
            Value::Uuid(_) => "uuid",
            Value::Object(_) => "object",
            Value::Array(_) => "array",
        }
    }
}
