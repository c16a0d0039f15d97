//! Places of geometries on a Hilbert curve: sorting rows by these keeps geometries together that are close on the map,
//! so that few row groups and pages intersect a box.

use arrow_array::builder::FixedSizeBinaryBuilder;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_schema::{ArrowError, DataType};
use marquetry::errors::Error;
use marquetry_geo::{Extent, hilbert};
use std::sync::Arc;

/// Bytes of a place.
pub(super) const BYTES: i32 = 16;

/// The place of the centre of each geometry's box; null for null and empty geometries. Fails if a value is not a geometry.
pub(super) fn places(geometries: &dyn Array) -> Result<ArrayRef, ArrowError> {
    match geometries.data_type() {
        DataType::Binary => of_values(geometries.as_binary::<i32>().iter()),
        DataType::LargeBinary => of_values(geometries.as_binary::<i64>().iter()),
        DataType::BinaryView => of_values(geometries.as_binary_view().iter()),
        other => Err(ArrowError::InvalidArgumentError(format!("{other} has no geometries"))),
    }
}

fn of_values<'a>(values: impl Iterator<Item = Option<&'a [u8]>>) -> Result<ArrayRef, ArrowError> {
    let mut out = FixedSizeBinaryBuilder::with_capacity(values.size_hint().0, BYTES);
    for value in values {
        match value
            .map(middle)
            .transpose()
            .map_err(|error| ArrowError::ExternalError(Box::new(error)))?
            .flatten()
        {
            Some((x, y)) => out.append_value(hilbert::place(x, y).to_be_bytes())?,
            None => out.append_null(),
        }
    }
    Ok(Arc::new(out.finish()))
}

fn middle(wkb: &[u8]) -> Result<Option<(f64, f64)>, Error> {
    let (extent, _) = Extent::of(wkb)?;
    let [x, y, _, _] = extent.ranges();
    let middle = |range: (f64, f64)| range.0 / 2.0 + range.1 / 2.0;
    Ok(x.zip(y).map(|(x, y)| (middle(x), middle(y))))
}
