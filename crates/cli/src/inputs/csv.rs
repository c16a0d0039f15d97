//! CSV: cells as text, whose types are given or guessed from the first rows.

use super::choose::with_unique_names;
use super::guess::Guess;
use super::kind::Kind;
use super::nested::from_json_cells;
use super::origin::Origin;
use super::typed::{Trust, typed};
use super::{Input, Sample, Wanted, bad, bad_value, schema_text};
use crate::args::{InferRows, InputArgs};
use crate::failure::Failure;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions, StringArray};
use arrow_csv::reader::{BufReader as CsvReader, Format, ReaderBuilder};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use marquetry::errors::Error;
use std::io::{BufRead, Cursor, Read};
use std::sync::Arc;

/// Opens a CSV file.
pub(super) fn open(mut origin: Origin, kind: Kind, wanted: &Wanted<'_>) -> Result<Input, Failure> {
    let cells = Cells::new(kind, wanted)?;
    let given = wanted.args.schema.as_deref().map(schema_text::read).transpose()?;
    if wanted.args.infer_rows == InferRows::All {
        origin.spool()?;
    }
    let bytes = origin.bytes();
    let mut from = origin.text()?;
    let mut start = Vec::new();
    from.by_ref().take(SAMPLE_BYTES).read_to_end(&mut start).map_err(bad)?;
    let raw = cells.raw_schema(&start)?;
    let mut columns = columns(&raw, given.as_ref())?;
    if columns.iter().any(|column| column.sample != Sample::None) {
        match wanted.args.infer_rows {
            InferRows::All => {
                cells.guess(&raw, &mut columns, origin.text()?, None, true)?;
                // The first reader has moved on if it shares a file with this one.
                from = origin.text()?;
                start.clear();
            }
            InferRows::First(rows) => {
                let is_whole = (start.len() as u64) < SAMPLE_BYTES;
                let sample = Box::new(Cursor::new(start.clone()));
                cells.guess(&raw, &mut columns, sample, Some(rows), is_whole)?;
            }
        }
    }
    let fields: Vec<Field> = columns.iter().map(|column| column.field.clone()).collect();
    let schema = Arc::new(Schema::new(fields));
    let reader = cells.reader(&raw, Box::new(Cursor::new(start).chain(from)), wanted.batch_rows)?;
    let to = schema.clone();
    let mut rows = 0;
    let batches = reader.map(move |batch| {
        let batch = batch.map_err(bad)?;
        let typed = cells.typed(&batch, &columns, &to, rows)?;
        rows += batch.num_rows() as u64;
        Ok(typed)
    });
    let bytes_read = origin.bytes_read();
    Ok(Input {
        schema,
        batches: Box::new(batches),
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
fn columns(raw: &Schema, given: Option<&Schema>) -> Result<Vec<Column>, Failure> {
    let given_fields = given.into_iter().flat_map(|given| given.fields());
    for field in given_fields {
        if raw.fields().find(field.name()).is_none() {
            let names: Vec<_> = raw.fields().iter().map(|field| field.name().as_str()).collect();
            let (name, names) = (field.name(), names.join(", "));
            let message = format!("--schema has a column {name} that is not there; there are {names}");
            return Err(Error::argument(message).into());
        }
    }
    let column = |field: &Arc<Field>| match given.and_then(|given| given.fields().find(field.name())) {
        Some((_, given)) => Column { field: given.as_ref().clone(), sample: Sample::None },
        None => Column { field: field.as_ref().clone(), sample: Sample::All },
    };
    Ok(raw.fields().iter().map(column).collect())
}

/// A column, and where its type is from.
struct Column {
    field: Field,
    sample: Sample,
}

/// How cells are told apart.
struct Cells {
    format: Format,
    has_header: bool,
    delimiter: u8,
    quote: Option<u8>,
    nulls: Vec<String>,
}

impl Cells {
    fn new(kind: Kind, wanted: &Wanted<'_>) -> Result<Self, Failure> {
        let args: &InputArgs = wanted.args;
        let delimiter = match (args.delimiter, kind) {
            (Some(delimiter), _) => delimiter,
            (None, Kind::Tsv) => '\t',
            (None, _) => ',',
        };
        let delimiter = byte(delimiter, "--delimiter")?;
        let quote = args.quote.map(|quote| byte(quote, "--quote")).transpose()?;
        let mut format = Format::default().with_header(!args.no_header).with_delimiter(delimiter);
        if let Some(quote) = quote {
            format = format.with_quote(quote);
        }
        let nulls = args.null_values.clone().unwrap_or_else(|| vec![String::new()]);
        Ok(Cells { format, has_header: !args.no_header, delimiter, quote, nulls })
    }

    /// All columns as text, under the names in the header.
    fn raw_schema(&self, start: &[u8]) -> Result<SchemaRef, Failure> {
        let (schema, _) = self.format.infer_schema(start, Some(0)).map_err(bad)?;
        if schema.fields().is_empty() {
            return Err(bad("is empty: there is no header line"));
        }
        let names = with_unique_names(&schema);
        let texts = names.fields().iter().map(|field| Field::new(field.name(), DataType::Utf8, true));
        Ok(Arc::new(Schema::new(texts.collect::<Vec<_>>())))
    }

    fn reader(
        &self,
        raw: &SchemaRef,
        from: Box<dyn BufRead + Send>,
        batch_rows: usize,
    ) -> Result<CsvReader<Box<dyn BufRead + Send>>, Failure> {
        let mut builder =
            ReaderBuilder::new(raw.clone()).with_header(self.has_header).with_batch_size(batch_rows);
        builder = builder.with_delimiter(self.delimiter);
        if let Some(quote) = self.quote {
            builder = builder.with_quote(quote);
        }
        builder.build_buffered(from).map_err(bad)
    }

    /// Guesses the types of columns that are not given from the first `most` rows, or from all. If `from` is only the
    /// start of a file, its last row may be cut off: it does not count, nor does an error there.
    fn guess(
        &self,
        raw: &SchemaRef,
        columns: &mut [Column],
        from: Box<dyn BufRead + Send>,
        most: Option<u64>,
        is_whole: bool,
    ) -> Result<(), Failure> {
        let mut guesses = vec![Guess::new(); columns.len()];
        let mut seen = 0;
        let mut reader = self.reader(raw, from, SAMPLE_BATCH)?.peekable();
        while let Some(batch) = reader.next() {
            let batch = match batch {
                Ok(batch) => batch,
                Err(error) if is_whole => return Err(bad(error)),
                Err(_) => break,
            };
            let is_cut = !is_whole && !matches!(reader.peek(), Some(Ok(_)));
            let rows = (batch.num_rows() - usize::from(is_cut)) as u64;
            let rows = rows.min(most.map_or(u64::MAX, |most| most - seen));
            for (cells, guess) in batch.columns().iter().zip(&mut guesses) {
                let texts = cells.as_string::<i32>().iter().take(rows as usize).flatten();
                texts.filter(|text| !self.is_null(text)).for_each(|text| guess.add(text));
            }
            seen += rows;
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

    /// The cells of a batch as values; `before` rows came before it.
    fn typed(
        &self,
        batch: &RecordBatch,
        columns: &[Column],
        schema: &SchemaRef,
        before: u64,
    ) -> Result<RecordBatch, Failure> {
        let value = |(cells, column): (&ArrayRef, &Column)| {
            let field = &column.field;
            let cells = self.with_nulls(cells.as_string(), field.data_type());
            let trust = if column.sample == Sample::None { Trust::Given } else { Trust::Guessed };
            let array = match field.data_type().is_nested() {
                true => from_json_cells(&cells, field.data_type(), trust),
                false => typed(&cells, field.data_type(), trust),
            };
            let fail = |at: usize, message: &str| {
                bad_value(&format!("row {}", before + at as u64 + 1), field.name(), message, column.sample)
            };
            let array = array.map_err(|misfit| fail(misfit.at, &misfit.message))?;
            match (0..array.len()).find(|at| !field.is_nullable() && array.is_null(*at)) {
                Some(at) => Err(fail(at, "is null, and the schema says that it is not")),
                None => Ok(array),
            }
        };
        let arrays = batch.columns().iter().zip(columns).map(value).collect::<Result<_, _>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        RecordBatch::try_new_with_options(schema.clone(), arrays, &options).map_err(bad)
    }

    /// The cells, with null where one stands for null. Empty cells arrive as nulls; where they are not null, they are
    /// empty texts.
    fn with_nulls(&self, cells: &StringArray, data_type: &DataType) -> StringArray {
        let is_text = matches!(
            data_type,
            DataType::Utf8
                | DataType::LargeUtf8
                | DataType::Utf8View
                | DataType::Binary
                | DataType::LargeBinary
                | DataType::BinaryView
        );
        let is_plain = self.nulls.len() == 1 && self.nulls[0].is_empty();
        if is_plain || (self.nulls.is_empty() && !is_text) {
            return cells.clone();
        }
        let keeps_empty = is_text && !self.is_null("");
        let value = |text: Option<&'_ str>| match text {
            Some(text) if self.is_null(text) => None,
            Some(text) => Some(text.to_owned()),
            None => keeps_empty.then(String::new),
        };
        cells.iter().map(value).collect()
    }
}

fn byte(c: char, option: &str) -> Result<u8, Failure> {
    match u8::try_from(c) {
        Ok(byte) if byte.is_ascii() => Ok(byte),
        _ => Err(Failure::Usage(format!("{option}: must be one ASCII character"))),
    }
}

/// So much of the input is looked at for its first rows.
const SAMPLE_BYTES: u64 = 8 << 20;
/// Rows that are looked at together.
const SAMPLE_BATCH: usize = 1024;
