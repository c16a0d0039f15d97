//! Compares the nesting of columns of one group by hashes of their levels.

use super::leaf_shape::{LeafShape, LevelGroup};

/// For each group above a column: a hash of where it is absent and where its lists begin.
pub(super) type Signatures = Vec<(usize, u64)>;

/// Takes the levels of a column as they are read, and hashes what the columns of each group must agree on.
#[derive(Debug)]
pub(super) struct Siblings {
    groups: Vec<(LevelGroup, u64)>,
}

impl Siblings {
    pub(super) fn new(shape: &LeafShape) -> Self {
        Siblings { groups: shape.groups.iter().map(|group| (*group, SEED)).collect() }
    }

    pub(super) fn add(&mut self, rep: &[u8], def: &[u8]) {
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

    pub(super) fn finish(self) -> Signatures {
        self.groups.into_iter().map(|(group, hash)| (group.id, hash)).collect()
    }
}

const SEED: u64 = 0x9e37_79b9_7f4a_7c15;
const PRIME: u64 = 0xff51_afd7_ed55_8ccd;
