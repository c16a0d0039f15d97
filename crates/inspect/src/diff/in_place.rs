//! Tells removed, added, changed and moved rows apart, at the places at which both files differ.

use super::side_by_side::Place;
use std::collections::HashMap;

/// Places at which rows differ, with their hashes.
pub(crate) struct Places {
    places: Vec<Place>,
}

/// The differences, by place.
pub(crate) struct InPlace {
    /// Places of rows that only the left file has, and of those that only the right one has.
    pub(crate) removed: Vec<u64>,
    pub(crate) added: Vec<u64>,
    /// Places at which both is the case: one row became another.
    pub(crate) changed: Vec<u64>,
    /// The first place whose rows are elsewhere in the other file.
    pub(crate) first_moved: Option<u64>,
}

impl Places {
    pub(crate) fn new(places: Vec<Place>) -> Self {
        Places { places }
    }

    /// Determines which of them are changes, and which only another order.
    pub(crate) fn compare(&self) -> InPlace {
        // How much more often the left file has a row.
        let mut excess: HashMap<u64, i64> = HashMap::new();
        for (_, left, right) in &self.places {
            *excess.entry(*left).or_default() += 1;
            *excess.entry(*right).or_default() -= 1;
        }
        let (mut removed, mut added) = (Vec::new(), Vec::new());
        let mut first_moved = None;
        for (place, left, right) in &self.places {
            let mut is_moved = false;
            match excess.get_mut(left) {
                Some(excess @ 1..) => {
                    *excess -= 1;
                    removed.push(*place);
                }
                _ => is_moved = true,
            }
            match excess.get_mut(right) {
                Some(excess @ ..=-1) => {
                    *excess += 1;
                    added.push(*place);
                }
                _ => is_moved = true,
            }
            if is_moved {
                first_moved.get_or_insert(*place);
            }
        }
        let changed = common(&mut removed, &mut added);
        InPlace { removed, added, changed, first_moved }
    }
}

/// Removes the common numbers from two ascending lists, and returns them.
fn common(a: &mut Vec<u64>, b: &mut Vec<u64>) -> Vec<u64> {
    let both: Vec<u64> = a.iter().copied().filter(|place| b.binary_search(place).is_ok()).collect();
    a.retain(|place| both.binary_search(place).is_err());
    b.retain(|place| both.binary_search(place).is_err());
    both
}
