//! Finds fields by name, at the expected position first.

use std::borrow::Cow;
use std::collections::HashMap;

/// An index of `count` names.
pub(super) struct NameIndex<'a, N: Fn(usize) -> Cow<'a, str>> {
    count: usize,
    name: N,
    /// The first place of each name, made once a name was not at its place. PERF: if a wide table's columns have
    /// another order, searching all names for each would be too slow.
    first: Option<HashMap<Cow<'a, str>, usize>>,
}

impl<'a, N: Fn(usize) -> Cow<'a, str>> NameIndex<'a, N> {
    /// Creates an index. `name` returns the names of the places from 0 to `count`.
    pub(super) fn new(count: usize, name: N) -> Self {
        NameIndex { count, name, first: None }
    }

    /// Returns the place of `name`: the given place in the common case, else the first one that has this name.
    pub(super) fn find(&mut self, place: usize, name: &str) -> Option<usize> {
        if place < self.count && (self.name)(place) == name {
            return Some(place);
        }
        let (count, name_of) = (self.count, &self.name);
        // Backwards, so that the first of equal names stays.
        let first = self.first.get_or_insert_with(|| (0..count).rev().map(|i| (name_of(i), i)).collect());
        first.get(name).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_its_place_or_else_first() {
        let names = ["a", "b", "a", "c"];
        let mut places = NameIndex::new(names.len(), |i| Cow::Borrowed(names[i]));
        assert_eq!([0, 2, 1, 9].map(|place| places.find(place, "a")), [0, 2, 0, 0].map(Some));
        assert_eq!([0, 3].map(|place| places.find(place, "c")), [3, 3].map(Some));
        assert_eq!(places.find(0, "d"), None);
    }
}
