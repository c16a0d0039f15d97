//! Settings of `rewrite` for one column, for those that match a pattern, or for all.

use glob::{MatchOptions, Pattern};
use marquetry::errors::Error;
use marquetry::internals::codec::Codec;
use marquetry::schema::Leaf;
use marquetry_base::unquote;
use marquetry_core::predicate::names_of;
use marquetry_core::write::Compression;
use std::collections::HashMap;
use std::str::FromStr;

/// A setting of the columns that match a pattern, or of all.
#[derive(Debug, Clone)]
pub(crate) struct OfColumn<T> {
    pub(crate) column: Option<Name>,
    pub(crate) value: T,
}

/// A codec, and whether its level was given.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AskedCodec {
    pub(crate) compression: Compression,
    has_level: bool,
}

impl AskedCodec {
    /// The codec, and its level if one was given: otherwise pages with this codec stay as they are.
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
    /// The names of a path with double quotes: dots within are parts of names. `None` without quotes.
    names: Option<Vec<String>>,
    /// Empty without wildcards.
    patterns: Vec<Pattern>,
}

impl Name {
    /// A name in double quotes is not a pattern, and may be empty. So may each name of a path: `s."x.y"`.
    pub(crate) fn new(text: &str) -> Self {
        if let Some((text, "")) = unquote(text, '"') {
            return Name { names: Some(vec![text.clone()]), text, patterns: Vec::new() };
        }
        let names = names_of(text);
        if names.join(".") != text {
            return Name { text: text.to_owned(), names: Some(names), patterns: Vec::new() };
        }
        // Patterns match paths whose names are separated by slashes.
        let whole = text.replace('.', "/");
        let patterns = match text.contains(['*', '?', '[']) {
            true => vec![whole.clone(), format!("{whole}/**")],
            false => Vec::new(),
        };
        let patterns = patterns.iter().filter_map(|text| Pattern::new(text).ok()).collect();
        Name { text: text.to_owned(), names: None, patterns }
    }

    /// Its names, if it stands for no other path with these dots. A single quoted name does only if a column is called
    /// that.
    fn exactly(&self, leaves: &[&Leaf]) -> Option<Vec<&str>> {
        let names = self.names.as_ref()?;
        let is_there = || leaves.iter().any(|leaf| starts_with(leaf, names));
        (names.len() > 1 || is_there()).then(|| names.iter().map(String::as_str).collect())
    }

    /// Whether it matches as a pattern. `path` has slashes between its names.
    fn fits(&self, path: &str) -> bool {
        let options = MatchOptions { require_literal_separator: true, ..MatchOptions::default() };
        self.patterns.iter().any(|pattern| pattern.matches_with(path, options))
    }
}

/// Whether the column has this path, or is below it.
fn starts_with(leaf: &Leaf, names: &[String]) -> bool {
    let path = leaf.path();
    path.len() >= names.len() && path.iter().zip(names).all(|(a, b)| **a == **b)
}

pub(crate) fn of_column<T: FromStr>(text: &str) -> Result<OfColumn<T>, String>
where
    T::Err: ToString,
{
    // A column's name may contain `=`, the value does not.
    let (column, value) = match text.rsplit_once('=') {
        Some(("", _)) => return Err("there is no column before the =".to_owned()),
        Some((column, value)) => (Some(Name::new(column)), value),
        None => (None, text),
    };
    let value = value.parse().map_err(|error: T::Err| error.to_string())?;
    Ok(OfColumn { column, value })
}

/// Settings by their columns.
///
/// PERF: `optimize` has settings for each of 20,000 columns, so comparing each with each is too slow.
pub(crate) struct Settings<'a, T> {
    all: &'a [OfColumn<T>],
    /// The index of the last setting of each dotted path, of each path of quoted names, and of all patterns.
    by_path: HashMap<&'a str, usize>,
    by_names: HashMap<Vec<&'a str>, usize>,
    patterns: Vec<usize>,
    /// Whether a later setting has the same name.
    is_said_again: Vec<bool>,
}

impl<'a, T: Copy> Settings<'a, T> {
    /// For a table with these columns.
    pub(crate) fn new(all: &'a [OfColumn<T>], leaves: &[&Leaf]) -> Self {
        let (mut by_path, mut by_names, mut patterns) = (HashMap::new(), HashMap::new(), Vec::new());
        let mut is_said_again = vec![false; all.len()];
        for (i, name) in all.iter().enumerate().filter_map(|(i, of)| Some((i, of.column.as_ref()?))) {
            let before = match name.exactly(leaves) {
                Some(names) => by_names.insert(names, i),
                None => by_path.insert(name.text.as_str(), i),
            };
            before.into_iter().for_each(|before| is_said_again[before] = true);
            patterns.extend((!name.patterns.is_empty()).then_some(i));
        }
        Settings { all, by_path, by_names, patterns, is_said_again }
    }

    /// The last setting that names the column, or else the last one for all.
    pub(crate) fn of(&self, leaf: &Leaf) -> Option<T> {
        let of_all = || self.all.iter().rev().find(|of| of.column.is_none());
        self.fitting(leaf).into_iter().max().map(|i| &self.all[i]).or_else(of_all).map(|of| of.value)
    }

    /// A name that matches none of these columns, nor a field above them.
    pub(crate) fn unknown(&self, leaves: &[&Leaf]) -> Option<&'a Name> {
        let mut is_known = vec![false; self.all.len()];
        for leaf in leaves {
            self.fitting(leaf).into_iter().for_each(|i| is_known[i] = true);
        }
        // Of repeated names only the last one was looked up.
        let is_unknown = |i: &usize| !is_known[*i] && !self.is_said_again[*i];
        (0..self.all.len()).filter(is_unknown).find_map(|i| self.all[i].column.as_ref())
    }

    /// The indices of the settings of the column, or of a field above it.
    fn fitting(&self, leaf: &Leaf) -> Vec<usize> {
        let mut found: Vec<usize> =
            leaf.dotted_ancestors().filter_map(|path| self.by_path.get(path).copied()).collect();
        if !self.by_names.is_empty() {
            let names: Vec<&str> = leaf.path().iter().map(|name| &**name).collect();
            let above = (1..=names.len()).map(|count| &names[..count]);
            found.extend(above.filter_map(|names| self.by_names.get(names).copied()));
        }
        if !self.patterns.is_empty() {
            let slashed = leaf.dotted().replace('.', "/");
            let fits = |i: &usize| self.all[*i].column.as_ref().is_some_and(|name| name.fits(&slashed));
            found.extend(self.patterns.iter().copied().filter(fits));
        }
        found
    }
}

/// Parses `PATH=NAME`. Names of the old path may be quoted, so that they may be empty, or contain dots.
pub(crate) fn rename(text: &str) -> Result<(String, String), String> {
    match text.rsplit_once('=') {
        Some((old, new)) if !old.is_empty() && !new.is_empty() => Ok((old.to_owned(), new.to_owned())),
        _ => Err("say PATH=NAME".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use marquetry::schema::Schema;

    fn settings(texts: &[&str]) -> Vec<OfColumn<AskedCodec>> {
        texts.iter().map(|text| of_column(text).unwrap()).collect()
    }

    #[test]
    fn the_last_that_fits_is_taken() {
        let schema = "message m { optional int32 a; optional group b { optional int32 c; optional int32 d; } \
                      optional int32 b2; }";
        let schema = Schema::parse(schema).unwrap();
        let leaves: Vec<&Leaf> = schema.columns().iter().collect();
        let said = |texts: &[&str]| {
            let all = settings(texts);
            let settings = Settings::new(&all, &leaves);
            let codec =
                |leaf: &&Leaf| settings.of(leaf).map_or("-".to_owned(), |of| of.parts().0.to_string());
            (
                leaves.iter().map(codec).collect::<Vec<_>>().join(" "),
                settings.unknown(&leaves).map(|name| name.text.clone()),
            )
        };
        let codecs = |texts: &[&str]| said(texts).0;
        assert_eq!(codecs(&[]), "- - - -");
        assert_eq!(codecs(&["snappy"]), "SNAPPY SNAPPY SNAPPY SNAPPY");
        assert_eq!(codecs(&["b=zstd", "snappy", "b.c=gzip"]), "SNAPPY GZIP ZSTD SNAPPY");
        assert_eq!(codecs(&["b.c=gzip", "b=zstd"]), "- ZSTD ZSTD -");
        assert_eq!(codecs(&["a=gzip", "a=zstd"]), "ZSTD - - -");
        assert_eq!(codecs(&["b*=gzip", "b.d=zstd"]), "- GZIP ZSTD GZIP");
        assert_eq!(codecs(&["b.d=zstd", "b.?=gzip"]), "- GZIP GZIP -");
        assert_eq!(said(&["b=zstd", "a=zstd", "a=gzip", "b.*=gzip"]).1, None);
        assert_eq!(said(&["a=zstd", "b.x=zstd"]).1.as_deref(), Some("b.x"));
        assert_eq!(said(&["x=zstd", "x=gzip"]).1.as_deref(), Some("x"));
        assert_eq!(said(&["x*=zstd"]).1.as_deref(), Some("x*"));
        assert_eq!(said(&["\"b*\"=zstd"]), ("- - - -".to_owned(), Some("b*".to_owned())));
        assert_eq!(said(&["\"b.c\"=zstd", "\"a\"=gzip"]), ("GZIP ZSTD - -".to_owned(), None));
    }

    /// Dots between names, and in them.
    #[test]
    fn names_in_quotes_tell_paths_apart() {
        let schema = "message m { optional group s { optional int32 x.y; optional group x { optional int32 y; } } \
                      optional int32 s.x; optional group t { optional int32 u; } }";
        let schema = Schema::parse(schema).unwrap();
        let leaves: Vec<&Leaf> = schema.columns().iter().collect();
        let fitting = |text: &str| {
            let all = settings(&[&format!("{text}=gzip")]);
            let settings = Settings::new(&all, &leaves);
            let fits = leaves.iter().map(|leaf| if settings.of(leaf).is_some() { 'x' } else { '-' });
            (fits.collect::<String>(), settings.unknown(&leaves).is_some())
        };
        for (text, fits) in [
            ("s.x.y", "xx--"),
            ("s.\"x.y\"", "x---"),
            ("\"s\".x.y", "-x--"),
            ("\"s\".\"x\"", "-x--"),
            ("s.x", "-xx-"),
            ("\"s.x\"", "--x-"),
            ("\"s\"", "xx--"),
            // No column is called so.
            ("\"t.u\"", "---x"),
        ] {
            assert_eq!(fitting(text), (fits.to_owned(), false), "{text}");
        }
        for text in ["\"t.u\".v", "\"s.x\".y", "\"s\".\"y\"", "\"x\""] {
            assert_eq!(fitting(text), ("----".to_owned(), true), "{text}");
        }
    }

    /// Each name was compared with each column: that took minutes.
    #[test]
    fn very_many_columns_are_no_matter() {
        let names: Vec<String> = (0..10_000).map(|i| format!("c{i}")).collect();
        let fields: String = names.iter().map(|name| format!("optional int32 {name}; ")).collect();
        let schema = Schema::parse(&format!("message m {{ {fields} }}")).unwrap();
        let leaves: Vec<&Leaf> = schema.columns().iter().collect();
        let begin = std::time::Instant::now();
        let texts: Vec<String> = names.iter().map(|name| format!("{name}=zstd")).collect();
        let all = settings(&texts.iter().map(String::as_str).collect::<Vec<_>>());
        let settings = Settings::new(&all, &leaves);
        assert!(leaves.iter().all(|leaf| settings.of(leaf).is_some()) && settings.unknown(&leaves).is_none());
        assert!(begin.elapsed().as_secs() < 30, "{:?}", begin.elapsed());
    }
}
