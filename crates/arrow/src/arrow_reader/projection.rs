//! Column projection: which columns to read.

use marquetry_base::Result;
use marquetry_core::schema::{Schema, unknown_column};
use std::collections::{HashMap, HashSet};

/// A choice of a file's columns, by leaf. Structs and lists are read with those of their leaves that are chosen.
///
/// The order of columns in the result is always the file's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectionMask {
    /// One for each leaf; `None` if all are chosen.
    leaves: Option<Vec<bool>>,
}

impl ProjectionMask {
    /// All columns.
    pub fn all() -> Self {
        ProjectionMask { leaves: None }
    }

    /// No columns of `len` leaves: batches then have rows and nothing in them.
    pub fn none(len: usize) -> Self {
        ProjectionMask { leaves: Some(vec![false; len]) }
    }

    /// The leaves of these numbers; numbers that do not exist choose nothing.
    pub fn leaves(schema: &Schema, indices: impl IntoIterator<Item = usize>) -> Self {
        let mut leaves = vec![false; schema.num_columns()];
        for index in indices {
            if let Some(leaf) = leaves.get_mut(index) {
                *leaf = true;
            }
        }
        ProjectionMask { leaves: Some(leaves) }
    }

    /// All leaves of the root's fields of these numbers.
    pub fn roots(schema: &Schema, indices: impl IntoIterator<Item = usize>) -> Self {
        let indices: HashSet<usize> = indices.into_iter().collect();
        let mut mask = ProjectionMask::none(schema.num_columns());
        mask.choose(|i| indices.contains(&schema.column(i).root()));
        mask
    }

    /// All leaves at or below these dotted paths; paths that do not exist choose nothing.
    pub fn columns<'a>(schema: &Schema, names: impl IntoIterator<Item = &'a str>) -> Self {
        let mut names = names.into_iter().map(|name| (name, 0)).collect();
        ProjectionMask::named(schema, &mut names)
    }

    /// [`columns`](Self::columns), but a path that does not exist is an error that names similar ones.
    pub fn existing_columns<'a>(schema: &Schema, names: impl IntoIterator<Item = &'a str>) -> Result<Self> {
        let names: Vec<&str> = names.into_iter().collect();
        let mut counts = names.iter().map(|name| (*name, 0)).collect();
        let mask = ProjectionMask::named(schema, &mut counts);
        match names.into_iter().find(|name| counts.get(name) == Some(&0)) {
            Some(unknown) => Err(unknown_column(schema, unknown)),
            None => Ok(mask),
        }
    }

    /// All leaves at or below these dotted paths, and how many each path chooses.
    fn named(schema: &Schema, names: &mut HashMap<&str, usize>) -> Self {
        let mut mask = ProjectionMask::none(schema.num_columns());
        mask.choose(|leaf| {
            let path = schema.column(leaf).dotted();
            let ends = path.match_indices('.').map(|(end, _)| end).chain([path.len()]);
            // All of them are counted, so no `any`.
            ends.fold(false, |is_chosen, end| match names.get_mut(&path[..end]) {
                Some(count) => {
                    *count += 1;
                    true
                }
                None => is_chosen,
            })
        });
        mask
    }

    /// Whether leaf `index` is chosen.
    pub fn leaf_included(&self, index: usize) -> bool {
        self.leaves.as_ref().is_none_or(|leaves| leaves.get(index).copied().unwrap_or(false))
    }

    /// The leaves that either chooses.
    pub fn union(&mut self, other: &Self) {
        match (&mut self.leaves, &other.leaves) {
            (Some(ours), Some(theirs)) => {
                ours.iter_mut().zip(theirs).for_each(|(ours, theirs)| *ours |= theirs);
            }
            _ => self.leaves = None,
        }
    }

    /// Chooses the leaves that `wanted` wants.
    fn choose(&mut self, mut wanted: impl FnMut(usize) -> bool) {
        let leaves = self.leaves.iter_mut().flatten().enumerate();
        leaves.for_each(|(leaf, chosen)| *chosen |= wanted(leaf));
    }
}
