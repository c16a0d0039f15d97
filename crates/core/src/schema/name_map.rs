//! Finds columns by path and fields by name.
//!
//! The first lookups search all names, since most readers look up a few. Then a map is built, for predicates over thousands of
//! columns.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// The positions of names. A clone builds its own map.
#[derive(Default)]
pub(super) struct NameMap {
    lookups: AtomicUsize,
    places: OnceLock<Places>,
}

struct Places {
    first: HashMap<Arc<str>, usize>,
    /// The next position of the same name; few names have one.
    next: HashMap<usize, usize>,
}

impl NameMap {
    /// Returns the positions of `name` in `all`, in ascending order. `all` has to be the same in each call.
    pub(super) fn find<'a>(
        &self,
        all: impl DoubleEndedIterator<Item = &'a Arc<str>> + ExactSizeIterator,
        name: &str,
    ) -> Vec<usize> {
        if self.places.get().is_none() && self.lookups.fetch_add(1, Ordering::Relaxed) < FEW_LOOKUPS {
            return all.enumerate().filter(|(_, known)| ***known == *name).map(|(place, _)| place).collect();
        }
        let places = self.places.get_or_init(|| Places::new(all));
        let first = places.first.get(name).copied();
        std::iter::successors(first, |place| places.next.get(place).copied()).collect()
    }

    /// Returns about how many bytes the map takes.
    pub(super) fn memory_size(&self) -> usize {
        self.places.get().map_or(0, |places| places.first.capacity() * size_of::<(Arc<str>, usize, u8)>())
    }
}

impl Places {
    fn new<'a>(all: impl DoubleEndedIterator<Item = &'a Arc<str>> + ExactSizeIterator) -> Self {
        let (mut first, mut next) = (HashMap::with_capacity(all.len()), HashMap::new());
        // Backwards, so that `first` has the first of equal names.
        for (place, name) in all.enumerate().rev() {
            if let Some(later) = first.insert(name.clone(), place) {
                next.insert(place, later);
            }
        }
        Places { first, next }
    }
}

/// Number of lookups before the map is built. PERF: of 20,000 columns the map takes as long as this many searches.
const FEW_LOOKUPS: usize = 32;

impl Clone for NameMap {
    fn clone(&self) -> Self {
        NameMap::default()
    }
}

impl PartialEq for NameMap {
    /// Maps of equal schemas are equal, whether they were built or not.
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl fmt::Debug for NameMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NameMap")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_map_finds_what_a_look_at_all_names_does() {
        let names: Vec<Arc<str>> = ["a", "b", "a", "c", "", "a"].map(Arc::from).into();
        let map = NameMap::default();
        for lookup in 0..2 * FEW_LOOKUPS {
            let find = |name| map.find(names.iter(), name);
            let (name, expected) =
                [("a", vec![0, 2, 5]), ("c", vec![3]), ("", vec![4]), ("d", vec![])][lookup % 4].clone();
            assert_eq!(find(name), expected);
        }
        assert!(map.memory_size() > 0 && map.clone().memory_size() == 0);
    }
}
