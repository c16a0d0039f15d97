//! A map from columns to a value for each.

use marquetry_base::Error;

/// A map from columns, by their numbers in the file, to values.
///
/// PERF: reading one column of a file with thousands needs room for one value only.
#[derive(Debug)]
pub(crate) struct ColumnMap<T> {
    /// In ascending order.
    leaves: Vec<usize>,
    values: Vec<T>,
}

impl<T> ColumnMap<T> {
    /// Creates a value for each of these columns, which may repeat.
    pub(crate) fn new(leaves: impl IntoIterator<Item = usize>, value: impl FnMut() -> T) -> Self {
        let mut leaves: Vec<usize> = leaves.into_iter().collect();
        leaves.sort_unstable();
        leaves.dedup();
        let mut values = Vec::new();
        values.resize_with(leaves.len(), value);
        ColumnMap { leaves, values }
    }

    pub(crate) fn get(&self, leaf: usize) -> Option<&T> {
        self.values.get(self.place(leaf)?)
    }

    pub(crate) fn get_mut(&mut self, leaf: usize) -> Option<&mut T> {
        let place = self.place(leaf)?;
        self.values.get_mut(place)
    }

    /// Iterates over the columns in ascending order, with their values.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, &T)> {
        self.leaves.iter().copied().zip(&self.values)
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (usize, &mut T)> {
        self.leaves.iter().copied().zip(&mut self.values)
    }

    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.values.iter_mut()
    }

    #[inline]
    fn place(&self, leaf: usize) -> Option<usize> {
        // Most reads have the first columns, or all of them.
        match self.leaves.get(leaf) {
            Some(there) if *there == leaf => Some(leaf),
            _ => self.leaves.binary_search(&leaf).ok(),
        }
    }
}

/// Returns the error for a column without a value.
#[cold]
pub(crate) fn missing(leaf: usize) -> Error {
    Error::argument(format!("column {leaf} was not read"))
}

/// From pairs in the order of the columns, without repetitions.
impl<T> FromIterator<(usize, T)> for ColumnMap<T> {
    fn from_iter<I: IntoIterator<Item = (usize, T)>>(pairs: I) -> Self {
        let (leaves, values): (Vec<_>, _) = pairs.into_iter().unzip();
        debug_assert!(leaves.is_sorted_by(|a, b| a < b), "columns out of order");
        ColumnMap { leaves, values }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn found_by_number() {
        for leaves in [vec![], vec![0, 1, 2], vec![7, 3, 3, 9]] {
            let mut of_some = ColumnMap::new(leaves.clone(), || 0);
            of_some.iter_mut().for_each(|(leaf, value)| *value = leaf * 10);
            for leaf in 0..12 {
                let expected = leaves.contains(&leaf).then_some(leaf * 10);
                assert_eq!(of_some.get(leaf).copied(), expected, "{leaf} of {leaves:?}");
                assert_eq!(of_some.get_mut(leaf).copied(), expected);
            }
            let again: ColumnMap<_> = of_some.iter().map(|(leaf, value)| (leaf, *value)).collect();
            assert!(again.iter().eq(of_some.iter()));
        }
    }
}
