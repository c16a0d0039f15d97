//! Whether keys ascend or descend from row to row, so that each is unique.

use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_row::{RowConverter, SortField};
use arrow_schema::{DataType, Schema};
use marquetry_base::{Error, ErrorKind, Result};
use std::cmp::Ordering;

/// The order of the keys of consecutive rows.
pub(crate) struct KeyOrder {
    converter: RowConverter,
    columns: Vec<usize>,
    /// The first and the last key.
    ends: Option<(Vec<u8>, Vec<u8>)>,
    /// The order of each key to the one before; `Equal` if it is not the same for all. `None` for a single row.
    steps: Option<Ordering>,
}

impl KeyOrder {
    /// Creates the order of no rows. Returns `None` if a column is missing, or its type has no order.
    pub(crate) fn new(schema: &Schema, key: &[String]) -> Result<Option<Self>> {
        let columns: Option<Vec<usize>> = key.iter().map(|name| schema.index_of(name).ok()).collect();
        let Some(columns) = columns else { return Ok(None) };
        let field = |column: &usize| SortField::new(schema.field(*column).data_type().clone());
        let fields: Vec<SortField> = columns.iter().map(field).collect();
        if !RowConverter::supports_fields(&fields) {
            return Ok(None);
        }
        let converter = RowConverter::new(fields).map_err(failed)?;
        Ok(Some(KeyOrder { converter, columns, ends: None, steps: None }))
    }

    /// Adds the keys of the next rows.
    pub(crate) fn add(&mut self, batch: &RecordBatch) -> Result<()> {
        if !self.holds() || batch.num_rows() == 0 {
            return Ok(());
        }
        if let [column] = self.columns[..]
            && is_words(batch.column(column).data_type())
        {
            self.add_words(batch.column(column));
            return Ok(());
        }
        let columns: Vec<_> = self.columns.iter().map(|column| batch.column(*column).clone()).collect();
        let rows = self.converter.convert_columns(&columns).map_err(failed)?;
        let key = |row: usize| rows.row(row).data();
        let last = batch.num_rows() - 1;
        self.join(key(0), key(last));
        for row in 0..last {
            self.step(key(row).cmp(key(row + 1)));
        }
        Ok(())
    }

    /// PERF: a single column of numbers is the most common key, and is compared in place.
    fn add_words(&mut self, column: &ArrayRef) {
        if column.null_count() > 0 {
            self.steps = Some(Ordering::Equal);
            return;
        }
        let data = column.to_data();
        let words = &data.buffer::<i64>(0)[..data.len()];
        // These bytes have the order of the numbers.
        let key = |word: i64| ((word as u64) ^ (1 << 63)).to_be_bytes();
        self.join(&key(words[0]), &key(words[words.len() - 1]));
        let Some((first, second)) = words.first().zip(words.get(1)) else { return };
        let step = first.cmp(second);
        let is_alike = words.array_windows().all(|[a, b]| a.cmp(b) == step);
        self.step(if is_alike { step } else { Ordering::Equal });
    }

    /// Appends rows that begin and end with these keys.
    fn join(&mut self, first: &[u8], last: &[u8]) {
        let first = match self.ends.take() {
            Some((first_of_all, before)) => {
                self.step(before.as_slice().cmp(first));
                first_of_all
            }
            None => first.to_vec(),
        };
        self.ends = Some((first, last.to_vec()));
    }

    fn step(&mut self, step: Ordering) {
        if *self.steps.get_or_insert(step) != step {
            self.steps = Some(Ordering::Equal);
        }
    }

    /// Whether keys ascend, or descend, so far.
    pub(crate) fn holds(&self) -> bool {
        self.steps != Some(Ordering::Equal)
    }

    /// Whether keys ascend, or descend, over consecutive stretches of rows.
    pub(crate) fn holds_over<'a>(stretches: impl Iterator<Item = &'a KeyOrder>) -> bool {
        let (mut steps, mut last): (Option<Ordering>, Option<&[u8]>) = (None, None);
        for stretch in stretches {
            let Some((first, end)) = &stretch.ends else { continue };
            let between = last.map(|last| last.cmp(first.as_slice()));
            for step in between.into_iter().chain(stretch.steps) {
                if step == Ordering::Equal || *steps.get_or_insert(step) != step {
                    return false;
                }
            }
            last = Some(end);
        }
        true
    }
}

/// Whether values are signed 64-bit numbers.
fn is_words(data_type: &DataType) -> bool {
    use DataType::*;
    matches!(data_type, Int64 | Timestamp(..) | Time64(_) | Date64 | Duration(_))
}

fn failed(error: arrow_schema::ArrowError) -> Error {
    Error::caused_by(ErrorKind::Unsupported, "keys cannot be put in order", error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{ArrayRef, Int64Array, StringArray};
    use std::sync::Arc;

    /// By a text and a number, which is all that differs, or by the number alone: both say the same.
    fn order(batches: &[&[i64]]) -> KeyOrder {
        let (order, other) = (order_by(&["name", "id"], batches), order_by(&["id"], batches));
        assert_eq!((order.holds(), order.steps), (other.holds(), other.steps), "{batches:?}");
        order
    }

    fn order_by(key: &[&str], batches: &[&[i64]]) -> KeyOrder {
        let batch = |ids: &[i64]| {
            let names: ArrayRef = Arc::new(StringArray::from_iter_values(ids.iter().map(|_| "same")));
            let ids: ArrayRef = Arc::new(Int64Array::from(ids.to_vec()));
            RecordBatch::try_from_iter([("name", names), ("id", ids)]).unwrap()
        };
        let key: Vec<String> = key.iter().map(|name| (*name).to_owned()).collect();
        let mut order = KeyOrder::new(&batch(&[]).schema(), &key).unwrap().unwrap();
        batches.iter().for_each(|ids| order.add(&batch(ids)).unwrap());
        order
    }

    #[test]
    fn keys_that_ascend_or_descend_are_there_once() {
        for unique in [&[&[1, 2, 3][..], &[4]][..], &[&[9, 7], &[], &[-1, -5]], &[&[1]], &[]] {
            assert!(order(unique).holds(), "{unique:?}");
        }
        for other in [&[&[1, 2, 2][..]][..], &[&[1, 2], &[2, 3]], &[&[1, 2, 1]], &[&[3, 2], &[4]], &[&[0, 0]]]
        {
            assert!(!order(other).holds(), "{other:?}");
        }
    }

    #[test]
    fn stretches_go_on_where_the_others_end() {
        let over = |stretches: &[&[i64]]| {
            let holds = |key: &[&str]| {
                let orders: Vec<KeyOrder> = stretches.iter().map(|ids| order_by(key, &[ids])).collect();
                KeyOrder::holds_over(orders.iter())
            };
            assert_eq!(holds(&["name", "id"]), holds(&["id"]), "{stretches:?}");
            holds(&["id"])
        };
        assert!(over(&[&[1, 2], &[3], &[], &[4, 5]]) && over(&[&[5], &[4], &[3, 1]]) && over(&[]));
        assert!(!over(&[&[1, 2], &[2, 3]]) && !over(&[&[1, 2], &[0]]) && !over(&[&[1], &[2], &[1]]));
        assert!(!over(&[&[2, 1], &[3, 4]]) && !over(&[&[7], &[7]]));
    }
}
