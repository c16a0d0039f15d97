//! Logical types: the meaning of a column's values, or of a group.
//!
//! Spec: LogicalTypes.md. A schema may state it twice, as `LogicalType` and as the older `ConvertedType`; this module
//! combines them. An annotation that is unknown, or does not fit the physical type, counts as none: the values are then
//! read as their physical type.

use marquetry_encoding::PhysicalType;
use marquetry_format::{
    ConvertedType, EdgeInterpolationAlgorithm, LogicalType as ThriftType, SchemaElement,
    TimeUnit as ThriftTimeUnit,
};

/// The meaning of a column or group.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum LogicalType {
    /// UTF-8 text.
    String,
    /// UTF-8 text from a fixed set.
    Enum,
    /// UTF-8 text that is JSON.
    Json,
    /// A BSON document.
    Bson,
    /// 16 bytes, big-endian.
    Uuid,
    /// An integer divided by ten to the `scale`.
    Decimal {
        /// Maximum number of decimal digits.
        precision: u32,
        /// Number of digits after the point; negative in some old files.
        scale: i32,
    },
    /// Days since 1970-01-01.
    Date,
    /// Time of day.
    Time {
        /// Whether normalized to UTC.
        utc: bool,
        /// The unit that is counted since midnight.
        unit: TimeUnit,
    },
    /// A point in time (`utc`), or a reading of calendar and clock somewhere.
    Timestamp {
        /// Whether normalized to UTC.
        utc: bool,
        /// The unit that is counted since 1970-01-01 00:00.
        unit: TimeUnit,
    },
    /// An integer narrower than, or of another sign than, its physical type.
    Integer {
        /// Width in bits: 8, 16, 32 or 64.
        bits: u8,
        /// Whether signed.
        signed: bool,
    },
    /// Months, days and milliseconds, each an unsigned 32-bit integer.
    Interval,
    /// IEEE 754 binary16, little-endian.
    Float16,
    /// Always null.
    Null,
    /// A group that is a list.
    List,
    /// A group that is a map.
    Map,
    /// An old name for a map, which old writers also put on the entries.
    MapKeyValue,
    /// A group that is a VARIANT, shredded or not.
    Variant {
        /// Version of the VARIANT binary format.
        version: Option<i8>,
    },
    /// Planar geometries as well-known binary.
    Geometry {
        /// Coordinate reference system; OGC:CRS84 if absent.
        crs: Option<String>,
    },
    /// Geometries on the ellipsoid as well-known binary.
    Geography {
        /// Coordinate reference system; OGC:CRS84 if absent.
        crs: Option<String>,
        /// The course of edges between points; spherical if absent.
        algorithm: Option<EdgeInterpolationAlgorithm>,
    },
    /// A group that describes a file, or a range of one.
    File,
}

/// The unit of a time or timestamp.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TimeUnit {
    /// 10^-3 seconds.
    Millis,
    /// 10^-6 seconds.
    Micros,
    /// 10^-9 seconds.
    Nanos,
}

impl LogicalType {
    /// Returns the logical type of a schema element; `physical` is its type if it is a leaf. If both annotations are
    /// usable, the newer one wins.
    pub fn from_thrift(element: &SchemaElement, physical: Option<PhysicalType>) -> Option<LogicalType> {
        let fits = |logical: &LogicalType| logical.fits(physical);
        let newer = element.logical_type.as_ref().and_then(from_logical_type).filter(fits);
        let older =
            || element.converted_type.and_then(|older| from_converted_type(older, element)).filter(fits);
        match newer {
            // QUIRK: parquet-mr 1.10 annotates INTERVAL, which has no newer annotation, with that of always-null
            // columns.
            None | Some(LogicalType::Null) => older().or(newer),
            newer => newer,
        }
    }

    /// Whether `older`, the meaning of an element's `ConvertedType`, agrees with this one, that of its `LogicalType`.
    /// The older annotations cannot express everything.
    pub fn agrees_with_older(&self, older: &LogicalType) -> bool {
        match (self, older) {
            // SPEC: the older types mean UTC, but are written for local times as well, which have no older type.
            (LogicalType::Time { unit, .. }, LogicalType::Time { unit: other, .. })
            | (LogicalType::Timestamp { unit, .. }, LogicalType::Timestamp { unit: other, .. }) => {
                unit == other
            }
            (LogicalType::Map, LogicalType::MapKeyValue) => true,
            // QUIRK: parquet-mr 1.10 annotates INTERVAL as UNKNOWN.
            (LogicalType::Null, _) => true,
            _ => self == older,
        }
    }

    /// Whether values are UTF-8 text.
    pub fn is_text(&self) -> bool {
        matches!(self, LogicalType::String | LogicalType::Enum | LogicalType::Json)
    }

    /// Whether the annotation is legal for the physical type, or for a group if that is `None`.
    fn fits(&self, physical: Option<PhysicalType>) -> bool {
        use PhysicalType::*;
        let Some(physical) = physical else {
            return matches!(
                self,
                LogicalType::List
                    | LogicalType::Map
                    | LogicalType::MapKeyValue
                    | LogicalType::Variant { .. }
                    | LogicalType::File
            );
        };
        match self {
            LogicalType::String | LogicalType::Enum | LogicalType::Json | LogicalType::Bson => {
                physical == ByteArray
            }
            LogicalType::Geometry { .. } | LogicalType::Geography { .. } => physical == ByteArray,
            LogicalType::Uuid => physical == FixedLenByteArray(16),
            LogicalType::Interval => physical == FixedLenByteArray(12),
            LogicalType::Float16 => physical == FixedLenByteArray(2),
            LogicalType::Date => physical == Int32,
            LogicalType::Time { unit, .. } => match unit {
                TimeUnit::Millis => physical == Int32,
                TimeUnit::Micros | TimeUnit::Nanos => physical == Int64,
            },
            LogicalType::Timestamp { .. } => physical == Int64,
            LogicalType::Integer { bits, .. } => match bits {
                8 | 16 | 32 => physical == Int32,
                64 => physical == Int64,
                _ => false,
            },
            LogicalType::Decimal { precision, .. } => {
                (1..=MAX_DECIMAL_PRECISION).contains(precision)
                    && matches!(physical, Int32 | Int64 | ByteArray | FixedLenByteArray(1..))
            }
            LogicalType::Null => true,
            LogicalType::List
            | LogicalType::Map
            | LogicalType::MapKeyValue
            | LogicalType::Variant { .. }
            | LogicalType::File => false,
        }
    }
}

/// Maximum precision of decimals: the digits that 256 bits hold, which readers can represent. The format has no limit.
const MAX_DECIMAL_PRECISION: u32 = 76;

fn from_logical_type(logical: &ThriftType) -> Option<LogicalType> {
    Some(match logical {
        ThriftType::String => LogicalType::String,
        ThriftType::Map => LogicalType::Map,
        ThriftType::List => LogicalType::List,
        ThriftType::Enum => LogicalType::Enum,
        ThriftType::Decimal { scale, precision } => {
            LogicalType::Decimal { precision: u32::try_from(*precision).ok()?, scale: *scale }
        }
        ThriftType::Date => LogicalType::Date,
        ThriftType::Time { is_adjusted_to_utc, unit } => {
            LogicalType::Time { utc: *is_adjusted_to_utc, unit: from_time_unit(unit)? }
        }
        ThriftType::Timestamp { is_adjusted_to_utc, unit } => {
            LogicalType::Timestamp { utc: *is_adjusted_to_utc, unit: from_time_unit(unit)? }
        }
        ThriftType::Integer { bit_width, is_signed } => {
            LogicalType::Integer { bits: u8::try_from(*bit_width).ok()?, signed: *is_signed }
        }
        ThriftType::Null => LogicalType::Null,
        ThriftType::Json => LogicalType::Json,
        ThriftType::Bson => LogicalType::Bson,
        ThriftType::Uuid => LogicalType::Uuid,
        ThriftType::Float16 => LogicalType::Float16,
        ThriftType::Variant { specification_version } => {
            LogicalType::Variant { version: *specification_version }
        }
        ThriftType::Geometry { crs } => LogicalType::Geometry { crs: crs.clone() },
        ThriftType::Geography { crs, algorithm } => {
            LogicalType::Geography { crs: crs.clone(), algorithm: *algorithm }
        }
        ThriftType::File => LogicalType::File,
        ThriftType::Unknown(_) => return None,
    })
}

fn from_time_unit(unit: &ThriftTimeUnit) -> Option<TimeUnit> {
    match unit {
        ThriftTimeUnit::Millis => Some(TimeUnit::Millis),
        ThriftTimeUnit::Micros => Some(TimeUnit::Micros),
        ThriftTimeUnit::Nanos => Some(TimeUnit::Nanos),
        ThriftTimeUnit::Unknown(_) => None,
    }
}

/// Returns the meaning of a `ConvertedType`. SPEC: the older time types are all UTC-adjusted.
fn from_converted_type(converted: ConvertedType, element: &SchemaElement) -> Option<LogicalType> {
    let integer = |bits, signed| LogicalType::Integer { bits, signed };
    Some(match converted {
        ConvertedType::UTF8 => LogicalType::String,
        ConvertedType::MAP => LogicalType::Map,
        ConvertedType::MAP_KEY_VALUE => LogicalType::MapKeyValue,
        ConvertedType::LIST => LogicalType::List,
        ConvertedType::ENUM => LogicalType::Enum,
        ConvertedType::DECIMAL => LogicalType::Decimal {
            precision: u32::try_from(element.precision?).ok()?,
            scale: element.scale.unwrap_or(0),
        },
        ConvertedType::DATE => LogicalType::Date,
        ConvertedType::TIME_MILLIS => LogicalType::Time { utc: true, unit: TimeUnit::Millis },
        ConvertedType::TIME_MICROS => LogicalType::Time { utc: true, unit: TimeUnit::Micros },
        ConvertedType::TIMESTAMP_MILLIS => LogicalType::Timestamp { utc: true, unit: TimeUnit::Millis },
        ConvertedType::TIMESTAMP_MICROS => LogicalType::Timestamp { utc: true, unit: TimeUnit::Micros },
        ConvertedType::UINT_8 => integer(8, false),
        ConvertedType::UINT_16 => integer(16, false),
        ConvertedType::UINT_32 => integer(32, false),
        ConvertedType::UINT_64 => integer(64, false),
        ConvertedType::INT_8 => integer(8, true),
        ConvertedType::INT_16 => integer(16, true),
        ConvertedType::INT_32 => integer(32, true),
        ConvertedType::INT_64 => integer(64, true),
        ConvertedType::JSON => LogicalType::Json,
        ConvertedType::BSON => LogicalType::Bson,
        ConvertedType::INTERVAL => LogicalType::Interval,
        _ => return None,
    })
}
