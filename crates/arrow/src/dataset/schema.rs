//! The schema of a dataset: one for all files.

use super::choice::Choice;
use super::data_file::DataFile;
use super::field_finder::FieldFinder;
use super::filter::columns_of;
use super::int96::TableUnits;
use super::predicate_names::FileNames;
use super::table_types::field_at;
use super::union_help::union_helps;
use super::{Dataset, partition};
use crate::arrow_reader::{
    ArrowReaderMetadata, OnCorrupt, ParquetRecordBatchReaderBuilder, ProjectionMask, is_variant_path,
};
use crate::evolution::{Evolution, MatchBy, is_same_column, union};
use crate::schema::value_type;
use arrow_array::{ArrayRef, RecordBatchReader};
use arrow_schema::extension::EXTENSION_TYPE_NAME_KEY;
use arrow_schema::{DataType, Field, FieldRef, Fields, Schema, SchemaRef};
use bytes::Bytes;
use marquetry_base::{Error, ErrorKind, Result};
use marquetry_core::predicate::{Predicate, column_and_path, meanings_of, names_column, names_of};
use marquetry_core::schema::{Schema as ParquetSchema, no_such_column};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The plan by which each file is read.
pub(super) struct Plan {
    /// The schema to read files as.
    pub(super) evolution: Evolution,
    /// The partition keys that are columns.
    pub(super) keys: Vec<Key>,
    /// All keys, including those that are not read but may be in the predicate.
    all_keys: Vec<Key>,
    /// Columns of the predicate that some file has, and others may lack. Sorted.
    known: Vec<String>,
    /// The predicate, with the paths of the table's columns.
    pub(super) predicate: Option<Predicate>,
    /// The table's types of the predicate's columns: fields named by path.
    pub(super) predicate_types: Fields,
    /// The table's fields that the predicate may name, if columns are not found by name.
    predicate_fields: Fields,
}

/// A partition key.
#[derive(Clone)]
pub(super) struct Key {
    name: String,
    data_type: DataType,
    nullable: bool,
}

impl Key {
    fn field(&self) -> FieldRef {
        Arc::new(Field::new(&self.name, self.data_type.clone(), self.nullable))
    }
}

impl Plan {
    /// Returns the schema to read a file as, with its partition values.
    pub(super) fn of(&self, file: &DataFile) -> Result<Evolution> {
        let mut evolution = self.evolution.clone();
        for key in &self.keys {
            let text = file.partition(&key.name).flatten();
            evolution =
                evolution.with_constant(&key.name, partition::value(&key.name, text, &key.data_type)?);
        }
        Ok(evolution)
    }

    /// Returns a file's partition value for a column of the predicate. Fails if it does not fit the key's type.
    pub(super) fn partition(&self, file: &DataFile, name: &str) -> Result<Option<Option<ArrayRef>>> {
        let is_named =
            |key: &&Key| key.name == name || matches!(names_of(name).as_slice(), [only] if *only == key.name);
        let Some(key) = self.all_keys.iter().find(is_named) else { return Ok(None) };
        let value = |text| partition::value(name, Some(text), &key.data_type);
        Ok(Some(file.partition(&key.name).flatten().map(value).transpose()?))
    }

    /// Returns the names that the predicate's columns have in a file with these fields.
    pub(super) fn names<'a>(&'a self, file: &'a Fields) -> FileNames<'a> {
        FileNames::new(self.evolution.match_by(), &self.predicate_fields, file)
    }

    /// Returns whether a file lacks a column that other files have, and the value to use instead: null, or its default.
    pub(super) fn missing(
        &self,
        schema: &ParquetSchema,
        names: &FileNames<'_>,
        name: &str,
    ) -> Result<Option<Option<ArrayRef>>> {
        let column = column_of(schema, name);
        let is_there = names.is_in(schema, column)?;
        let is_missing = !is_there && has(&self.known, column);
        Ok(is_missing.then(|| self.evolution.default_of(&names_of(column).join(".")).cloned()))
    }

    /// Adds help to the error of a file that cannot be read as the table's schema, unless the caller chose that schema:
    /// where the schema comes from, and what would fit, if anything does. `file` are the file's columns.
    #[cold]
    pub(super) fn explained(&self, error: Error, choice: &Choice, file: &Fields) -> Error {
        let is_of_first_file = !choice.union && choice.evolution.is_none();
        if error.kind() != ErrorKind::Argument || !is_of_first_file {
            return error;
        }
        match union(self.evolution.schema().fields(), file, choice.by) {
            Ok(_) => union_helps(error),
            Err(_) => error.with_help("the first file says which columns the table has, and their types"),
        }
    }

    /// Returns the schema of batches.
    pub(super) fn schema(&self, choice: &Choice) -> SchemaRef {
        let schema = self.evolution.schema();
        match choice.options.on_corrupt {
            // Any value may turn out to be lost.
            OnCorrupt::NullPage => {
                let fields = schema.fields().iter().map(|field| Field::clone(field).with_nullable(true));
                let metadata = schema.metadata().clone();
                Arc::new(Schema::new_with_metadata(fields.collect::<Vec<_>>(), metadata))
            }
            _ => schema.clone(),
        }
    }
}

/// Returns the keys with the types by which predicates compare them.
fn compared(mut keys: Vec<Key>, evolution: &Evolution) -> Vec<Key> {
    for key in &mut keys {
        if let Ok(field) = evolution.schema().field_with_name(&key.name) {
            key.data_type = value_type(field.data_type()).clone();
        }
    }
    keys
}

/// The unfinished plan of files whose footers are read one after the other.
pub(super) struct Draft {
    keys: Vec<Key>,
    first: FileFields,
    /// The fields of all files so far.
    fields: Fields,
    /// The chosen columns that are paths into VARIANT.
    paths: Vec<String>,
    /// The chosen columns that no file has so far, and the predicate's columns that some file has.
    missing: Vec<String>,
    asked: Vec<String>,
    predicate_types: Fields,
    /// See [`Plan::predicate_fields`].
    predicate_fields: Fields,
}

impl Choice {
    /// Returns the plan, if it needs no file.
    pub(super) fn plan_of_evolution(&self) -> Result<Option<Plan>> {
        let Some(evolution) = &self.evolution else { return Ok(None) };
        let mut keys = self.keys()?;
        let all_keys = compared(keys.clone(), evolution);
        keys.retain_mut(|key| match evolution.schema().field_with_name(&key.name) {
            Ok(field) => {
                key.data_type = field.data_type().clone();
                true
            }
            Err(_) => false,
        });
        // The given schema says which columns there are.
        let fields = evolution.schema().fields();
        let finder = FieldFinder::new(evolution.match_by());
        let is_root = |path: &String| {
            let path = names_of(path).join(".");
            let mut ends = path.match_indices('.').map(|(end, _)| end).chain([path.len()]);
            ends.any(|end| finder.named(fields, &path[..end]).is_some())
        };
        let is_there = |path: &str| field_at(&finder, fields, &names_of(path)).is_some();
        let predicate = self.predicate_of_table(is_there);
        let mut known: Vec<String> = predicate.iter().flat_map(columns_of).filter(is_root).collect();
        known.sort_unstable();
        let (predicate_types, predicate_fields) = (self.predicate_types(fields), fields.clone());
        let evolution = evolution.clone();
        Ok(Some(Plan { evolution, keys, all_keys, known, predicate, predicate_types, predicate_fields }))
    }

    /// Begins a plan with the first file's footer. `int96` are the units for all files.
    pub(super) fn draft(&self, first: &ArrowReaderMetadata, int96: &TableUnits) -> Result<Draft> {
        let keys = self.keys()?;
        let first = self.fields_of(&self.files[0], first, int96, &Fields::empty())?;
        let missing = self.missing_columns(&first, &keys);
        let (fields, asked) = (first.fields.clone(), first.asked.clone());
        let (predicate_types, paths) = (first.predicate_types.clone(), first.paths.clone());
        let predicate_fields = self.predicate_fields(&Fields::empty(), &first.all);
        Ok(Draft { keys, fields, paths, missing, asked, predicate_types, predicate_fields, first })
    }

    /// Adds a file to the plan, if the first file does not decide alone.
    pub(super) fn add(
        &self,
        draft: &mut Draft,
        file: &DataFile,
        metadata: &ArrowReaderMetadata,
        int96: &TableUnits,
    ) -> Result<()> {
        let next = self.fields_of(file, metadata, int96, &draft.fields)?;
        extend(&mut draft.asked, next.asked);
        extend(&mut draft.paths, next.paths);
        let missing: HashSet<String> = next.missing.into_iter().collect();
        draft.missing.retain(|name| missing.contains(name));
        let fields = union(&draft.fields, &next.fields, self.by);
        draft.fields = fields.map_err(|error| error.in_file(file.name()))?;
        let (types, more) = match self.by {
            MatchBy::Name => (&mut draft.predicate_types, next.predicate_types),
            _ => {
                let more = self.predicate_fields(&draft.predicate_fields, &next.all);
                (&mut draft.predicate_fields, more)
            }
        };
        *types = union(types, &more, self.by).map_err(|error| error.in_file(file.name()))?;
        Ok(())
    }

    /// Returns the fields of a file that the predicate may name in the table, if columns are not found by name.
    fn predicate_fields(&self, known: &Fields, file: &Fields) -> Fields {
        let named: HashSet<String> =
            self.asked().iter().filter_map(|path| names_of(path).into_iter().next()).collect();
        let is_one = |field: &&FieldRef| {
            let is_named = || named.contains(field.name()) && known.find(field.name()).is_none();
            known.iter().any(|known| is_same_column(known, field, self.by)) || is_named()
        };
        match self.by {
            MatchBy::Name => Fields::empty(),
            _ => file.iter().filter(is_one).cloned().collect(),
        }
    }

    /// Finishes the plan of the files that were added.
    pub(super) fn finish(&self, draft: Draft) -> Result<Plan> {
        let Draft { mut keys, first, fields, paths, missing, asked, mut predicate_types, predicate_fields } =
            draft;
        if let Some(name) = missing.first() {
            let known =
                first.known.iter().map(String::as_str).chain(keys.iter().map(|key| key.name.as_str()));
            return Err(no_such_column(name, known));
        }
        let all_keys = keys.clone();
        let fields = self.with_keys(&fields, &mut keys);
        let evolution = Evolution::to(Arc::new(Schema::new_with_metadata(fields, first.metadata)));
        let evolution = evolution
            .by(self.by)
            .refuse_missing(!self.union)
            .refuse_extra(!self.union && self.columns.is_none());
        let evolution = paths.into_iter().fold(evolution, Evolution::with_path);
        // If the first file decides, no other may lack a column.
        let predicate = self.predicate_of_table(|path| has(&asked, path));
        let known = if self.union { asked } else { Vec::new() };
        if self.by != MatchBy::Name {
            predicate_types = self.predicate_types(&predicate_fields);
        }
        Ok(Plan { evolution, keys, all_keys, known, predicate, predicate_types, predicate_fields })
    }

    /// Returns the chosen columns that are neither in the first file nor keys.
    fn missing_columns(&self, first: &FileFields, keys: &[Key]) -> Vec<String> {
        let is_key = |name: &String| keys.iter().any(|key| key.name == *name);
        first.missing.iter().filter(|name| !is_key(name)).cloned().collect()
    }

    /// Returns the columns of files and partitions in the chosen order. Removes keys that are not chosen.
    fn with_keys(&self, fields: &Fields, keys: &mut Vec<Key>) -> Vec<FieldRef> {
        let is_key = |field: &FieldRef| keys.iter().any(|key| key.name == *field.name());
        let mut out: Vec<FieldRef> = fields.iter().filter(|field| !is_key(field)).cloned().collect();
        if let Some(columns) = &self.columns {
            keys.retain(|key| columns.contains(&key.name));
        }
        out.extend(keys.iter().map(Key::field));
        if let Some(columns) = &self.columns {
            let (mut exactly, mut below) = (HashMap::new(), HashMap::new());
            for (i, name) in columns.iter().enumerate() {
                exactly.entry(name.as_str()).or_insert(i);
                for (end, _) in name.match_indices('.') {
                    below.entry(&name[..end]).or_insert(i);
                }
            }
            // Names of paths into VARIANT have dots that do not lead into structs.
            out.sort_by_key(|field| exactly.get(&**field.name()).or_else(|| below.get(&**field.name())));
        }
        out
    }

    /// Returns the keys of all files, in the order in which they first occur.
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
                return Err(union_helps(error).in_file(file.name()));
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

    /// Returns the partition keys as fields.
    pub(super) fn key_fields(&self) -> Result<Fields> {
        Ok(self.keys()?.iter().map(Key::field).collect())
    }

    /// Returns the types by which predicates compare the keys of all files: those of the wanted schema, if it has them.
    pub(super) fn key_types(&self, evolution: &Evolution) -> Result<HashMap<String, DataType>> {
        let keys = compared(self.keys()?, evolution).into_iter();
        Ok(keys.map(|key| (key.name, key.data_type)).collect())
    }

    /// Returns the predicate with paths that mean the same in each file: their first meaning that some file has.
    fn predicate_of_table(&self, is_there: impl Fn(&str) -> bool) -> Option<Predicate> {
        let meaning = |path: &str| {
            let known = meanings_of(path).into_iter().find(|path| is_there(path));
            known.unwrap_or_else(|| path.to_owned())
        };
        Some(self.predicate.clone()?.rename_columns(meaning))
    }

    /// Returns all paths that names in the predicate may mean, each once, sorted.
    fn asked(&self) -> Vec<String> {
        let paths = self.predicate.iter().flat_map(columns_of);
        let mut asked: Vec<String> = paths.flat_map(|path| meanings_of(&path)).collect();
        // A file may lack the VARIANT that a path starts at.
        let columns = asked.iter().filter_map(|path| column_and_path(path));
        let columns: Vec<String> = columns.flat_map(|(column, _)| meanings_of(column)).collect();
        asked.extend(columns);
        asked.sort_unstable();
        asked.dedup();
        asked
    }

    /// Returns the types of the predicate's columns that exist, as fields named by path.
    fn predicate_types(&self, fields: &Fields) -> Fields {
        let finder = FieldFinder::new(self.by);
        let field = |path: String| {
            // A predicate only tests whether a struct is null, and a VARIANT may be stored as several structs.
            let found = field_at(&finder, fields, &names_of(&path))?;
            let is_struct = matches!(found.data_type(), DataType::Struct(_));
            let field = (!is_struct).then(|| Field::new(path, found.data_type().clone(), true))?;
            // Only this extension type changes what a literal means.
            let is_uuid = |name: &&str| *name == "arrow.uuid";
            let metadata = found.extension_type_name().filter(is_uuid);
            Some(match metadata {
                Some(name) => {
                    field.with_metadata([(EXTENSION_TYPE_NAME_KEY.to_owned(), name.to_owned())].into())
                }
                None => field,
            })
        };
        self.asked().into_iter().filter_map(field).collect()
    }

    /// Returns the chosen columns of a file. `table` are those of the files before it.
    fn fields_of(
        &self,
        file: &DataFile,
        metadata: &ArrowReaderMetadata,
        int96: &TableUnits,
        table: &Fields,
    ) -> Result<FileFields> {
        let fields = || {
            let options = self.options.clone().with_int96_units(int96.of_file(metadata.parquet_schema()));
            let metadata = metadata.with_options(options)?;
            let schema = metadata.parquet_schema();
            let all = metadata.schema().fields().clone();
            let known = all.iter().map(|field| field.name().clone()).collect();
            let names = FileNames::new(self.by, table, &all);
            let chosen = self.columns.iter().flatten();
            let paths = chosen.clone().map(|name| names.chosen(name)).collect::<Result<Vec<_>>>()?;
            let columns: Vec<&str> = paths.iter().flatten().map(|path| column_of(schema, path)).collect();
            let mut are_there = ProjectionMask::of_names(schema, &columns).1.into_iter();
            let (mut there, mut missing) = (Vec::new(), Vec::new());
            for (name, path) in chosen.zip(paths) {
                match path.filter(|_| are_there.next() == Some(true)) {
                    Some(path) => there.push(path),
                    None => missing.push(name.clone()),
                }
            }
            let asked = self.asked().into_iter().filter(|path| names_column(schema, path)).collect();
            let is_path = |name: &&String| is_variant_path(schema, name);
            let paths = self.columns.iter().flatten().filter(is_path).cloned().collect();
            let predicate_types = self.predicate_types(&all);
            // Builds a reader of no rows to find out.
            let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(Bytes::new(), metadata)
                .with_row_groups(Vec::new());
            let reader = match &self.columns {
                Some(_) => builder.with_columns(there)?.build()?,
                None => builder.build()?,
            };
            let schema = reader.schema();
            let (fields, metadata) = (schema.fields().clone(), schema.metadata().clone());
            Ok(FileFields { fields, all, metadata, known, paths, missing, asked, predicate_types })
        };
        fields().map_err(|error: Error| error.in_file(file.name()))
    }
}

impl Dataset {
    pub(super) fn plan(&self) -> Result<Plan> {
        let choice = &self.choice;
        if let Some(plan) = choice.plan_of_evolution()? {
            return Ok(plan);
        }
        let int96 = self.int96()?;
        let metadata = |file: &DataFile| {
            let opened = self.opened(file).map_err(|error| error.in_file(file.name()));
            opened.map(|opened| opened.metadata)
        };
        let mut draft = choice.draft(&metadata(&choice.files[0])?, &int96)?;
        for file in choice.files[1..].iter().filter(|_| choice.union) {
            choice.add(&mut draft, file, &metadata(file)?, &int96)?;
        }
        choice.finish(draft)
    }
}

/// The chosen columns in one file.
struct FileFields {
    fields: Fields,
    /// All fields of the file.
    all: Fields,
    metadata: HashMap<String, String>,
    /// The names of its fields.
    known: Vec<String>,
    /// The chosen columns that are paths into VARIANT.
    paths: Vec<String>,
    /// The chosen columns that it lacks.
    missing: Vec<String>,
    /// The predicate's columns that it has, and their types as fields named by path. Sorted.
    asked: Vec<String>,
    predicate_types: Fields,
}

/// Adds the new names. Very many files have the same ones.
fn extend(all: &mut Vec<String>, more: Vec<String>) {
    all.extend(more);
    all.sort_unstable();
    all.dedup();
}

/// Whether sorted names contain this one.
fn has(sorted: &[String], name: &str) -> bool {
    sorted.binary_search_by(|known| known.as_str().cmp(name)).is_ok()
}

/// Returns the column of a path into a VARIANT, or the name itself if it is not a path.
fn column_of<'a>(schema: &ParquetSchema, name: &'a str) -> &'a str {
    match column_and_path(name) {
        Some((column, _)) if !names_column(schema, name) => column,
        _ => name,
    }
}
