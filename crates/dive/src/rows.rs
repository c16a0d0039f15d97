//! The rows of the file, as many as are displayed.

use crate::opened_file::OpenedFile;
use crate::screen::Screen;
use crate::text::shown;
use crate::variant_texts::variant_texts;
use arrow_array::RecordBatch;
use marquetry_arrow::arrow_reader::{ParquetRecordBatchReaderBuilder, ProjectionMask, bind_in_file};
use marquetry_arrow::variant::is_variant;
use marquetry_base::Result;
use marquetry_core::predicate::Predicate;
use marquetry_inspect::value_texts;
use std::ops::Range;
use std::rc::Rc;

/// A list of rows.
pub(crate) struct Rows {
    file: Rc<OpenedFile>,
    wanted: Wanted,
    /// The indices of the columns on display.
    columns: Range<usize>,
    /// The first row of the window, and the texts of its rows.
    window: (usize, Vec<Vec<String>>),
    /// The number of rows as far as known, and whether that is all.
    known: (usize, bool),
    problem: Option<String>,
}

/// The rows and columns that are shown.
#[derive(Clone)]
enum Wanted {
    All,
    Matching(Predicate),
    /// One column of one row group.
    Chunk(usize, usize),
}

impl Rows {
    /// All rows, or those for which a predicate is true.
    pub(crate) fn new(file: Rc<OpenedFile>, predicate: Option<Predicate>) -> Self {
        let all = usize::try_from(file.metadata().num_rows()).unwrap_or(usize::MAX);
        let (wanted, known) = match predicate {
            None => (Wanted::All, (all, true)),
            Some(predicate) => (Wanted::Matching(predicate), (0, false)),
        };
        Rows::of(file, wanted, known)
    }

    /// The rows of one column of a row group.
    pub(crate) fn of_column(file: Rc<OpenedFile>, row_group: usize, column: usize) -> Self {
        let rows = usize::try_from(file.metadata().row_group(row_group).num_rows()).unwrap_or(usize::MAX);
        Rows::of(file, Wanted::Chunk(row_group, column), (rows, true))
    }

    fn of(file: Rc<OpenedFile>, wanted: Wanted, known: (usize, bool)) -> Self {
        let mut rows = Rows { file, wanted, columns: 0..0, window: (0, Vec::new()), known, problem: None };
        rows.look_at(0, 0);
        rows
    }

    fn names(&self) -> Vec<String> {
        let schema = self.file.metadata().schema();
        match self.wanted {
            Wanted::Chunk(_, column) => vec![self.file.column_name(column)],
            _ => self.columns.clone().map(|i| shown(schema.fields()[i].name())).collect(),
        }
    }

    /// Reads the rows from `first` on.
    fn read(&mut self, first: usize) -> Result<()> {
        self.window = (first, Vec::new());
        let schema = self.file.metadata().schema();
        let mask = match self.wanted {
            Wanted::Chunk(_, column) => ProjectionMask::leaves(schema, [column]),
            _ => ProjectionMask::roots(schema, self.columns.clone()),
        };
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(
            self.file.source.clone(),
            self.file.opened.clone(),
        );
        let mut builder =
            builder.with_projection(mask).with_batch_size(WINDOW).with_offset(first).with_limit(WINDOW);
        match &self.wanted {
            Wanted::All => {}
            Wanted::Matching(predicate) => builder = builder.with_predicate(predicate.clone()),
            Wanted::Chunk(row_group, _) => builder = builder.with_row_groups(vec![*row_group]),
        }
        let mut reader = builder.build()?;
        while let Some(batch) = reader.next_batch() {
            self.add(&batch?)?;
        }
        Ok(())
    }

    fn add(&mut self, batch: &RecordBatch) -> Result<()> {
        let columns = batch.schema_ref().fields().iter().zip(batch.columns());
        let texts = columns.map(|(field, column)| match is_variant(field) {
            true => variant_texts(column),
            false => value_texts(column),
        });
        let columns = texts.collect::<Result<Vec<_>>>()?;
        for row in 0..batch.num_rows() {
            let cell = |texts: &Vec<Option<String>>| texts[row].as_deref().map_or("-".to_owned(), shown);
            self.window.1.push(columns.iter().map(cell).collect());
        }
        Ok(())
    }

    fn has(&self, row: usize) -> bool {
        (self.window.0..self.window.0 + self.window.1.len()).contains(&row)
    }
}

impl Screen for Rows {
    fn title(&self) -> String {
        match &self.wanted {
            Wanted::All => "rows".to_owned(),
            Wanted::Matching(predicate) => format!("rows where {}", shown(&predicate.to_string())),
            Wanted::Chunk(..) => "rows".to_owned(),
        }
    }

    fn headings(&self) -> Vec<String> {
        let first = if matches!(self.wanted, Wanted::Matching(_)) { ">match" } else { ">row" };
        std::iter::once(first.to_owned()).chain(self.names()).collect()
    }

    fn len(&self) -> (usize, bool) {
        match self.problem.is_some() && !self.known.1 {
            true => (self.known.0 + 1, true),
            false => self.known,
        }
    }

    fn look_at(&mut self, last: usize, left: usize) {
        let all = match self.wanted {
            Wanted::Chunk(..) => 1,
            _ => self.file.metadata().schema().fields().len(),
        };
        let left = left.min(all.saturating_sub(1));
        let columns = left..all.min(left + COLUMNS);
        if columns != self.columns {
            self.columns = columns;
            self.window.1.clear();
            self.problem = None;
        }
        let last = if self.known.1 { last.min(self.known.0.saturating_sub(1)) } else { last };
        if self.problem.is_some()
            || self.has(last)
            || self.known == (0, true)
            || (self.known.1 && last >= self.known.0)
        {
            return;
        }
        // The rows before the last one are on display, too.
        let first = last.saturating_sub(WINDOW / 2);
        if let Err(error) = self.read(first) {
            self.problem = Some(shown(&error.to_string()));
        }
        if !self.known.1 {
            let end = first + self.window.1.len();
            self.known = (self.known.0.max(end), self.window.1.len() < WINDOW);
        }
    }

    fn row(&mut self, index: usize) -> Vec<String> {
        if !self.has(index) && self.problem.is_none() {
            self.look_at(index, self.columns.start);
        }
        let cells = index.checked_sub(self.window.0).and_then(|place| self.window.1.get(place)).cloned();
        let cells = cells.unwrap_or_else(|| vec![format!("! {}", self.problem.clone().unwrap_or_default())]);
        std::iter::once(index.to_string()).chain(cells).collect()
    }

    fn about(&mut self, index: usize) -> String {
        let row = self.row(index);
        let cells = self.names().into_iter().zip(row.into_iter().skip(1));
        cells.map(|(name, cell)| format!("{name}: {cell}")).collect::<Vec<_>>().join("; ")
    }

    fn leaves_out_columns(&self) -> bool {
        true
    }

    fn filtered(&mut self, text: &str) -> Option<std::result::Result<Box<dyn Screen>, String>> {
        if matches!(self.wanted, Wanted::Chunk(..)) {
            return None;
        }
        let predicate = Predicate::parse(text).and_then(|predicate| {
            bind_in_file(&predicate, self.file.metadata())?;
            Ok(predicate)
        });
        Some(match predicate {
            Ok(predicate) => Ok(Box::new(Rows::new(self.file.clone(), Some(predicate)))),
            Err(error) => Err(shown(&error.to_string())),
        })
    }

    fn keys(&self) -> &'static str {
        "f WHERE.."
    }
}

/// Rows that are read at once.
const WINDOW: usize = 400;
/// Columns that are read at once: no more are on display.
const COLUMNS: usize = 30;
