//! Column names in options, before the `=`.

use marquetry::schema::{Leaf, Schema};
use marquetry_base::quote_name;
use std::collections::HashMap;

/// Names of single columns in options.
pub(crate) struct SettingNames<'a> {
    schema: &'a Schema,
    /// The number of columns that each dotted path matches: those that have it, and those below one that has it.
    fits: HashMap<&'a str, usize>,
}

impl<'a> SettingNames<'a> {
    pub(crate) fn new(schema: &'a Schema) -> Self {
        let mut fits = HashMap::new();
        for path in schema.columns().iter().flat_map(Leaf::dotted_ancestors) {
            *fits.entry(path).or_default() += 1;
        }
        SettingNames { schema, fits }
    }

    /// The name of a column: in quotes where it could be taken for a pattern, for something else, or for nothing; with
    /// each of its parts in quotes where the dotted path is ambiguous, as for `s.x.y` and `s."x.y"`.
    pub(super) fn of(&self, leaf: usize) -> String {
        let leaf = self.schema.column(leaf);
        let dotted = &**leaf.dotted();
        if !self.is_sole(dotted) {
            return leaf.path().iter().map(|name| quote_name(name)).collect::<Vec<_>>().join(".");
        }
        let is_plain = !dotted.is_empty() && !dotted.contains(['*', '?', '[', '"', ':']);
        if is_plain { dotted.to_owned() } else { quote_name(dotted) }
    }

    /// The names of all columns with this dotted path.
    pub(super) fn called(&self, dotted: &str) -> Vec<String> {
        let leaves = 0..self.schema.num_columns();
        leaves
            .filter(|leaf| **self.schema.column(*leaf).dotted() == *dotted)
            .map(|leaf| self.of(leaf))
            .collect()
    }

    /// Whether a dotted path matches only one column.
    pub(super) fn is_sole(&self, dotted: &str) -> bool {
        self.fits.get(dotted).is_none_or(|columns| *columns == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_options_take_for_something_else_are_in_quotes() {
        let schema = "message m { optional int32 a.b; optional group c { optional int32 d; } optional int32 a*; \
                      optional int32 a:0.5; optional int32 \"x\"; }";
        let schema = Schema::parse(schema).unwrap();
        let names = SettingNames::new(&schema);
        for (leaf, expected) in ["a.b", "c.d", "\"a*\"", "\"a:0.5\"", "\"\"\"x\"\"\""].iter().enumerate() {
            assert_eq!(names.of(leaf), *expected);
            assert_eq!(names.called(schema.column(leaf).dotted()), [*expected]);
        }
    }

    #[test]
    fn names_with_dots_are_told_from_paths() {
        let schema = "message m { optional group s { optional int32 x.y; optional group x { optional int32 y; } \
                      optional int32 z; } optional int32 s.x; }";
        let schema = Schema::parse(schema).unwrap();
        let names = SettingNames::new(&schema);
        let all: Vec<String> = (0..4).map(|leaf| names.of(leaf)).collect();
        assert_eq!(all, ["\"s\".\"x.y\"", "\"s\".\"x\".\"y\"", "s.z", "\"s.x\""]);
        assert_eq!(names.called("s.x.y"), all[..2]);
    }
}
