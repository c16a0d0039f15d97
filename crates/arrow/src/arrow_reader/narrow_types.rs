//! Arrow types that limit the number of values in a batch: dictionaries with narrow keys, and runs with narrow ends.

use super::options::ArrowReaderOptions;
use super::read_target::page_options;
use super::resolved_schema::ProjectedField;
use crate::schema::{leaf_types_of, narrow_key_capacity};
use arrow_schema::DataType;
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::read::most_distinct_values;
use marquetry_core::source::Source;
use std::sync::Arc;

/// The bounds that narrow types put on batches.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct NarrowTypes {
    /// Columns with narrow keys, and how many distinct values their keys can number.
    keys: Vec<(usize, u64)>,
    /// Maximum number of rows that run ends can count. For runs in lists it does not suffice, as they count elements.
    pub(super) most_rows: Option<usize>,
}

impl NarrowTypes {
    pub(super) fn of(fields: impl Iterator<Item = ProjectedField>) -> Self {
        let mut found = NarrowTypes::default();
        for field in fields {
            let mut types = Vec::new();
            leaf_types_of(field.arrow.data_type(), &mut types);
            field
                .leaves()
                .into_iter()
                .zip(types)
                .for_each(|(leaf, data_type)| found.look_at(leaf, data_type));
        }
        found
    }

    fn look_at(&mut self, leaf: usize, data_type: &DataType) {
        match data_type {
            DataType::Dictionary(keys, _) => {
                self.keys.extend(narrow_key_capacity(keys).map(|most| (leaf, most)))
            }
            DataType::RunEndEncoded(ends, values) => {
                if *ends.data_type() == DataType::Int16 {
                    self.most_rows = Some(i16::MAX as usize);
                }
                self.look_at(leaf, values.data_type());
            }
            _ => {}
        }
    }

    /// Returns whether any column has narrow keys.
    pub(super) fn has_keys(&self) -> bool {
        !self.keys.is_empty()
    }

    /// Returns whether the keys may be too narrow for the dictionaries of all row groups together. Assumes that these
    /// share no values.
    pub(super) fn may_be_too_narrow(
        &self,
        source: &Arc<dyn Source>,
        metadata: &ParquetMetaData,
        row_groups: &[usize],
        options: &ArrowReaderOptions,
    ) -> bool {
        row_groups.len() > 1
            && self.keys.iter().any(|(leaf, capacity)| {
                let values = row_groups.iter().map(|row_group| {
                    let chunk = metadata.row_group(*row_group).column(*leaf)?;
                    most_distinct_values(source, chunk, page_options(metadata, options))
                });
                let all = values.sum::<marquetry_base::Result<u64>>();
                // An error here is reported when the column is read.
                all.is_ok_and(|all| all > *capacity)
            })
    }
}

#[cfg(test)]
mod tests {
    use crate::arrow_reader::ParquetRecordBatchReaderBuilder;
    use crate::arrow_writer::ArrowWriter;
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Int8Type, Int16Type};
    use arrow_array::{
        Array, ArrayRef, DictionaryArray, Int16Array, Int64Array, RecordBatch, RunArray, StructArray,
    };
    use arrow_schema::{DataType, Field};
    use bytes::Bytes;
    use marquetry_base::{SharedExecutor, Task};
    use marquetry_core::write::WriterProperties;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn written(batches: &[RecordBatch], row_group: usize) -> Bytes {
        let properties = WriterProperties::builder().set_max_row_group_row_count(Some(row_group)).build();
        let mut writer = ArrowWriter::try_new(Vec::new(), batches[0].schema(), Some(properties)).unwrap();
        batches.iter().for_each(|batch| writer.write(batch).unwrap());
        writer.into_inner().unwrap().into()
    }

    fn read(file: &Bytes, threads: usize) -> Vec<RecordBatch> {
        let builder = ParquetRecordBatchReaderBuilder::try_new(file.clone()).unwrap();
        let reader = builder.with_batch_size(100_000).with_threads(threads).build().unwrap();
        reader.map(Result::unwrap).collect()
    }

    /// As pandas writes the categories of several frames.
    #[test]
    fn row_groups_have_dictionaries_of_their_own() {
        let text = |group: usize, row: usize| format!("{group}_{row}");
        for is_nested in [false, true] {
            let batches = (0..3).map(|group| {
                let texts: Vec<String> = (0..100).map(|row| text(group, row)).collect();
                let keys: DictionaryArray<Int8Type> = texts.iter().map(String::as_str).collect();
                let mut column: ArrayRef = Arc::new(keys);
                if is_nested {
                    let field = Arc::new(Field::new("d", column.data_type().clone(), true));
                    column = Arc::new(StructArray::from(vec![(field, column)]));
                }
                RecordBatch::try_from_iter([("c", column)]).unwrap()
            });
            let file = written(&batches.collect::<Vec<_>>(), 100);
            for threads in [1, 2] {
                let read = read(&file, threads);
                assert_eq!(read.iter().map(RecordBatch::num_rows).collect::<Vec<_>>(), [100, 100, 100]);
                for (group, batch) in read.iter().enumerate() {
                    let column = match is_nested {
                        true => batch.column(0).as_struct().column(0),
                        false => batch.column(0),
                    };
                    let texts = column.as_dictionary::<Int8Type>();
                    let texts = texts.downcast_dict::<arrow_array::StringArray>().unwrap();
                    let expected: Vec<String> = (0..100).map(|row| text(group, row)).collect();
                    assert!(texts.into_iter().eq(expected.iter().map(|text| Some(text.as_str()))));
                }
            }
        }
    }

    /// Several threads return some of the rows, too, in the same batches as one thread.
    #[test]
    fn offsets_and_limits_of_many_dictionaries() {
        let batches = (0..5).map(|group| {
            let texts: Vec<String> = (0..100).map(|row| format!("{group}_{row}")).collect();
            let keys: DictionaryArray<Int8Type> = texts.iter().map(String::as_str).collect();
            RecordBatch::try_from_iter([("c", Arc::new(keys) as ArrayRef)]).unwrap()
        });
        let file = written(&batches.collect::<Vec<_>>(), 100);
        let all: Vec<String> = (0..500).map(|row| format!("{}_{}", row / 100, row % 100)).collect();
        let cases = [
            (0, Some(500)),
            (0, Some(0)),
            (0, Some(250)),
            (99, Some(2)),
            (100, Some(100)),
            (130, None),
            (130, Some(201)),
            (130, Some(usize::MAX)),
            (400, Some(1_000)),
            (500, Some(1)),
            (501, None),
            (usize::MAX, Some(usize::MAX)),
        ];
        for (offset, limit) in cases {
            let mut per_threads = Vec::new();
            for threads in [1, 3] {
                let spawned = Arc::new(AtomicUsize::new(0));
                let counter = spawned.clone();
                let executor = SharedExecutor::new(move |task: Task| {
                    counter.fetch_add(1, Ordering::Relaxed);
                    drop(std::thread::spawn(task));
                });
                let builder = ParquetRecordBatchReaderBuilder::try_new(file.clone()).unwrap();
                let builder = builder.with_batch_size(60).with_threads(threads).with_offset(offset);
                let builder = limit.into_iter().fold(builder, |builder, limit| builder.with_limit(limit));
                let reader = builder.with_shared_executor(executor).build().unwrap();
                let batches: Vec<RecordBatch> = reader.map(Result::unwrap).collect();
                let wanted = all.iter().skip(offset).take(limit.unwrap_or(usize::MAX));
                let texts = batches.iter().flat_map(|batch| {
                    let texts = arrow_cast::cast(batch.column(0), &DataType::Utf8).unwrap();
                    texts.as_string::<i32>().iter().map(|text| text.unwrap().to_owned()).collect::<Vec<_>>()
                });
                assert!(texts.eq(wanted.cloned()), "{offset} {limit:?} {threads}");
                let end = offset.saturating_add(limit.unwrap_or(usize::MAX)).min(all.len());
                if offset / 100 < end.saturating_sub(1) / 100 {
                    assert_eq!(spawned.load(Ordering::Relaxed) > 0, threads > 1, "{offset} {limit:?}");
                }
                per_threads.push(batches);
            }
            assert_eq!(per_threads[0], per_threads[1], "{offset} {limit:?}");
        }
    }

    #[test]
    fn runs_are_no_longer_than_their_ends_count() {
        let ends = Int16Array::from(vec![10_000, 20_000, 30_000]);
        let batches = (0..4).map(|part| {
            let values = Int64Array::from(vec![Some(part), None, Some(part + 1)]);
            let runs: ArrayRef = Arc::new(RunArray::<Int16Type>::try_new(&ends, &values).unwrap());
            RecordBatch::try_from_iter_with_nullable([("c", runs, true)]).unwrap()
        });
        let file = written(&batches.collect::<Vec<_>>(), 1 << 20);
        for threads in [1, 2] {
            let read = read(&file, threads);
            assert_eq!(read.iter().map(RecordBatch::num_rows).sum::<usize>(), 120_000);
            let mut row = 0;
            for batch in &read {
                assert!(batch.num_rows() <= i16::MAX as usize);
                let runs = batch.column(0).as_any().downcast_ref::<RunArray<Int16Type>>().unwrap();
                let values = runs.downcast::<Int64Array>().unwrap();
                for value in values {
                    let (part, run) = (row / 30_000, row % 30_000 / 10_000);
                    assert_eq!(value, [Some(part), None, Some(part + 1)][run as usize], "row {row}");
                    row += 1;
                }
            }
        }
    }
}
