//! Settings of `rewrite` for one column, for those that a pattern fits, or for all.

use glob::{MatchOptions, Pattern};
use marquetry::errors::Error;
use marquetry::internals::codec::Codec;
use marquetry::schema::Leaf;
use marquetry_core::write::Compression;
use std::str::FromStr;

/// A setting of the columns that a pattern fits, or of all.
#[derive(Debug, Clone)]
pub(crate) struct OfColumn<T> {
    pub(crate) column: Option<Name>,
    pub(crate) value: T,
}

/// A codec, and whether its level was asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AskedCodec {
    pub(crate) compression: Compression,
    has_level: bool,
}

impl AskedCodec {
    /// Pages that have the codec stay as they are, unless there is a level.
    pub(crate) fn parts(self) -> (Codec, Option<i32>) {
        (self.compression.codec(), self.compression.level().filter(|_| self.has_level))
    }
}

impl FromStr for AskedCodec {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Ok(AskedCodec { compression: text.parse()?, has_level: text.contains([':', '(']) })
    }
}

/// A dotted path, or a pattern of one.
#[derive(Debug, Clone)]
pub(crate) struct Name {
    pub(crate) text: String,
    patterns: Vec<Pattern>,
}

impl Name {
    pub(crate) fn new(text: &str) -> Self {
        // Patterns are of paths, whose parts are separated by slashes.
        let whole = text.replace('.', "/");
        let patterns = [whole.clone(), format!("{whole}/**")];
        let patterns = patterns.iter().filter_map(|text| Pattern::new(text).ok()).collect();
        Name { text: text.to_owned(), patterns }
    }

    pub(crate) fn fits(&self, leaf: &Leaf) -> bool {
        let path = leaf.dotted();
        let below =
            path.strip_prefix(&self.text).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        let options = MatchOptions { require_literal_separator: true, ..MatchOptions::default() };
        let path = path.replace('.', "/");
        below || self.patterns.iter().any(|pattern| pattern.matches_with(&path, options))
    }
}

pub(crate) fn of_column<T: FromStr>(text: &str) -> Result<OfColumn<T>, String>
where
    T::Err: ToString,
{
    // A column's name may have a `=` in it, what stands after it has none.
    let (column, value) = match text.rsplit_once('=') {
        Some(("", _)) => return Err("no column stands before the =".to_owned()),
        Some((column, value)) => (Some(Name::new(column)), value),
        None => (None, text),
    };
    let value = value.parse().map_err(|error: T::Err| error.to_string())?;
    Ok(OfColumn { column, value })
}

/// The last setting that is said of the column, or else the last that is said of all.
pub(crate) fn last_fitting<T: Copy>(settings: &[OfColumn<T>], leaf: &Leaf) -> Option<T> {
    let of_it = |of: &&OfColumn<T>| of.column.as_ref().is_some_and(|name| name.fits(leaf));
    let found =
        settings.iter().rev().find(of_it).or_else(|| settings.iter().rev().find(|of| of.column.is_none()));
    found.map(|of| of.value)
}

pub(crate) fn rename(text: &str) -> Result<(String, String), String> {
    match text.rsplit_once('=') {
        Some((old, new)) if !old.is_empty() && !new.is_empty() => Ok((old.to_owned(), new.to_owned())),
        _ => Err("say PATH=NAME".to_owned()),
    }
}
