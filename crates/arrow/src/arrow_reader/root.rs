//! A field of the root: its columns, and how they become one array.

use crate::assemble::{Leaves, assemble};
use crate::leaf::DictionaryCache;
use arrow_array::ArrayRef;
use arrow_schema::FieldRef;
use marquetry_base::{Held, Result};
use marquetry_core::meta::ParquetMetaData;
use marquetry_core::nesting::Field;
use marquetry_core::read::{ColumnReader, LeafBatch, Target};
use std::sync::Arc;

/// A field of the root that is read.
pub(super) struct Root {
    pub(super) field: Field,
    pub(super) arrow: FieldRef,
    pub(super) columns: Vec<(usize, ColumnReader, Target)>,
}

/// Where arrays are put together: what was read of each column of the file for the current batch, and the dictionaries of
/// those that have any.
pub(super) struct Room {
    pub(super) metadata: Arc<ParquetMetaData>,
    pub(super) batches: Vec<Option<LeafBatch>>,
    dictionaries: Vec<DictionaryCache>,
}

impl Room {
    pub(super) fn new(metadata: Arc<ParquetMetaData>) -> Self {
        let columns = metadata.schema().num_columns();
        let mut room = Room::none(metadata);
        room.batches.resize_with(columns, || None);
        room.dictionaries.resize_with(columns, DictionaryCache::default);
        room
    }

    /// Room for no columns.
    pub(super) fn none(metadata: Arc<ParquetMetaData>) -> Self {
        Room { metadata, batches: Vec::new(), dictionaries: Vec::new() }
    }

    /// The array of a field whose columns were read.
    pub(super) fn assemble(&mut self, root: &Root, held: &mut Held) -> Result<ArrayRef> {
        let schema = self.metadata.schema();
        let (batches, dictionaries) = (&mut self.batches, &mut self.dictionaries);
        assemble(&root.field, &root.arrow, &mut Leaves { schema, batches, dictionaries, held })
    }

    /// Puts the dictionaries of a field, one for each of its columns, in place of those that are here.
    pub(super) fn swap_dictionaries(&mut self, root: &Root, dictionaries: &mut [DictionaryCache]) {
        for ((leaf, ..), dictionary) in root.columns.iter().zip(dictionaries) {
            std::mem::swap(&mut self.dictionaries[*leaf], dictionary);
        }
    }
}

impl Root {
    /// Another that reads the same, from the first row. This one must not have begun.
    pub(super) fn another(&self) -> Root {
        let columns = self.columns.iter();
        let columns = columns.map(|(leaf, column, target)| (*leaf, column.another(), target.clone()));
        Root { field: self.field.clone(), arrow: self.arrow.clone(), columns: columns.collect() }
    }

    /// As one of several that read it, each a part.
    pub(super) fn part(self) -> Root {
        let columns = self.columns.into_iter();
        let columns = columns.map(|(leaf, column, target)| (leaf, column.part(), target));
        Root { columns: columns.collect(), ..self }
    }

    /// The array of the next `rows` rows, after `skip` rows that are passed over.
    pub(super) fn read(
        &mut self,
        skip: usize,
        rows: usize,
        room: &mut Room,
        held: &mut Held,
    ) -> Result<ArrayRef> {
        for (leaf, column, _) in &mut self.columns {
            column.skip(skip)?;
            column.read_in_place(rows, &mut room.batches[*leaf])?;
        }
        room.assemble(self, held)
    }
}
