//! Infers shreddings from a sample of batches, and keeps those that pay: measured by writing the sample both ways.

use crate::arrow_writer::ArrowWriter;
use crate::schema::is_variant;
use crate::variant::{
    BatchShredder, Shreddings, VariantColumn, arrays_of_path, prunable_columns, variant_columns,
};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{Field, FieldRef, Schema};
use marquetry_base::{Error, Result};
use marquetry_core::write::WriterProperties;
use marquetry_variant::{InferShreddingOptions, Shredding, ShreddingInference};
use std::sync::Arc;

/// The shredding inferred for a VARIANT column from a sample.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct InferredShredding {
    /// The column's dotted path.
    pub column: String,
    /// The shape that most of the sample has, whether it pays or not; `None` if there is none.
    pub shredding: Option<Shredding>,
    /// Size of the sample's column chunks without shredding, in bytes.
    pub unshredded_bytes: u64,
    /// Size of the sample's column chunks with this shredding, in bytes.
    pub shredded_bytes: u64,
    /// Columns of the shape whose bounds allow pruning: a search for a value can skip half or more of eight parts of the sample.
    pub prunable: Vec<String>,
}

impl InferredShredding {
    /// Returns whether shredding pays: the sample gets no larger, or at most a quarter larger if parts of it can be skipped.
    pub fn pays(&self) -> bool {
        let most = match self.prunable.is_empty() {
            true => self.unshredded_bytes,
            false => self.unshredded_bytes + self.unshredded_bytes / 4,
        };
        self.shredding.is_some() && self.shredded_bytes <= most
    }
}

/// Infers the shapes of VARIANT columns from a sample. [`paying`] makes [`Shreddings`] of those that pay.
///
/// `columns` are dotted paths; if there are none, all VARIANT columns are used. A column that is shredded already is
/// treated as if it were not. The options set the size of the sample and what counts in it. `properties` are used to
/// write the sample for the measurement.
///
/// ```
/// use marquetry_arrow::infer_shredding::{infer_shreddings, paying};
/// # use arrow_array::{ArrayRef, BinaryArray, RecordBatch, StructArray};
/// # use arrow_schema::{DataType, Field, Schema};
/// # let bytes = |name: &str| Field::new(name, DataType::Binary, false);
/// # let storage = DataType::Struct(vec![bytes("metadata"), bytes("value")].into());
/// # let extension = std::collections::HashMap::from([("ARROW:extension:name".to_owned(), "arrow.parquet.variant".to_owned())]);
/// # let schema = std::sync::Arc::new(Schema::new(vec![Field::new("event", storage, true).with_metadata(extension)]));
/// # let rows = (0..5000).map(|i| marquetry_variant::json::parse(&format!(r#"{{"at": {i}, "kind": "click"}}"#)).unwrap());
/// # let (metadata, value): (Vec<_>, Vec<_>) = rows.unzip();
/// # let binary = |bytes: &[Vec<u8>]| std::sync::Arc::new(BinaryArray::from_iter_values(bytes)) as ArrayRef;
/// # let DataType::Struct(fields) = schema.field(0).data_type().clone() else { unreachable!() };
/// # let column = StructArray::new(fields, vec![binary(&metadata), binary(&value)], None);
/// # let batch = RecordBatch::try_new(schema.clone(), vec![std::sync::Arc::new(column)])?;
/// // `batch` has a column `event` of {"at": 0, "kind": "click"}, {"at": 1, "kind": "click"}, ..
/// let inferred = infer_shreddings(&[batch], &[], &Default::default(), None)?;
/// assert_eq!(inferred[0].shredding.as_ref().unwrap().to_string(), "{at: int64, kind: string}");
/// assert!(inferred[0].pays());
/// assert_eq!(inferred[0].prunable, ["typed_value.at.typed_value"]);
/// assert_eq!(paying(&inferred).to_string(), "event={at: int64, kind: string}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// If a path does not lead to a VARIANT column, or if a value is damaged.
pub fn infer_shreddings(
    sample: &[RecordBatch],
    columns: &[&str],
    options: &InferShreddingOptions,
    properties: Option<&WriterProperties>,
) -> Result<Vec<InferredShredding>> {
    let Some(first) = sample.first() else { return Ok(Vec::new()) };
    let all = variant_columns(&first.schema());
    let wanted: Vec<&str> = match columns.is_empty() {
        true => all.iter().map(String::as_str).collect(),
        false => columns.to_vec(),
    };
    wanted.into_iter().map(|column| infer(sample, column, options, properties)).collect()
}

/// Returns the shreddings that [pay](InferredShredding::pays). The other columns are not shredded.
pub fn paying(inferred: &[InferredShredding]) -> Shreddings {
    inferred.iter().fold(Shreddings::new(), |shreddings, inferred| {
        let shredding = inferred.shredding.clone().filter(|_| inferred.pays());
        shreddings.with_column(&inferred.column, shredding.unwrap_or(Shredding::Variant))
    })
}

fn infer(
    sample: &[RecordBatch],
    path: &str,
    options: &InferShreddingOptions,
    properties: Option<&WriterProperties>,
) -> Result<InferredShredding> {
    let mut arrays: Vec<(FieldRef, ArrayRef)> = Vec::new();
    let mut inference = ShreddingInference::new(options.clone());
    for batch in sample {
        let Some((field, array)) = arrays_of_path(batch, path).filter(|(field, _)| is_variant(field)) else {
            return Err(Error::argument(format!("no column of VARIANT is called {path}")));
        };
        let rows = sampled(&array, &mut inference).map_err(|error| error.in_column(path))?;
        arrays.push((field, array.slice(0, rows)));
        if inference.is_full() {
            break;
        }
    }
    let shredding = inference.shredding();
    let (unshredded_bytes, _) = written(&arrays, &Shredding::Variant, properties)?;
    let (shredded_bytes, prunable) = match &shredding {
        Some(shredding) => written(&arrays, shredding, properties)?,
        None => (unshredded_bytes, Vec::new()),
    };
    Ok(InferredShredding { column: path.to_owned(), shredding, unshredded_bytes, shredded_bytes, prunable })
}

/// Adds rows until the sample is full. Returns how many it added.
fn sampled(array: &ArrayRef, inference: &mut ShreddingInference) -> Result<usize> {
    let column = VariantColumn::try_new(array)?;
    let mut reader = column.reader();
    for row in 0..column.len() {
        if inference.is_full() {
            return Ok(row);
        }
        if let Some(variant) = reader.get(row)? {
            inference.add(variant)?;
        }
    }
    Ok(column.len())
}

/// Writes the sample in a shape. Returns the bytes of its column chunks, and the columns that allow pruning.
fn written(
    arrays: &[(FieldRef, ArrayRef)],
    shredding: &Shredding,
    properties: Option<&WriterProperties>,
) -> Result<(u64, Vec<String>)> {
    let Some((field, _)) = arrays.first() else { return Ok((0, Vec::new())) };
    let schema = Arc::new(Schema::new(vec![Field::clone(field).with_nullable(true)]));
    let shreddings = Shreddings::new().with_column(field.name(), shredding.clone());
    let shredder = BatchShredder::new(schema.clone(), &shreddings)?;
    let mut batches = Vec::new();
    for (_, array) in arrays {
        let batch = RecordBatch::try_new(schema.clone(), vec![array.clone()]);
        batches.push(shredder.shred(&batch.map_err(crate::arrow_error)?)?);
    }
    let mut writer = ArrowWriter::try_new(std::io::sink(), shredder.schema().clone(), properties.cloned())?;
    batches.iter().try_for_each(|batch| writer.write(batch))?;
    let metadata = writer.close()?;
    let mut bytes = 0;
    for row_group in metadata.row_groups() {
        for chunk in row_group.columns() {
            bytes += u64::try_from(chunk?.compressed_size()).unwrap_or(0);
        }
    }
    let longest = batches.iter().max_by_key(|batch| batch.num_rows());
    let prunable =
        longest.map(|batch| prunable_columns(&VariantColumn::try_new(batch.column(0))?)).transpose()?;
    Ok((bytes, prunable.unwrap_or_default()))
}
