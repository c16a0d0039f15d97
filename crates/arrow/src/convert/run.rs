//! Run-end encoded arrays: equal adjacent values, nulls included, form one run.

use super::take::take;
use crate::arrow_error;
use arrow_array::{Array, ArrayRef};
use arrow_buffer::Buffer;
use arrow_data::ArrayData;
use arrow_schema::DataType;
use marquetry_base::{Error, Result};
use marquetry_core::read::ColumnBatch;
use marquetry_encoding::{Bitmap, Values};

/// The run ends of a batch.
pub(super) struct RunEnds {
    ends: ArrayData,
    /// Number of values in the batch.
    len: usize,
}

/// Splits `batch` into one value for each run, and the run ends as numbers of type `ends`.
pub(super) fn split(batch: ColumnBatch, ends: &DataType) -> Result<(ColumnBatch, RunEnds)> {
    let len = batch.values.len();
    let starts = starts(&batch.values, batch.validity.as_ref());
    let ends = run_ends(&starts, len, ends)?;
    let validity = batch.validity.as_ref();
    let runs = ColumnBatch {
        values: take(&batch.values, &starts),
        validity: validity.map(|bits| starts.iter().map(|&start| bits.get(start as usize)).collect()),
        ..batch
    };
    Ok((runs, RunEnds { ends, len }))
}

impl RunEnds {
    /// Creates the array of type `to` with a run of each of `values`.
    pub(super) fn into_array(self, values: &ArrayRef, to: &DataType) -> Result<ArrayRef> {
        let data = ArrayData::builder(to.clone()).len(self.len);
        let data = data.add_child_data(self.ends).add_child_data(values.to_data());
        Ok(arrow_array::make_array(data.build().map_err(arrow_error)?))
    }
}

/// Returns where runs begin.
fn starts(values: &Values, validity: Option<&Bitmap>) -> Vec<u32> {
    match values {
        Values::Bit(bits) => differences(bits.len(), validity, |i| bits.get(i) != bits.get(i - 1)),
        Values::W32(values) => differences(values.len(), validity, |i| values[i] != values[i - 1]),
        Values::W64(values) => differences(values.len(), validity, |i| values[i] != values[i - 1]),
        Values::Fixed(values) => differences(values.len(), validity, |i| values.get(i) != values.get(i - 1)),
        Values::Bytes(views) => differences(views.len(), validity, |i| views.get(i) != views.get(i - 1)),
        Values::Offsets(strings) => {
            differences(strings.len(), validity, |i| strings.get(i) != strings.get(i - 1))
        }
    }
}

fn differences(len: usize, validity: Option<&Bitmap>, differs: impl Fn(usize) -> bool) -> Vec<u32> {
    let changes = |i: usize| match validity {
        None => differs(i),
        // Two nulls are equal, whatever their slots hold.
        Some(bits) => bits.get(i) != bits.get(i - 1) || (bits.get(i) && differs(i)),
    };
    (0..len).filter(|&i| i == 0 || changes(i)).map(|i| i as u32).collect()
}

fn run_ends(starts: &[u32], len: usize, ends: &DataType) -> Result<ArrayData> {
    let most = match ends {
        DataType::Int16 => i16::MAX as usize,
        DataType::Int32 => i32::MAX as usize,
        _ => usize::MAX,
    };
    if len > most {
        return Err(Error::limit(format!("{len} values do not fit {ends} run ends; read smaller batches")));
    }
    let run_ends = starts.iter().skip(1).map(|&start| start as usize).chain((len > 0).then_some(len));
    let buffer = match ends {
        DataType::Int16 => Buffer::from_vec(run_ends.map(|end| end as i16).collect()),
        DataType::Int32 => Buffer::from_vec(run_ends.map(|end| end as i32).collect()),
        _ => Buffer::from_vec(run_ends.map(|end| end as i64).collect()),
    };
    ArrayData::builder(ends.clone()).len(starts.len()).add_buffer(buffer).build().map_err(arrow_error)
}
