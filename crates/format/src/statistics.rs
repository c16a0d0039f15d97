//! Statistics of a page or column chunk: bounds, counts, sizes, bounding boxes.
use crate::thrift::{Reader, Wire, Writer};
use marquetry_base::Result;

/// Bounds and counts of values. Bounds are PLAIN-encoded; those of byte strings have no length. `B` is `Vec<u8>`, or a
/// slice of the bytes that were read.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Statistics<B = Vec<u8>> {
    /// Deprecated upper bound. Its order was only ever defined for signed values.
    pub max: Option<B>,
    /// Deprecated lower bound.
    pub min: Option<B>,
    /// The number of nulls.
    pub null_count: Option<i64>,
    /// The number of distinct values.
    pub distinct_count: Option<i64>,
    /// Upper bound in the sort order of the column.
    pub max_value: Option<B>,
    /// Lower bound in the sort order of the column.
    pub min_value: Option<B>,
    /// Whether the upper bound is a value that occurs, as opposed to a truncated one.
    pub is_max_value_exact: Option<bool>,
    /// Whether the lower bound is a value that occurs, as opposed to a truncated one.
    pub is_min_value_exact: Option<bool>,
    /// The number of NaNs.
    pub nan_count: Option<i64>,
}

impl<B> Statistics<B> {
    /// Reads the struct.
    pub fn read<'a>(r: &mut Reader<'a>) -> Result<Self>
    where
        B: From<&'a [u8]>,
    {
        let mut out = Self::empty();
        out.read_fields(r)?;
        Ok(out)
    }

    /// Reads the struct into an empty one. PERF: in place, so that it need not be moved.
    pub(crate) fn read_fields<'a>(&mut self, r: &mut Reader<'a>) -> Result<()>
    where
        B: From<&'a [u8]>,
    {
        r.fields(|r, field| {
            match (field.id, field.wire) {
                (1, Wire::Binary) => self.max = Some(r.binary()?.into()),
                (2, Wire::Binary) => self.min = Some(r.binary()?.into()),
                (3, Wire::INT) => self.null_count = Some(r.i64()?),
                (4, Wire::INT) => self.distinct_count = Some(r.i64()?),
                (5, Wire::Binary) => self.max_value = Some(r.binary()?.into()),
                (6, Wire::Binary) => self.min_value = Some(r.binary()?.into()),
                (7, Wire::True | Wire::False) => self.is_max_value_exact = Some(r.bool(field.wire)),
                (8, Wire::True | Wire::False) => self.is_min_value_exact = Some(r.bool(field.wire)),
                (9, Wire::INT) => self.nan_count = Some(r.i64()?),
                _ => r.skip(field.wire)?,
            }
            Ok(())
        })
    }

    pub(crate) fn empty() -> Self {
        Statistics {
            max: None,
            min: None,
            null_count: None,
            distinct_count: None,
            max_value: None,
            min_value: None,
            is_max_value_exact: None,
            is_min_value_exact: None,
            nan_count: None,
        }
    }

    /// Converts the bounds.
    pub fn map<C>(self, bound: impl Fn(B) -> C) -> Statistics<C> {
        Statistics {
            max: self.max.map(&bound),
            min: self.min.map(&bound),
            null_count: self.null_count,
            distinct_count: self.distinct_count,
            max_value: self.max_value.map(&bound),
            min_value: self.min_value.map(&bound),
            is_max_value_exact: self.is_max_value_exact,
            is_min_value_exact: self.is_min_value_exact,
            nan_count: self.nan_count,
        }
    }
}

impl Statistics {
    /// Writes the struct.
    pub fn write(&self, w: &mut Writer) {
        w.fields(|w| {
            if let Some(value) = &self.max {
                w.binary_field(1, value);
            }
            if let Some(value) = &self.min {
                w.binary_field(2, value);
            }
            if let Some(value) = &self.null_count {
                w.i64_field(3, *value);
            }
            if let Some(value) = &self.distinct_count {
                w.i64_field(4, *value);
            }
            if let Some(value) = &self.max_value {
                w.binary_field(5, value);
            }
            if let Some(value) = &self.min_value {
                w.binary_field(6, value);
            }
            if let Some(value) = &self.is_max_value_exact {
                w.bool_field(7, *value);
            }
            if let Some(value) = &self.is_min_value_exact {
                w.bool_field(8, *value);
            }
            if let Some(value) = &self.nan_count {
                w.i64_field(9, *value);
            }
        });
    }
}

/// Sizes before encoding, and level histograms. `H` is `Vec<i64>`, or the elements in the bytes that were read.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SizeStatistics<H = Vec<i64>> {
    /// Total length of all byte strings, without their length fields, in bytes.
    pub unencoded_byte_array_data_bytes: Option<i64>,
    /// The number of occurrences of each repetition level.
    pub repetition_level_histogram: Option<H>,
    /// The number of occurrences of each definition level.
    pub definition_level_histogram: Option<H>,
}

impl<H> SizeStatistics<H> {
    /// Reads the struct. `histogram` reads each histogram.
    pub(crate) fn read_with<'a>(
        r: &mut Reader<'a>,
        histogram: impl Fn(&mut Reader<'a>) -> Result<Option<H>>,
    ) -> Result<Self> {
        let (mut bytes, mut repetition, mut definition) = (None, None, None);
        r.fields(|r, field| {
            match (field.id, field.wire) {
                (1, Wire::INT) => bytes = Some(r.i64()?),
                (2, Wire::List) => repetition = histogram(r)?,
                (3, Wire::List) => definition = histogram(r)?,
                _ => r.skip(field.wire)?,
            }
            Ok(())
        })?;
        Ok(SizeStatistics {
            unencoded_byte_array_data_bytes: bytes,
            repetition_level_histogram: repetition,
            definition_level_histogram: definition,
        })
    }

    /// Converts the histograms.
    pub fn map<G>(self, histogram: impl Fn(H) -> G) -> SizeStatistics<G> {
        SizeStatistics {
            unencoded_byte_array_data_bytes: self.unencoded_byte_array_data_bytes,
            repetition_level_histogram: self.repetition_level_histogram.map(&histogram),
            definition_level_histogram: self.definition_level_histogram.map(&histogram),
        }
    }
}

impl SizeStatistics {
    /// Reads the struct.
    pub fn read(r: &mut Reader<'_>) -> Result<Self> {
        Self::read_with(r, |r| r.list(Wire::I64, Reader::i64))
    }

    /// Writes the struct.
    pub fn write(&self, w: &mut Writer) {
        w.fields(|w| {
            if let Some(value) = &self.unencoded_byte_array_data_bytes {
                w.i64_field(1, *value);
            }
            if let Some(value) = &self.repetition_level_histogram {
                w.list_field(2, Wire::I64, value, |w, value| w.i64(*value));
            }
            if let Some(value) = &self.definition_level_histogram {
                w.list_field(3, Wire::I64, value, |w, value| w.i64(*value));
            }
        });
    }
}

/// The bounding box of geometries. `xmin > xmax` if it crosses the antimeridian.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BoundingBox {
    /// Least x.
    pub xmin: f64,
    /// Greatest x.
    pub xmax: f64,
    /// Least y.
    pub ymin: f64,
    /// Greatest y.
    pub ymax: f64,
    /// Least z.
    pub zmin: Option<f64>,
    /// Greatest z.
    pub zmax: Option<f64>,
    /// Least m.
    pub mmin: Option<f64>,
    /// Greatest m.
    pub mmax: Option<f64>,
}

impl BoundingBox {
    /// Reads the struct.
    pub fn read(r: &mut Reader<'_>) -> Result<Self> {
        // A missing bound becomes NaN: unlike 0, it excludes nothing.
        let mut out =
            BoundingBox { xmin: f64::NAN, xmax: f64::NAN, ymin: f64::NAN, ymax: f64::NAN, ..Self::default() };
        r.fields(|r, field| {
            match (field.id, field.wire) {
                (1, Wire::Double) => out.xmin = r.double()?,
                (2, Wire::Double) => out.xmax = r.double()?,
                (3, Wire::Double) => out.ymin = r.double()?,
                (4, Wire::Double) => out.ymax = r.double()?,
                (5, Wire::Double) => out.zmin = Some(r.double()?),
                (6, Wire::Double) => out.zmax = Some(r.double()?),
                (7, Wire::Double) => out.mmin = Some(r.double()?),
                (8, Wire::Double) => out.mmax = Some(r.double()?),
                _ => r.skip(field.wire)?,
            }
            Ok(())
        })?;
        Ok(out)
    }

    /// Writes the struct.
    pub fn write(&self, w: &mut Writer) {
        w.fields(|w| {
            w.double_field(1, self.xmin);
            w.double_field(2, self.xmax);
            w.double_field(3, self.ymin);
            w.double_field(4, self.ymax);
            if let Some(value) = &self.zmin {
                w.double_field(5, *value);
            }
            if let Some(value) = &self.zmax {
                w.double_field(6, *value);
            }
            if let Some(value) = &self.mmin {
                w.double_field(7, *value);
            }
            if let Some(value) = &self.mmax {
                w.double_field(8, *value);
            }
        });
    }
}

/// The extent and the types of geometries.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GeospatialStatistics {
    /// Their bounding box.
    pub bbox: Option<BoundingBox>,
    /// Their types, as codes of well-known binary.
    pub geospatial_types: Option<Vec<i32>>,
}

impl GeospatialStatistics {
    /// Reads the struct.
    pub fn read(r: &mut Reader<'_>) -> Result<Self> {
        let mut out = Self::default();
        r.fields(|r, field| {
            match (field.id, field.wire) {
                (1, Wire::Struct) => out.bbox = Some(BoundingBox::read(r)?),
                (2, Wire::List) => {
                    out.geospatial_types = r.list(Wire::I32, Reader::i32)?;
                }
                _ => r.skip(field.wire)?,
            }
            Ok(())
        })?;
        Ok(out)
    }

    /// Writes the struct.
    pub fn write(&self, w: &mut Writer) {
        w.fields(|w| {
            if let Some(value) = &self.bbox {
                w.nested_field(1, |w| value.write(w));
            }
            if let Some(value) = &self.geospatial_types {
                w.list_field(2, Wire::I32, value, |w, value| w.i64(i64::from(*value)));
            }
        });
    }
}
