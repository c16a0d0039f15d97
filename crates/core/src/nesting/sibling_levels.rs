//! Compares the nesting of columns in one group by hashes of their levels.

use crate::nesting::leaf_shape::{LeafShape, LevelGroup};
use std::collections::BTreeMap;

/// For each group above a column, the group's number and a hash of where the group is absent and where its lists begin.
pub type Signatures = Vec<(usize, u64)>;

/// A hasher of those parts of a column's levels that must be equal for all columns of a group.
#[derive(Debug)]
pub struct SiblingHasher {
    groups: Vec<(LevelGroup, u64)>,
}

impl SiblingHasher {
    /// Creates the hasher for a column of this shape.
    pub fn new(shape: &LeafShape) -> Self {
        SiblingHasher { groups: shape.groups.iter().map(|group| (*group, SEED)).collect() }
    }

    /// Adds the next levels; `rep` may be empty if all its levels are 0.
    pub fn add(&mut self, rep: &[u8], def: &[u8]) {
        for (group, hash) in &mut self.groups {
            let mut state = *hash;
            let mut add = |rep: u8, def: u8| {
                let word = u64::from(rep) << 8 | u64::from(def.min(group.def));
                state = (state ^ word).wrapping_mul(PRIME).rotate_left(23);
            };
            match rep.is_empty() {
                true => def.iter().for_each(|def| add(0, *def)),
                false => {
                    let entries = rep.iter().zip(def).filter(|(rep, _)| **rep <= group.rep);
                    entries.for_each(|(rep, def)| add(*rep, *def));
                }
            }
            *hash = state;
        }
    }

    /// Returns the hashes, after the last level was added.
    pub fn finish(self) -> Signatures {
        self.groups.into_iter().map(|(group, hash)| (group.id, hash)).collect()
    }
}

/// Returns the columns of a row group whose nesting contradicts another column of the same group: pairs of the column
/// and that other one. `columns` are numbers and signatures, in the order of the schema.
///
/// ```
/// use marquetry_core::nesting::{SiblingHasher, disagreeing, leaf_shapes};
/// use marquetry_core::schema::Schema;
/// let schema = Schema::parse("message m { optional group g { required int32 a; required int32 b; } }")?;
/// let columns = leaf_shapes(&schema).into_iter().zip([[1, 0], [1, 1]]).enumerate().map(|(column, (shape, def))| {
///     let mut hasher = SiblingHasher::new(&shape);
///     hasher.add(&[], &def);
///     (column, hasher.finish())
/// });
/// assert_eq!(disagreeing(columns), [(1, 0)]);
/// # Ok::<(), marquetry_base::Error>(())
/// ```
pub fn disagreeing(columns: impl IntoIterator<Item = (usize, Signatures)>) -> Vec<(usize, usize)> {
    // The first column below each group, and its hash.
    let mut first: BTreeMap<usize, (usize, u64)> = BTreeMap::new();
    let mut found = Vec::new();
    for (column, groups) in columns {
        for (id, hash) in groups {
            let (other, expected) = *first.entry(id).or_insert((column, hash));
            if expected != hash {
                found.push((column, other));
                // Groups inside this one differ as well.
                break;
            }
        }
    }
    found
}

const SEED: u64 = 0x9e37_79b9_7f4a_7c15;
const PRIME: u64 = 0xff51_afd7_ed55_8ccd;
