//! Which columns to read.

use marquetry_base::Result;
use marquetry_core::schema::{Schema, unknown_column};

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
        let mut mask = ProjectionMask::none(schema.num_columns());
        for index in indices {
            mask.choose(|i| i == index);
        }
        mask
    }

    /// All leaves of the root's fields of these numbers.
    pub fn roots(schema: &Schema, indices: impl IntoIterator<Item = usize>) -> Self {
        let mut mask = ProjectionMask::none(schema.num_columns());
        for index in indices {
            mask.choose(|i| schema.column(i).root() == index);
        }
        mask
    }

    /// All leaves at or below these dotted paths; paths that do not exist choose nothing.
    pub fn columns<'a>(schema: &Schema, names: impl IntoIterator<Item = &'a str>) -> Self {
        let mut mask = ProjectionMask::none(schema.num_columns());
        for name in names {
            mask.choose(|i| is_at_or_below(schema.column(i).dotted(), name));
        }
        mask
    }

    /// [`columns`](Self::columns), but a path that does not exist is an error that names similar ones.
    pub fn existing_columns<'a>(schema: &Schema, names: impl IntoIterator<Item = &'a str>) -> Result<Self> {
        let mut mask = ProjectionMask::none(schema.num_columns());
        for name in names {
            if mask.choose(|i| is_at_or_below(schema.column(i).dotted(), name)) == 0 {
                return Err(unknown_column(schema, name));
            }
        }
        Ok(mask)
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

    /// Chooses the leaves that `wanted` wants; returns how many those are.
    fn choose(&mut self, wanted: impl Fn(usize) -> bool) -> usize {
        let leaves = self.leaves.iter_mut().flatten().enumerate().filter(|(i, _)| wanted(*i));
        leaves.map(|(_, chosen)| *chosen = true).count()
    }
}

fn is_at_or_below(path: &str, name: &str) -> bool {
    path.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}
