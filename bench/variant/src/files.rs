//! A shredded path of a file against a plain column of the same values.

use crate::error::Result;
use crate::values::Values;
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{Field, Schema};
use bytes::Bytes;
use marquetry_arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use marquetry_arrow::arrow_writer::ArrowWriter;
use marquetry_arrow::variant::{VariantCast, VariantPath, variant_get, variant_get_field};
use marquetry_variant::{Path, PrimitiveType};
use std::collections::HashMap;
use std::sync::Arc;

/// A file with a shredded column `v`, and a column `plain` of what a path into it leads to.
pub(crate) struct TwoColumns {
    file: Bytes,
    pub(crate) path: String,
}

impl TwoColumns {
    pub(crate) fn new(values: &Values, path: &str, kind: PrimitiveType) -> Result<Self> {
        let steps: Path = path.parse()?;
        let cast = VariantCast::Type(kind);
        let extension =
            HashMap::from([("ARROW:extension:name".to_owned(), "arrow.parquet.variant".to_owned())]);
        let fields = vec![
            Field::new("v", values.shredded.data_type().clone(), true).with_metadata(extension),
            variant_get_field("plain", &steps, cast),
        ];
        let columns = vec![values.shredded.clone(), variant_get(&values.shredded, &steps, cast)?];
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)?;
        let mut file = Vec::new();
        let mut writer = ArrowWriter::try_new(&mut file, batch.schema(), None)?;
        writer.write(&batch)?;
        writer.close()?;
        Ok(TwoColumns { file: file.into(), path: VariantPath::new("v", steps, cast).to_string() })
    }

    /// One column, all rows.
    pub(crate) fn read(&self, column: &str) -> Result<Vec<ArrayRef>> {
        let reader = ParquetRecordBatchReaderBuilder::try_new(self.file.clone())?
            .with_batch_size(8192)
            .with_columns([column])?
            .build()?;
        reader.map(|batch| Ok(batch?.column(0).clone())).collect()
    }
}
