//! Folder names of partitions: `key=value`, and `key=__HIVE_DEFAULT_PARTITION__` for null keys.
//!
//! DataFusion distributes rows to folders by the values of their keys alone, and the value beneath a null is arbitrary:
//! mostly 0.

use crate::column_kind::value_type;
use arrow_array::{Array, ArrayRef, RecordBatch, Scalar, StringArray, UInt32Array};
use arrow_schema::{DataType, Field, Fields, Schema};
use datafusion::arrow::compute::kernels::cmp::eq;
use datafusion::arrow::compute::{cast, take_record_batch};
use datafusion::common::exec_err;
use datafusion::error::Result;
use marquetry_arrow::dataset::NULL_PARTITION;
use object_store::path::Path;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Fails if a key is the text that stands for null: it would be read as null.
pub(crate) fn check_texts(batch: &RecordBatch, keys: &[String]) -> Result<()> {
    let null: ArrayRef = Arc::new(StringArray::from(vec![NULL_PARTITION]));
    for key in keys {
        let column = batch.column(batch.schema_ref().index_of(key)?);
        let values = value_type(column.data_type());
        if values.is_string() && eq(column, &Scalar::new(cast(&null, values)?))?.true_count() > 0 {
            return exec_err!(
                "the key {key} is the text {NULL_PARTITION} in some rows, which stands for null in the name of a folder"
            );
        }
    }
    Ok(())
}

/// Splits a batch so that each key is null in all rows of a part, or in none. A null key becomes text: the one that
/// stands for null in the name of a folder.
pub(crate) fn with_named_nulls(batch: RecordBatch, keys: &[String]) -> Result<Vec<RecordBatch>> {
    let mut nullable = Vec::new();
    for key in keys {
        let index = batch.schema_ref().index_of(key)?;
        if let Some(nulls) = batch.column(index).logical_nulls().filter(|nulls| nulls.null_count() > 0) {
            nullable.push((index, nulls));
        }
    }
    if nullable.is_empty() {
        return Ok(vec![batch]);
    }
    let mut rows_of: BTreeMap<Vec<bool>, Vec<u32>> = BTreeMap::new();
    for (row, number) in (0..batch.num_rows()).zip(0u32..) {
        let are_null = nullable.iter().map(|(_, nulls)| nulls.is_null(row)).collect();
        rows_of.entry(are_null).or_default().push(number);
    }
    let part = |(are_null, rows): (Vec<bool>, Vec<u32>)| {
        let part = take_record_batch(&batch, &UInt32Array::from(rows))?;
        let null_keys = nullable.iter().zip(are_null).filter(|(_, is_null)| *is_null);
        with_text(part, null_keys.map(|((index, _), _)| *index))
    };
    rows_of.into_iter().map(part).collect()
}

/// The path of a file, with one `=` in the name of each partition folder: others are escaped. QUIRK: DataFusion leaves
/// those in values as they are, and DuckDB reads no folder with such a name.
pub(crate) fn with_one_equals_sign(path: &Path, keys: usize) -> Result<Path> {
    let parts: Vec<String> = path.parts().map(|part| part.as_ref().to_owned()).collect();
    let folders = parts.len().saturating_sub(1 + keys)..parts.len().saturating_sub(1);
    let names = parts.iter().enumerate().map(|(index, name)| match name.split_once('=') {
        Some((key, value)) if folders.contains(&index) => format!("{key}={}", value.replace('=', "%3D")),
        _ => name.clone(),
    });
    Ok(Path::parse(names.collect::<Vec<_>>().join("/"))?)
}

/// The batch with the text for null in these columns.
fn with_text(batch: RecordBatch, columns: impl Iterator<Item = usize>) -> Result<RecordBatch> {
    let (schema, mut arrays, rows) = batch.into_parts();
    let mut fields = schema.fields().to_vec();
    for index in columns {
        fields[index] = Arc::new(Field::new(fields[index].name(), DataType::Utf8, false));
        arrays[index] = Arc::new(StringArray::from(vec![NULL_PARTITION; rows]));
    }
    Ok(RecordBatch::try_new(Arc::new(Schema::new(Fields::from(fields))), arrays)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::types::Int32Type;
    use arrow_array::{DictionaryArray, Int64Array, StringViewArray};

    #[test]
    fn rows_are_parted_by_the_keys_that_are_null() {
        let column = |values: Vec<Option<i64>>| Arc::new(Int64Array::from(values)) as ArrayRef;
        let batch = RecordBatch::try_from_iter([
            ("a", column(vec![Some(1), None, None, Some(4)])),
            ("n", column(vec![Some(1), Some(2), Some(3), Some(4)])),
            ("b", column(vec![None, Some(2), None, None])),
        ]);
        let parts = with_named_nulls(batch.unwrap(), &["a".to_owned(), "b".to_owned()]).unwrap();
        let text = |rows: usize| Arc::new(StringArray::from(vec![NULL_PARTITION; rows])) as ArrayRef;
        let expected: [[ArrayRef; 3]; 3] = [
            [column(vec![Some(1), Some(4)]), column(vec![Some(1), Some(4)]), text(2)],
            [text(1), column(vec![Some(2)]), column(vec![Some(2)])],
            [text(1), column(vec![Some(3)]), text(1)],
        ];
        assert_eq!(parts.len(), expected.len());
        for (part, expected) in parts.iter().zip(expected) {
            assert_eq!(part.columns(), expected);
        }
    }

    #[test]
    fn folders_have_one_equals_sign() {
        for (path, keys, wanted) in [
            ("a=b=c/k=1/f=.parquet", 1, "a=b=c/k=1/f=.parquet"),
            ("a=b=c/k=x=y=/m==/f=.parquet", 2, "a=b=c/k=x%3Dy%3D/m=%3D/f=.parquet"),
            ("k=%2541/f.parquet", 1, "k=%2541/f.parquet"),
            ("f.parquet", 1, "f.parquet"),
        ] {
            let path = Path::parse(path).unwrap();
            assert_eq!(with_one_equals_sign(&path, keys).unwrap().as_ref(), wanted);
        }
    }

    #[test]
    fn batches_without_null_keys_stay() {
        let batch = RecordBatch::try_from_iter([("a", Arc::new(Int64Array::from(vec![1])) as ArrayRef)]);
        let batch = batch.unwrap();
        let parts = with_named_nulls(batch.clone(), &["a".to_owned()]).unwrap();
        assert_eq!(parts, std::slice::from_ref(&batch));
        assert!(with_named_nulls(batch, &["z".to_owned()]).is_err());
    }

    #[test]
    fn no_text_stands_for_null() {
        let texts = [Some("a"), None, Some(NULL_PARTITION)];
        let columns: [ArrayRef; 3] = [
            Arc::new(StringArray::from(texts.to_vec())),
            Arc::new(StringViewArray::from(texts.to_vec())),
            Arc::new(texts.into_iter().collect::<DictionaryArray<Int32Type>>()),
        ];
        for column in columns {
            let batch = RecordBatch::try_from_iter([("k", column)]).unwrap();
            let keys = ["k".to_owned()];
            let error = check_texts(&batch, &keys).unwrap_err().to_string();
            assert!(
                error.contains("the key k is the text __HIVE_DEFAULT_PARTITION__ in some rows"),
                "{error}"
            );
            check_texts(&batch.slice(0, 2), &keys).unwrap();
            check_texts(&batch, &[]).unwrap();
        }
    }
}
