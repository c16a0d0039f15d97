//! Types of which one batch cannot have any number of values: dictionaries with keys, and runs with ends, of few bits.

use crate::schema::element_of;
use arrow_schema::{DataType, FieldRef};

/// What narrow types ask of batches.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct NarrowTypes {
    /// Row groups have dictionaries of their own, whose values together may be more than keys have numbers for: batches end with row
    /// groups.
    pub(super) has_keys: bool,
    /// How many rows the ends of runs can count. Of runs in lists that is not known: their entries are counted.
    pub(super) most_rows: Option<usize>,
}

impl NarrowTypes {
    pub(super) fn of(fields: impl Iterator<Item = FieldRef>) -> Self {
        let mut found = NarrowTypes::default();
        fields.for_each(|field| found.look_at(field.data_type()));
        found
    }

    fn look_at(&mut self, data_type: &DataType) {
        use DataType::{Int8, Int16, UInt8, UInt16};
        match (data_type, element_of(data_type)) {
            (DataType::Dictionary(keys, _), _) => {
                self.has_keys |= matches!(**keys, Int8 | UInt8 | Int16 | UInt16);
            }
            (DataType::RunEndEncoded(ends, values), _) => {
                if *ends.data_type() == Int16 {
                    self.most_rows = Some(i16::MAX as usize);
                }
                self.look_at(values.data_type());
            }
            (DataType::Struct(fields), _) => fields.iter().for_each(|field| self.look_at(field.data_type())),
            (DataType::Map(entries, _), _) => self.look_at(entries.data_type()),
            (_, Some(element)) => self.look_at(element.data_type()),
            _ => {}
        }
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
    use arrow_schema::Field;
    use bytes::Bytes;
    use marquetry_core::write::WriterProperties;
    use std::sync::Arc;

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
