//! Reads one field of the root: its columns, and how they become one array.

use crate::assemble::{Leaves, assemble};
use crate::column_map::{ColumnMap, missing};
use crate::convert::DictionaryCache;
use arrow_array::ArrayRef;
use arrow_schema::FieldRef;
use marquetry_base::{Error, MemoryReservation, Result};
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::nesting::NestedField;
use marquetry_core::read::{ColumnBatch, ColumnReader, ReadTarget};
use std::sync::Arc;

/// Reads one field of the root.
pub(super) struct RootReader {
    pub(super) field: NestedField,
    pub(super) arrow: FieldRef,
    pub(super) columns: Vec<(usize, ColumnReader, ReadTarget)>,
}

/// The values of each column for the current batch, and the dictionaries of the columns that have any. Arrays are
/// assembled from them.
pub(super) struct BatchBuffers {
    pub(super) metadata: Arc<ParquetMetaData>,
    batches: ColumnMap<Option<ColumnBatch>>,
    dictionaries: ColumnMap<DictionaryCache>,
}

impl BatchBuffers {
    /// Creates empty buffers for the columns of these fields.
    pub(super) fn of<'a>(
        metadata: Arc<ParquetMetaData>,
        roots: impl IntoIterator<Item = &'a RootReader> + Clone,
    ) -> Self {
        let leaves = || roots.clone().into_iter().flat_map(|root| root.columns.iter().map(|column| column.0));
        let (batches, dictionaries) =
            (ColumnMap::new(leaves(), || None), ColumnMap::new(leaves(), DictionaryCache::default));
        BatchBuffers { metadata, batches, dictionaries }
    }

    /// Returns the place for a column's batch.
    pub(super) fn place(&mut self, leaf: usize) -> Result<&mut Option<ColumnBatch>> {
        self.batches.get_mut(leaf).ok_or_else(|| missing(leaf))
    }

    /// Returns the values of a column for the current batch.
    pub(super) fn batch(&self, leaf: usize) -> Result<&ColumnBatch> {
        self.batches.get(leaf).and_then(Option::as_ref).ok_or_else(|| missing(leaf))
    }

    /// Assembles the array of a field whose columns were read.
    pub(super) fn assemble(&mut self, root: &RootReader, held: &mut MemoryReservation) -> Result<ArrayRef> {
        let schema = self.metadata.schema();
        let (batches, dictionaries) = (&mut self.batches, &mut self.dictionaries);
        assemble(&root.field, &root.arrow, &mut Leaves { schema, batches, dictionaries, held })
    }

    /// Swaps the dictionaries of a field, one for each column, with those held here.
    pub(super) fn swap_dictionaries(&mut self, root: &RootReader, dictionaries: &mut [DictionaryCache]) {
        for ((leaf, ..), dictionary) in root.columns.iter().zip(dictionaries) {
            if let Some(here) = self.dictionaries.get_mut(*leaf) {
                std::mem::swap(here, dictionary);
            }
        }
    }
}

impl RootReader {
    /// Creates another reader of the same columns, from the first row. This one must not have begun.
    pub(super) fn new_like(&self) -> RootReader {
        let columns = self.columns.iter();
        let columns = columns.map(|(leaf, column, target)| (*leaf, column.new_like(), target.clone()));
        RootReader { field: self.field.clone(), arrow: self.arrow.clone(), columns: columns.collect() }
    }

    /// Turns this into one of several readers of the field, each of which reads a part.
    pub(super) fn into_split(self) -> RootReader {
        let columns = self.columns.into_iter();
        let columns = columns.map(|(leaf, column, target)| (leaf, column.as_split(), target));
        RootReader { columns: columns.collect(), ..self }
    }

    /// Returns the array of the next `rows` rows, after it skipped `skip` rows.
    pub(super) fn read(
        &mut self,
        skip: usize,
        rows: usize,
        buffers: &mut BatchBuffers,
        held: &mut MemoryReservation,
    ) -> Result<ArrayRef> {
        for (leaf, column, _) in &mut self.columns {
            column.skip(skip)?;
            column.read_in_place(rows, buffers.place(*leaf)?)?;
        }
        buffers.assemble(self, held)
    }
}

/// An error, with its field of the root and, if known, its column of the file.
pub(super) struct RootError {
    pub(super) root: usize,
    pub(super) leaf: Option<usize>,
    pub(super) error: Error,
}
