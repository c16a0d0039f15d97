//! Whether the rows of a file are in the order that its scan declares.
//!
//! A footer may promise an order that its rows do not have: writers record what they are told. Plans are made of the promise, so a row
//! that breaks it is an error, and not a wrong answer.

use crate::error::of_file;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::Schema;
use datafusion::arrow::array::{DynComparator, make_comparator};
use datafusion::common::ScalarValue;
use datafusion::error::Result;
use datafusion::physical_expr::PhysicalSortExpr;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::utils::reassign_expr_columns;
use marquetry_base::Error;
use object_store::path::Path;
use std::cmp::Ordering;

/// Compares each row of a file with the one before it.
pub(crate) struct RowOrder {
    keys: Vec<PhysicalSortExpr>,
    /// The keys of the last row so far.
    last: Option<Vec<ArrayRef>>,
}

impl RowOrder {
    pub(crate) fn new(keys: Vec<PhysicalSortExpr>) -> Self {
        RowOrder { keys, last: None }
    }

    /// Finds the keys in batches of this schema from now on.
    pub(crate) fn read_as(&mut self, schema: &Schema) -> Result<()> {
        for key in &mut self.keys {
            key.expr = reassign_expr_columns(key.expr.clone(), schema)?;
        }
        Ok(())
    }

    /// Fails if a row belongs before the one that it follows.
    pub(crate) fn check(&mut self, batch: &RecordBatch, path: &Path) -> Result<()> {
        let rows = batch.num_rows();
        let keys = self.keys.iter().map(|key| key.expr.evaluate(batch)?.into_array(rows));
        let keys = keys.collect::<Result<Vec<_>>>()?;
        let Some(end) = rows.checked_sub(1) else { return Ok(()) };
        if let Some(last) = self.last.take() {
            self.compare(&last, 1, &keys, 0, path)?;
        }
        self.compare(&keys, end, &keys, 1, path)?;
        self.last = Some(keys.iter().map(|key| key.slice(end, 1)).collect());
        Ok(())
    }

    /// Compares the first rows of `before` with those of `after` from `from` on.
    fn compare(
        &self,
        before: &[ArrayRef],
        rows: usize,
        after: &[ArrayRef],
        from: usize,
        path: &Path,
    ) -> Result<()> {
        let keys = before.iter().zip(after).zip(&self.keys);
        let keys = keys.map(|((before, after), key)| Ok(make_comparator(before, after, key.options)?));
        let keys = keys.collect::<Result<Vec<DynComparator>>>()?;
        let is_before = |row: &usize| {
            let mut orders = keys.iter().map(|compare| compare(*row, from + row));
            orders.find(|order| order.is_ne()) == Some(Ordering::Greater)
        };
        match (0..rows).find(is_before) {
            Some(row) => Err(of_file(self.error(before, row, after, from + row)?, path)),
            None => Ok(()),
        }
    }

    fn error(&self, before: &[ArrayRef], row: usize, after: &[ArrayRef], next: usize) -> Result<Error> {
        let shown = |keys: &[ArrayRef], row: usize| -> Result<String> {
            let values = keys.iter().map(|key| Ok(ScalarValue::try_from_array(key, row)?.to_string()));
            Ok(values.collect::<Result<Vec<_>>>()?.join(", "))
        };
        let keys: Vec<String> = self.keys.iter().map(shown_key).collect();
        let message = format!(
            "its rows are not in the order that is stated, {}: ({}) follows ({})",
            keys.join(", "),
            shown(after, next)?,
            shown(before, row)?
        );
        let error = Error::corrupt(message);
        Ok(error.with_help("a table that is made with OPTIONS ('ignore_sorting_columns' 'true') goes by no order of its footers, one without WITH ORDER by none that was declared"))
    }
}

/// The key with the name of its column alone.
fn shown_key(key: &PhysicalSortExpr) -> String {
    let (shown, expr) = (key.to_string(), key.expr.to_string());
    match key.expr.downcast_ref::<Column>() {
        Some(column) => shown.replacen(&expr, column.name(), 1),
        None => shown,
    }
}
