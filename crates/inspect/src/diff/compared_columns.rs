//! The columns that are compared.

use super::diff_file::DiffFile;
use super::options::DiffOptions;
use super::row_hash::are_comparable;
use crate::columns::{Column, columns};
use marquetry_base::{Error, Result};
use std::collections::{HashMap, HashSet};

/// The leaves that both files have, in the left one's order, and those that cannot be compared.
pub(super) fn comparable(
    left: &DiffFile,
    right: &DiffFile,
    options: &DiffOptions,
) -> Result<(Vec<String>, Vec<String>)> {
    let chosen = options.columns.as_deref();
    let (lefts, rights) = (columns(&left.metadata, chosen)?, columns(&right.metadata, chosen)?);
    let types: HashMap<&str, _> =
        rights.iter().map(|column| (column.path.as_str(), column.field.data_type())).collect();
    let is_comparable = |column: &Column| {
        let other = types.get(column.path.as_str());
        other.is_some_and(|other| are_comparable(column.field.data_type(), other))
    };
    let known: HashSet<&str> = lefts.iter().map(|column| column.path.as_str()).collect();
    let is_new = |column: &&Column| !known.contains(column.path.as_str());
    let (names, others): (Vec<&Column>, Vec<&Column>) =
        lefts.iter().partition(|column| is_comparable(column));
    let others: Vec<&Column> = others.into_iter().chain(rights.iter().filter(is_new)).collect();
    // Parts of a VARIANT that is shredded in two ways say nothing by themselves.
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
        return Err(Error::argument("the files have no column that can be compared"));
    }
    Ok((names, others))
}
