//! Settings by column path, in a map, so that a lookup does not search all of them.

use super::selector::ColumnPath;
use crate::schema::Leaf;
use marquetry_format::KeyValue;
use std::collections::{BTreeSet, HashMap};

/// Indices of settings, by the dotted path that each is for.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct ByPath {
    numbers: HashMap<String, Vec<usize>>,
    /// Bytes of the longest path. Longer paths are not looked up: a name of nothing but dots would have too many
    /// prefixes.
    longest: usize,
}

impl ByPath {
    pub(super) fn insert(&mut self, path: &ColumnPath, number: usize) {
        self.longest = self.longest.max(path.dotted().len());
        self.numbers.entry(path.string()).or_default().push(number);
    }

    /// Returns the settings for a column, and for the groups around it, the outermost first.
    pub(super) fn at_or_above(&self, dotted: &str) -> impl Iterator<Item = usize> {
        self.prefixes(dotted).filter_map(|path| self.numbers.get(path)).flatten().copied()
    }

    /// Returns the first setting whose path is neither one of the columns nor a group around one. `path` returns the
    /// path of a setting.
    pub(super) fn first_for_none<'a>(
        &self,
        columns: &[Leaf],
        path: impl Fn(usize) -> Option<&'a ColumnPath>,
    ) -> Option<usize> {
        let mut left: BTreeSet<usize> = self.numbers.values().flatten().copied().collect();
        for leaf in columns {
            let is_its = |number: &usize| {
                path(*number).is_some_and(|path| path.is_at_or_above(leaf.path(), leaf.dotted()))
            };
            for number in self.at_or_above(leaf.dotted()).filter(is_its) {
                left.remove(&number);
            }
        }
        left.first().copied()
    }

    /// Returns the dotted paths of the groups around a column, the outermost first, and its own.
    ///
    /// Each dot ends one, because dots in a name cannot be told from those between names.
    fn prefixes<'a>(&self, dotted: &'a str) -> impl Iterator<Item = &'a str> + use<'a> {
        let longest = self.longest;
        let groups = dotted.match_indices('.').map(|(end, _)| &dotted[..end]);
        groups.chain([dotted]).take_while(move |path| path.len() <= longest)
    }
}

/// Key-value pairs for the metadata of column chunks, in the order of the calls.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct ColumnKeyValues {
    pairs: Vec<(ColumnPath, KeyValue)>,
    by_path: ByPath,
}

impl ColumnKeyValues {
    pub(super) fn push(&mut self, path: ColumnPath, pair: KeyValue) {
        self.by_path.insert(&path, self.pairs.len());
        self.pairs.push((path, pair));
    }

    /// Returns the pairs for a column and for the groups around it.
    pub(super) fn at_or_above(&self, leaf: &Leaf) -> Vec<KeyValue> {
        let mut numbers: Vec<usize> = self.by_path.at_or_above(leaf.dotted()).collect();
        numbers.retain(|number| self.pairs[*number].0.is_at_or_above(leaf.path(), leaf.dotted()));
        numbers.sort_unstable();
        numbers.into_iter().map(|number| self.pairs[number].1.clone()).collect()
    }

    /// Returns the first path that is neither a column nor a group around one.
    pub(super) fn unknown_path(&self, columns: &[Leaf]) -> Option<&ColumnPath> {
        let path = |number: usize| Some(&self.pairs.get(number)?.0);
        path(self.by_path.first_for_none(columns, path)?)
    }
}
