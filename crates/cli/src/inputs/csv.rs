//! CSV: cells of text, whose types are given or inferred from the first rows.

use super::bad_input::{Sample, bad, bad_value};
use super::byte_stream::ByteStream;
use super::chunks::{
    self, CHUNK_BYTES, Chunk, Chunks, Fault, Parsed, exact_batches, one_after_the_other, ranges,
};
use super::input::{Batches, Input, InputOptions};
use super::kind::Kind;
use crate::args::{InferRows, InputArgs};
use crate::failure::{Failure, line};
use crate::file_name;
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
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::Arc;

/// Opens a CSV file, or several that form a table: with the same columns, whose types are inferred from the first rows
/// of all.
pub(super) fn open(files: Vec<(ByteStream, Kind)>, wanted: &InputOptions<'_>) -> Result<Input, Failure> {
    let given = wanted.args.schema.as_deref().map(schema_parser::read).transpose()?;
    let are_several = files.len() > 1;
    let mut opened: Vec<CsvFile> = Vec::new();
    let mut guesses = Guesses::default();
    for (origin, kind) in files {
        let path = origin.given_path().to_owned();
        let file = CsvFile::open(origin, kind, wanted, are_several);
        let file = file.and_then(|mut file| {
            match opened.first() {
                None => guesses.columns = columns(&file.names, given.as_ref())?,
                Some(first) => file.check_names(first)?,
            }
            file.guess(&mut guesses, wanted)?;
            Ok(file)
        });
        opened.push(file.map_err(|failure| failure.in_file(&path))?);
    }
    let columns = Arc::new(guesses.finish(wanted.args.decimals.into()));
    let fields: Vec<Field> = columns.iter().map(|column| column.field.clone()).collect();
    let schema = Arc::new(Schema::new(fields));
    let (bytes, bytes_read) = ByteStream::progress(opened.iter().map(|file| &file.origin));
    let (to, batch_rows, threads) = (schema.clone(), wanted.batch_rows, wanted.threads);
    let args = wanted.args.clone();
    let batches = one_after_the_other(opened.into_iter().map(move |file| {
        let (path, columns, to) = (file.origin.given_path().to_owned(), columns.clone(), to.clone());
        (path, file.batches(&args, columns, to, batch_rows, threads))
    }));
    let batches = if wanted.exact_batches { exact_batches(batches, &schema, batch_rows) } else { batches };
    Ok(Input { bytes, bytes_read, ..Input::of_rows(schema, batches) })
}

/// A file whose rows are not read yet.
struct CsvFile {
    origin: ByteStream,
    cells: Cells,
    names: Vec<String>,
    /// What was already read, and the rest; `None` for several files, which are opened again one after the other.
    text: Option<(Vec<u8>, Box<dyn BufRead + Send>)>,
    /// The first rows, from which types are inferred.
    sample: Vec<u8>,
}

impl CsvFile {
    fn open(
        mut origin: ByteStream,
        kind: Kind,
        wanted: &InputOptions<'_>,
        is_one_of_several: bool,
    ) -> Result<Self, Failure> {
        if wanted.args.infer_rows == InferRows::All || is_one_of_several {
            origin.spool()?;
        }
        let mut from = text(&mut origin, wanted.args)?;
        let mut start = Vec::new();
        from.by_ref().take(SAMPLE_BYTES).read_to_end(&mut start).map_err(bad)?;
        let cells = Cells::new(kind, wanted.args, &start)?;
        let names = cells.names(&start)?;
        if let ([name], None) = (names.as_slice(), wanted.args.delimiter)
            && start.first() != Some(&cells.dialect.quote)
            && let Some(other) = name.bytes().find(|byte| OTHERS.contains(byte))
        {
            let said =
                format!("has one column, whose name has a {:?} in it: see --delimiter", char::from(other));
            // There is nowhere left to report that this failed.
            let _ = writeln!(io::stderr(), "{}", line(origin.path(), said));
        }
        let mut sample = start.clone();
        // The last row of a sample may be cut off: it does not count.
        if start.len() as u64 >= SAMPLE_BYTES {
            sample.truncate(cells.dialect.record_end(&start).unwrap_or(0));
        }
        let text = (!is_one_of_several).then_some((start, from));
        Ok(CsvFile { origin, cells, names, text, sample })
    }

    /// Fails if the columns are not those of the first file.
    fn check_names(&self, first: &CsvFile) -> Result<(), Failure> {
        let (here, there) = (&self.names, &first.names);
        let Some(at) = (0..here.len().max(there.len())).find(|at| here.get(*at) != there.get(*at)) else {
            return Ok(());
        };
        let name = |names: &[String]| names.get(at).map_or("none".to_owned(), |name| format!("{name:?}"));
        let (here, there, first) = (name(here), name(there), file_name::shown(first.origin.given_path()));
        Err(bad(format!(
            "column {} is {here}, and {there} in {first}: files that are one table have the same",
            at + 1
        )))
    }

    fn guess(&mut self, guesses: &mut Guesses, wanted: &InputOptions<'_>) -> Result<(), Failure> {
        let sample = std::mem::take(&mut self.sample);
        if guesses.columns.iter().all(|column| column.sample == Sample::None) {
            return Ok(());
        }
        match wanted.args.infer_rows {
            InferRows::All => {
                self.cells.guess(guesses, text(&mut self.origin, wanted.args)?, None)?;
                // The first reader has moved on if it shares a file with this one.
                if self.text.is_some() {
                    self.text = Some((Vec::new(), text(&mut self.origin, wanted.args)?));
                }
            }
            InferRows::First(rows) => self.cells.guess(guesses, Box::new(Cursor::new(sample)), Some(rows))?,
        }
        Ok(())
    }

    fn batches(
        mut self,
        args: &InputArgs,
        columns: Arc<Vec<Column>>,
        schema: SchemaRef,
        batch_rows: usize,
        threads: NonZeroUsize,
    ) -> Result<Batches, Failure> {
        let (start, from) = match self.text.take() {
            Some(text) => text,
            None => (Vec::new(), text(&mut self.origin, args)?),
        };
        let cells = self.cells;
        let chunks = cells.chunks(Box::new(Cursor::new(start).chain(from)), CHUNK_BYTES);
        Ok(chunks::batches(chunks, threads, move |chunk| cells.parse(&chunk, &columns, &schema, batch_rows)))
    }
}

/// Columns, with inferred types for those without a given one.
#[derive(Default)]
struct Guesses {
    columns: Vec<Column>,
    guesses: Vec<Guess>,
    /// Number of rows that were examined.
    rows: u64,
    /// Whether there are more rows.
    is_sample: bool,
}

impl Guesses {
    fn finish(self, decimals: Decimals) -> Vec<Column> {
        let sample = if self.is_sample { Sample::First(self.rows) } else { Sample::All };
        let mut guesses = self.guesses;
        guesses.resize(self.columns.len(), Guess::new(decimals));
        let finished = self.columns.into_iter().zip(guesses).map(|(mut column, guess)| {
            if column.sample != Sample::None {
                column.field.set_data_type(guess.data_type());
                column.sample = sample;
            }
            column
        });
        finished.collect()
    }
}

/// The text after the skipped lines.
fn text(origin: &mut ByteStream, args: &InputArgs) -> Result<Box<dyn BufRead + Send>, Failure> {
    let mut text = origin.text(args.text_encoding)?;
    for _ in 0..args.skip_lines {
        text.skip_until(b'\n').map_err(bad)?;
    }
    Ok(text)
}

/// The columns with given types; the others are text until their types are inferred. Fails if a given column does not
/// exist.
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

/// A column, and the origin of its type.
struct Column {
    field: Field,
    sample: Sample,
}

/// How cells are separated, and which are null.
struct Cells {
    dialect: Dialect,
    has_header: bool,
    nulls: Vec<String>,
    /// How to read numbers that a double would change.
    decimals: Decimals,
    /// Number of lines before the text.
    skipped_lines: u64,
}

impl Cells {
    /// For a file that begins with `start`.
    fn new(kind: Kind, args: &InputArgs, start: &[u8]) -> Result<Self, Failure> {
        let quote = byte(args.quote.unwrap_or('"'), "--quote")?;
        // A doubled quote is an escaped one anyway.
        let escape = args.escape.map(|escape| byte(escape, "--escape")).transpose()?;
        let escape = escape.filter(|escape| *escape != quote);
        let comment = args.comment.map(|comment| byte(comment, "--comment")).transpose()?;
        let dialect = Dialect { delimiter: b'\t', quote, escape, comment, ragged: args.ragged.into() };
        let delimiter = match (args.delimiter, kind) {
            (Some(delimiter), _) => byte(delimiter, "--delimiter")?,
            (None, Kind::Tsv) => b'\t',
            (None, _) => find_delimiter(dialect, start),
        };
        if escape == Some(delimiter) {
            return Err(Failure::Usage("--escape: is what stands between cells".to_owned()));
        }
        let nulls = args.null_values.clone().unwrap_or_else(|| vec![String::new()]);
        let (has_header, decimals, skipped_lines) = (!args.no_header, args.decimals.into(), args.skip_lines);
        Ok(Cells { dialect: Dialect { delimiter, ..dialect }, has_header, nulls, decimals, skipped_lines })
    }

    /// The names of the columns: from the header, or numbered.
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

    /// Passes the texts of a chunk's rows to `read`, with the number of rows and their place, and returns the number of
    /// lines, too.
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

    /// The text of a chunk; blank lines and comments above the header are not rows of a single column.
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

    /// Infers the types of columns without a given one from the first `most` rows, or all.
    fn guess(
        &self,
        to: &mut Guesses,
        from: Box<dyn BufRead + Send>,
        most: Option<u64>,
    ) -> Result<(), Failure> {
        to.guesses.resize(to.columns.len(), Guess::new(self.decimals));
        let (mut seen, mut lines) = (0, 0);
        for chunk in self.chunks(from, SAMPLE_CHUNK) {
            let look = |texts: RecordTexts<'_>, rows: usize, _: Place<'_>| {
                let rows = (rows as u64).min(most.map_or(u64::MAX, |most| most - seen)) as usize;
                for (column, guess) in to.guesses.iter_mut().enumerate() {
                    let spans = (0..rows).map(|row| texts.span(row, column));
                    let cells = spans.filter(|span| !span.is_null()).map(|span| texts.at(span));
                    cells
                        .filter(|cell| !cell.is_empty() && !self.is_null(cell))
                        .for_each(|cell| guess.add(cell));
                }
                Ok(rows as u64)
            };
            let (more, rows) = self.rows(&chunk.map_err(bad)?, to.columns.len(), look);
            seen += rows.map_err(|fault| fault.after(lines))?;
            lines += more;
            if Some(seen) == most {
                break;
            }
        }
        to.rows += seen;
        to.is_sample |= most.is_some();
        Ok(())
    }

    fn is_null(&self, text: &str) -> bool {
        self.nulls.iter().any(|null| null == text)
    }

    /// Parses the values of a chunk, in batches of at most `batch_rows`.
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

/// The place of the records of a chunk.
#[derive(Clone, Copy)]
struct Place<'a> {
    dialect: Dialect,
    bytes: &'a [u8],
    columns: usize,
    /// Number of records that are not rows.
    header: usize,
    /// Number of lines above that do not belong to earlier chunks.
    above: u64,
}

impl Place<'_> {
    /// The line in which a record begins, counted from the chunk.
    fn line(self, record: usize) -> u64 {
        let start = self.dialect.record_start(self.bytes, self.columns, record);
        1 + self.above + line_ends(&self.bytes[..start])
    }

    /// The fault of a record, with its first line.
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

/// The fault of the first cell that is not UTF-8.
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
        Ok(byte) if byte.is_ascii() && !matches!(byte, b'\n' | b'\r') => Ok(byte),
        _ => Err(Failure::Usage(format!("{option}: must be one ASCII character, and ends no line"))),
    }
}

/// How much of the input is examined for its first rows.
const SAMPLE_BYTES: u64 = 8 << 20;
/// How much of it is examined at a time.
const SAMPLE_CHUNK: usize = 64 << 10;
