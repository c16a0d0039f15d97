//! Checks that rows are in the order of the sorting columns.

use crate::context::VerifyContext;
use crate::findings::Findings;
use crate::rule::{Level, Rule, Severity, rule};
use marquetry_base::{ErrorLocation, Result};
use marquetry_core::nesting::NestedField;
use marquetry_core::read::{ColumnBatch, ColumnReader, ReadTarget, ValueLayout};
use marquetry_core::schema::Leaf;
use marquetry_core::sort_order::{SortOrder, plain_value};
use marquetry_core::statistics::display_value;
use marquetry_format::SortingColumn;
use std::cmp::Ordering;
use std::collections::HashSet;

const COLUMN: Rule = rule(
    "sorting-column",
    Severity::Invalid,
    Level::Quick,
    "Sorting columns are columns of the schema, each named once",
    "parquet.thrift, SortingColumn.column_idx",
);
const ORDER: Rule = rule(
    "sorting-order",
    Severity::Invalid,
    Level::Deep,
    "Rows are sorted as the row group says",
    "parquet.thrift, RowGroup.sorting_columns",
);

pub(crate) const RULES: &[Rule] = &[COLUMN, ORDER];

/// A sorting column and its reader.
struct Key<'a> {
    leaf: &'a Leaf,
    order: SortOrder,
    descending: bool,
    nulls_first: bool,
    reader: ColumnReader,
    /// The value of the last row of the previous batch.
    last: Option<Cell>,
}

/// A value, or null.
type Cell = Option<Vec<u8>>;

/// Checks the sorting columns of a row group, and at level `Deep` its rows.
pub(crate) fn check(file: &VerifyContext, row_group: usize, findings: &mut Findings) {
    let place = ErrorLocation::default().with_row_group(row_group);
    let sorting = file.metadata.row_group(row_group).sorting_columns();
    let (mut columns, mut seen) = (Vec::new(), HashSet::new());
    for key in sorting {
        let column = usize::try_from(key.column_idx).ok();
        match column.filter(|column| *column < file.metadata.schema().num_columns() && seen.insert(*column)) {
            Some(column) => columns.push(column),
            None => {
                findings.add(&COLUMN, place.clone(), || format!("column {}", key.column_idx));
                return;
            }
        }
    }
    if file.level < Level::Deep || columns.is_empty() {
        return;
    }
    let mut keys = Vec::new();
    for (key, column) in sorting.iter().zip(columns) {
        // The order of lists is not defined. The columns before this one can still be checked.
        match self::key(file, row_group, key, column) {
            Some(key) => keys.push(key),
            None => break,
        }
    }
    let rows = usize::try_from(file.metadata.row_group(row_group).num_rows()).unwrap_or(usize::MAX);
    match first_unsorted(&mut keys, rows) {
        Ok(Some((row, leaf, message))) => {
            let place = place.with_column(leaf.dotted().clone());
            findings.add(&ORDER, place, || format!("row {row}: {message}"));
        }
        Err(error) if error.stops_reading() => findings.add_error(&ORDER, place, error),
        // Columns that cannot be read have other findings.
        Ok(None) | Err(_) => {}
    }
}

fn key<'a>(
    file: &'a VerifyContext,
    row_group: usize,
    sorting: &SortingColumn,
    column: usize,
) -> Option<Key<'a>> {
    let leaf = file.leaf(column);
    let order = SortOrder::of(leaf);
    if leaf.max_rep() > 0 || order == SortOrder::Undefined {
        return None;
    }
    let field = NestedField::from_root(file.metadata.schema(), leaf.root())?;
    let target = ReadTarget { is_text: false, ..ReadTarget::new(leaf, &field, column, ValueLayout::Native) };
    let reader = ColumnReader::new(
        file.source.clone(),
        file.metadata.clone(),
        &[row_group],
        column,
        target,
        file.page_options(),
    );
    let SortingColumn { descending, nulls_first, .. } = *sorting;
    Some(Key { leaf, order, descending, nulls_first, reader, last: None })
}

/// Returns the first row that should be before its predecessor, the column that shows it, and a message with both
/// values.
fn first_unsorted<'a>(keys: &mut [Key<'a>], rows: usize) -> Result<Option<(usize, &'a Leaf, String)>> {
    let mut done = 0;
    while done < rows && !keys.is_empty() {
        let n = (rows - done).min(ROWS_PER_BATCH);
        let batches = keys.iter_mut().map(|key| key.reader.read(n)).collect::<Result<Vec<_>>>()?;
        for row in 0..n {
            for (key, batch) in keys.iter().zip(&batches) {
                let (mut a, mut b) = ([0; 8], [0; 8]);
                let above = match (row, &key.last) {
                    (0, None) => continue,
                    (0, Some(last)) => last.as_deref(),
                    _ => cell(batch, row - 1, &mut a),
                };
                let this = cell(batch, row, &mut b);
                match key.compare(above, this) {
                    Some(Ordering::Equal) => {}
                    Some(Ordering::Greater) => {
                        let text = |cell: Option<&[u8]>| {
                            cell.map_or("null".to_owned(), |cell| display_value(key.leaf, cell))
                        };
                        let message = format!("{} comes behind {}", text(this), text(above));
                        return Ok(Some((done + row, key.leaf, message)));
                    }
                    // In order, or a NaN, which has no order.
                    Some(Ordering::Less) | None => break,
                }
            }
        }
        for (key, batch) in keys.iter_mut().zip(&batches) {
            key.last = Some(cell(batch, n - 1, &mut [0; 8]).map(<[u8]>::to_vec));
        }
        done += n;
    }
    Ok(None)
}

impl Key<'_> {
    fn compare(&self, a: Option<&[u8]>, b: Option<&[u8]>) -> Option<Ordering> {
        let nulls = |first: bool| if first { Ordering::Less } else { Ordering::Greater };
        match (a, b) {
            (None, None) => Some(Ordering::Equal),
            (None, Some(_)) => Some(nulls(self.nulls_first)),
            (Some(_), None) => Some(nulls(self.nulls_first).reverse()),
            (Some(a), Some(b)) => {
                let ordering = self.order.compare(a, b)?;
                Some(if self.descending { ordering.reverse() } else { ordering })
            }
        }
    }
}

/// Returns the value of a row, or `None` for null.
fn cell<'a>(batch: &'a ColumnBatch, row: usize, scratch: &'a mut [u8; 8]) -> Option<&'a [u8]> {
    let is_valid = batch.validity.as_ref().is_none_or(|validity| validity.get(row));
    is_valid.then(|| plain_value(&batch.values, row, scratch))
}

/// Number of rows that are compared at a time.
const ROWS_PER_BATCH: usize = 4096;
