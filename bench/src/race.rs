//! One file, two readers: verify, then time them in turn, and keep the best time of each.

use std::hint::black_box;
use std::time::Instant;

use arrow60_array::cast::AsArray;
use arrow60_array::{Array, ArrayRef, RecordBatch};
use arrow60_schema::{DataType, SchemaRef};
use bytes::Bytes;

use crate::write::{Counting, Sink};
use crate::{Result, bridge, compare, ours, peer};

/// Rows in a batch, for both sides.
pub(crate) const BATCH_SIZE: usize = 8_192;

/// What was measured of one file. Times are the best of all rounds, in seconds.
pub(crate) struct Row {
    pub(crate) name: String,
    /// What the row measures, in words.
    pub(crate) title: String,
    /// Rows in the file.
    pub(crate) rows: usize,
    /// None when our side could not read the file.
    pub(crate) ours: Option<f64>,
    pub(crate) peer: f64,
    /// One copy of as many bytes as the output of reading, or the input of writing, has.
    pub(crate) memcpy: f64,
    /// Bytes of the file that ours and the peer wrote, if they wrote one.
    pub(crate) sizes: Option<(usize, usize)>,
}

impl Row {
    /// How many times faster ours is than the peer.
    pub(crate) fn ratio(&self) -> Option<f64> {
        Some(self.peer / self.ours?)
    }

    /// Our speed as a part of the speed of a memcpy of the output.
    pub(crate) fn memcpy_ratio(&self) -> Option<f64> {
        Some(self.memcpy / self.ours?)
    }
}

/// Measures one file that is held in memory, read as `schema`.
///
/// # Errors
/// When the peer cannot read the file, or when both can but their values differ. When only ours cannot read it,
/// that is said on stderr and the row has no time of ours.
pub(crate) fn race(name: &str, title: &str, file: &Bytes, schema: &SchemaRef, rounds: u32) -> Result<Row> {
    let schema59 = bridge::schema(schema)?;
    let read_ours = || count(ours::open(file, &schema59, BATCH_SIZE)?, arrow_array::RecordBatch::num_rows);
    let read_peer = || count(peer::open(file, schema, BATCH_SIZE)?, RecordBatch::num_rows);

    let rows = read_peer()?;
    let we_can = match read_ours() {
        Ok(_) => true,
        Err(error) => {
            eprintln!("{name}: ours: {error}");
            false
        }
    };
    if we_can {
        let (ours, peer) = (ours::open(file, &schema59, BATCH_SIZE)?, peer::open(file, schema, BATCH_SIZE)?);
        compare::compare(ours, peer).map_err(|error| format!("{name}: the values differ: {error}"))?;
    }

    let size = output_size(peer::open(file, schema, BATCH_SIZE)?)?;
    let source = vec![1u8; size];
    let mut target = vec![0u8; size];
    let [mut best_ours, mut best_peer, mut best_memcpy] = [f64::INFINITY; 3];
    for _ in 0..rounds {
        if we_can {
            best_ours = best_ours.min(seconds(read_ours)?);
        }
        best_peer = best_peer.min(seconds(read_peer)?);
        let copy = || {
            black_box(&mut target[..]).copy_from_slice(black_box(&source));
            Ok(())
        };
        best_memcpy = best_memcpy.min(seconds(copy)?);
    }
    Ok(Row {
        name: name.to_owned(),
        title: title.to_owned(),
        rows,
        ours: we_can.then_some(best_ours),
        peer: best_peer,
        memcpy: best_memcpy,
        sizes: None,
    })
}

/// What writes a file into a sink.
pub(crate) type Writing<'a> = &'a dyn Fn(&mut dyn Sink) -> Result<()>;

/// Measures the writing of `batches`, which go nowhere but are counted.
///
/// # Errors
/// When either side cannot write them.
pub(crate) fn race_writing(
    name: &str,
    title: &str,
    batches: &[RecordBatch],
    ours: Writing<'_>,
    peer: Writing<'_>,
    rounds: u32,
) -> Result<Row> {
    let size = output_size(batches.iter().cloned().map(Ok))?;
    let source = vec![1u8; size];
    let mut target = vec![0u8; size];
    let [mut best_ours, mut best_peer, mut best_memcpy] = [f64::INFINITY; 3];
    let mut sizes = (0, 0);
    for _ in 0..rounds {
        let (mut our_file, mut peer_file) = (Counting::default(), Counting::default());
        best_ours = best_ours.min(seconds(|| ours(&mut our_file))?);
        best_peer = best_peer.min(seconds(|| peer(&mut peer_file))?);
        sizes = (our_file.0, peer_file.0);
        let copy = || {
            black_box(&mut target[..]).copy_from_slice(black_box(&source));
            Ok(())
        };
        best_memcpy = best_memcpy.min(seconds(copy)?);
    }
    Ok(Row {
        name: name.to_owned(),
        title: title.to_owned(),
        rows: batches.iter().map(RecordBatch::num_rows).sum(),
        ours: Some(best_ours),
        peer: best_peer,
        memcpy: best_memcpy,
        sizes: Some(sizes),
    })
}

/// The wall time of one call.
fn seconds<T>(work: impl FnOnce() -> Result<T>) -> Result<f64> {
    let start = Instant::now();
    black_box(work()?);
    Ok(start.elapsed().as_secs_f64())
}

/// Reads all batches, dropping each one as an engine that streams would.
fn count<B>(batches: impl Iterator<Item = Result<B>>, rows_of: impl Fn(&B) -> usize) -> Result<usize> {
    let mut rows = 0;
    for batch in batches {
        rows += rows_of(black_box(&batch?));
    }
    Ok(rows)
}

/// The bytes that any reader must write to produce this output.
fn output_size(batches: impl Iterator<Item = Result<RecordBatch>>) -> Result<usize> {
    let mut size = 0;
    for batch in batches {
        for column in batch?.columns() {
            size += array_size(column)?;
        }
    }
    Ok(size)
}

/// Values, offsets or views, and validity. Of views only the strings too long to be inline are counted beside them,
/// and of a dictionary the keys alone, as its values are few.
fn array_size(array: &ArrayRef) -> Result<usize> {
    const INLINE: u32 = 12;
    let rows = array.len();
    let values = match array.data_type() {
        DataType::Boolean => rows.div_ceil(8),
        DataType::Dictionary(key, _) => rows * key.primitive_width().unwrap_or(0),
        DataType::Utf8 => {
            let offsets = array.as_string::<i32>().value_offsets();
            size_of_val(offsets) + (offsets[rows] - offsets[0]) as usize
        }
        DataType::Utf8View => {
            let views = array.as_string_view().views();
            let lengths = views.iter().map(|&view| view as u32).filter(|&length| length > INLINE);
            size_of_val(&views[..]) + lengths.map(|length| length as usize).sum::<usize>()
        }
        DataType::List(_) => {
            let list = array.as_list::<i32>();
            let offsets = list.value_offsets();
            let (start, end) = (offsets[0] as usize, offsets[rows] as usize);
            size_of_val(offsets) + array_size(&list.values().slice(start, end - start))?
        }
        other => {
            rows * other.primitive_width().ok_or_else(|| format!("no size known for the type {other}"))?
        }
    };
    Ok(values + array.nulls().map_or(0, |_| rows.div_ceil(8)))
}
