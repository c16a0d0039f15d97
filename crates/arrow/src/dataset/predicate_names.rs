//! Whether the columns of a predicate are called in a file as they are in the table.
//!
//! A predicate is bound to a file by names. Where columns are found by field id, or ignoring case, a file may have the column
//! under another name, or another column under this one: rows would be left out that match.

use super::table_types::fields_below;
use crate::evolution::MatchBy;
use crate::schema::FIELD_ID_KEY;
use arrow_schema::{Field, Fields};
use marquetry_base::{Error, ErrorKind, Result};
use marquetry_core::predicate::{Predicate, names_of};

/// Fails if a column of `predicate` may have another name in the file, whose fields are `file`. `table` has those that are read:
/// of others the field ids are not known.
pub(super) fn check_names(predicate: &Predicate, by: MatchBy, table: &Fields, file: &Fields) -> Result<()> {
    if by == MatchBy::Name {
        return Ok(());
    }
    for column in predicate.columns() {
        if !is_called_alike(&names_of(column), by, table, file) {
            let message = "a predicate finds columns by name, and this file has the column under another one, or another \
                           column under this one: filter the batches that are read";
            return Err(Error::new(ErrorKind::Unsupported, message).in_column(column.to_owned()));
        }
    }
    Ok(())
}

/// Whether these names lead to the same column in both, or to none in the file.
fn is_called_alike(names: &[String], by: MatchBy, table: &Fields, file: &Fields) -> bool {
    let Some((first, rest)) = names.split_first() else { return true };
    let called = |fields: &Fields| fields.iter().find(|field| field.name() == first).cloned();
    let (wanted, named) = (called(table), called(file));
    let is_same = match by {
        MatchBy::Name => true,
        MatchBy::NameIgnoringCase => {
            named.is_some() || file.iter().all(|field| field.name().to_lowercase() != first.to_lowercase())
        }
        MatchBy::FieldId => {
            let Some(wanted) = wanted.as_deref().and_then(id) else { return false };
            let found = file.iter().find(|field| id(field) == Some(wanted));
            found.map(|field| field.name()) == named.as_ref().map(|field| field.name())
        }
    };
    let Some(below) = named.as_deref().and_then(|field| fields_below(field.data_type())) else {
        return is_same;
    };
    let none = Fields::empty();
    let table = wanted.as_deref().and_then(|field| fields_below(field.data_type())).unwrap_or(&none);
    is_same && is_called_alike(rest, by, table, below)
}

fn id(field: &Field) -> Option<&String> {
    field.metadata().get(FIELD_ID_KEY)
}
