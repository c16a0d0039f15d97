//! The schema of all files.

use super::filter::columns_of;
use super::{DataFile, Dataset, partition};
use crate::arrow_reader::{ArrowReaderOptions, Int96, ProjectionMask};
use crate::evolution::{Evolution, union};
use arrow_array::{ArrayRef, RecordBatchReader};
use arrow_schema::{DataType, Field, FieldRef, Fields, Schema};
use marquetry_base::{Error, Result};
use marquetry_core::schema::{Schema as ParquetSchema, no_such_column};
use marquetry_encoding::Physical;
use std::sync::Arc;

/// How each file is read.
pub(super) struct Plan {
    /// As what.
    pub(super) evolution: Evolution,
    /// Which columns the partitions give.
    pub(super) keys: Vec<Key>,
    /// Keys that are not read, but may be asked about.
    all_keys: Vec<Key>,
    /// Columns that the predicate names, and that some file has: others may lack them.
    known: Vec<String>,
}

/// A key of the partitions.
#[derive(Clone)]
pub(super) struct Key {
    name: String,
    data_type: DataType,
    nullable: bool,
}

impl Plan {
    /// As what a file is read, its partitions included.
    pub(super) fn of(&self, file: &DataFile) -> Result<Evolution> {
        let mut evolution = self.evolution.clone();
        for key in &self.keys {
            let text = file.partition(&key.name).flatten();
            evolution =
                evolution.with_constant(&key.name, partition::value(&key.name, text, &key.data_type)?);
        }
        Ok(evolution)
    }

    /// What a file's partitions say of a column.
    pub(super) fn partition(&self, file: &DataFile, name: &str) -> Option<Option<ArrayRef>> {
        let key = self.all_keys.iter().find(|key| key.name == name)?;
        let text = file.partition(name).flatten();
        // Values that are none of the type were found when the evolution was made.
        Some(text.and_then(|text| partition::value(name, Some(text), &key.data_type).ok()))
    }

    /// That a file lacks a column that others have: null, or its default.
    pub(super) fn missing(&self, schema: &ParquetSchema, name: &str) -> Option<Option<ArrayRef>> {
        let is_missing = ProjectionMask::existing_columns(schema, [name]).is_err();
        (is_missing && self.known.iter().any(|known| known == name))
            .then(|| self.evolution.default_of(name).cloned())
    }
}

impl Dataset {
    pub(super) fn plan(&self) -> Result<Plan> {
        let mut keys = self.keys()?;
        let all_keys = keys.clone();
        if let Some(evolution) = &self.evolution {
            keys.retain_mut(|key| match evolution.schema().field_with_name(&key.name) {
                Ok(field) => {
                    key.data_type = field.data_type().clone();
                    true
                }
                Err(_) => false,
            });
            // Whoever gives a schema says what there is.
            let fields = evolution.schema().fields();
            let is_root = |name: &String| fields.iter().any(|field| is_at_or_below(name, field.name()));
            let known = self.predicate.iter().flat_map(columns_of).filter(is_root).collect();
            return Ok(Plan { evolution: evolution.clone(), keys, all_keys, known });
        }
        let options = ArrowReaderOptions { int96: self.int96()?, ..self.options.clone() };
        let first = self.fields_of(&self.files[0], &options)?;
        let mut missing = self.missing_columns(&first, &keys);
        let (metadata, mut fields, mut known) = (first.metadata, first.fields, first.asked);
        if self.union {
            for file in &self.files[1..] {
                let next = self.fields_of(file, &options)?;
                known.extend(next.asked);
                missing.retain(|name| next.missing.contains(name));
                fields = union(&fields, &next.fields, self.by).map_err(|error| error.in_file(file.name()))?;
            }
        }
        if let Some(name) = missing.first() {
            let known =
                first.known.iter().map(String::as_str).chain(keys.iter().map(|key| key.name.as_str()));
            return Err(no_such_column(name, known));
        }
        let fields = self.with_keys(&fields, &mut keys);
        let evolution = Evolution::to(Arc::new(Schema::new_with_metadata(fields, metadata)));
        let evolution = evolution
            .by(self.by)
            .refuse_missing(!self.union)
            .refuse_extra(!self.union && self.columns.is_none());
        // Where the first file decides, no other may lack a column.
        known.retain(|_| self.union);
        Ok(Plan { evolution, keys, all_keys, known })
    }

    /// The chosen columns that are neither in the first file nor keys.
    fn missing_columns(&self, first: &FileFields, keys: &[Key]) -> Vec<String> {
        let is_key = |name: &String| keys.iter().any(|key| key.name == *name);
        first.missing.iter().filter(|name| !is_key(name)).cloned().collect()
    }

    /// The columns of the files and those of the partitions, in the order asked for; keys that are not wanted go.
    fn with_keys(&self, fields: &Fields, keys: &mut Vec<Key>) -> Vec<FieldRef> {
        let is_key = |field: &FieldRef| keys.iter().any(|key| key.name == *field.name());
        let mut out: Vec<FieldRef> = fields.iter().filter(|field| !is_key(field)).cloned().collect();
        if let Some(columns) = &self.columns {
            keys.retain(|key| columns.contains(&key.name));
        }
        out.extend(
            keys.iter().map(|key| Arc::new(Field::new(&key.name, key.data_type.clone(), key.nullable))),
        );
        if let Some(columns) = &self.columns {
            out.sort_by_key(|field| columns.iter().position(|name| is_at_or_below(name, field.name())));
        }
        out
    }

    /// The keys of all files, in the order in which they first occur.
    fn keys(&self) -> Result<Vec<Key>> {
        let mut keys: Vec<Key> = Vec::new();
        let names = self.files.iter().flat_map(|file| &file.partitions).map(|(name, _)| name);
        for name in names.filter(|_| self.has_partitions) {
            if !keys.iter().any(|key| key.name == *name) {
                keys.push(Key { name: name.clone(), data_type: DataType::Null, nullable: false });
            }
        }
        for key in &mut keys {
            let lacks = self.files.iter().find(|file| file.partition(&key.name).is_none());
            if let Some(file) = lacks.filter(|_| !self.union && self.evolution.is_none()) {
                let error =
                    Error::argument(format!("the file is in no partition {}=.., as others are", key.name));
                return Err(error.in_file(file.name()));
            }
            let values = self.files.iter().map(|file| file.partition(&key.name).flatten());
            key.nullable = values.clone().any(|value| value.is_none());
            key.data_type = match self.partition_types.get(&key.name) {
                Some(data_type) => data_type.clone(),
                None => partition::guess(values.flatten()),
            };
        }
        if let Some(name) =
            self.partition_types.keys().find(|name| !keys.iter().any(|key| key.name == **name))
        {
            return Err(Error::argument(format!("no partition {name}=.. has the type that is given")));
        }
        Ok(keys)
    }

    /// The chosen columns of a file.
    fn fields_of(&self, file: &DataFile, options: &ArrowReaderOptions) -> Result<FileFields> {
        let builder = self.builder(file, options)?;
        let known = builder.schema().fields().iter().map(|field| field.name().clone()).collect();
        let mut missing = Vec::new();
        let mut there = Vec::new();
        for name in self.columns.iter().flatten() {
            match ProjectionMask::existing_columns(builder.parquet_schema(), [name.as_str()]) {
                Ok(_) => there.push(name.clone()),
                Err(_) => missing.push(name.clone()),
            }
        }
        let asked = self.predicate.iter().flat_map(columns_of);
        let has = |name: &String| {
            ProjectionMask::existing_columns(builder.parquet_schema(), [name.as_str()]).is_ok()
        };
        let asked = asked.filter(has).collect();
        let chosen = match &self.columns {
            Some(_) => builder.with_columns(there).and_then(|builder| builder.build()),
            None => builder.build(),
        };
        let schema = chosen.map_err(|error| error.in_file(file.name()))?.schema();
        Ok(FileFields {
            fields: schema.fields().clone(),
            metadata: schema.metadata().clone(),
            known,
            missing,
            asked,
        })
    }

    /// The unit of INT96 timestamps: one that holds those of all files, if the options ask for that and there are any.
    fn int96(&self) -> Result<Int96> {
        let mut unit = self.options.int96;
        if unit != Int96::Fitting {
            return Ok(unit);
        }
        for file in &self.files {
            let mut builder = self.builder(file, &self.options)?;
            let schema = builder.parquet_schema();
            let mut columns = schema.columns().iter();
            if !columns.any(|leaf| leaf.physical() == Physical::Int96) {
                // Where the first file has none and decides, none is read.
                match self.union {
                    true => continue,
                    false => break,
                }
            }
            if let Some(columns) = &self.columns {
                let mask = ProjectionMask::columns(schema, columns.iter().map(String::as_str));
                builder = builder.with_projection(mask);
            }
            let fitting = builder.fitting_int96().map_err(|error| error.in_file(file.name()))?;
            unit = unit.coarser(fitting);
        }
        Ok(if unit == Int96::Fitting { Int96::Nanoseconds } else { unit })
    }
}

/// What a file has of the chosen columns.
struct FileFields {
    fields: Fields,
    metadata: std::collections::HashMap<String, String>,
    /// Its fields.
    known: Vec<String>,
    /// The chosen columns that it does not have.
    missing: Vec<String>,
    /// The columns that the predicate names and it has.
    asked: Vec<String>,
}

fn is_at_or_below(path: &str, name: &str) -> bool {
    path.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}
