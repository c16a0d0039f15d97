//! Builds the metadata of a value being written: the dictionary of its field names.
//!
//! The values of a column mostly have the same names in the same order. So knowledge about names is kept from value to
//! value. Each name remembers which name followed it last, and that one is compared with the next name before anything
//! is looked up. If a value has the same names as the previous one, the bytes of the metadata are reused.

use crate::metadata::{SORTED, VERSION};
use crate::number::{put_number, width_of};
use marquetry_base::{Error, Result};
use std::cmp::Ordering;
use std::collections::HashMap;

/// The names of values. Each name gets an id when it is first used in a value.
#[derive(Debug)]
pub(crate) struct Names {
    known: Vec<Known>,
    /// All known names, end to end.
    text: String,
    places: HashMap<Box<str>, u32>,
    /// The places of the names of this value in `known`, by id.
    used: Vec<u32>,
    /// The number of this value. Ids that were assigned in other values do not count.
    value: u64,
    /// The place of the previous name.
    before: u32,
    /// The name that the last value began with.
    first: u32,
    /// The metadata for the names `of_metadata`.
    metadata: Vec<u8>,
    of_metadata: Vec<u32>,
}

/// A name that was seen in this value or before.
#[derive(Debug)]
struct Known {
    start: usize,
    end: usize,
    /// The value in which `id` is valid.
    value: u64,
    id: u32,
    /// The name that followed last.
    next: u32,
}

impl Default for Names {
    fn default() -> Self {
        Names {
            known: Vec::new(),
            text: String::new(),
            places: HashMap::new(),
            used: Vec::new(),
            value: 0,
            before: NONE,
            first: NONE,
            metadata: Vec::new(),
            of_metadata: Vec::new(),
        }
    }
}

impl Names {
    /// Returns the id of a name.
    #[inline]
    pub(crate) fn id(&mut self, name: &str) -> Result<u32> {
        let guess = match self.before {
            NONE => self.first,
            before => self.known[before as usize].next,
        };
        let place = match self.known.get(guess as usize) {
            Some(known) if &self.text[known.start..known.end] == name => guess,
            _ => self.find(name)?,
        };
        self.before = place;
        let known = &mut self.known[place as usize];
        if known.value != self.value {
            // There are no more ids than places, which fit in 32 bits.
            (known.value, known.id) = (self.value, self.used.len() as u32);
            self.used.push(place);
        }
        Ok(known.id)
    }

    /// Finds the place of a name that is not the one guessed.
    fn find(&mut self, name: &str) -> Result<u32> {
        let place = match self.places.get(name) {
            Some(place) => *place,
            None => {
                let place = u32::try_from(self.known.len()).ok().filter(|place| *place != NONE);
                let place = place.ok_or_else(too_large)?;
                let start = self.text.len();
                self.text.push_str(name);
                // No value has this number.
                self.known.push(Known { start, end: self.text.len(), value: u64::MAX, id: 0, next: NONE });
                self.places.insert(name.into(), place);
                place
            }
        };
        match self.before {
            NONE => self.first = place,
            before => self.known[before as usize].next = place,
        }
        Ok(place)
    }

    /// Returns the name of an id that was assigned in this value.
    #[inline]
    pub(crate) fn name(&self, id: u32) -> &str {
        let known = &self.known[self.used[id as usize] as usize];
        &self.text[known.start..known.end]
    }

    /// Compares the names of two ids.
    #[inline]
    pub(crate) fn compare(&self, one: u32, other: u32) -> Ordering {
        self.name(one).as_bytes().cmp(self.name(other).as_bytes())
    }

    /// Begins a value without names.
    pub(crate) fn begin(&mut self) {
        // Names that occur in one value only must not be kept forever.
        if self.text.len() > MAX_TEXT || self.known.len() > MAX_KNOWN {
            *self = Names { value: self.value, ..Names::default() };
        }
        self.used.clear();
        self.value += 1;
        self.before = NONE;
    }

    /// Returns the metadata of the value.
    pub(crate) fn metadata(&mut self) -> Result<&[u8]> {
        if self.metadata.is_empty() || self.used != self.of_metadata {
            self.metadata.clear();
            let total: usize = self.used.iter().map(|place| self.len_at(*place)).sum();
            let offset_size = width_of(total.max(self.used.len())).ok_or_else(too_large)?;
            let ids = 1..self.used.len() as u32;
            let is_sorted =
                !self.used.is_empty() && ids.into_iter().all(|id| self.compare(id - 1, id) == Ordering::Less);
            let header = VERSION | if is_sorted { SORTED } else { 0 } | (offset_size as u8 - 1) << 6;
            self.metadata.push(header);
            put_number(&mut self.metadata, self.used.len(), offset_size);
            let mut offset = 0;
            put_number(&mut self.metadata, 0, offset_size);
            for i in 0..self.used.len() {
                offset += self.len_at(self.used[i]);
                put_number(&mut self.metadata, offset, offset_size);
            }
            for place in &self.used {
                let known = &self.known[*place as usize];
                self.metadata.extend_from_slice(&self.text.as_bytes()[known.start..known.end]);
            }
            self.of_metadata.clone_from(&self.used);
        }
        Ok(&self.metadata)
    }

    fn len_at(&self, place: u32) -> usize {
        let known = &self.known[place as usize];
        known.end - known.start
    }
}

#[cold]
fn too_large() -> Error {
    Error::limit("variant metadata of more than 4 GiB of names")
}

/// Stands for no place.
const NONE: u32 = u32::MAX;
/// Maximum total length and number of the names that are kept from value to value.
const MAX_TEXT: usize = 1 << 20;
const MAX_KNOWN: usize = 1 << 16;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::Metadata;

    #[test]
    fn names_get_ids_when_they_are_first_used() {
        let mut names = Names::default();
        names.begin();
        assert_eq!(["b", "a", "b"].map(|name| names.id(name).unwrap()), [0, 1, 0]);
        let bytes = names.metadata().unwrap().to_vec();
        let metadata = Metadata::new(&bytes).unwrap();
        assert!(!metadata.is_sorted());
        assert_eq!([0, 1].map(|id| metadata.name(id).unwrap()), ["b", "a"]);
        // The ids of the next value begin at 0 again.
        names.begin();
        assert_eq!(["z", "b"].map(|name| names.id(name).unwrap()), [0, 1]);
        let bytes = names.metadata().unwrap().to_vec();
        assert_eq!([0, 1].map(|id| Metadata::new(&bytes).unwrap().name(id).unwrap()), ["z", "b"]);
    }

    #[test]
    fn values_without_names_have_metadata_of_their_own() {
        let mut names = Names::default();
        names.begin();
        assert_eq!(names.metadata().unwrap(), [1, 0, 0]);
        names.begin();
        names.id("a").unwrap();
        assert_eq!(names.metadata().unwrap(), [0b0001_0001, 1, 0, 1, b'a']);
        names.begin();
        assert_eq!(names.metadata().unwrap(), [1, 0, 0]);
    }

    #[test]
    fn more_names_than_are_kept() {
        let mut names = Names::default();
        for value in 0..3 {
            names.begin();
            for i in 0..MAX_KNOWN as u32 {
                assert_eq!(names.id(&format!("{value}-{i}")).unwrap(), i);
            }
        }
        assert!(names.known.len() <= 2 * MAX_KNOWN);
    }
}
