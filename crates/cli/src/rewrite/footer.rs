//! The key-value metadata of a new footer, taken from those of the inputs.

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

/// Key-value metadata for a new file.
pub(crate) struct Footer {
    pub(crate) key_values: Vec<KeyValue>,
    created_by: String,
}

impl Footer {
    /// All metadata of a file.
    pub(crate) fn of(input: &Input, log: &mut ColumnLog) -> Self {
        Footer::of_all(std::slice::from_ref(input), true, log)
    }

    /// All metadata of the inputs, whose pages are read with it. If they differ in a key, the first one wins; its Arrow
    /// schema is kept if it fits the pages of all, and GeoParquet's metadata is merged for all rows.
    ///
    /// Fails if pages of an input would be read as other values, or its geometries in another reference system.
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
        // A hostile footer may have millions of pairs.
        let mut places: HashMap<&ThriftString, usize> = HashMap::new();
        for pair in inputs.iter().flat_map(|input| input.metadata.key_value_metadata()) {
            if pair.key == ARROW_SCHEMA_META_KEY && !keeps_arrow {
                continue;
            }
            match places.get(&pair.key).map(|place| &key_values[*place]) {
                Some(known) if known.value == pair.value => {}
                // These are handled separately.
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

    /// Keeps the writers' names in the key that other rewriters use.
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

    /// The value of a key.
    pub(crate) fn value_of(&self, key: &str) -> Option<&str> {
        self.key_values.iter().find(|pair| pair.key == key).and_then(|pair| pair.value.as_deref())
    }

    /// Replaces the value of a key, or removes the key.
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

    /// Replaces GeoParquet's metadata, or removes it. Some writers also put it into the stored Arrow schema, where
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

    /// The settings of a file writer.
    pub(crate) fn settings(
        mut self,
        column_orders: Option<Vec<ColumnOrder>>,
        encryption: Option<Arc<FileEncryptionProperties>>,
    ) -> FileSettings {
        if encryption.is_some() {
            // A file writer hides parts of GeoParquet's metadata that a column key protects, but cannot look into an
            // Arrow schema.
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

/// A stored Arrow schema with this value of a key in its own metadata, or without the key; `None` if that changes nothing.
///
/// QUIRK: pyarrow writes the file's metadata there, too, and reads only these if there are any.
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

/// The orders of bounds in the new file: those of the first input that states some. `leaf_maps` has for each input the
/// columns that the new ones come from.
pub(crate) fn column_orders(inputs: &[Input], leaf_maps: &[Vec<usize>]) -> Option<Vec<ColumnOrder>> {
    let orders = |(input, map): (&Input, &Vec<usize>)| {
        let orders = input.metadata.column_orders()?;
        map.iter().map(|leaf| orders.get(*leaf).copied()).collect::<Option<Vec<_>>>()
    };
    inputs.iter().zip(leaf_maps).find_map(orders)
}

/// The key that parquet-mr's rewriter uses.
const ORIGINAL_WRITER: &str = "original.created.by";
