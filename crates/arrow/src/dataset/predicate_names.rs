//! Renames the columns of predicates and projections from the table to one of its files.
//!
//! Both use the table's names, which are mapped to the names in each file. If columns are found by field id, or
//! ignoring case, a file may have the column under another name, or another column under this one.

use super::field_finder::{FieldFinder, id};
use crate::evolution::MatchBy;
use crate::schema::element_of;
use arrow_schema::{DataType, Field, Fields};
use marquetry_base::{Error, ErrorKind, Result, quote_name};
use marquetry_core::predicate::{Predicate, column_and_path, names_column, names_of};
use marquetry_core::schema::Schema;

/// Maps columns of a table to one of its files.
pub(super) struct FileNames<'a> {
    by: MatchBy,
    /// The table's fields that a predicate may name.
    table: &'a Fields,
    file: &'a Fields,
    finder: FieldFinder<'a>,
}

impl<'a> FileNames<'a> {
    pub(super) fn new(by: MatchBy, table: &'a Fields, file: &'a Fields) -> Self {
        FileNames { by, table, file, finder: FieldFinder::new(by) }
    }

    /// Returns the fields of the file.
    pub(super) fn file(&self) -> &'a Fields {
        self.file
    }

    /// Returns the finder of fields in the file and in the table.
    pub(super) fn finder(&self) -> &FieldFinder<'a> {
        &self.finder
    }

    /// Returns the path in the file of a column of the table; `None` if the file lacks it. If columns are found by
    /// name, it is the same path, whether it exists or not.
    ///
    /// Fails if it is ambiguous: the table is not known to have the column, or its field has no id.
    pub(super) fn path(&self, path: &str) -> Result<Option<String>> {
        if self.by == MatchBy::Name {
            return Ok(Some(path.to_owned()));
        }
        let (column, into_variant) = column_and_path(path).unwrap_or((path, ""));
        let names = names_of(column);
        let found = self.names(&names, self.table, self.file).map_err(|error| error.in_column(column))?;
        match found {
            Some(found) if found == names => Ok(Some(path.to_owned())),
            // Columns that are such paths are found by name, so these paths are, too.
            Some(_) if !into_variant.is_empty() => {
                Err(untold("which has the VARIANT under another name").in_column(column))
            }
            found => Ok(found.map(|names| {
                let quoted: Vec<String> = names.iter().map(|name| quote_name(name)).collect();
                quoted.join(".")
            })),
        }
    }

    /// Returns the path in the file of a chosen column. The table may not have it yet, if no earlier file did.
    pub(super) fn chosen(&self, path: &str) -> Result<Option<String>> {
        let is_known =
            || names_of(path).first().is_some_and(|first| self.finder.named(self.table, first).is_some());
        // PERF: by name, nothing needs to be looked up.
        match self.by == MatchBy::Name || !is_known() {
            true => Ok(Some(path.to_owned())),
            false => self.path(path),
        }
    }

    /// Returns whether the file, which has this schema, has a column of the table.
    pub(super) fn is_in(&self, schema: &Schema, path: &str) -> Result<bool> {
        let Some(in_file) = self.path(path)? else { return Ok(false) };
        let is_there = names_column(schema, &in_file);
        // Arrow may have its own names for the parts of a map.
        if !is_there && self.by != MatchBy::Name {
            return Err(untold("and this file has a name for this one that is not known").in_column(path));
        }
        Ok(is_there)
    }

    /// Returns the predicate with the file's names.
    pub(super) fn predicate_of_file(&self, predicate: Predicate) -> Result<Predicate> {
        if self.by == MatchBy::Name {
            return Ok(predicate);
        }
        for column in predicate.columns() {
            if self.path(column)?.is_none() {
                return Err(Error::argument("the file has no such column").in_column(column));
            }
        }
        Ok(predicate.rename_columns(|column| match self.path(column) {
            Ok(Some(path)) => path,
            _ => column.to_owned(),
        }))
    }

    /// Returns the names in the file for a path of names in the table.
    fn names(&self, path: &[String], table: &'a Fields, file: &'a Fields) -> Result<Option<Vec<String>>> {
        let Some((first, rest)) = path.split_first() else { return Ok(Some(Vec::new())) };
        let wanted = self.finder.named(table, first);
        let wanted = wanted.ok_or_else(|| untold("and the table is not known to have this one"))?;
        let found = match (self.by, self.finder.of(file, wanted).as_slice()) {
            (MatchBy::FieldId, _) if id(wanted).is_none() => {
                return Err(untold("and this one has no field id"));
            }
            (_, []) => return Ok(None),
            (_, [one]) => *one,
            _ => return Err(untold("and more than one of this file may be this one")),
        };
        self.behind(found, rest, wanted)
    }

    /// Returns the name of a field of the file, followed by the names of what is inside it.
    fn behind(&self, found: &'a Field, rest: &[String], wanted: &'a Field) -> Result<Option<Vec<String>>> {
        let inside = match rest {
            [] => Some(Vec::new()),
            rest => self.inside(rest, wanted.data_type(), found.data_type())?,
        };
        Ok(inside.map(|inside| std::iter::once(found.name().clone()).chain(inside).collect()))
    }

    /// Returns the names of what is inside a struct, or in the elements of a list.
    fn inside(
        &self,
        path: &[String],
        table: &'a DataType,
        file: &'a DataType,
    ) -> Result<Option<Vec<String>>> {
        match (table, file) {
            (DataType::Struct(table), DataType::Struct(file)) => self.names(path, table, file),
            (DataType::Map(table, _), DataType::Map(file, _)) => self.in_entries(path, table, file),
            (table, file) => match (element_of(table), element_of(file)) {
                (Some(table), Some(file)) => self.inside(path, table.data_type(), file.data_type()),
                _ => Err(untold("and this one is in no struct, list or map of both")),
            },
        }
    }

    /// Returns the names of what is in a map's entries. Keys and values are found by position.
    fn in_entries(&self, path: &[String], table: &'a Field, file: &'a Field) -> Result<Option<Vec<String>>> {
        let parts = match (path.split_first(), table.data_type(), file.data_type()) {
            (Some((first, rest)), DataType::Struct(table), DataType::Struct(file)) => {
                let both = table.iter().zip(file).find(|(wanted, _)| wanted.name() == first);
                both.map(|(wanted, found)| (wanted, found, rest))
            }
            _ => None,
        };
        let (wanted, found, rest) =
            parts.ok_or_else(|| untold("and this one is not part of a map's entries"))?;
        self.behind(found, rest, wanted)
    }
}

#[cold]
fn untold(why: &str) -> Error {
    let found =
        "columns that are chosen or asked about are found in each file by field id, or ignoring case,";
    let message = format!("{found} {why}: read all columns, and filter the batches");
    Error::new(ErrorKind::Unsupported, message)
}
