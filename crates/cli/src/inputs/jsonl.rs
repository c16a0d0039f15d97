//! JSON Lines: an object on each line.

use super::guess_json::Members;
use super::nested::{finished, raw_fields};
use super::origin::Origin;
use super::typed::Trust;
use super::{Input, Sample, Wanted, bad, bad_value, schema_text};
use crate::args::InferRows;
use crate::failure::Failure;
use arrow_array::{Array, RecordBatch, RecordBatchOptions};
use arrow_json::ReaderBuilder;
use arrow_json::reader::Decoder;
use arrow_schema::{ArrowError, Field, Schema, SchemaRef};
use serde_json::Value;
use std::io::{BufRead, Cursor, Read};
use std::sync::Arc;

/// Opens a JSON Lines file.
pub(super) fn open(mut origin: Origin, wanted: &Wanted<'_>) -> Result<Input, Failure> {
    let given = wanted.args.schema.as_deref().map(schema_text::read).transpose()?;
    if wanted.args.infer_rows == InferRows::All {
        origin.spool()?;
    }
    let bytes = origin.bytes();
    let mut from = origin.text()?;
    let (members, sample) = match wanted.args.infer_rows {
        InferRows::All => {
            let (members, _) = guess(&mut from, u64::MAX, u64::MAX)?;
            from = origin.text()?;
            (members, Sample::All)
        }
        InferRows::First(rows) => {
            let mut kept = Kept { from, text: Vec::new() };
            let (members, seen) = guess(&mut kept, rows, SAMPLE_BYTES)?;
            from = Box::new(Cursor::new(kept.text).chain(kept.from));
            (members, Sample::First(seen))
        }
    };
    let columns = columns(&members, given.as_ref(), sample);
    if columns.is_empty() {
        return Err(bad("has no rows with members: there are no columns"));
    }
    let fields: Vec<Field> = columns.iter().map(|column| column.field.clone()).collect();
    let schema = Arc::new(Schema::new(fields));
    let lines = Lines {
        from,
        columns,
        raw: Arc::new(Schema::new(raw_fields(schema.fields()))),
        schema: schema.clone(),
        sample,
        batch_rows: wanted.batch_rows,
        line: 0,
        text: Vec::new(),
        rows: Vec::new(),
    };
    let bytes_read = origin.bytes_read();
    Ok(Input {
        schema,
        batches: Box::new(lines),
        rows: None,
        bytes,
        bytes_read,
        parquet: None,
        losses: Arc::default(),
        files: Vec::new(),
    })
}

struct Column {
    field: Field,
    sample: Sample,
}

/// The members that were seen, of the given type if there is one, then those that were only given.
fn columns(members: &Members, given: Option<&Schema>, sample: Sample) -> Vec<Column> {
    let seen = members.fields();
    let given_type =
        |name: &str| given.and_then(|given| given.column_with_name(name)).map(|(_, field)| field.clone());
    let of_seen = seen.iter().map(|field| match given_type(field.name()) {
        Some(field) => Column { field, sample: Sample::None },
        None => Column { field: field.as_ref().clone(), sample },
    });
    let is_unseen = |field: &&Arc<Field>| seen.find(field.name()).is_none();
    let of_unseen = given.into_iter().flat_map(|given| given.fields()).filter(is_unseen);
    let of_unseen = of_unseen.map(|field| Column { field: field.as_ref().clone(), sample: Sample::None });
    of_seen.chain(of_unseen).collect()
}

/// What the first rows are, up to so many rows and bytes, and how many there were.
fn guess(from: &mut impl NextLine, most: u64, most_bytes: u64) -> Result<(Members, u64), Failure> {
    let mut members = Members::default();
    let mut text = Vec::new();
    let (mut line, mut seen, mut bytes) = (0, 0, 0);
    while seen < most && bytes < most_bytes {
        text.clear();
        if from.next_line(&mut text).map_err(bad)? == 0 {
            break;
        }
        line += 1;
        bytes += text.len() as u64;
        if is_blank(&text) {
            continue;
        }
        match serde_json::from_slice::<Value>(&text) {
            Ok(Value::Object(object)) => members.add(&object),
            Ok(_) => return Err(bad(format!("line {line}: is no JSON object"))),
            Err(error) => {
                return Err(bad(format!("line {line}: must be one whole JSON object: {error}")));
            }
        }
        seen += 1;
    }
    Ok((members, seen))
}

fn is_blank(line: &[u8]) -> bool {
    line.iter().all(u8::is_ascii_whitespace)
}

/// Lines, one after the other.
trait NextLine {
    /// Appends the next line with its end; 0 when there is none.
    fn next_line(&mut self, out: &mut Vec<u8>) -> std::io::Result<usize>;
}

impl NextLine for Box<dyn BufRead + Send> {
    fn next_line(&mut self, out: &mut Vec<u8>) -> std::io::Result<usize> {
        self.read_until(b'\n', out)
    }
}

/// Lines that are kept, to be read again.
struct Kept {
    from: Box<dyn BufRead + Send>,
    text: Vec<u8>,
}

impl NextLine for Kept {
    fn next_line(&mut self, out: &mut Vec<u8>) -> std::io::Result<usize> {
        let n = self.from.read_until(b'\n', out)?;
        self.text.extend_from_slice(&out[out.len() - n..]);
        Ok(n)
    }
}

/// Batches of lines.
struct Lines {
    from: Box<dyn BufRead + Send>,
    columns: Vec<Column>,
    /// The schema with texts for values.
    raw: SchemaRef,
    schema: SchemaRef,
    sample: Sample,
    batch_rows: usize,
    /// Lines so far.
    line: u64,
    /// The lines of a batch, and the number and the end of each that has a row.
    text: Vec<u8>,
    rows: Vec<(u64, usize)>,
}

impl Iterator for Lines {
    type Item = Result<RecordBatch, Failure>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.read() {
            Ok(()) if self.rows.is_empty() => None,
            Ok(()) => Some(self.batch()),
            Err(failure) => Some(Err(failure)),
        }
    }
}

impl Lines {
    /// Reads the lines of a batch.
    fn read(&mut self) -> Result<(), Failure> {
        self.text.clear();
        self.rows.clear();
        while self.rows.len() < self.batch_rows && self.text.len() < BATCH_BYTES {
            let start = self.text.len();
            if self.from.read_until(b'\n', &mut self.text).map_err(bad)? == 0 {
                break;
            }
            self.line += 1;
            if is_blank(&self.text[start..]) {
                self.text.truncate(start);
                continue;
            }
            if !self.text.ends_with(b"\n") {
                self.text.push(b'\n');
            }
            self.rows.push((self.line, self.text.len()));
        }
        Ok(())
    }

    fn batch(&self) -> Result<RecordBatch, Failure> {
        let raw = match self.decode(&self.text, self.rows.len()) {
            Ok(raw) => raw,
            Err(error) => return Err(self.locate(error)),
        };
        let mut arrays = Vec::with_capacity(self.columns.len());
        for (array, column) in raw.columns().iter().zip(&self.columns) {
            let field = &column.field;
            let fail = |at: usize, message: &str| {
                let line = self.rows.get(at).map_or(0, |(line, _)| *line);
                bad_value(&format!("line {line}"), field.name(), message, column.sample)
            };
            let trust = if column.sample == Sample::None { Trust::Given } else { Trust::Guessed };
            let array = finished(array, field.data_type(), trust)
                .map_err(|misfit| fail(misfit.at, &misfit.message))?;
            if let Some(at) = (0..array.len()).find(|at| !field.is_nullable() && array.is_null(*at)) {
                return Err(fail(at, "is null, and the schema says that it is not"));
            }
            arrays.push(array);
        }
        let options = RecordBatchOptions::new().with_row_count(Some(self.rows.len()));
        RecordBatch::try_new_with_options(self.schema.clone(), arrays, &options).map_err(bad)
    }

    fn decode(&self, text: &[u8], rows: usize) -> Result<RecordBatch, ArrowError> {
        let mut decoder: Decoder = ReaderBuilder::new(self.raw.clone())
            .with_batch_size(rows + 1)
            .with_coerce_primitive(true)
            .with_strict_mode(true)
            .build_decoder()?;
        decoder.decode(text)?;
        match decoder.flush()? {
            Some(batch) if batch.num_rows() == rows => Ok(batch),
            _ => Err(ArrowError::JsonError("a line must hold one whole JSON object".to_owned())),
        }
    }

    /// The failure with the number of the first line that has it.
    fn locate(&self, all: ArrowError) -> Failure {
        let mut start = 0;
        for (line, end) in &self.rows {
            if let Err(error) = self.decode(&self.text[start..*end], 1) {
                let hint = match self.sample {
                    Sample::First(rows) => format!(
                        "; columns are those of the first {rows} rows and of --schema: see --infer-rows all"
                    ),
                    Sample::All | Sample::None => String::new(),
                };
                return bad(format!("line {line}: {error}{hint}"));
            }
            start = *end;
        }
        bad(all)
    }
}

/// So much of the input is looked at for its first rows.
const SAMPLE_BYTES: u64 = 8 << 20;
/// A batch ends with so many bytes of lines, however few rows they are.
const BATCH_BYTES: usize = 32 << 20;
