//! JSON Lines: an object on each line.

mod array;
mod feature_crs;
mod features;
mod line_reader;

use super::bad_input::{Sample, bad, bad_value};
use super::byte_stream::ByteStream;
use super::chunks::{
    self, CHUNK_BYTES, Chunk, Chunks, Fault, Parsed, exact_batches, one_after_the_other, ranges,
};
use super::input::{Input, InputOptions};
use crate::args::{InferRows, InputArgs, UnknownKeys};
use crate::failure::Failure;
use crate::schema_parser;
use array::ArrayLines;
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_json::ReaderBuilder;
use arrow_json::reader::Decoder;
use arrow_schema::{ArrowError, Field, Schema, SchemaRef};
pub(super) use feature_crs::FeatureCrs;
use features::Features;
pub(super) use features::GEOMETRY;
use line_reader::LineReader;
use marquetry_base::counted;
use marquetry_text::parse::error_text::message;
use marquetry_text::parse::infer_json::{Members, Mixed};
use marquetry_text::parse::infer_number::Decimals;
use marquetry_text::parse::json_column::JsonColumn;
use marquetry_text::parse::json_form::{Expected, ExpectedMembers, Unfit, reform};
use marquetry_text::parse::json_members::Names;
use marquetry_text::parse::nested::{finished, raw_fields};
use marquetry_text::parse::parse_values::{Strictness, ValueError};
use marquetry_text::parse::texts::{RecordTexts, Records};
use memchr::{memchr_iter, memrchr};
use serde_json::Value;
use std::io::{BufRead, BufReader, Cursor, Read};
use std::ops::Range;
use std::sync::Arc;

/// How objects are arranged in a text.
#[derive(Debug, Clone)]
pub(super) enum JsonText {
    /// One on each line, or all in one array.
    Lines,
    /// As features of a collection; its reference system is recorded in the value.
    Features(FeatureCrs),
}

/// Opens a JSON Lines file, or one that is read as such; or several that form a table, whose columns are inferred from
/// the first lines of all.
pub(super) fn open(
    files: Vec<ByteStream>,
    wanted: &InputOptions<'_>,
    form: JsonText,
) -> Result<Input, Failure> {
    let given = wanted.args.schema.as_deref().map(schema_parser::read).transpose()?;
    let are_several = files.len() > 1;
    let mut guessed = Guessed::default();
    let mut opened = Vec::new();
    for origin in files {
        let path = origin.given_path().to_owned();
        let file = JsonFile::open(origin, wanted, &form, are_several, &mut guessed);
        opened.push(file.map_err(|failure| failure.in_file(&path))?);
    }
    let sample = if guessed.is_sample { Sample::First(guessed.rows) } else { Sample::All };
    let columns = columns(&guessed.members, given.as_ref(), sample, wanted.args.mixed.into());
    if columns.is_empty() {
        return Err(bad("has no rows with members: there are no columns"));
    }
    let fields: Vec<Field> = columns.iter().map(|column| column.field.clone()).collect();
    let schema = Arc::new(Schema::new(fields));
    let (bytes, bytes_read) = ByteStream::progress(opened.iter().map(|file| &file.origin));
    let (to, batch_rows, threads) = (schema.clone(), wanted.batch_rows, wanted.threads);
    let args = wanted.args.clone();
    let batches = one_after_the_other(opened.into_iter().map(move |mut file| {
        let path = file.origin.given_path().to_owned();
        let batches = file.text(&args, &form).map(|(from, place)| {
            let line_end = |bytes: &[u8]| memrchr(b'\n', bytes).map(|at| at + 1);
            let chunks = Chunks::new(from, Box::new(line_end), CHUNK_BYTES);
            let objects = Objects {
                place,
                strictness: Decimals::from(args.decimals).into(),
                ignore_unknown: args.unknown_keys == UnknownKeys::Ignore,
                ..Objects::new(columns.clone(), to.clone(), sample)
            };
            chunks::batches(chunks, threads, move |chunk| objects.parse(&chunk, batch_rows))
        });
        (path, batches)
    }));
    let batches = if wanted.exact_batches { exact_batches(batches, &schema, batch_rows) } else { batches };
    Ok(Input { bytes, bytes_read, ..Input::of_rows(schema, batches) })
}

/// A file whose lines are not read yet.
struct JsonFile {
    origin: ByteStream,
    /// Its text, and what a line is called; `None` for several files, which are opened again one after the other.
    text: Option<Text>,
}

type Text = (Box<dyn BufRead + Send>, &'static str);

impl JsonFile {
    fn open(
        mut origin: ByteStream,
        wanted: &InputOptions<'_>,
        form: &JsonText,
        is_one_of_several: bool,
        guessed: &mut Guessed,
    ) -> Result<Self, Failure> {
        if wanted.args.infer_rows == InferRows::All || is_one_of_several {
            origin.spool()?;
        }
        let decimals = Decimals::from(wanted.args.decimals);
        let (mut from, place) = text(&mut origin, wanted.args, form)?;
        let from: Box<dyn BufRead + Send> = match wanted.args.infer_rows {
            InferRows::All => {
                guess(&mut from, u64::MAX, u64::MAX, decimals, place, guessed)?;
                text(&mut origin, wanted.args, form)?.0
            }
            InferRows::First(rows) => {
                let mut kept = Kept { from, text: Vec::new() };
                guess(&mut kept, rows, SAMPLE_BYTES, decimals, place, guessed)?;
                Box::new(Cursor::new(kept.text).chain(kept.from))
            }
        };
        Ok(JsonFile { origin, text: (!is_one_of_several).then_some((from, place)) })
    }

    fn text(&mut self, args: &InputArgs, form: &JsonText) -> Result<Text, Failure> {
        match self.text.take() {
            Some(text) => Ok(text),
            None => text(&mut self.origin, args, form),
        }
    }
}

/// What was inferred from the first lines.
#[derive(Default)]
struct Guessed {
    members: Members,
    /// Number of lines that were examined.
    rows: u64,
    /// Whether there are more lines.
    is_sample: bool,
}

/// The text with an object on each line, and what such a line is called in the file.
fn text(origin: &mut ByteStream, args: &InputArgs, form: &JsonText) -> Result<Text, Failure> {
    let mut text = origin.text(args.text_encoding)?;
    if let JsonText::Features(crs) = form {
        let features = Features::new(text, crs.clone());
        return Ok((Box::new(BufReader::new(LineReader::new(features))), "feature"));
    }
    loop {
        let start = text.fill_buf().map_err(bad)?;
        let blanks = start.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        match start.get(blanks) {
            Some(b'[') => {
                return Ok((Box::new(BufReader::new(LineReader::new(ArrayLines::new(text)))), "object"));
            }
            // Lines are counted: only what was examined is consumed.
            None if blanks > 0 && !start.contains(&b'\n') => text.consume(blanks),
            _ => return Ok((text, LINE)),
        }
    }
}

const LINE: &str = "line";
const SEVERAL_LINES: &str =
    "; objects of several lines each are read if they stand in an array: [{..}, {..}]";

#[derive(Clone)]
struct Column {
    field: Field,
    sample: Sample,
    expected: Expected,
}

/// The members that were seen, with the given type if there is one, followed by those that were only given.
fn columns(members: &Members, given: Option<&Schema>, sample: Sample, mixed: Mixed) -> Vec<Column> {
    let seen = members.fields(mixed);
    let given_type =
        |name: &str| given.and_then(|given| given.column_with_name(name)).map(|(_, field)| field.clone());
    let given_column = |field: Field| {
        let expected = Expected::of_field(&field);
        Column { field, sample: Sample::None, expected }
    };
    let of_seen =
        seen.iter().zip(members.expected(mixed)).map(|(field, expected)| match given_type(field.name()) {
            Some(field) => given_column(field),
            None => Column { field: field.as_ref().clone(), sample, expected },
        });
    let is_unseen = |field: &&Arc<Field>| seen.find(field.name()).is_none();
    let of_unseen = given.into_iter().flat_map(|given| given.fields()).filter(is_unseen);
    let of_unseen = of_unseen.map(|field| given_column(field.as_ref().clone()));
    of_seen.chain(of_unseen).collect()
}

/// Infers members from the first rows, up to `most` rows and `most_bytes` bytes, and returns which rows these were.
fn guess(
    from: &mut impl NextLine,
    most: u64,
    most_bytes: u64,
    decimals: Decimals,
    place: &str,
    to: &mut Guessed,
) -> Result<(), Failure> {
    let mut text = Vec::new();
    let (mut line, mut seen, mut bytes) = (0, 0, 0);
    while seen < most && bytes < most_bytes {
        text.clear();
        if from.next_line(&mut text).map_err(bad)? == 0 {
            to.rows += seen;
            return Ok(());
        }
        line += 1;
        bytes += text.len() as u64;
        if is_blank(&text) {
            continue;
        }
        match serde_json::from_slice::<Value>(&text) {
            Ok(Value::Object(object)) => to.members.add(&object, decimals),
            Ok(_) => return Err(bad(format!("{place} {line}: is not a JSON object"))),
            Err(error) => {
                // The first object continues on the next line.
                let hint = if error.is_eof() && seen == 0 && place == LINE { SEVERAL_LINES } else { "" };
                let error = without_line(&error);
                return Err(bad(format!("{place} {line}: must be one whole JSON object: {error}{hint}")));
            }
        }
        seen += 1;
    }
    (to.rows, to.is_sample) = (to.rows + seen, true);
    Ok(())
}

/// The message of an error in a line of the file; the error counts lines from its own text.
fn without_line(error: &serde_json::Error) -> String {
    let place = format!(" at line {} column {}", error.line(), error.column());
    match error.to_string().strip_suffix(&place) {
        // After the end of the line.
        Some(what) if error.line() > 1 => format!("{what}, at its end"),
        Some(what) => format!("{what}, at column {}", error.column()),
        None => error.to_string(),
    }
}

fn is_blank(line: &[u8]) -> bool {
    line.iter().all(u8::is_ascii_whitespace)
}

/// A source of lines.
trait NextLine {
    /// Appends the next line with its end; returns 0 if there is none.
    fn next_line(&mut self, out: &mut Vec<u8>) -> std::io::Result<usize>;
}

impl NextLine for Box<dyn BufRead + Send> {
    fn next_line(&mut self, out: &mut Vec<u8>) -> std::io::Result<usize> {
        self.read_until(b'\n', out)
    }
}

/// Lines that are kept to be read again.
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

/// Converts objects to rows.
struct Objects {
    columns: Vec<Column>,
    /// The names of the columns, if none is nested.
    names: Option<Names>,
    /// The expected form of every line.
    expected: Expected,
    /// The schema with text in place of values.
    raw: SchemaRef,
    schema: SchemaRef,
    sample: Sample,
    /// How strictly numbers of inferred types are read.
    strictness: Strictness,
    /// Whether unknown members are ignored.
    ignore_unknown: bool,
    /// What errors count: a `line`, or an `object` of an array.
    place: &'static str,
}

impl Objects {
    fn new(columns: Vec<Column>, schema: SchemaRef, sample: Sample) -> Self {
        let is_flat = columns.iter().all(|column| !column.field.data_type().is_nested());
        let names = is_flat.then(|| Names::new(columns.iter().map(|column| column.field.name().clone())));
        let raw = Arc::new(Schema::new(raw_fields(schema.fields())));
        let members = columns.iter().map(|column| (column.field.name().clone(), column.expected.clone()));
        let expected = Expected::Object(ExpectedMembers::new(members));
        let (strictness, ignore_unknown, place) = (Strictness::Guessed, false, "line");
        Objects { columns, names, expected, raw, schema, sample, strictness, ignore_unknown, place }
    }

    /// Parses the values of a chunk, in batches of at most `batch_rows`.
    fn parse(&self, chunk: &Chunk, batch_rows: usize) -> Parsed {
        let bytes = &chunk.bytes[..];
        let batches = match self.members(bytes) {
            Some((text, Records { spans, unescaped })) => {
                let columns = self.columns.len();
                let unescaped = str::from_utf8(&unescaped).unwrap_or_default();
                let texts = RecordTexts { columns, spans: &spans, text, unescaped };
                let batch = |rows: Range<usize>| {
                    let members = |column: usize, field: &Field, strictness| {
                        let members = JsonColumn { texts: &texts, rows: rows.clone(), column };
                        members.values(field, &self.columns[column].expected, strictness)
                    };
                    self.batch(rows.len(), members, |at| lines(bytes).nth(rows.start + at))
                };
                ranges(spans.len() / columns, batch_rows).map(batch).collect()
            }
            None => {
                let lines: Vec<_> = lines(bytes).collect();
                let batch = |rows: Range<usize>| self.decoded(&lines[rows]);
                ranges(lines.len(), batch_rows).map(batch).collect()
            }
        };
        Parsed { places: memchr_iter(b'\n', bytes).count() as u64, batches }
    }

    /// The members of all objects, if these have only a simple form.
    fn members<'a>(&self, bytes: &'a [u8]) -> Option<(&'a str, Records)> {
        u32::try_from(bytes.len()).ok()?;
        let text = str::from_utf8(bytes).ok()?;
        Some((text, self.names.as_ref()?.members(text)?))
    }

    /// The rows of lines of any form.
    fn decoded(&self, lines: &[Line<'_>]) -> Result<RecordBatch, Fault> {
        let mut text = Vec::new();
        for line in lines {
            let formed = reform(line.text, &self.expected, self.ignore_unknown, &mut text);
            formed.map_err(|unfit| self.unfit(*line, unfit))?;
            text.push(b'\n');
        }
        let raw = self.decode(&text, lines.len()).map_err(|error| self.locate(lines, &error))?;
        let members =
            |column: usize, field: &Field, strictness| finished(raw.column(column), field, strictness);
        self.batch(lines.len(), members, |at| lines.get(at).copied())
    }

    /// Builds a batch of rows from the values of each column; `line` returns the line of a row.
    fn batch<'a>(
        &self,
        rows: usize,
        values: impl Fn(usize, &Field, Strictness) -> Result<ArrayRef, ValueError>,
        line: impl Fn(usize) -> Option<Line<'a>>,
    ) -> Result<RecordBatch, Fault> {
        let mut arrays = Vec::with_capacity(self.columns.len());
        for (i, column) in self.columns.iter().enumerate() {
            let field = &column.field;
            let fail = |at: usize, message: String| {
                let (line, sample) = (line(at).map_or(0, |line| line.number), column.sample);
                let (name, place) = (field.name().clone(), self.place);
                Fault::new(move |before| {
                    bad_value(&format!("{place} {}", before + line), &name, &message, sample)
                })
            };
            let strictness = if column.sample == Sample::None { Strictness::Given } else { self.strictness };
            let array = values(i, field, strictness)
                .map_err(|value_error| fail(value_error.at, value_error.message))?;
            if !field.is_nullable()
                && let Some(at) = (0..array.len()).find(|at| array.is_null(*at))
            {
                return Err(fail(at, "is null, and the schema says that it is not".to_owned()));
            }
            arrays.push(array);
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let batch = RecordBatch::try_new_with_options(self.schema.clone(), arrays, &options);
        batch.map_err(|error| Fault::new(move |_| bad(message(&error))))
    }

    fn decode(&self, text: &[u8], rows: usize) -> Result<RecordBatch, ArrowError> {
        let mut decoder: Decoder = ReaderBuilder::new(self.raw.clone())
            .with_batch_size(rows + 1)
            .with_coerce_primitive(true)
            .with_strict_mode(!self.ignore_unknown)
            .build_decoder()?;
        decoder.decode(text)?;
        match decoder.flush()? {
            Some(batch) if batch.num_rows() == rows => Ok(batch),
            _ => Err(ArrowError::JsonError("a line must hold one whole JSON object".to_owned())),
        }
    }

    /// Finds the first line with the failure.
    fn locate(&self, lines: &[Line<'_>], all: &ArrowError) -> Fault {
        let mut text = Vec::new();
        for line in lines {
            text.clear();
            let formed = reform(line.text, &self.expected, self.ignore_unknown, &mut text);
            if formed.is_ok()
                && let Err(error) = self.decode(&text, 1)
            {
                return line.fault(self.place, message(&error));
            }
        }
        let all = message(all);
        Fault::new(|_| bad(all))
    }

    /// The failure of a line that cannot be decoded.
    fn unfit(&self, line: Line<'_>, unfit: Unfit) -> Fault {
        let Unfit::Member { path, message, is_of_type } = unfit else {
            let error = self.decode(line.text, 1).err();
            let error = error.map_or_else(|| "is not a JSON object".to_owned(), |error| message(&error));
            return line.fault(self.place, error);
        };
        let column =
            path.first().and_then(|name| self.columns.iter().find(|column| column.field.name() == name));
        let Some(column) = column else {
            let hint = match self.sample {
                Sample::First(rows) => format!(
                    "; columns are those of the first {} and of --schema: see --infer-rows all and --unknown-keys",
                    counted(rows, "row")
                ),
                Sample::All | Sample::None => String::new(),
            };
            return line.fault(self.place, [path.join("."), format!(" {message}{hint}")].concat());
        };
        let sample = if is_of_type { column.sample } else { Sample::None };
        let (number, place) = (line.number, self.place);
        Fault::new(move |before| {
            bad_value(&format!("{place} {}", before + number), &path.join("."), &message, sample)
        })
    }
}

/// A line with an object, and its number in its chunk, counted from 1.
#[derive(Clone, Copy)]
struct Line<'a> {
    number: u64,
    text: &'a [u8],
}

impl Line<'_> {
    fn fault(&self, place: &'static str, message: String) -> Fault {
        let number = self.number;
        Fault::new(move |before| bad(format!("{place} {}: {message}", before + number)))
    }
}

/// The lines that are not blank, without line ends.
fn lines(bytes: &[u8]) -> impl Iterator<Item = Line<'_>> {
    let numbered = bytes.split(|byte| *byte == b'\n').zip(1..);
    numbered.map(|(text, number)| Line { number, text }).filter(|line| !is_blank(line.text))
}

/// How much of the input is examined for its first rows.
const SAMPLE_BYTES: u64 = 8 << 20;

#[cfg(test)]
mod tests;
