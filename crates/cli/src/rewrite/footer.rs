//! What of the inputs' footers goes into the new one.

use super::{ColumnLog, Input};
use marquetry::arrow::ARROW_SCHEMA_META_KEY;
use marquetry::file::encryption::FileEncryptionProperties;
use marquetry::file::properties::WriterProperties;
use marquetry::internals::format::{ColumnOrder, KeyValue};
use marquetry_core::write::FileSettings;
use marquetry_geo::geoparquet::KEY;
use std::sync::Arc;

/// Key-value metadata on its way into a new file.
pub(crate) struct Footer {
    pub(crate) key_values: Vec<KeyValue>,
    created_by: String,
}

impl Footer {
    /// Everything that the inputs have. Where they differ about a key, the first one wins; an Arrow schema is kept only
    /// if all have the same.
    pub(crate) fn union(inputs: &[Input], log: &mut ColumnLog) -> Self {
        let mut key_values: Vec<KeyValue> = Vec::new();
        let mut stored = inputs.iter().map(|input| input.metadata.value_of(ARROW_SCHEMA_META_KEY));
        let arrow = stored.next().flatten();
        let is_common = stored.all(|other| other == arrow);
        if !is_common {
            log.note("the stored Arrow schemas differ: none is kept");
        }
        for pair in inputs.iter().flat_map(|input| input.metadata.key_value_metadata()) {
            if pair.key == ARROW_SCHEMA_META_KEY && !is_common {
                continue;
            }
            match key_values.iter().find(|known| known.key == pair.key) {
                Some(known) if known.value == pair.value => {}
                // It has a rule of its own.
                Some(_) if pair.key == KEY => {}
                Some(_) => log.note(&format!("metadata {:?}: the first file's value is kept", pair.key)),
                None => key_values.push(pair.clone()),
            }
        }
        let mut footer =
            Footer { key_values, created_by: WriterProperties::default().created_by().to_owned() };
        footer.remember_writers(inputs);
        footer
    }

    /// The writers' names are kept where others that rewrite files keep them.
    fn remember_writers(&mut self, inputs: &[Input]) {
        let mut writers: Vec<&str> = Vec::new();
        for writer in inputs.iter().filter_map(|input| input.metadata.created_by()) {
            if writer != self.created_by && !writers.contains(&writer) {
                writers.push(writer);
            }
        }
        if writers.is_empty() || self.key_values.iter().any(|pair| pair.key == ORIGINAL_WRITER) {
            return;
        }
        self.key_values.push(KeyValue::new(ORIGINAL_WRITER, writers.join("\n")));
    }

    /// What the value of a key is.
    pub(crate) fn value_of(&self, key: &str) -> Option<&str> {
        self.key_values.iter().find(|pair| pair.key == key).and_then(|pair| pair.value.as_deref())
    }

    /// Puts a value in the place of the old one, or takes key and value away.
    pub(crate) fn set(&mut self, key: &str, value: Option<String>) {
        match value {
            Some(value) => self
                .key_values
                .iter_mut()
                .filter(|pair| pair.key == key)
                .for_each(|pair| pair.value = Some(value.clone().into())),
            None => self.key_values.retain(|pair| pair.key != key),
        }
    }

    /// Puts GeoParquet's metadata in the place of the old one, or takes it away. The stored Arrow schema of some writers has it, too, where
    /// readers look first.
    pub(crate) fn set_geo(&mut self, value: Option<String>) {
        let stored = self.value_of(ARROW_SCHEMA_META_KEY).and_then(marquetry::arrow::parse_stored_schema);
        if let Some(mut schema) = stored
            && schema.metadata.remove(KEY).is_some()
        {
            self.set(ARROW_SCHEMA_META_KEY, Some(marquetry::arrow::print_stored_schema(&schema)));
        }
        self.set(KEY, value);
    }

    pub(crate) fn created_by(&self) -> &str {
        &self.created_by
    }

    /// As a file writer wants it.
    pub(crate) fn settings(
        self,
        column_orders: Option<Vec<ColumnOrder>>,
        encryption: Option<Arc<FileEncryptionProperties>>,
    ) -> FileSettings {
        FileSettings::default()
            .with_encryption(encryption)
            .with_created_by(Some(self.created_by.into()))
            .with_column_orders(column_orders)
            .with_key_values(self.key_values)
    }
}

/// How a new file orders the bounds of each of its columns: as the first input does that says so. `leaf_maps` has for
/// each input which of its columns each new one is.
pub(crate) fn column_orders(inputs: &[Input], leaf_maps: &[Vec<usize>]) -> Option<Vec<ColumnOrder>> {
    let orders = |(input, map): (&Input, &Vec<usize>)| {
        let orders = input.metadata.column_orders()?;
        map.iter().map(|leaf| orders.get(*leaf).copied()).collect::<Option<Vec<_>>>()
    };
    inputs.iter().zip(leaf_maps).find_map(orders)
}

/// The key that parquet-mr's rewriter uses.
const ORIGINAL_WRITER: &str = "original.created.by";
