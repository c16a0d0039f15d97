//! CSV: cells as text, whose types are given or guessed from the first rows.

mod records;

use super::bad_input::{Sample, bad, bad_value};
use super::chunks::{self, CHUNK_BYTES, Chunk, Chunks, Fault, Parsed, exact_batches, ranges};
use super::guess::Guess;
use super::input::{Input, InputOptions};
use super::kind::Kind;
use super::nested::from_json_cells;
use super::origin::Origin;
use super::texts::{RecordTexts, Records, Span, Texts};
use super::typed::{Trust, typed};
use crate::args::{InferRows, InputArgs};
use crate::column_names::unique_filled_names;
use crate::failure::Failure;
use crate::schema_parser;
use arrow_array::{Array, RecordBatch, RecordBatchOptions};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use marquetry::errors::Error;
use records::{BadRecord, Dialect};
use std::io::{BufRead, Cursor, Read};
use std::ops::Range;
use std::sync::Arc;

/// Opens a CSV file.
pub(super) fn open(mut origin: Origin, kind: Kind, wanted: &InputOptions<'_>) -> Result<Input, Failure> {
    let cells = Cells::new(kind, wanted)?;
    let given = wanted.args.schema.as_deref().map(schema_parser::read).transpose()?;
    if wanted.args.infer_rows == InferRows::All {
        origin.spool()?;
    }
    let bytes = origin.bytes();
    let mut from = origin.text()?;
    let mut start = Vec::new();
    from.by_ref().take(SAMPLE_BYTES).read_to_end(&mut start).map_err(bad)?;
    let mut columns = columns(&cells.names(&start)?, given.as_ref())?;
    if columns.iter().any(|column| column.sample != Sample::None) {
        match wanted.args.infer_rows {
            InferRows::All => {
                cells.guess(&mut columns, origin.text()?, None)?;
                // The first reader has moved on if it shares a file with this one.
                from = origin.text()?;
                start.clear();
            }
            InferRows::First(rows) => {
                // The last row of a sample may be cut off: it does not count.
                let is_whole = (start.len() as u64) < SAMPLE_BYTES;
                let end = if is_whole { Some(start.len()) } else { cells.dialect.record_end(&start) };
                let sample = Box::new(Cursor::new(start[..end.unwrap_or(0)].to_vec()));
                cells.guess(&mut columns, sample, Some(rows))?;
            }
        }
    }
    let fields: Vec<Field> = columns.iter().map(|column| column.field.clone()).collect();
    let schema = Arc::new(Schema::new(fields));
    let chunks = cells.chunks(Box::new(Cursor::new(start).chain(from)), CHUNK_BYTES);
    let (to, batch_rows) = (schema.clone(), wanted.batch_rows);
    let batches =
        chunks::batches(chunks, wanted.threads, move |chunk| cells.parse(&chunk, &columns, &to, batch_rows));
    let batches = if wanted.exact_batches { exact_batches(batches, &schema, batch_rows) } else { batches };
    let bytes_read = origin.bytes_read();
    Ok(Input {
        schema,
        batches,
        rows: None,
        bytes,
        bytes_read,
        parquet: None,
        losses: Arc::default(),
        files: Vec::new(),
    })
}

/// The columns with the types that are given; the others are text until they are guessed. Fails if a given one is not
/// there.
fn columns(names: &[String], given: Option<&Schema>) -> Result<Vec<Column>, Failure> {
    let given_fields = given.into_iter().flat_map(|given| given.fields());
    for field in given_fields {
        if !names.contains(field.name()) {
            let (name, names) = (field.name(), names.join(", "));
            let message = format!("--schema has a column {name} that is not there; there are {names}");
            return Err(Error::argument(message).into());
        }
    }
    let column = |name: &String| match given.and_then(|given| given.fields().find(name)) {
        Some((_, given)) => Column { field: given.as_ref().clone(), sample: Sample::None },
        None => Column { field: Field::new(name, DataType::Utf8, true), sample: Sample::All },
    };
    Ok(names.iter().map(column).collect())
}

/// A column, and where its type is from.
struct Column {
    field: Field,
    sample: Sample,
}

/// How cells are told apart, and which are null.
struct Cells {
    dialect: Dialect,
    has_header: bool,
    nulls: Vec<String>,
}

impl Cells {
    fn new(kind: Kind, wanted: &InputOptions<'_>) -> Result<Self, Failure> {
        let args: &InputArgs = wanted.args;
        let delimiter = match (args.delimiter, kind) {
            (Some(delimiter), _) => delimiter,
            (None, Kind::Tsv) => '\t',
            (None, _) => ',',
        };
        let delimiter = byte(delimiter, "--delimiter")?;
        let quote = byte(args.quote.unwrap_or('"'), "--quote")?;
        let nulls = args.null_values.clone().unwrap_or_else(|| vec![String::new()]);
        Ok(Cells { dialect: Dialect { delimiter, quote }, has_header: !args.no_header, nulls })
    }

    /// The names of the columns: those in the header, or numbers.
    fn names(&self, start: &[u8]) -> Result<Vec<String>, Failure> {
        let first = self.dialect.first_record(start);
        if first.is_empty() {
            return Err(bad("is empty: there is no header line"));
        }
        let name = |(i, cell): (usize, Vec<u8>)| match self.has_header {
            true => String::from_utf8(cell).map_err(|_| bad("the header line is not UTF-8")),
            false => Ok(format!("column_{}", i + 1)),
        };
        let names = first.into_iter().enumerate().map(name).collect::<Result<Vec<_>, _>>()?;
        Ok(unique_filled_names(names.iter().map(String::as_str)))
    }

    fn chunks(&self, from: Box<dyn BufRead + Send>, chunk_bytes: usize) -> Chunks {
        let dialect = self.dialect;
        Chunks::new(from, Box::new(move |bytes| dialect.record_end(bytes)), chunk_bytes)
    }

    /// Hands the texts of a chunk's rows to `read`, and says how many rows there are.
    fn rows<T>(
        &self,
        chunk: &Chunk,
        columns: usize,
        read: impl FnOnce(RecordTexts<'_>, usize) -> Result<T, Fault>,
    ) -> (u64, Result<T, Fault>) {
        let header = usize::from(self.has_header && chunk.is_first);
        // Lines are counted with the header.
        let first_line = 1 + u64::from(self.has_header && !chunk.is_first);
        let mut bytes = &chunk.bytes[..];
        // Blank lines above the header are no rows of a single column.
        while header > 0
            && let [b'\n' | b'\r', rest @ ..] = bytes
        {
            bytes = rest;
        }
        if u32::try_from(bytes.len()).is_err() {
            let message = "has a row of more than 4 GiB, or a quote that is never closed";
            return (0, Err(Fault::new(move |_| bad(message))));
        }
        let records = match self.dialect.records(bytes, columns) {
            Ok(records) => records,
            Err(BadRecord::Unclosed { record }) => {
                let line = first_line + record as u64;
                let told = move |line| format!("a quote that opens in line {line} is never closed");
                return (0, Err(Fault::new(move |rows| bad(told(rows + line)))));
            }
            Err(BadRecord::WrongCount { record, cells }) => {
                let line = first_line + record as u64;
                let got = cells.map_or(format!("more than {columns}"), |cells| cells.to_string());
                let told = move |line| {
                    format!("incorrect number of fields for line {line}, expected {columns} got {got}")
                };
                return (0, Err(Fault::new(move |rows| bad(told(rows + line)))));
            }
        };
        let header = header.min(records.spans.len() / columns);
        let rows = records.spans.len() / columns - header;
        let (Ok(text), Ok(unescaped)) = (str::from_utf8(bytes), str::from_utf8(&records.unescaped)) else {
            return (0, Err(not_utf8(bytes, &records, columns, first_line)));
        };
        let spans = &records.spans[header * columns..];
        (rows as u64, read(RecordTexts { columns, spans, text, unescaped }, rows))
    }

    /// Guesses the types of columns that are not given from the first `most` rows, or from all.
    fn guess(
        &self,
        columns: &mut [Column],
        from: Box<dyn BufRead + Send>,
        most: Option<u64>,
    ) -> Result<(), Failure> {
        let mut guesses = vec![Guess::new(); columns.len()];
        let mut seen = 0;
        for chunk in self.chunks(from, SAMPLE_CHUNK) {
            let look = |texts: RecordTexts<'_>, rows: usize| {
                let rows = (rows as u64).min(most.map_or(u64::MAX, |most| most - seen)) as usize;
                for (column, guess) in guesses.iter_mut().enumerate() {
                    let cells = (0..rows).map(|row| texts.at(texts.span(row, column)));
                    cells
                        .filter(|cell| !cell.is_empty() && !self.is_null(cell))
                        .for_each(|cell| guess.add(cell));
                }
                Ok(rows as u64)
            };
            let (_, rows) = self.rows(&chunk.map_err(bad)?, columns.len(), look);
            seen += rows.map_err(|fault| fault.after(seen))?;
            if Some(seen) == most {
                break;
            }
        }
        let sample = if most.is_some() { Sample::First(seen) } else { Sample::All };
        for (column, guess) in columns.iter_mut().zip(guesses) {
            if column.sample != Sample::None {
                column.field.set_data_type(guess.data_type());
                column.sample = sample;
            }
        }
        Ok(())
    }

    fn is_null(&self, text: &str) -> bool {
        self.nulls.iter().any(|null| null == text)
    }

    /// The values of a chunk, in batches of at most `batch_rows`.
    fn parse(&self, chunk: &Chunk, columns: &[Column], schema: &SchemaRef, batch_rows: usize) -> Parsed {
        let parse = |texts: RecordTexts<'_>, rows: usize| {
            ranges(rows, batch_rows).map(|rows| self.batch(&texts, rows, columns, schema)).collect()
        };
        let (places, batches) = self.rows(chunk, columns.len(), parse);
        Parsed { places, batches }
    }

    fn batch(
        &self,
        texts: &RecordTexts<'_>,
        rows: Range<usize>,
        columns: &[Column],
        schema: &SchemaRef,
    ) -> Result<RecordBatch, Fault> {
        let value = |(at, column): (usize, &Column)| {
            let field = &column.field;
            let cells = ColumnCells::new(self, texts, rows.clone(), at, field.data_type());
            let trust = if column.sample == Sample::None { Trust::Given } else { Trust::Guessed };
            let array = match field.data_type().is_nested() {
                true => from_json_cells(&cells, field.data_type(), trust),
                false => typed(&cells, field.data_type(), trust),
            };
            let fail = |at: usize, message: &str| {
                let (row, sample) = ((rows.start + at) as u64 + 1, column.sample);
                let (name, message) = (field.name().clone(), message.to_owned());
                Fault::new(move |before| bad_value(&format!("row {}", before + row), &name, &message, sample))
            };
            let array = array.map_err(|misfit| fail(misfit.at, &misfit.message))?;
            if !field.is_nullable()
                && let Some(at) = (0..array.len()).find(|at| array.is_null(*at))
            {
                return Err(fail(at, "is null, and the schema says that it is not"));
            }
            Ok(array)
        };
        let arrays = columns.iter().enumerate().map(value).collect::<Result<_, _>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
        let batch = RecordBatch::try_new_with_options(schema.clone(), arrays, &options);
        batch.map_err(|error| Fault::new(|_| bad(error)))
    }
}

/// The cells of a column in some rows.
struct ColumnCells<'a> {
    texts: &'a RecordTexts<'a>,
    rows: Range<usize>,
    column: usize,
    /// Texts that are null; those that are empty come first.
    nulls: &'a [String],
    /// Whether empty cells are null.
    empty_is_null: bool,
    is_text: bool,
    quote: u8,
}

impl<'a> ColumnCells<'a> {
    fn new(
        cells: &'a Cells,
        texts: &'a RecordTexts<'a>,
        rows: Range<usize>,
        column: usize,
        data_type: &DataType,
    ) -> Self {
        let is_text = is_text(data_type);
        // Where empty cells are not null they are empty texts; they are no values of other types.
        let empty_is_null = !is_text || cells.is_null("");
        let nulls = if cells.nulls.iter().all(String::is_empty) { &[][..] } else { &cells.nulls };
        ColumnCells { texts, rows, column, nulls, empty_is_null, is_text, quote: cells.dialect.quote }
    }
}

/// Whether values of this type may have no characters.
fn is_text(data_type: &DataType) -> bool {
    match data_type {
        DataType::Dictionary(_, values) => is_text(values),
        DataType::RunEndEncoded(_, values) => is_text(values.data_type()),
        other => other.is_string() || other.is_binary(),
    }
}

impl Texts for ColumnCells<'_> {
    fn len(&self) -> usize {
        self.rows.len()
    }

    #[inline]
    fn get(&self, at: usize) -> Option<&str> {
        let span = self.texts.span(self.rows.start + at, self.column);
        let text = self.texts.at(span);
        let is_null = match text.is_empty() {
            // "" is a text without characters, where text can be.
            true => self.empty_is_null && !(self.is_text && self.texts.follows(span, self.quote)),
            false => self.nulls.iter().any(|null| null == text),
        };
        (!is_null).then_some(text)
    }
}

/// The first cell that is not UTF-8.
fn not_utf8(bytes: &[u8], records: &Records, columns: usize, first_line: u64) -> Fault {
    let is_bad = |span: &Span| {
        let (start, end) = (span.start as usize, span.end as usize);
        let cell = match start.checked_sub(bytes.len()) {
            Some(start) => &records.unescaped[start..end - bytes.len()],
            None => &bytes[start..end],
        };
        str::from_utf8(cell).is_err()
    };
    let at = records.spans.iter().position(is_bad).unwrap_or_default();
    let (line, field) = (first_line + (at / columns) as u64, at % columns + 1);
    Fault::new(move |rows| {
        bad(format!("Encountered invalid UTF-8 data for line {} and field {field}", rows + line))
    })
}

fn byte(c: char, option: &str) -> Result<u8, Failure> {
    match u8::try_from(c) {
        Ok(byte) if byte.is_ascii() => Ok(byte),
        _ => Err(Failure::Usage(format!("{option}: must be one ASCII character"))),
    }
}

/// So much of the input is looked at for its first rows.
const SAMPLE_BYTES: u64 = 8 << 20;
/// Bytes of it that are looked at together.
const SAMPLE_CHUNK: usize = 64 << 10;
