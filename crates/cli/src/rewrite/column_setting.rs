//! Settings of `rewrite` for one column, for those that a pattern fits, or for all.

use glob::{MatchOptions, Pattern};
use marquetry::errors::Error;
use marquetry::internals::codec::Codec;
use marquetry::schema::Leaf;
use marquetry_base::unquote;
use marquetry_core::write::Compression;
use std::collections::HashMap;
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
    /// None if it has no wildcards.
    patterns: Vec<Pattern>,
}

impl Name {
    /// In double quotes it is no pattern, and may be empty.
    pub(crate) fn new(text: &str) -> Self {
        if let Some((text, "")) = unquote(text, '"') {
            return Name { text, patterns: Vec::new() };
        }
        // Patterns are of paths, whose parts are separated by slashes.
        let whole = text.replace('.', "/");
        let patterns = match text.contains(['*', '?', '[']) {
            true => vec![whole.clone(), format!("{whole}/**")],
            false => Vec::new(),
        };
        let patterns = patterns.iter().filter_map(|text| Pattern::new(text).ok()).collect();
        Name { text: text.to_owned(), patterns }
    }

    /// Whether it fits as a pattern. `path` has slashes between its names.
    fn fits(&self, path: &str) -> bool {
        let options = MatchOptions { require_literal_separator: true, ..MatchOptions::default() };
        self.patterns.iter().any(|pattern| pattern.matches_with(path, options))
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

/// Settings by the columns that they are of.
///
/// PERF: `optimize` says something of each of 20,000 columns, so that each cannot be compared with each.
pub(crate) struct Settings<'a, T> {
    all: &'a [OfColumn<T>],
    /// The place of the last setting of a path, and those of patterns.
    by_path: HashMap<&'a str, usize>,
    patterns: Vec<usize>,
}

impl<'a, T: Copy> Settings<'a, T> {
    pub(crate) fn new(all: &'a [OfColumn<T>]) -> Self {
        let names = || all.iter().enumerate().filter_map(|(i, of)| Some((i, of.column.as_ref()?)));
        Settings {
            all,
            by_path: names().map(|(i, name)| (name.text.as_str(), i)).collect(),
            patterns: names().filter(|(_, name)| !name.patterns.is_empty()).map(|(i, _)| i).collect(),
        }
    }

    /// The last setting that is said of the column, or else the last that is said of all.
    pub(crate) fn of(&self, leaf: &Leaf) -> Option<T> {
        let of_all = || self.all.iter().rev().find(|of| of.column.is_none());
        self.fitting(leaf).max().map(|i| &self.all[i]).or_else(of_all).map(|of| of.value)
    }

    /// A name that is none of these columns, nor one above them.
    pub(crate) fn unknown(&self, leaves: &[&Leaf]) -> Option<&'a Name> {
        let mut is_known = vec![false; self.all.len()];
        for leaf in leaves {
            self.fitting(leaf).for_each(|i| is_known[i] = true);
        }
        let name = |(of, is_known): (&'a OfColumn<T>, bool)| of.column.as_ref().filter(|_| !is_known);
        let mut unknown = self.all.iter().zip(is_known).filter_map(name);
        // Of a name that is said twice only the last one was looked for.
        unknown.find(|name| self.by_path.get(&*name.text).is_none_or(|last| self.is_last(*last, name)))
    }

    fn is_last(&self, last: usize, name: &Name) -> bool {
        self.all[last].column.as_ref().is_some_and(|of| std::ptr::eq(of, name))
    }

    /// The places of those that are said of the column, or of what it is in.
    fn fitting<'s>(&'s self, leaf: &'s Leaf) -> impl Iterator<Item = usize> + 's {
        let by_path = leaf.dotted_ancestors().filter_map(|path| self.by_path.get(path).copied());
        let slashed = if self.patterns.is_empty() { String::new() } else { leaf.dotted().replace('.', "/") };
        let fits = move |i: &usize| self.all[*i].column.as_ref().is_some_and(|name| name.fits(&slashed));
        by_path.chain(self.patterns.iter().copied().filter(fits))
    }
}

/// The old name may stand in double quotes: so it may be empty.
pub(crate) fn rename(text: &str) -> Result<(String, String), String> {
    match text.rsplit_once('=') {
        Some((old, new)) if !old.is_empty() && !new.is_empty() => {
            let old = match unquote(old, '"') {
                Some((inside, "")) => inside,
                _ => old.to_owned(),
            };
            Ok((old, new.to_owned()))
        }
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
            let settings = Settings::new(&all);
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
        let settings = Settings::new(&all);
        assert!(leaves.iter().all(|leaf| settings.of(leaf).is_some()) && settings.unknown(&leaves).is_none());
        assert!(begin.elapsed().as_secs() < 5, "{:?}", begin.elapsed());
    }
}
