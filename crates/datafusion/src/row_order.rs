//! Checks that the rows of a partition are in the order that its scan declares.
//!
//! A footer may promise an order that its rows do not have: writers record what they are told. Plans rely on the
//! promise, so a row that breaks it is an error, and not a wrong answer.

use crate::error::of_file;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, Schema, SortOptions};
use datafusion::arrow::array::{DynComparator, make_comparator};
use datafusion::arrow::buffer::{BooleanBuffer, NullBuffer};
use datafusion::arrow::compute::kernels::cmp::{gt, lt, not_distinct};
use datafusion::common::ScalarValue;
use datafusion::error::Result;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::utils::reassign_expr_columns;
use datafusion::physical_expr::{PhysicalExpr, PhysicalSortExpr};
use marquetry_base::Error;
use object_store::path::Path;
use std::cmp::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

/// Compares each row with the one before it. Clones share the last row.
#[derive(Clone)]
pub(crate) struct RowOrder {
    keys: Vec<PhysicalSortExpr>,
    last: Arc<Mutex<Option<LastRow>>>,
}

/// The keys of the last row that was checked.
struct LastRow {
    keys: Vec<ArrayRef>,
    path: Path,
}

impl RowOrder {
    pub(crate) fn new(keys: Vec<PhysicalSortExpr>) -> Self {
        RowOrder { keys, last: Arc::default() }
    }

    /// The same order, for rows that follow no others.
    pub(crate) fn restarted(&self) -> Self {
        RowOrder::new(self.keys.clone())
    }

    pub(crate) fn try_map_keys(
        self,
        mut map: impl FnMut(Arc<dyn PhysicalExpr>) -> Result<Arc<dyn PhysicalExpr>>,
    ) -> Result<Self> {
        let keys = self.keys.into_iter().map(|key| Ok(PhysicalSortExpr::new(map(key.expr)?, key.options)));
        Ok(RowOrder { keys: keys.collect::<Result<Vec<_>>>()?, last: self.last })
    }

    /// The expressions that rows are sorted by.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &Arc<dyn PhysicalExpr>> {
        self.keys.iter().map(|key| &key.expr)
    }

    /// Looks up the keys in batches of this schema from now on.
    pub(crate) fn read_as(&mut self, schema: &Schema) -> Result<()> {
        for key in &mut self.keys {
            key.expr = reassign_expr_columns(key.expr.clone(), schema)?;
        }
        Ok(())
    }

    /// Fails if a row sorts before the one that it follows.
    pub(crate) fn check(&mut self, batch: &RecordBatch, path: &Path) -> Result<()> {
        let rows = batch.num_rows();
        let keys = self.keys.iter().map(|key| key.expr.evaluate(batch)?.into_array(rows));
        let keys = keys.collect::<Result<Vec<_>>>()?;
        let Some(end) = rows.checked_sub(1) else { return Ok(()) };
        let last = LastRow { keys: keys.iter().map(|key| key.slice(end, 1)).collect(), path: path.clone() };
        let before = self.last.lock().unwrap_or_else(PoisonError::into_inner).replace(last);
        if let Some(before) = before {
            self.compare(&before.keys, 1, &keys, 0, path, &before.path)?;
        }
        // Where whole columns give no answer, or the order is broken, rows are compared one by one.
        match self.are_in_order(&keys, end).unwrap_or(false) {
            true => Ok(()),
            false => self.compare(&keys, end, &keys, 1, path, path),
        }
    }

    /// Whether no row but the last sorts after the one that follows it. Fails if a column has a type without vectorized
    /// comparisons.
    fn are_in_order(&self, keys: &[ArrayRef], end: usize) -> Result<bool, ArrowError> {
        let Some((last, first)) = keys.split_last() else { return Ok(true) };
        let mut options = self.keys.iter().map(|key| key.options);
        // Rows that equal the next one in the keys so far; `None` for all.
        let mut equal_so_far: Option<BooleanBuffer> = None;
        for (key, options) in first.iter().zip(&mut options) {
            // Usually the first key decides for all rows.
            if within(is_not_ahead(key, end, options)?, equal_so_far.as_ref()).count_set_bits() == 0 {
                return Ok(true);
            }
            if within(goes_back(key, end, options)?, equal_so_far.as_ref()).count_set_bits() > 0 {
                return Ok(false);
            }
            let same = not_distinct(&key.slice(0, end), &key.slice(1, end))?;
            equal_so_far = Some(within(same.values().clone(), equal_so_far.as_ref()));
        }
        let Some(options) = options.next() else { return Ok(true) };
        Ok(within(goes_back(last, end, options)?, equal_so_far.as_ref()).count_set_bits() == 0)
    }

    /// Compares the first `rows` rows of `before` with those of `after` from `from` on.
    fn compare(
        &self,
        before: &[ArrayRef],
        rows: usize,
        after: &[ArrayRef],
        from: usize,
        path: &Path,
        path_before: &Path,
    ) -> Result<()> {
        let keys = before.iter().zip(after).zip(&self.keys);
        let keys = keys.map(|((before, after), key)| Ok(make_comparator(before, after, key.options)?));
        let keys = keys.collect::<Result<Vec<DynComparator>>>()?;
        let is_before = |row: &usize| {
            let mut orders = keys.iter().map(|compare| compare(*row, from + row));
            orders.find(|order| order.is_ne()) == Some(Ordering::Greater)
        };
        match (0..rows).find(is_before) {
            Some(row) => {
                let of_another = (path != path_before).then_some(path_before);
                Err(of_file(self.error(before, row, after, from + row, of_another)?, path))
            }
            None => Ok(()),
        }
    }

    fn error(
        &self,
        before: &[ArrayRef],
        row: usize,
        after: &[ArrayRef],
        next: usize,
        path_before: Option<&Path>,
    ) -> Result<Error> {
        let shown = |keys: &[ArrayRef], row: usize| -> Result<String> {
            let values = keys.iter().map(|key| Ok(ScalarValue::try_from_array(key, row)?.to_string()));
            Ok(values.collect::<Result<Vec<_>>>()?.join(", "))
        };
        let keys: Vec<String> = self.keys.iter().map(shown_key).collect();
        let message = format!(
            "its rows are not in the order that is stated, {}: ({}) follows ({}){}",
            keys.join(", "),
            shown(after, next)?,
            shown(before, row)?,
            path_before.map_or_else(String::new, |path| format!(" of {path}"))
        );
        let error = Error::corrupt(message);
        Ok(error.with_help("a table that is made with OPTIONS ('ignore_sorting_columns' 'true') goes by no order of its footers, one without WITH ORDER by none that was declared"))
    }
}

/// For each row but the last, whether it is not certain to sort before the one that follows it.
fn is_not_ahead(key: &ArrayRef, end: usize, options: SortOptions) -> Result<BooleanBuffer, ArrowError> {
    let (before, after) = (key.slice(0, end), key.slice(1, end));
    let ahead = if options.descending { gt(&before, &after)? } else { lt(&before, &after)? };
    let (ahead, known) = ahead.into_parts();
    Ok(!&within(ahead, known.as_ref().map(NullBuffer::inner)))
}

/// For each row but the last, whether it sorts after the one that follows it.
fn goes_back(key: &ArrayRef, end: usize, options: SortOptions) -> Result<BooleanBuffer, ArrowError> {
    let (before, after) = (key.slice(0, end), key.slice(1, end));
    let back = if options.descending { lt(&before, &after)? } else { gt(&before, &after)? };
    let (back, known) = back.into_parts();
    let back = within(back, known.as_ref().map(NullBuffer::inner));
    let Some(valid) = key.logical_nulls().filter(|nulls| nulls.null_count() > 0) else { return Ok(back) };
    let (before, after) = (valid.slice(0, end), valid.slice(1, end));
    let (before, after) = (before.inner(), after.inner());
    // From a value to a null, or from a null to a value.
    let is_misplaced = if options.nulls_first { before & &!after } else { &!before & after };
    Ok(&back | &is_misplaced)
}

fn within(rows: BooleanBuffer, of: Option<&BooleanBuffer>) -> BooleanBuffer {
    match of {
        Some(of) => &rows & of,
        None => rows,
    }
}

/// The key as text, with the name of its column alone.
fn shown_key(key: &PhysicalSortExpr) -> String {
    let (shown, expr) = (key.to_string(), key.expr.to_string());
    match key.expr.downcast_ref::<Column>() {
        Some(column) => shown.replacen(&expr, column.name(), 1),
        None => shown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::types::Int32Type;
    use arrow_array::{
        BooleanArray, DictionaryArray, Float64Array, Int64Array, StringViewArray, StructArray,
    };
    use arrow_schema::{DataType, Field};

    const WORDS: [&str; 4] = ["", "a", "ab", "a word of more than twelve bytes"];
    const FLOATS: [f64; 4] = [-0.0, 0.0, 1.5, f64::NAN];

    /// A column of few values, so that many rows are equal.
    fn column(kind: usize, values: &[Option<usize>]) -> ArrayRef {
        let words = values.iter().map(|value| value.map(|value| WORDS[value]));
        match kind {
            0 => Arc::new(values.iter().map(|value| value.map(|value| value as i64)).collect::<Int64Array>()),
            1 => Arc::new(
                values.iter().map(|value| value.map(|value| FLOATS[value])).collect::<Float64Array>(),
            ),
            2 => Arc::new(words.collect::<StringViewArray>()),
            3 => Arc::new(words.collect::<DictionaryArray<Int32Type>>()),
            4 => Arc::new(values.iter().map(|value| value.map(|value| value > 1)).collect::<BooleanArray>()),
            // No vectorized comparison exists for these.
            _ => {
                let field = Arc::new(Field::new("x", DataType::Int64, true));
                Arc::new(StructArray::from(vec![(field, column(0, values))]))
            }
        }
    }

    /// Whole columns and single rows give the same answer, wherever batches end.
    #[test]
    fn columns_say_what_rows_say() {
        let mut state = 3u64;
        let mut below = |count: usize| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as usize % count
        };
        let (mut in_order, cases) = (0, 3000);
        for _ in 0..cases {
            let (width, rows) = (1 + below(3), 1 + below(12));
            let kinds: Vec<usize> = (0..width).map(|_| below(6)).collect();
            let options: Vec<SortOptions> =
                (0..width).map(|_| SortOptions::new(below(2) == 0, below(2) == 0)).collect();
            let nulls = below(2);
            let mut values: Vec<Vec<Option<usize>>> = (0..rows)
                .map(|_| (0..width).map(|_| (nulls * below(3) < 2).then(|| below(4))).collect())
                .collect();
            let array = |values: &[Vec<Option<usize>>], key: usize| {
                column(kinds[key], &values.iter().map(|row| row[key]).collect::<Vec<_>>())
            };
            let comparators = |values: &[Vec<Option<usize>>]| -> Vec<DynComparator> {
                let keys = (0..width).map(|key| (array(values, key), options[key]));
                keys.map(|(key, options)| make_comparator(&key, &key, options).unwrap()).collect()
            };
            let order_of = |comparators: &[DynComparator], a: usize, b: usize| {
                comparators
                    .iter()
                    .map(|compare| compare(a, b))
                    .find(|order| order.is_ne())
                    .unwrap_or(Ordering::Equal)
            };
            // Half of them are sorted; in some of these, two rows are swapped.
            if below(2) == 0 {
                let compare = comparators(&values);
                let mut sorted: Vec<usize> = (0..rows).collect();
                sorted.sort_by(|a, b| order_of(&compare, *a, *b));
                values = sorted.into_iter().map(|row| values[row].clone()).collect();
                if below(3) == 0 {
                    let (one, other) = (below(rows), below(rows));
                    values.swap(one, other);
                }
            }
            let compare = comparators(&values);
            let expected = (1..rows).all(|row| order_of(&compare, row - 1, row).is_le());
            let fields = (0..width)
                .map(|key| Field::new(format!("k{key}"), array(&values, key).data_type().clone(), true));
            let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
            let whole =
                RecordBatch::try_new(schema, (0..width).map(|key| array(&values, key)).collect()).unwrap();
            let keys = (0..width).map(|key| {
                PhysicalSortExpr::new(Arc::new(Column::new(&format!("k{key}"), key)), options[key])
            });
            let mut order = RowOrder::new(keys.collect());
            let cut = below(rows + 1);
            let batches = [whole.slice(0, cut), whole.slice(cut, rows - cut)];
            let path = Path::from("a.parquet");
            let found = batches.iter().try_for_each(|batch| order.check(batch, &path));
            assert_eq!(found.is_ok(), expected, "{kinds:?} {options:?} {values:?} at {cut}: {found:?}");
            in_order += usize::from(expected);
        }
        assert!(in_order > cases / 4 && in_order < cases * 9 / 10, "{in_order}");
    }
}
