//! Resolves Parquet fields to Arrow fields, for only those fields that are read.
//!
//! ```text
//! schema() ------------> whole: all fields, once
//! one column of many --> part:  its field alone, and of the stored Arrow schema nothing else
//! ```

use super::ProjectionMask;
use super::options::{ArrowReaderOptions, Int96Unit};
use crate::schema::{
    BINARY_METADATA_PREFIX, TypeOptions, binary_metadata, check_bare_integers, check_chosen_types, project,
    to_arrow, to_arrow_as,
};
use arrow_schema::{FieldRef, Schema as ArrowSchema, SchemaRef};
use marquetry_base::Result;
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::nesting::NestedField;
use marquetry_format::KeyValueView;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

/// Fields of the root, in the order of the file, and their Arrow fields.
#[derive(Debug, Clone)]
pub(crate) struct ResolvedFields {
    pub(crate) fields: Arc<[NestedField]>,
    /// The Arrow fields. If these are all fields, virtual columns follow.
    pub(crate) schema: SchemaRef,
}

/// The part of a root field that is read, and its Arrow field.
pub(super) struct ProjectedField {
    pub(super) field: NestedField,
    pub(super) arrow: FieldRef,
}

impl ProjectedField {
    /// Returns its leaf columns.
    pub(super) fn leaves(&self) -> Vec<usize> {
        let mut leaves = Vec::new();
        self.field.leaves(&mut leaves);
        leaves
    }
}

impl ResolvedFields {
    /// Returns the fields, reduced to the columns that `mask` chooses.
    pub(super) fn projected(&self, mask: &ProjectionMask) -> impl Iterator<Item = ProjectedField> {
        self.fields.iter().zip(self.schema.fields()).filter_map(|(whole, arrow)| {
            let field = whole.project(&|leaf| mask.leaf_included(leaf))?;
            let arrow = project(whole, &field, arrow);
            Some(ProjectedField { field, arrow })
        })
    }

    /// Returns the field that a leaf column belongs to.
    pub(super) fn of_leaf(&self, leaf: usize) -> Option<(&NestedField, &FieldRef)> {
        let place = self.fields.partition_point(|field| field.first_leaf() <= leaf).checked_sub(1)?;
        let field = self.fields.get(place).filter(|field| field.has_leaf(leaf))?;
        Some((field, self.schema.fields().get(place)?))
    }
}

/// Caches the resolved fields of a file: all of them, or those of one projection.
#[derive(Debug, Default)]
pub(super) struct SchemaCache {
    whole: OnceLock<ResolvedFields>,
    /// The fields of the first projection.
    part: OnceLock<(ProjectionMask, ResolvedFields)>,
    /// The options by which the fields were resolved; `None` if a schema gave their types.
    choice: Option<TypeChoice>,
    /// The cache for the first different options. A session reads a file with its table's options, again and again.
    other: OnceLock<Arc<SchemaCache>>,
}

/// Returns the schema of all fields by the file itself and by options that name no schema.
pub(super) fn of_file(
    fields: &[NestedField],
    metadata: &ParquetMetaData,
    options: &ArrowReaderOptions,
) -> ArrowSchema {
    let (pairs, types) = (KeyValues::of(metadata, options), type_options(options));
    to_arrow(fields, 0.., metadata.schema(), &pairs.by_key(), &types)
}

/// The options that determine the types of fields.
#[derive(Debug, Clone, PartialEq)]
struct TypeChoice {
    schema: Option<SchemaRef>,
    types: TypeOptions,
    virtual_columns: Vec<FieldRef>,
}

impl TypeChoice {
    fn of(options: &ArrowReaderOptions) -> Self {
        let (schema, virtual_columns) = (options.schema.clone(), options.virtual_columns.clone());
        TypeChoice { schema, types: type_options(options), virtual_columns }
    }
}

impl SchemaCache {
    /// Creates an empty cache. Fails if the schema or types that the options request do not fit; nothing else is resolved.
    pub(super) fn new(metadata: &ParquetMetaData, options: &ArrowReaderOptions) -> Result<Self> {
        let types = SchemaCache { choice: Some(TypeChoice::of(options)), ..SchemaCache::default() };
        if let Some(wanted) = &options.schema {
            let fields = NestedField::from_schema(metadata.schema());
            let schema = to_arrow_as(&fields, metadata.schema(), wanted)?;
            let own = || of_file(&fields, metadata, options);
            check_bare_integers(metadata.schema(), own, &schema)?;
            let whole = ResolvedFields { fields: fields.into(), schema: with_virtual(schema, options) };
            return Ok(SchemaCache { whole: OnceLock::from(whole), ..types });
        }
        check_chosen_types(metadata.schema(), &options.types)?;
        Ok(types)
    }

    /// Returns the cache of the same file for other options. Fails as [`new`](Self::new) does.
    pub(super) fn with_options(
        self: &Arc<Self>,
        metadata: &ParquetMetaData,
        options: &ArrowReaderOptions,
    ) -> Result<Arc<Self>> {
        let choice = Some(TypeChoice::of(options));
        let known = std::iter::once(self).chain(self.other.get());
        if let Some(same) = known.into_iter().find(|cache| cache.choice == choice) {
            return Ok(same.clone());
        }
        let other = Arc::new(Self::new(metadata, options)?);
        // Another thread may have been first, with yet other options.
        let _ = self.other.set(other.clone());
        Ok(other)
    }

    /// Creates a cache in which all fields have the types of `schema`.
    pub(super) fn of_schema(fields: Arc<[NestedField]>, schema: SchemaRef) -> Self {
        SchemaCache { whole: OnceLock::from(ResolvedFields { fields, schema }), ..SchemaCache::default() }
    }

    /// Returns about how many bytes of memory the fields resolved so far take.
    pub(super) fn memory_size(&self) -> usize {
        let resolved = [self.whole.get(), self.part.get().map(|(_, part)| part)];
        // One nested field per Arrow field, and as much again for the column's name and levels.
        let own: usize = resolved.into_iter().flatten().map(|part| 2 * part.schema.fields().size()).sum();
        own + self.other.get().map_or(0, |other| other.memory_size())
    }

    /// Returns all fields, and virtual columns.
    pub(super) fn whole(&self, metadata: &ParquetMetaData, options: &ArrowReaderOptions) -> &ResolvedFields {
        self.whole.get_or_init(|| {
            let fields = NestedField::from_schema(metadata.schema());
            let schema = of_file(&fields, metadata, options);
            ResolvedFields { fields: fields.into(), schema: with_virtual(schema, options) }
        })
    }

    /// Returns at least the fields of these columns.
    pub(super) fn part(
        &self,
        mask: &ProjectionMask,
        metadata: &ParquetMetaData,
        options: &ArrowReaderOptions,
    ) -> ResolvedFields {
        if let Some(whole) = self.whole.get() {
            return whole.clone();
        }
        let roots = roots(mask, metadata);
        if roots.len() >= metadata.schema().fields().len() / PART {
            return self.whole(metadata, options).clone();
        }
        let find = || {
            let field = |(place, root): &(usize, usize)| {
                Some((*place, NestedField::from_root(metadata.schema(), *root)?))
            };
            let (places, fields): (Vec<_>, Vec<_>) = roots.iter().filter_map(field).unzip();
            let (pairs, types) = (KeyValues::of(metadata, options), type_options(options));
            let schema = to_arrow(&fields, places, metadata.schema(), &pairs.by_key(), &types);
            ResolvedFields { fields: fields.into(), schema: Arc::new(schema) }
        };
        // The first call may have been for other columns.
        let (of, part) = self.part.get_or_init(|| (mask.clone(), find()));
        if of == mask { part.clone() } else { find() }
    }
}

/// Returns the fields that the columns belong to: their places among the fields that have columns, and their numbers.
fn roots(mask: &ProjectionMask, metadata: &ParquetMetaData) -> Vec<(usize, usize)> {
    let (mut roots, mut count, mut last) = (Vec::new(), 0, None);
    for (leaf, column) in metadata.schema().columns().iter().enumerate() {
        if last != Some(column.root()) {
            (last, count) = (Some(column.root()), count + 1);
        }
        let root = (count - 1, column.root());
        if mask.leaf_included(leaf) && roots.last() != Some(&root) {
            roots.push(root);
        }
    }
    roots
}

fn type_options(options: &ArrowReaderOptions) -> TypeOptions {
    match options.int96 {
        Int96Unit::Unit(unit) => TypeOptions { int96_unit: Some(unit), ..options.types.clone() },
        Int96Unit::Nanoseconds | Int96Unit::Auto => options.types.clone(),
    }
}

fn with_virtual(schema: ArrowSchema, options: &ArrowReaderOptions) -> SchemaRef {
    if options.virtual_columns.is_empty() {
        return Arc::new(schema);
    }
    let own = schema.fields().iter().chain(&options.virtual_columns).cloned();
    Arc::new(ArrowSchema::new_with_metadata(own.collect::<Vec<_>>(), schema.metadata().clone()))
}

/// The file's key-value metadata as text.
struct KeyValues<'a>(Vec<(Cow<'a, str>, Cow<'a, str>)>);

impl<'a> KeyValues<'a> {
    fn of(metadata: &'a ParquetMetaData, options: &ArrowReaderOptions) -> Self {
        let keeps_binary = options.types.binary_metadata;
        let text = |pair: KeyValueView<'a>| match (pair.key_text(), pair.value_text().unwrap_or_default()) {
            text if !keeps_binary => text,
            // Valid UTF-8 is borrowed. Text that looks like the hexadecimal form of bytes must be converted, too.
            (Cow::Borrowed(key), Cow::Borrowed(value)) if !key.starts_with(BINARY_METADATA_PREFIX) => {
                (key.into(), value.into())
            }
            _ => {
                let (key, value) = binary_metadata::as_text(pair.key, pair.value.unwrap_or_default());
                (key.into(), value.into())
            }
        };
        KeyValues(metadata.key_values().map(text).collect())
    }

    /// Returns the values by key. The first of equal keys wins, and a key without a value has an empty one.
    fn by_key(&self) -> HashMap<&str, &str> {
        let mut out = HashMap::new();
        for (key, value) in &self.0 {
            out.entry(&**key).or_insert(&**value);
        }
        out
    }
}

/// Resolves only the projected fields if they are less than half of all; otherwise resolves all once and caches them.
const PART: usize = 2;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrow_reader::{ArrowReaderMetadata, ParquetRecordBatchReaderBuilder};
    use crate::arrow_writer::ArrowWriter;
    use arrow_array::{ArrayRef, Int32Array, RecordBatch, TimestampSecondArray};
    use bytes::Bytes;
    use std::thread;

    /// 40 columns, half of them of seconds, which only the stored Arrow schema gives, and half of numbers.
    fn file() -> (Bytes, RecordBatch) {
        let column = |i: i64| {
            let array: ArrayRef = match i % 2 {
                0 => Arc::new(TimestampSecondArray::from(vec![i, i + 1])),
                _ => Arc::new(Int32Array::from(vec![i as i32, 7])),
            };
            (format!("column {i}"), array)
        };
        let batch = RecordBatch::try_from_iter((0..40).map(column)).unwrap();
        let mut bytes = Vec::new();
        let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        (bytes.into(), batch)
    }

    #[test]
    fn each_projection_has_its_own_columns() {
        let (bytes, batch) = file();
        for _ in 0..20 {
            let metadata = ArrowReaderMetadata::load(bytes.clone(), ArrowReaderOptions::default()).unwrap();
            let read = |columns: [usize; 2]| {
                let mask = ProjectionMask::leaves(metadata.parquet_schema(), columns);
                let builder =
                    ParquetRecordBatchReaderBuilder::new_with_metadata(bytes.clone(), metadata.clone());
                let mut reader = builder.with_projection(mask).build().unwrap();
                assert_eq!(reader.next().unwrap().unwrap(), batch.project(&columns).unwrap());
            };
            // All at once, of one and the same metadata.
            thread::scope(|scope| {
                for i in 0..8 {
                    scope.spawn(move || read([i, 30 + i]));
                }
            });
            read([3, 4]);
            assert_eq!(*metadata.schema(), batch.schema());
            read([5, 39]);
        }
    }

    #[test]
    fn a_column_has_its_field() {
        let (bytes, _) = file();
        let metadata = ArrowReaderMetadata::load(bytes, ArrowReaderOptions::default()).unwrap();
        let mask = ProjectionMask::leaves(metadata.parquet_schema(), [2, 17]);
        let part = metadata.resolve(&mask);
        assert_eq!(part.fields.len(), 2);
        for leaf in 0..40 {
            let expected = [2, 17].contains(&leaf).then(|| format!("column {leaf}"));
            assert_eq!(part.of_leaf(leaf).map(|(field, _)| field.name.to_string()), expected);
            assert_eq!(&*metadata.whole().of_leaf(leaf).unwrap().0.name, format!("column {leaf}"));
        }
    }
}
