//! Logical types: the meaning of the values of a column or group.
use crate::EdgeInterpolationAlgorithm;
use crate::thrift::{Reader, Wire, Writer};
use marquetry_base::Result;

/// The meaning of the values of a column or a group.
///
/// A member that is unknown, or incomplete (a decimal without precision), becomes [`Unknown`](LogicalType::Unknown).
/// Its column can still be read as its physical type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogicalType {
    /// UTF-8 text.
    String,
    /// A map.
    Map,
    /// A list.
    List,
    /// UTF-8 text from a fixed set.
    Enum,
    /// An integer multiplied by 10 to the power of `-scale`.
    Decimal {
        /// Number of digits after the decimal point.
        scale: i32,
        /// Total number of digits.
        precision: i32,
    },
    /// Days since 1970-01-01.
    Date,
    /// Time since midnight.
    Time {
        /// Whether the time is adjusted to UTC.
        is_adjusted_to_utc: bool,
        /// The unit of the integer.
        unit: TimeUnit,
    },
    /// Time since 1970-01-01 00:00.
    Timestamp {
        /// Whether it is an instant, as opposed to the local time of a wall clock.
        is_adjusted_to_utc: bool,
        /// The unit of the integer.
        unit: TimeUnit,
    },
    /// An integer.
    Integer {
        /// 8, 16, 32 or 64.
        bit_width: i8,
        /// Whether the integer is signed.
        is_signed: bool,
    },
    /// Only nulls: `UNKNOWN` in parquet.thrift.
    Null,
    /// A JSON document.
    Json,
    /// A BSON document.
    Bson,
    /// Sixteen bytes.
    Uuid,
    /// IEEE 754 binary16.
    Float16,
    /// A group that holds a VARIANT in binary.
    Variant {
        /// The version of the VARIANT format.
        specification_version: Option<i8>,
    },
    /// Well-known binary with straight edges.
    Geometry {
        /// Coordinate reference system; OGC:CRS84 if absent.
        crs: Option<String>,
    },
    /// Well-known binary on a sphere or spheroid.
    Geography {
        /// How edges are interpolated; spherical if absent.
        crs: Option<String>,
        /// How edges run; spherical if absent.
        algorithm: Option<EdgeInterpolationAlgorithm>,
    },
    /// A group that refers to a file.
    File,
    /// A member with this field id, which is unknown, incomplete or of a wrong type; 0 if the union is empty. An
    /// unknown id is written as an empty struct; a known id is not written.
    Unknown(i16),
}

/// The unit of a time or timestamp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeUnit {
    /// 10^-3 seconds.
    Millis,
    /// 10^-6 seconds.
    Micros,
    /// 10^-9 seconds.
    Nanos,
    /// A member with this unknown field id; 0 if the union is empty.
    Unknown(i16),
}

impl LogicalType {
    /// Reads the union.
    pub fn read(r: &mut Reader<'_>) -> Result<Self> {
        let mut member = LogicalType::Unknown(0);
        r.fields(|r, field| {
            let parameters = match field.wire {
                Wire::Struct => Parameters::read(r)?,
                other => {
                    r.skip(other)?;
                    if member == LogicalType::Unknown(0) {
                        member = LogicalType::Unknown(field.id);
                    }
                    return Ok(());
                }
            };
            member = parameters.member(field.id).unwrap_or(LogicalType::Unknown(field.id));
            Ok(())
        })?;
        Ok(member)
    }

    /// Writes the union.
    pub fn write(&self, w: &mut Writer) {
        w.fields(|w| match self {
            LogicalType::String => w.empty_field(1),
            LogicalType::Map => w.empty_field(2),
            LogicalType::List => w.empty_field(3),
            LogicalType::Enum => w.empty_field(4),
            LogicalType::Decimal { scale, precision } => w.struct_field(5, |w| {
                w.i32_field(1, *scale);
                w.i32_field(2, *precision);
            }),
            LogicalType::Date => w.empty_field(6),
            LogicalType::Time { is_adjusted_to_utc, unit } => write_time(7, *is_adjusted_to_utc, *unit, w),
            LogicalType::Timestamp { is_adjusted_to_utc, unit } => {
                write_time(8, *is_adjusted_to_utc, *unit, w);
            }
            LogicalType::Integer { bit_width, is_signed } => w.struct_field(10, |w| {
                w.i8_field(1, *bit_width);
                w.bool_field(2, *is_signed);
            }),
            LogicalType::Null => w.empty_field(11),
            LogicalType::Json => w.empty_field(12),
            LogicalType::Bson => w.empty_field(13),
            LogicalType::Uuid => w.empty_field(14),
            LogicalType::Float16 => w.empty_field(15),
            LogicalType::Variant { specification_version } => w.struct_field(16, |w| {
                if let Some(version) = specification_version {
                    w.i8_field(1, *version);
                }
            }),
            LogicalType::Geometry { crs } => w.struct_field(17, |w| write_crs(crs, w)),
            LogicalType::Geography { crs, algorithm } => w.struct_field(18, |w| {
                write_crs(crs, w);
                if let Some(algorithm) = algorithm {
                    w.i32_field(2, algorithm.0);
                }
            }),
            LogicalType::File => w.empty_field(19),
            // Leaves out a known member that was incomplete or of a wrong type: as an empty struct it would have another meaning.
            LogicalType::Unknown(0..=8 | 10..=19) => {}
            LogicalType::Unknown(id) => w.empty_field(*id),
        });
    }
}

fn write_time(id: i16, is_adjusted_to_utc: bool, unit: TimeUnit, w: &mut Writer) {
    w.struct_field(id, |w| {
        w.bool_field(1, is_adjusted_to_utc);
        w.nested_field(2, |w| unit.write(w));
    });
}

fn write_crs(crs: &Option<String>, w: &mut Writer) {
    if let Some(crs) = crs {
        w.binary_field(1, crs.as_bytes());
    }
}

impl TimeUnit {
    /// Reads the union.
    pub fn read(r: &mut Reader<'_>) -> Result<Self> {
        let mut unit = TimeUnit::Unknown(0);
        r.fields(|r, field| {
            unit = match field.id {
                1 => TimeUnit::Millis,
                2 => TimeUnit::Micros,
                3 => TimeUnit::Nanos,
                other => TimeUnit::Unknown(other),
            };
            r.skip(field.wire)
        })?;
        Ok(unit)
    }

    /// Writes the union.
    pub fn write(self, w: &mut Writer) {
        w.fields(|w| match self {
            TimeUnit::Millis => w.empty_field(1),
            TimeUnit::Micros => w.empty_field(2),
            TimeUnit::Nanos => w.empty_field(3),
            TimeUnit::Unknown(0) => {}
            TimeUnit::Unknown(id) => w.empty_field(id),
        });
    }
}

/// The parameters of any member. What ids 1 and 2 mean depends on the member, so there is a field for each type that they may have.
#[derive(Default)]
struct Parameters {
    byte: Option<i8>,
    first_int: Option<i32>,
    second_int: Option<i32>,
    first_bool: Option<bool>,
    second_bool: Option<bool>,
    unit: Option<TimeUnit>,
    text: Option<String>,
}

impl Parameters {
    fn read(r: &mut Reader<'_>) -> Result<Self> {
        let mut out = Parameters::default();
        r.fields(|r, field| {
            match (field.id, field.wire) {
                (1, Wire::I8) => out.byte = Some(r.i8()?),
                (1, Wire::INT) => out.first_int = Some(r.i32()?),
                (2, Wire::INT) => out.second_int = Some(r.i32()?),
                (1, Wire::True | Wire::False) => out.first_bool = Some(r.bool(field.wire)),
                (2, Wire::True | Wire::False) => out.second_bool = Some(r.bool(field.wire)),
                (2, Wire::Struct) => out.unit = Some(TimeUnit::read(r)?),
                (1, Wire::Binary) => out.text = Some(r.string()?.as_str().to_owned()),
                _ => r.skip(field.wire)?,
            }
            Ok(())
        })?;
        Ok(out)
    }

    /// Returns the member of field `id` with these parameters; `None` if it is unknown or lacks a required parameter.
    fn member(self, id: i16) -> Option<LogicalType> {
        Some(match id {
            1 => LogicalType::String,
            2 => LogicalType::Map,
            3 => LogicalType::List,
            4 => LogicalType::Enum,
            5 => LogicalType::Decimal { scale: self.first_int?, precision: self.second_int? },
            6 => LogicalType::Date,
            7 => LogicalType::Time { is_adjusted_to_utc: self.first_bool?, unit: self.unit? },
            8 => LogicalType::Timestamp { is_adjusted_to_utc: self.first_bool?, unit: self.unit? },
            10 => LogicalType::Integer { bit_width: self.byte?, is_signed: self.second_bool? },
            11 => LogicalType::Null,
            12 => LogicalType::Json,
            13 => LogicalType::Bson,
            14 => LogicalType::Uuid,
            15 => LogicalType::Float16,
            16 => LogicalType::Variant { specification_version: self.byte },
            17 => LogicalType::Geometry { crs: self.text },
            18 => LogicalType::Geography {
                crs: self.text,
                algorithm: self.second_int.map(EdgeInterpolationAlgorithm),
            },
            19 => LogicalType::File,
            _ => return None,
        })
    }
}
