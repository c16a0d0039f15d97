//! Chooses the columns of both files that can be compared.

use super::diff_file::DiffFile;
use super::options::DiffOptions;
use super::row_hash::are_comparable;
use crate::columns::{Column, columns};
use arrow_schema::DataType;
use marquetry_base::{Error, Result};
use marquetry_core::schema::no_such_column;
use std::collections::{HashMap, HashSet, VecDeque};

/// Returns the leaves that both files have, in the order of the left one, and the columns that cannot be compared. The
/// columns of the key are always among the first.
pub(super) fn comparable(
    left: &DiffFile,
    right: &DiffFile,
    options: &DiffOptions,
) -> Result<(Vec<String>, Vec<String>)> {
    check_key(left, right, &options.key)?;
    // Rows that belong together have the same key: comparing it, too, finds nothing more.
    let chosen = options.columns.as_ref().map(|chosen| [&chosen[..], &options.key].concat());
    let of = |file: &DiffFile| columns(&file.metadata, chosen.as_deref()).map_err(|error| file.named(error));
    let (lefts, rights) = (of(left)?, of(right)?);
    // Of several columns with one path, such as `s."x.y"` and `s.x.y`, the first is compared with the first.
    let mut types: HashMap<&str, VecDeque<&DataType>> = HashMap::new();
    for column in &rights {
        types.entry(&column.path).or_default().push_back(column.field.data_type());
    }
    let mut is_comparable = |column: &Column| {
        let other = types.get_mut(column.path.as_str()).and_then(VecDeque::pop_front);
        other.is_some_and(|other| are_comparable(column.field.data_type(), other))
    };
    let known: HashSet<&str> = lefts.iter().map(|column| column.path.as_str()).collect();
    let is_new = |column: &&Column| !known.contains(column.path.as_str());
    let (names, others): (Vec<&Column>, Vec<&Column>) =
        lefts.iter().partition(|column| is_comparable(column));
    let others: Vec<&Column> = others.into_iter().chain(rights.iter().filter(is_new)).collect();
    // Parts of a VARIANT that is shredded in two ways mean nothing by themselves.
    let unlike: HashSet<&str> = others.iter().filter_map(|column| column.variant.as_deref()).collect();
    let is_at = |path: &str, variant: &str| {
        path.strip_prefix(variant).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let is_whole = |column: &&Column| unlike.iter().any(|variant| is_at(&column.path, variant));
    let mut seen = HashSet::new();
    let others = others.iter().map(|column| column.variant.as_ref().unwrap_or(&column.path).clone());
    let others: Vec<String> = others.filter(|path| seen.insert(path.clone())).collect();
    let names = names.into_iter().filter(|column| !is_whole(column));
    let names: Vec<String> = names.map(|column| column.path.clone()).collect();
    if names.is_empty() && !(lefts.is_empty() && rights.is_empty()) {
        let (count, some) = (others.len(), others.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>());
        let more = if count > NAMED { ", .." } else { "" };
        return Err(Error::argument(format!(
            "the files have no column that can be compared: {}{more} {} in one file only, or of types that are not; compared without \
             rows they tell which",
            some.join(", "),
            if count == 1 { "is" } else { "are" },
        )));
    }
    Ok((names, others))
}

/// Fails if a column of the key is not at the top level of both files, or has values that cannot be compared.
fn check_key(left: &DiffFile, right: &DiffFile, key: &[String]) -> Result<()> {
    for name in key {
        let (left, right) = (key_type(left, name)?, key_type(right, name)?);
        if !are_comparable(&left, &right) {
            return Err(Error::argument(format!(
                "the key's column {name} cannot be compared: it is {left} in one file, and {right} in the other"
            )));
        }
    }
    Ok(())
}

fn key_type(file: &DiffFile, name: &str) -> Result<DataType> {
    let fields = file.metadata.schema().fields();
    if let Some((_, field)) = fields.find(name) {
        return Ok(field.data_type().clone());
    }
    let leaves = file.metadata.parquet_schema().columns();
    let is_within = |path: &str| path == name;
    let error = match leaves.iter().find(|leaf| leaf.dotted_ancestors().any(is_within)) {
        Some(leaf) => Error::argument(format!(
            "the key's column {name} is a part of another one: a key has whole columns, such as {}",
            leaf.path().first().map_or("", |root| &**root)
        )),
        None => {
            no_such_column(name, fields.iter().map(|field| field.name().as_str())).with_context("the key")
        }
    };
    Err(file.named(error))
}

/// Number of columns that an error names.
const NAMED: usize = 5;
