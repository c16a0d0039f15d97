//! `split`: splits a file into files of a given number of rows.

use crate::failure::{Failure, Outcome};
use crate::file_name;
use crate::keys::EncryptArgs;
use crate::metrics::MetricsArgs;
use crate::output::Output;
use crate::overwrite::refuse_existing;
use crate::printable::printable;
use crate::remote;
use crate::rewrite::{
    ColumnLog, EncoderMemory, Footer, GeoPart, Input, OutputFile, Reencoder, codec_of, column_orders,
    geo_of_input, has_order_of_bounds, report_failure,
};
use crate::standard_input;
use crate::text_table::TextTable;
use clap::Args as ClapArgs;
use marquetry::errors::Error;
use marquetry::file::encryption::FileEncryptionProperties;
use marquetry::file::properties::WriterProperties;
use marquetry::internals::format::{ColumnOrder, KeyValue};
use marquetry::metrics::WriteMetrics;
use marquetry_core::write::EncodedChunk;
use marquetry_core::write::copy::{CopySettings, drop_bounds};
use serde_json::json;
use std::collections::HashSet;
use std::num::NonZeroU64;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[derive(Debug, ClapArgs)]
pub(crate) struct SplitArgs {
    /// The Parquet file
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// Rows of each file but the last
    #[arg(long, value_name = "ROWS")]
    rows: NonZeroU64,
    /// The existing directory for the new files. Default: the directory of IN. Required if IN is a URL
    #[arg(long, value_name = "DIR", value_parser = crate::remote::local())]
    out_dir: Option<PathBuf>,
    /// The names of the new files, with {} for a number. Default: the name of IN, a hyphen and the number
    #[arg(long, value_name = "NAME-{}")]
    name: Option<String>,
    /// Split between row groups only. A file has at most ROWS rows, or one row group if that has more
    #[arg(long)]
    whole_row_groups: bool,
    /// Replace existing files
    #[arg(long)]
    overwrite: bool,
    #[command(flatten)]
    encrypt: EncryptArgs,
    #[command(flatten)]
    metrics: MetricsArgs,
}

pub(crate) const SPLIT_HELP: &str = "\
Row groups that belong to one file are copied byte for byte. A row group that is split is encoded again with the same
codec, unless --whole-row-groups.

All names are checked before anything is written. Each file appears when it is complete; after a failure the files
before it stay.

JSON: one object for each file, {file, rows, row_groups, copied, size, notes}; `copied` is the number of row groups
that were copied, `notes` tell what of the input is dropped.

Examples:
  marquetry split wines.parquet --rows 1000000
  mkdir parts && marquetry split wines.parquet --rows 1000000 --whole-row-groups --out-dir parts
  marquetry split wines.parquet --rows 1000000 --name 'wines-{}.parquet'";

/// A part of a row group.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Piece {
    row_group: usize,
    rows: Range<u64>,
    is_whole: bool,
}

pub(crate) fn run(args: &SplitArgs, output: &mut Output, outcome: &mut Outcome) -> Result<(), Failure> {
    split(args, output).or_else(|failure| report_failure(&args.input, failure, outcome))
}

fn split(args: &SplitArgs, output: &mut Output) -> Result<(), Failure> {
    let input = Input::open(&args.input)?;
    let sizes: Vec<u64> = input.metadata.row_groups().map(|group| group.num_rows()).collect();
    let parts = parts(&sizes, args.rows.get(), args.whole_row_groups).map_err(too_many)?;
    let names = names(args, parts.len())?;
    for name in &names {
        refuse_existing(name, [args.input.as_path()], args.overwrite)?;
    }
    let encryption = args.encrypt.properties()?;
    let mut cutter = Cutter { open: None, input: &input, encryption, overwrite: args.overwrite };
    let mut table = TextTable::new(&["file", ">rows", ">row groups", ">copied", ">bytes"]);
    let (mut written, mut notes, mut noted) = (Vec::new(), Vec::new(), HashSet::new());
    for (name, part) in names.iter().zip(&parts) {
        let mut log = ColumnLog::new(input.metadata.schema().num_columns());
        let (size, metrics) = cutter.write(name, part, &mut log)?;
        written.push(metrics);
        let rows: u64 = part.iter().map(|piece| piece.rows.end - piece.rows.start).sum();
        let copied = part.iter().filter(|piece| piece.is_whole).count();
        let file = file_name::shown(name);
        match output.is_json() {
            true => output.json(&json!({
                "file": file, "rows": rows, "row_groups": part.len(), "copied": copied, "size": size,
                "notes": log.json(),
            }))?,
            false => table.row([
                file,
                rows.to_string(),
                part.len().to_string(),
                copied.to_string(),
                size.to_string(),
            ]),
        }
        // Each note once, though most apply to all files.
        notes.extend(log.notes().into_iter().filter(|note| noted.insert(note.clone())));
    }
    if !output.is_json() {
        table.print(output)?;
        notes.iter().try_for_each(|note| output.line(format!("note: {}", printable(note))))?;
    }
    args.metrics.tell_read(&args.input, &input.counters.snapshot(), output)?;
    names
        .iter()
        .zip(&written)
        .try_for_each(|(name, metrics)| args.metrics.tell_written(name, metrics, output))
}

fn too_many(files: u64) -> Failure {
    Failure::Usage(format!("{files} files would be written; the most is {MOST_FILES}"))
}

/// The pieces of each file. A file without rows gives one file without rows. `Err` is the number of files if it is too
/// large: a footer may state any number of rows, so that is checked before anything is planned.
fn parts(sizes: &[u64], rows: u64, whole_row_groups: bool) -> Result<Vec<Vec<Piece>>, u64> {
    let all = sizes.iter().fold(0u64, |sum, size| sum.saturating_add(*size));
    if !whole_row_groups && all.div_ceil(rows) > MOST_FILES as u64 {
        return Err(all.div_ceil(rows));
    }
    let (mut parts, mut part, mut room) = (Vec::new(), Vec::new(), rows);
    for (row_group, size) in sizes.iter().copied().enumerate().filter(|(_, size)| *size > 0) {
        let mut start = 0;
        while start < size {
            let is_full = room == 0 || (whole_row_groups && size > room && room < rows);
            if is_full {
                parts.push(std::mem::take(&mut part));
                room = rows;
            }
            let n = if whole_row_groups { size } else { (size - start).min(room) };
            part.push(Piece { row_group, rows: start..start + n, is_whole: n == size });
            start += n;
            room = room.saturating_sub(n);
        }
    }
    parts.push(part);
    // There are no more whole row groups than in the footer.
    if parts.len() > MOST_FILES { Err(parts.len() as u64) } else { Ok(parts) }
}

fn names(args: &SplitArgs, count: usize) -> Result<Vec<PathBuf>, Failure> {
    let stem = match standard_input::is_meant(&args.input) {
        true => "stdin".to_owned(),
        false => remote::file_stem(&args.input),
    };
    let pattern = args.name.clone().unwrap_or_else(|| format!("{stem}-{{}}.parquet"));
    if count > 1 && !pattern.contains("{}") {
        return Err(Failure::Usage("--name needs {} where the number goes".to_owned()));
    }
    if pattern.contains(['/', std::path::MAIN_SEPARATOR]) {
        return Err(Failure::Usage("--name is a file's name; --out-dir says where".to_owned()));
    }
    let directory = match &args.out_dir {
        Some(directory) => directory.as_path(),
        None if remote::is_url(&args.input) => {
            return Err(Failure::Usage("--out-dir says where the new files of a URL go".to_owned()));
        }
        None => args.input.parent().unwrap_or(Path::new("")),
    };
    let width = count.saturating_sub(1).to_string().len().max(LEAST_DIGITS);
    Ok((0..count).map(|i| directory.join(pattern.replace("{}", &format!("{i:0width$}")))).collect())
}

/// Writes parts from front to back.
struct Cutter<'a> {
    input: &'a Input,
    /// The readers of the row group that the last part came from, and the row that they are at.
    open: Option<(usize, u64, Vec<Reencoder>)>,
    encryption: Option<Arc<FileEncryptionProperties>>,
    overwrite: bool,
}

impl Cutter<'_> {
    /// Writes one file. Returns its size, and the cost.
    fn write(
        &mut self,
        path: &Path,
        part: &[Piece],
        log: &mut ColumnLog,
    ) -> Result<(u64, WriteMetrics), Failure> {
        let metadata = &self.input.metadata;
        let columns = metadata.schema().num_columns();
        let inputs = std::slice::from_ref(self.input);
        let mut orders = column_orders(inputs, &[(0..columns).collect()]);
        let has_order = orders.is_some();
        if !has_order && part.iter().any(|piece| !piece.is_whole) {
            orders = Some(vec![ColumnOrder::TypeOrder; columns]);
        }
        let mut footer = Footer::of(self.input, log);
        log.note_filters(inputs, self.encryption.as_ref().map(|of| of.dialect()));
        // Its contents are known once the rows of the part are.
        let geo = geo_of_input(self.input);
        if geo.is_some() {
            footer.set_geo(None);
        }
        let mut of_part = GeoPart::default();
        let settings = footer.settings(orders.clone(), self.encryption.clone());
        let mut file = OutputFile::create(path, self.overwrite, metadata.head().schema.clone(), settings)?;
        let counters = file.counters().clone();
        let mut memory = file.encoder_memory();
        for piece in part {
            let group = metadata.row_group(piece.row_group);
            let mut chunks = Vec::new();
            for column in 0..columns {
                let mut chunk = match piece.is_whole {
                    true => {
                        let copied = self.input.copy(piece.row_group, column, &CopySettings::default())?;
                        log.copied(column, &copied);
                        copied.chunk
                    }
                    false => self.cut(piece, column, orders.as_deref(), &mut memory)?,
                };
                if piece.is_whole && !has_order && orders.is_some() {
                    drop_bounds(&mut chunk);
                }
                if geo.is_some() {
                    of_part.add(column, &chunk);
                }
                memory.keep(&mut chunk.bytes)?;
                chunks.push(chunk);
            }
            // A part of sorted rows is sorted.
            let sorting = group.sorting_columns().to_vec();
            file.write_row_group(piece.rows.end - piece.rows.start, chunks, Some(sorting))?;
            memory.clear();
            if let Some((_, at, _)) = self.open.as_mut().filter(|_| !piece.is_whole) {
                *at = piece.rows.end;
            }
        }
        if let Some(geo) = geo {
            let geo = of_part.metadata(geo, metadata.schema());
            file.add_key_value(KeyValue::new(marquetry_geo::geoparquet::KEY, geo.to_json()));
        }
        let (_, size) = file.finish()?;
        Ok((size, counters.snapshot()))
    }

    /// Encodes a part of a column chunk.
    fn cut(
        &mut self,
        piece: &Piece,
        column: usize,
        orders: Option<&[ColumnOrder]>,
        memory: &mut EncoderMemory,
    ) -> Result<EncodedChunk, Failure> {
        let chunk = self.input.metadata.row_group(piece.row_group).column(column)?;
        let order = orders.and_then(|orders| orders.get(column));
        let properties = WriterProperties::builder()
            .set_total_order(order == Some(&ColumnOrder::Ieee754TotalOrder))
            .set_compat(self.input.compat)
            .set_bloom_filter_enabled(chunk.bloom_filter_offset().is_some())
            .build();
        let mut settings = properties.column_settings(chunk.leaf())?;
        (settings.codec, settings.level) = (codec_of(chunk)?, None);
        let recoder = &mut self.readers(piece)?[column];
        let (mut encoded, _) = recoder.chunk(piece.rows.end - piece.rows.start, &settings, memory)?;
        if !has_order_of_bounds(chunk.leaf().physical(), order) {
            drop_bounds(&mut encoded);
        }
        encoded.metadata.key_value_metadata = chunk.meta_data()?.key_value_metadata;
        Ok(encoded)
    }

    /// The readers of the row group, positioned at the first row of the piece.
    fn readers(&mut self, piece: &Piece) -> Result<&mut [Reencoder], Error> {
        let is_open = self
            .open
            .as_ref()
            .is_some_and(|(group, at, _)| *group == piece.row_group && *at == piece.rows.start);
        if !is_open {
            let columns = 0..self.input.metadata.schema().num_columns();
            let reader = |leaf| Reencoder::new(&self.input.columns(), &[piece.row_group], leaf, true);
            let mut readers: Vec<Reencoder> = columns.map(reader).collect();
            readers.iter_mut().try_for_each(|reader| reader.skip(piece.rows.start))?;
            self.open = Some((piece.row_group, piece.rows.start, readers));
        }
        match &mut self.open {
            Some((_, _, readers)) => Ok(readers),
            None => Err(Error::argument("no row group is open")),
        }
    }
}

const LEAST_DIGITS: usize = 5;
/// More than anyone needs, and few enough not to fill a file system by a mistyped number.
const MOST_FILES: usize = 100_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(sizes: &[u64], rows: u64, whole: bool) -> Vec<Vec<(usize, u64, u64)>> {
        let piece = |piece: &Piece| (piece.row_group, piece.rows.start, piece.rows.end);
        parts(sizes, rows, whole).unwrap().iter().map(|part| part.iter().map(piece).collect()).collect()
    }

    #[test]
    fn cuts_inside_and_between_row_groups() {
        assert_eq!(shape(&[10, 10], 15, false), [vec![(0, 0, 10), (1, 0, 5)], vec![(1, 5, 10)]]);
        assert_eq!(shape(&[10, 10], 10, false), [vec![(0, 0, 10)], vec![(1, 0, 10)]]);
        assert_eq!(shape(&[25], 10, false), [[(0, 0, 10)], [(0, 10, 20)], [(0, 20, 25)]]);
        assert_eq!(shape(&[10, 10, 10], 25, true), [vec![(0, 0, 10), (1, 0, 10)], vec![(2, 0, 10)]]);
        assert_eq!(shape(&[30, 5], 10, true), [vec![(0, 0, 30)], vec![(1, 0, 5)]]);
        assert_eq!(shape(&[0, 3, 0], 10, true), [vec![(1, 0, 3)]]);
        assert_eq!(shape(&[], 10, false), [vec![]]);
    }

    /// Were it planned first, it would take gigabytes.
    #[test]
    fn too_many_files_are_refused_before_they_are_planned() {
        assert_eq!(parts(&[1 << 40], 30, false), Err(36_650_387_593));
        assert_eq!(parts(&[u64::MAX, u64::MAX], 1, false), Err(u64::MAX));
        assert_eq!(parts(&[100_001], 1, false), Err(100_001));
        assert_eq!(parts(&[100_000], 1, false).map(|parts| parts.len()), Ok(100_000));
        assert_eq!(parts(&[1; 100_001], 1, true), Err(100_001));
        assert_eq!(parts(&[1 << 40], 30, true).map(|parts| parts.len()), Ok(1));
    }
}
