//! Changes a finished file: new parts are appended to it, and the old footer stays unchanged.
//!
//! ```text
//! the file as it was, up to its PAR1 | marker | row groups | indexes | footer   synced
//!                                                                   | length | PAR1   synced
//! ```
//!
//! Until the last eight bytes are on the disk, the old footer is [the last
//! one](crate::checkpoint::find_last_checkpoint), and truncating the file behind it restores the old file. From then on
//! the new footer is the last one. In between, readers that do not know this procedure find no footer at all.

use super::checkpoint::{Durable, Schedule};
use super::file::{FileWriter, tree_of};
use super::file_encryptor::FileEncryptor;
use super::file_settings::FileSettings;
use super::partial_row_group::Indexes;
use crate::checkpoint::{APPEND_MAGIC, marker};
use crate::metadata::ParquetMetaData;
use marquetry_base::{Error, Result};
use marquetry_format::{KeyValue, RowGroup};
use std::sync::Arc;

impl<W: Durable> FileWriter<W> {
    /// Continues a file of `len` bytes with footer `metadata`; `sink` takes the bytes behind them. The name of the
    /// file's writer stays, because readers need it to interpret the old pages.
    ///
    /// An encrypted file is changed with the keys that `metadata` was read with. New chunks are encrypted like those of
    /// the same columns in earlier row groups, and the footer's metadata of these is encrypted anew. Fails, before a
    /// byte is written, if a key is missing, if row groups are encrypted in different ways, or if there are none.
    pub fn append_to(sink: W, len: u64, metadata: &ParquetMetaData) -> Result<Self> {
        let encryptor = FileEncryptor::of_file(metadata)?;
        let thrift = metadata.to_open_thrift()?;
        let no_new_indexes = |group: &RowGroup| group.columns.iter().map(|_| Indexes::default()).collect();
        let settings = FileSettings {
            created_by: thrift.created_by,
            column_orders: thrift.column_orders,
            key_values: thrift.key_value_metadata.unwrap_or_default(),
            ..FileSettings::default()
        };
        let mut writer = FileWriter {
            sink,
            position: len,
            version: thrift.version,
            tree: tree_of(&thrift.schema)?,
            schema: thrift.schema,
            schedule: Schedule::new(None),
            settings,
            encryptor,
            indexes: thrift.row_groups.iter().map(no_new_indexes).collect(),
            row_groups: thrift.row_groups,
            partial: None,
            sync: W::sync,
            sync_soon: W::sync_soon,
            take: |cancel, sink, bytes| bytes.copy_unless(cancel, sink),
            held: |_| 0,
            grows: true,
            failed: false,
            is_finished: false,
            counters: Arc::default(),
        };
        writer.write(&marker(APPEND_MAGIC, len))?;
        // The marker must be on the disk before anything behind it.
        writer.make_safe()?;
        Ok(writer)
    }

    /// Sets the value of a key in the file's metadata. The pair replaces all pairs with the key, at the place of the
    /// first one, or is appended.
    pub fn set_key_value(&mut self, pair: KeyValue) {
        let pairs = &mut self.settings.key_values;
        match pairs.iter_mut().find(|old| old.key == pair.key) {
            Some(first) => first.value = pair.value,
            None => return pairs.push(pair),
        }
        let mut is_there = false;
        pairs.retain(|old| old.key != pair.key || !std::mem::replace(&mut is_there, true));
    }

    /// Removes a key from the file's metadata. Returns whether it was there.
    pub fn remove_key_value(&mut self, key: &str) -> bool {
        let pairs = &mut self.settings.key_values;
        let before = pairs.len();
        pairs.retain(|pair| pair.key != key);
        pairs.len() < before
    }

    /// Drops a row group from the footer. Its bytes stay where they are, and the numbers of later row groups decrease
    /// by 1.
    ///
    /// Fails if there is no row group with this number. Also fails in an encrypted file, whose row groups are encrypted
    /// for their numbers.
    pub fn drop_row_group(&mut self, index: usize) -> Result<()> {
        if self.encryptor.is_some() {
            return Err(Error::unsupported(
                "row groups of an encrypted file are encrypted for their numbers, and none is left out: write it without encryption first",
            ));
        }
        let count = self.row_groups.len();
        if index >= count {
            return Err(Error::argument(format!("no row group {index}, there are {count}")));
        }
        self.row_groups.remove(index);
        self.indexes.remove(index);
        for (index, group) in self.row_groups.iter_mut().enumerate().skip(index) {
            group.ordinal = group.ordinal.and_then(|_| i16::try_from(index).ok());
        }
        Ok(())
    }
}
