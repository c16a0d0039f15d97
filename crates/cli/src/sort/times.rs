//! INT96 as numbers in the order of its times: its bytes have another one.

use arrow_array::cast::AsArray;
use arrow_array::types::Decimal128Type;
use arrow_array::{Array, ArrayRef, PrimitiveArray};
use arrow_schema::DataType;
use marquetry_core::int96::{NANOS_PER_DAY, instant};
use std::sync::Arc;

/// The type of the numbers: nanoseconds of any day that INT96 has.
pub(super) const COMPARED: DataType = DataType::Decimal128(38, 0);

/// Nanoseconds since 1970 of the bytes of INT96.
pub(super) fn nanoseconds(array: &ArrayRef) -> ArrayRef {
    let bytes = array.as_fixed_size_binary();
    let time = |at: usize| {
        let (days, nanos) = instant(bytes.value(at).try_into().ok()?);
        Some(i128::from(days) * i128::from(NANOS_PER_DAY) + i128::from(nanos))
    };
    let times = (0..bytes.len()).map(|at| if bytes.is_null(at) { None } else { time(at) });
    let times: PrimitiveArray<Decimal128Type> = times.collect();
    Arc::new(times.with_data_type(COMPARED))
}
