//! Compares two readers of one file: verifies that they agree, then times them in turn.

use std::fmt::Display;
use std::hint::black_box;

use arrow_array::RecordBatch;
use arrow60_array::RecordBatch as RecordBatch60;
use arrow60_schema::SchemaRef as SchemaRef60;
use bytes::Bytes;

use crate::error::Result;
use crate::output_size::output_size;
use crate::pages::Pages;
use crate::row::{BATCH_SIZE, Row};
use crate::sink::{Counting, Writing};
use crate::timing::{copying, in_turn};
use crate::{bridge, marquetry_side, parquet_side, same_values};

/// A file in memory that both sides read.
pub(crate) struct ReadComparison<'a> {
    pub(crate) name: &'a str,
    pub(crate) title: &'a str,
    pub(crate) file: &'a Bytes,
    /// The schema to read it as. None: the peer's default.
    pub(crate) schema: Option<&'a SchemaRef60>,
    /// Threads of ours; the peer has one.
    pub(crate) threads: usize,
    /// Whether decompressing the pages is timed too.
    pub(crate) with_codec: bool,
    pub(crate) rounds: u32,
}

impl ReadComparison<'_> {
    /// Measures.
    ///
    /// # Errors
    /// When both sides can read the file but their values differ. If one cannot, that is printed on stderr, and the row
    /// has no time of it.
    pub(crate) fn race(&self) -> Result<Row> {
        let ReadComparison { name, file, threads, .. } = *self;
        // Without a schema the peer infers one itself: the schema that it reports is not always one that it accepts.
        let peer_schema = match self.schema {
            Some(schema) => Some(SchemaRef60::clone(schema)),
            None => self.can("the peer", parquet_side::schema(file)),
        };
        let schema = peer_schema.map(|schema| bridge::schema(&schema)).transpose()?;
        let open_ours = |threads| marquetry_side::open(file.clone(), schema.as_ref(), BATCH_SIZE, threads);
        let open_peer = || parquet_side::open(file.clone(), self.schema, BATCH_SIZE);
        let read_ours = || count(open_ours(threads)?, RecordBatch::num_rows);
        let read_peer = || count(open_peer()?, RecordBatch60::num_rows);

        // Without a schema the file could not even be opened, which was printed.
        let peer_rows = if schema.is_some() { self.can("the peer", read_peer()) } else { None };
        let our_rows = self.can("ours", read_ours());
        if our_rows.is_some() && peer_rows.is_some() {
            same_values::compare(open_ours(threads)?, open_peer()?)
                .map_err(|error| format!("{name}: the values differ: {error}"))?;
        }
        let mut copy = match our_rows {
            Some(_) => Some(copying(output_size(open_ours(1)?)?)),
            None => None,
        };
        let mut pages = if self.with_codec && our_rows.is_some() { Some(Pages::of(file)?) } else { None };
        let mut decompress = pages.as_mut().map(|pages| || pages.decompress());
        let mut ours = || read_ours().map(drop);
        let mut ours_alone = || count(open_ours(1)?, RecordBatch::num_rows).map(drop);
        let mut peer = || read_peer().map(drop);
        let [ours, alone, peer, memcpy, codec] = in_turn(
            self.rounds,
            [
                our_rows.is_some().then_some(&mut ours),
                (our_rows.is_some() && threads > 1).then_some(&mut ours_alone),
                peer_rows.is_some().then_some(&mut peer),
                copy.as_mut().map(|copy| copy as _),
                decompress.as_mut().map(|decompress| decompress as _),
            ],
        )?;
        let (name, title) = (name.to_owned(), self.title.to_owned());
        let rows = peer_rows.or(our_rows).unwrap_or(0);
        Ok(Row { name, title, rows, ours, peer, memcpy, codec, alone, sizes: None })
    }

    /// The result, or None after printing the error.
    fn can<T>(&self, whose: &str, result: std::result::Result<T, impl Display>) -> Option<T> {
        result.inspect_err(|error| eprintln!("{}: {whose}: {error}", self.name)).ok()
    }
}

/// Measures writing `batches`, whose bytes are only counted.
///
/// # Errors
/// When either side cannot write them.
pub(crate) fn compare_writers(
    name: &str,
    title: &str,
    batches: &[RecordBatch],
    ours: Writing<'_>,
    peer: Writing<'_>,
    rounds: u32,
) -> Result<Row> {
    let mut copy = copying(output_size(batches.iter().cloned().map(Ok))?);
    let (mut our_file, mut peer_file) = (Counting::default(), Counting::default());
    let mut write_ours = || {
        our_file = Counting::default();
        ours(&mut our_file)
    };
    let mut write_peer = || {
        peer_file = Counting::default();
        peer(&mut peer_file)
    };
    let [ours, peer, memcpy] =
        in_turn(rounds, [Some(&mut write_ours), Some(&mut write_peer), Some(&mut copy)])?;
    Ok(Row {
        name: name.to_owned(),
        title: title.to_owned(),
        rows: batches.iter().map(RecordBatch::num_rows).sum(),
        ours,
        peer,
        memcpy,
        codec: None,
        alone: None,
        sizes: Some((our_file.0, peer_file.0)),
    })
}

/// Reads all batches, dropping each one as an engine that streams would.
pub(crate) fn count<B>(
    batches: impl Iterator<Item = Result<B>>,
    rows_of: impl Fn(&B) -> usize,
) -> Result<usize> {
    let mut rows = 0;
    for batch in batches {
        rows += rows_of(black_box(&batch?));
    }
    Ok(rows)
}
