//! The key-value metadata that a new footer takes from those of the inputs.

use super::page_types::keeps_arrow_schema;
use super::{ColumnLog, Input};
use marquetry::arrow::{ARROW_SCHEMA_META_KEY, parse_stored_schema, print_stored_schema};
use marquetry::errors::Error;
use marquetry::file::encryption::FileEncryptionProperties;
use marquetry::file::properties::WriterProperties;
use marquetry::internals::format::{ColumnOrder, KeyValue, ThriftString};
use marquetry_core::write::FileSettings;
use marquetry_geo::GeoParquet;
use marquetry_geo::geoparquet::KEY;
use std::collections::HashMap;
use std::sync::Arc;

/// Key-value metadata on its way into a new file.
pub(crate) struct Footer {
    pub(crate) key_values: Vec<KeyValue>,
    created_by: String,
}

impl Footer {
    /// Everything that a file has.
    pub(crate) fn of(input: &Input, log: &mut ColumnLog) -> Self {
        Footer::of_all(std::slice::from_ref(input), true, log)
    }

    /// Everything that the inputs have, whose pages are all read by it. Where they differ about a key, the first one wins; its Arrow
    /// schema is kept if it is true of the pages of all, and what GeoParquet says is made true of all rows.
    ///
    /// Fails if pages of one would be read as other values than they are, or geometries as those of other places.
    pub(crate) fn union(inputs: &[Input], log: &mut ColumnLog) -> Result<Self, Error> {
        let keeps_arrow = keeps_arrow_schema(inputs, log)?;
        let of_inputs: Vec<_> = inputs.iter().map(super::geo_of_input).collect();
        let geo = GeoParquet::merged(&of_inputs)?;
        let mut footer = Footer::of_all(inputs, keeps_arrow, log);
        if let Some(geo) = geo.filter(|_| inputs.len() > 1) {
            footer.set_geo(Some(geo.to_json()));
        }
        Ok(footer)
    }

    fn of_all(inputs: &[Input], keeps_arrow: bool, log: &mut ColumnLog) -> Self {
        let mut key_values: Vec<KeyValue> = Vec::new();
        // A hostile footer has millions of pairs.
        let mut places: HashMap<&ThriftString, usize> = HashMap::new();
        for pair in inputs.iter().flat_map(|input| input.metadata.key_value_metadata()) {
            if pair.key == ARROW_SCHEMA_META_KEY && !keeps_arrow {
                continue;
            }
            match places.get(&pair.key).map(|place| &key_values[*place]) {
                Some(known) if known.value == pair.value => {}
                // They have rules of their own.
                Some(_) if pair.key == KEY || pair.key == ARROW_SCHEMA_META_KEY => {}
                Some(_) => log.note(&format!("metadata {:?}: the first file's value is kept", pair.key)),
                None => {
                    places.insert(&pair.key, key_values.len());
                    key_values.push(pair.clone());
                }
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
        if let Some(stored) = self.value_of(ARROW_SCHEMA_META_KEY).and_then(without_geo) {
            self.set(ARROW_SCHEMA_META_KEY, Some(stored));
        }
        self.set(KEY, value);
    }

    pub(crate) fn created_by(&self) -> &str {
        &self.created_by
    }

    /// As a file writer wants it.
    pub(crate) fn settings(
        mut self,
        column_orders: Option<Vec<ColumnOrder>>,
        encryption: Option<Arc<FileEncryptionProperties>>,
    ) -> FileSettings {
        if encryption.is_some() {
            // A file writer leaves out of GeoParquet's metadata what a column's key is to hide, and cannot look into an Arrow schema.
            let geo = self.value_of(KEY).map(str::to_owned);
            self.set_geo(geo);
        }
        FileSettings::default()
            .with_encryption(encryption)
            .with_created_by(Some(self.created_by.into()))
            .with_column_orders(column_orders)
            .with_key_values(self.key_values)
    }
}

/// A stored Arrow schema without GeoParquet's metadata; `None` if it has none.
pub(crate) fn without_geo(stored: &str) -> Option<String> {
    stored_with(stored, KEY, None)
}

/// A stored Arrow schema in whose own metadata a key has this value, or is none; `None` if it stays as it is.
///
/// QUIRK: pyarrow writes the file's metadata there, too, and reads no others, unless there are none.
pub(crate) fn stored_with(stored: &str, key: &str, value: Option<&str>) -> Option<String> {
    let mut schema = parse_stored_schema(stored)?;
    match value {
        None => drop(schema.metadata.remove(key)?),
        Some(value) => {
            let is_same = schema.metadata.get(key).is_some_and(|old| old == value);
            (!schema.metadata.is_empty() && !is_same).then_some(())?;
            schema.metadata.insert(key.to_owned(), value.to_owned());
        }
    }
    Some(print_stored_schema(&schema))
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
