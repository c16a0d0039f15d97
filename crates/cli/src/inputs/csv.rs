//! CSV: cells as text, whose types are given or guessed from the first rows.

use super::bad_input::{Sample, bad, bad_value};
use super::byte_stream::ByteStream;
use super::chunks::{self, CHUNK_BYTES, Chunk, Chunks, Fault, Parsed, exact_batches, ranges};
use super::input::{Input, InputOptions};
use super::kind::Kind;
use crate::args::{InferRows, InputArgs};
use crate::failure::{Failure, line};
use crate::schema_parser;
use arrow_array::{Array, RecordBatch, RecordBatchOptions};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use marquetry::errors::Error;
use marquetry_base::counted;
use marquetry_text::column_names::unique_filled_names;
use marquetry_text::parse::csv_column::CsvColumn;
use marquetry_text::parse::csv_delimiter::{OTHERS, find_delimiter};
use marquetry_text::parse::csv_records::{BadRecord, Dialect, line_ends};
use marquetry_text::parse::error_text::{message, shortened};
use marquetry_text::parse::infer_number::Decimals;
use marquetry_text::parse::infer_text::Guess;
use marquetry_text::parse::parse_values::Strictness;
use marquetry_text::parse::texts::{RecordTexts, Records, Span};
use memchr::memchr2;
use std::io::{self, BufRead, Cursor, Read, Write};
use std::ops::Range;
use std::sync::Arc;

/// Opens a CSV file.
pub(super) fn open(mut origin: ByteStream, kind: Kind, wanted: &InputOptions<'_>) -> Result<Input, Failure> {
    let given = wanted.args.schema.as_deref().map(schema_parser::read).transpose()?;
    if wanted.args.infer_rows == InferRows::All {
        origin.spool()?;
    }
    let bytes = origin.bytes();
    let mut from = text(&mut origin, wanted.args)?;
    let mut start = Vec::new();
    from.by_ref().take(SAMPLE_BYTES).read_to_end(&mut start).map_err(bad)?;
    let cells = Cells::new(kind, wanted.args, &start)?;
    let names = cells.names(&start)?;
    if let ([name], None) = (names.as_slice(), wanted.args.delimiter)
        && start.first() != Some(&cells.dialect.quote)
        && let Some(other) = name.bytes().find(|byte| OTHERS.contains(byte))
    {
        let said = format!("has one column, whose name has a {:?} in it: see --delimiter", char::from(other));
        // There is nowhere left to say that this failed.
        let _ = writeln!(io::stderr(), "{}", line(origin.path(), said));
    }
    let mut columns = columns(&names, given.as_ref())?;
    if columns.iter().any(|column| column.sample != Sample::None) {
        match wanted.args.infer_rows {
            InferRows::All => {
                cells.guess(&mut columns, text(&mut origin, wanted.args)?, None)?;
                // The first reader has moved on if it shares a file with this one.
                from = text(&mut origin, wanted.args)?;
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
    Ok(Input { bytes, bytes_read: origin.bytes_read(), ..Input::of_rows(schema, batches) })
}

/// The text behind the lines that are passed over.
fn text(origin: &mut ByteStream, args: &InputArgs) -> Result<Box<dyn BufRead + Send>, Failure> {
    let mut text = origin.text(args.text_encoding)?;
    for _ in 0..args.skip_lines {
        text.skip_until(b'\n').map_err(bad)?;
    }
    Ok(text)
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
    /// What numbers may be that doubles are not.
    decimals: Decimals,
    /// How many lines stand before the text.
    skipped_lines: u64,
}

impl Cells {
    /// Of a file that begins with `start`.
    fn new(kind: Kind, args: &InputArgs, start: &[u8]) -> Result<Self, Failure> {
        let quote = byte(args.quote.unwrap_or('"'), "--quote")?;
        let comment = args.comment.map(|comment| byte(comment, "--comment")).transpose()?;
        let dialect = Dialect { delimiter: b'\t', quote, comment, ragged: args.ragged.into() };
        let delimiter = match (args.delimiter, kind) {
            (Some(delimiter), _) => byte(delimiter, "--delimiter")?,
            (None, Kind::Tsv) => b'\t',
            (None, _) => find_delimiter(dialect, start),
        };
        let nulls = args.null_values.clone().unwrap_or_else(|| vec![String::new()]);
        let (has_header, decimals, skipped_lines) = (!args.no_header, args.decimals.into(), args.skip_lines);
        Ok(Cells { dialect: Dialect { delimiter, ..dialect }, has_header, nulls, decimals, skipped_lines })
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

    /// Hands the texts of a chunk's rows to `read`, with the number of rows and where they stand, and says how many lines
    /// there are.
    fn rows<T>(
        &self,
        chunk: &Chunk,
        columns: usize,
        read: impl FnOnce(RecordTexts<'_>, usize, Place<'_>) -> Result<T, Fault>,
    ) -> (u64, Result<T, Fault>) {
        let bytes = self.without_blank_start(chunk);
        let header = usize::from(self.has_header && chunk.is_first);
        let above = self.skipped_lines + line_ends(&chunk.bytes[..chunk.bytes.len() - bytes.len()]);
        let place = Place { dialect: self.dialect, bytes, columns, header, above };
        if u32::try_from(bytes.len()).is_err() {
            let message = "has a row of more than 4 GiB, or a quote that is never closed";
            return (0, Err(Fault::new(move |_| bad(message))));
        }
        let records = match self.dialect.records(bytes, columns) {
            Ok(records) => records,
            Err(wrong) => return (0, Err(place.fault(wrong))),
        };
        let (Ok(text), Ok(unescaped)) = (str::from_utf8(bytes), str::from_utf8(&records.unescaped)) else {
            return (0, Err(not_utf8(bytes, &records, place)));
        };
        let header = header.min(records.spans.len() / columns);
        let rows = records.spans.len() / columns - header;
        let spans = &records.spans[header * columns..];
        let read = read(RecordTexts { columns, spans, text, unescaped }, rows, place);
        (line_ends(&chunk.bytes), read)
    }

    /// The chunk's text; blank lines and comments above the header are no rows of a single column.
    fn without_blank_start<'a>(&self, chunk: &'a Chunk) -> &'a [u8] {
        let mut bytes = &chunk.bytes[..];
        if !self.has_header || !chunk.is_first {
            return bytes;
        }
        loop {
            let behind = self.dialect.behind_comments(bytes, 0);
            bytes = match &bytes[behind..] {
                [b'\n' | b'\r', rest @ ..] => rest,
                rest if behind == 0 => return rest,
                rest => rest,
            };
        }
    }

    /// Guesses the types of columns that are not given from the first `most` rows, or from all.
    fn guess(
        &self,
        columns: &mut [Column],
        from: Box<dyn BufRead + Send>,
        most: Option<u64>,
    ) -> Result<(), Failure> {
        let mut guesses = vec![Guess::new(self.decimals); columns.len()];
        let (mut seen, mut lines) = (0, 0);
        for chunk in self.chunks(from, SAMPLE_CHUNK) {
            let look = |texts: RecordTexts<'_>, rows: usize, _: Place<'_>| {
                let rows = (rows as u64).min(most.map_or(u64::MAX, |most| most - seen)) as usize;
                for (column, guess) in guesses.iter_mut().enumerate() {
                    let spans = (0..rows).map(|row| texts.span(row, column));
                    let cells = spans.filter(|span| !span.is_null()).map(|span| texts.at(span));
                    cells
                        .filter(|cell| !cell.is_empty() && !self.is_null(cell))
                        .for_each(|cell| guess.add(cell));
                }
                Ok(rows as u64)
            };
            let (more, rows) = self.rows(&chunk.map_err(bad)?, columns.len(), look);
            seen += rows.map_err(|fault| fault.after(lines))?;
            lines += more;
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
        let parse = |texts: RecordTexts<'_>, rows: usize, place: Place<'_>| {
            ranges(rows, batch_rows).map(|rows| self.batch(&texts, rows, columns, schema, place)).collect()
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
        place: Place<'_>,
    ) -> Result<RecordBatch, Fault> {
        let value = |(at, column): (usize, &Column)| {
            let field = &column.field;
            let (nulls, quote) = (&self.nulls, self.dialect.quote);
            let cells = CsvColumn { texts, rows: rows.clone(), column: at, nulls, quote };
            let strictness =
                if column.sample == Sample::None { Strictness::Given } else { self.decimals.into() };
            let array = cells.values(field, strictness);
            let fail = |at: usize, message: &str| {
                let (line, sample) = (place.line(place.header + rows.start + at), column.sample);
                let (name, message) = (field.name().clone(), message.to_owned());
                Fault::new(move |before| {
                    bad_value(&format!("line {}", before + line), &name, &message, sample)
                })
            };
            let array = array.map_err(|value_error| fail(value_error.at, &value_error.message))?;
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
        batch.map_err(|error| Fault::new(move |_| bad(message(&error))))
    }
}

/// Where the records of a chunk stand.
#[derive(Clone, Copy)]
struct Place<'a> {
    dialect: Dialect,
    bytes: &'a [u8],
    columns: usize,
    /// How many records are no rows.
    header: usize,
    /// How many lines are above, besides those of the chunks before.
    above: u64,
}

impl Place<'_> {
    /// The line that a record begins in, after those of the chunks before.
    fn line(self, record: usize) -> u64 {
        let start = self.dialect.record_start(self.bytes, self.columns, record);
        1 + self.above + line_ends(&self.bytes[..start])
    }

    /// What is wrong with a record, and its first line.
    fn fault(self, wrong: BadRecord) -> Fault {
        let begins_as_comment = self.header > 0 && self.above == 0 && self.bytes.first() == Some(&b'#');
        let hint = match wrong {
            BadRecord::Unclosed { .. } => "",
            BadRecord::WrongCount { .. } if begins_as_comment => {
                "; the first line begins with #: see --comment"
            }
            BadRecord::WrongCount { .. } => "; see --ragged",
        };
        let (record, what) = match wrong {
            BadRecord::Unclosed { record } => (record, "a quote opens here that is never closed".to_owned()),
            BadRecord::WrongCount { record, cells } => {
                let got = cells.map_or_else(
                    || format!("more than {}", counted(self.columns, "cell")),
                    |cells| counted(cells, "cell"),
                );
                (record, format!("has {got} where the header has {}", self.columns))
            }
        };
        let start = self.dialect.record_start(self.bytes, self.columns, record);
        let text = &self.bytes[start..];
        let text = &text[..memchr2(b'\n', b'\r', text).unwrap_or(text.len())];
        let (line, text) = (self.line(record), shortened(&String::from_utf8_lossy(text)));
        Fault::new(move |before| bad(format!("line {}: {what}: {text}{hint}", before + line)))
    }
}

/// The first cell that is not UTF-8.
fn not_utf8(bytes: &[u8], records: &Records, place: Place<'_>) -> Fault {
    let is_bad = |span: &Span| {
        if span.is_null() {
            return false;
        }
        let (start, end) = (span.start as usize, span.end as usize);
        let cell = match start.checked_sub(bytes.len()) {
            Some(start) => &records.unescaped[start..end - bytes.len()],
            None => &bytes[start..end],
        };
        str::from_utf8(cell).is_err()
    };
    let at = records.spans.iter().position(is_bad).unwrap_or_default();
    let (line, cell) = (place.line(at / place.columns), at % place.columns + 1);
    Fault::new(move |before| {
        bad(format!("line {}: cell {cell} is not UTF-8: see --text-encoding", before + line))
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
