use super::*;
use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type};
use arrow_array::{
    Array, ArrayRef, DictionaryArray, Float64Array, Int64Array, ListArray, RecordBatch, StringArray,
    StringViewArray, StructArray, make_array,
};
use arrow_buffer::OffsetBuffer;
use arrow_data::ArrayData;
use arrow_schema::{DataType, Field, Schema};
use arrow_select::concat::concat_batches;
use marquetry_core::write::{SealedSpills, SpillFile, SpillFolder};
use std::io;
use std::sync::{Arc, Mutex};

fn sort_key(text: &str, schema: &arrow_schema::Schema) -> SortKey {
    let SortColumns(columns) = text.parse().unwrap();
    SortKey::new(&columns[0], schema).unwrap()
}

/// Rows with few distinct keys, so that many are equal, and a number of their own.
fn batches(count: usize, rows: usize) -> Vec<RecordBatch> {
    let mut state = 1_u64;
    let mut random = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    };
    let batch = |number: usize| {
        let ids = Int64Array::from_iter_values((0..rows).map(|row| (number * rows + row) as i64));
        let words: Vec<Option<String>> = (0..rows)
            .map(|_| Some(random() % 7).filter(|n| *n > 0).map(|n| format!("a rather long word {}", n % 6)))
            .collect();
        let floats = [0.0, -0.0, 1.5, f64::NAN, f64::NEG_INFINITY];
        let floats: Float64Array = (0..rows).map(|_| Some(floats[random() as usize % 5])).collect();
        let mut lists = ListBuilder::new(StringBuilder::new());
        for row in 0..rows {
            lists.values().append_value(format!("element {row}"));
            lists.append(row % 3 != 0);
        }
        let dictionary: DictionaryArray<Int32Type> = words.iter().map(|word| word.as_deref()).collect();
        let field = Arc::new(Field::new("f", DataType::Float64, true));
        let inner = StructArray::from(vec![(field, Arc::new(floats) as ArrayRef)]);
        RecordBatch::try_from_iter_with_nullable([
            ("id", Arc::new(ids) as ArrayRef, false),
            ("word", Arc::new(StringViewArray::from_iter(words.iter().cloned())), true),
            ("s", Arc::new(inner), true),
            ("list", Arc::new(lists.finish()), true),
            ("dictionary", Arc::new(dictionary), true),
        ])
        .unwrap()
    };
    (0..count).map(batch).collect()
}

fn budget(bytes: usize, batch_rows: usize, fan_in: usize) -> Budget {
    Budget { bytes, batch_rows, fan_in, threads: NonZeroUsize::new(3).unwrap() }
}

fn folder() -> Arc<dyn SpillStore> {
    Arc::new(SpillFolder::system())
}

fn sort(batches: &[RecordBatch], keys: &[&str], budget: Budget) -> RecordBatch {
    sort_in(batches, keys, budget, folder())
}

fn sort_in(
    batches: &[RecordBatch],
    keys: &[&str],
    budget: Budget,
    store: Arc<dyn SpillStore>,
) -> RecordBatch {
    let schema = batches[0].schema();
    let keys = keys.iter().map(|key| sort_key(key, &schema)).collect();
    let owned: Vec<_> = batches.iter().cloned().map(Ok).collect();
    let mut seen = 0;
    let keys = Keys::new(keys).unwrap();
    let sorted =
        sorted(Box::new(owned.into_iter()), &schema, keys, budget, store, |rows| seen += rows).unwrap();
    let sorted: Vec<RecordBatch> = sorted.map(Result::unwrap).collect();
    assert_eq!(seen, batches.iter().map(RecordBatch::num_rows).sum::<usize>());
    concat_batches(&schema, &sorted).unwrap()
}

fn ids(batch: &RecordBatch) -> Vec<i64> {
    batch.column(0).as_primitive::<Int64Type>().values().to_vec()
}

#[test]
fn many_runs_give_what_one_sort_in_memory_gives() {
    let batches = batches(40, 50);
    let all = concat_batches(&batches[0].schema(), &batches).unwrap();
    for keys in [
        &["word", "s.f:desc"][..],
        &["s.f", "word:desc:nulls-first"],
        &["dictionary:nulls-first"],
        &["id:desc"],
    ] {
        let in_memory = sort(&batches, keys, budget(usize::MAX, 64, 64));
        // A run for each batch, merged by threes in several passes.
        let spilled = sort(&batches, keys, budget(1, 64, 3));
        assert_eq!(ids(&in_memory), ids(&spilled), "{keys:?}");
        assert_eq!(in_memory, spilled);
        let some = sort(&batches, keys, budget(100_000, 7, 64));
        assert_eq!(in_memory, some);
        // The rows themselves are unchanged.
        let mut sorted = ids(&in_memory);
        let position = sorted.iter().position(|id| *id == 777).unwrap();
        assert_eq!(in_memory.slice(position, 1), all.slice(777, 1));
        sorted.sort_unstable();
        assert_eq!(sorted, (0..2000).collect::<Vec<_>>());
    }
}

#[test]
fn order_is_that_of_the_keys_and_equal_rows_keep_theirs() {
    let batches = batches(10, 30);
    let sorted = sort(&batches, &["word:desc", "s.f"], budget(1, 16, 2));
    let words = sorted.column(1).as_string_view();
    let floats = sorted.column(2).as_struct().column(0).as_primitive::<Float64Type>();
    let ids = ids(&sorted);
    for row in 1..sorted.num_rows() {
        let word = |row: usize| words.is_valid(row).then(|| words.value(row));
        // Nulls are last in both directions.
        let by_word = match (word(row - 1), word(row)) {
            (Some(a), Some(b)) => b.cmp(a),
            (a, b) => b.is_some().cmp(&a.is_some()),
        };
        // Both zeros are one key, and NaN is above all numbers.
        let key = |row: usize| floats.value(row) + 0.0;
        let by_float = key(row - 1).total_cmp(&key(row));
        let order = by_word.then(by_float).then(ids[row - 1].cmp(&ids[row]));
        assert!(order.is_lt(), "row {row}");
    }
}

#[test]
fn lists_of_no_values_are_as_many_as_before() {
    let of_none = DataType::FixedSizeList(Arc::new(Field::new("item", DataType::Int32, true)), 0);
    let values = ArrayData::new_empty(&DataType::Int32);
    let values = ArrayData::builder(of_none.clone()).len(45).add_child_data(values).build().unwrap();
    let field = Arc::new(Field::new("element", of_none, true));
    let lists = ListArray::new(field, OffsetBuffer::from_lengths(0..10), make_array(values), None);
    let ids = Int64Array::from_iter_values(0..10);
    let columns = [("id", Arc::new(ids) as ArrayRef), ("lists", Arc::new(lists))];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let sorted = sort(&[batch], &["id:desc"], budget(usize::MAX, 64, 64));
    let lists = sorted.column(1).as_list::<i32>();
    assert!(lists.offsets().lengths().eq((0..10).rev()));
    assert_eq!(lists.values().len(), 45);
}

#[test]
fn no_rows_and_failures() {
    let schema = Arc::new(Schema::new(vec![Field::new("a", DataType::Utf8, true)]));
    let keys = || Keys::new(vec![sort_key("a", &schema)]).unwrap();
    let few = budget(1, 8, 2);
    let none = sorted(Box::new(std::iter::empty()), &schema, keys(), few, folder(), |_| {}).unwrap();
    assert_eq!(none.count(), 0);
    let column: ArrayRef = Arc::new(StringArray::from(vec!["x"]));
    let batch = RecordBatch::try_new(schema.clone(), vec![column]).unwrap();
    let failing = [Ok(batch), Err(Failure::Check("bad".to_owned()))];
    assert!(sorted(Box::new(failing.into_iter()), &schema, keys(), few, folder(), |_| {}).is_err());
}

/// Files in memory, whose contents can be inspected, and changed when they are read.
#[derive(Debug, Clone, Default)]
struct Watched {
    written: Arc<Mutex<Vec<u8>>>,
    changes: bool,
}

#[derive(Debug)]
struct WatchedFile(Watched, Mutex<Vec<u8>>);

impl SpillStore for Watched {
    fn create(&self) -> io::Result<Box<dyn SpillFile>> {
        Ok(Box::new(WatchedFile(self.clone(), Mutex::default())))
    }
}

impl SpillFile for WatchedFile {
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let mut own = self.1.lock().unwrap();
        assert_eq!(own.len() as u64, offset, "from front to back");
        own.extend_from_slice(bytes);
        self.0.written.lock().unwrap().extend_from_slice(bytes);
        Ok(())
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        buffer.copy_from_slice(&self.1.lock().unwrap()[offset as usize..][..buffer.len()]);
        if self.0.changes && !buffer.is_empty() {
            buffer[buffer.len() / 2] ^= 1;
        }
        Ok(())
    }
}

#[cfg(feature = "encryption")]
#[test]
fn rows_of_encrypted_files_are_in_no_file_in_the_open() {
    let batches = batches(40, 50);
    let expected = sort(&batches, &["word", "id:desc"], budget(usize::MAX, 64, 64));
    let holds_rows = |watched: &Watched| {
        let written = watched.written.lock().unwrap();
        assert!(written.len() > 100_000);
        written.windows(11).any(|seen| seen == b"rather long")
    };
    let (open, sealed) = (Watched::default(), Watched::default());
    let few = budget(1, 64, 3);
    assert_eq!(sort_in(&batches, &["word", "id:desc"], few, Arc::new(open.clone())), expected);
    assert!(holds_rows(&open), "without keys rows are as they were");
    let store = Arc::new(SealedSpills::new(Arc::new(sealed.clone())));
    assert_eq!(sort_in(&batches, &["word", "id:desc"], few, store), expected);
    assert!(!holds_rows(&sealed));
}

#[cfg(feature = "encryption")]
#[test]
fn rows_that_were_changed_in_a_file_are_an_error() {
    let batches = batches(4, 50);
    let schema = batches[0].schema();
    let changing = Watched { changes: true, ..Watched::default() };
    let store = Arc::new(SealedSpills::new(Arc::new(changing)));
    let keys = Keys::new(vec![sort_key("id", &schema)]).unwrap();
    let owned = batches.into_iter().map(Ok);
    let rows = sorted(Box::new(owned), &schema, keys, budget(1, 64, 2), store, |_| {});
    let failure = rows.and_then(|rows| rows.collect::<Result<Vec<_>, _>>()).err().unwrap();
    assert!(format!("{failure:?}").contains("somebody changed"), "{failure:?}");
}
