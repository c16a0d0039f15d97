//! Compares rows that have the same key.

use super::parted_log::PartedLog;
use marquetry_base::{Error, Result};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasherDefault, Hasher};

/// The result of comparing rows by their keys.
#[derive(Default)]
pub(crate) struct ByKey {
    pub(crate) removed: u64,
    pub(crate) added: u64,
    pub(crate) changed: u64,
    pub(crate) removed_rows: Vec<u64>,
    pub(crate) added_rows: Vec<u64>,
    pub(crate) changed_rows: Vec<(u64, u64)>,
    /// The first row of the left file that has another number in the right one.
    pub(crate) first_moved: Option<u64>,
}

/// Compares rows by their keys. Keeps the first `samples` rows of each kind, and the first `most_changed` changed rows.
///
/// Fails if two rows of a file have the same key.
pub(crate) fn compare(
    left: &PartedLog,
    right: &PartedLog,
    samples: usize,
    most_changed: usize,
) -> Result<ByKey> {
    let mut found = ByKey::default();
    let mut rows = Rows::default();
    for part in 0..left.num_parts() {
        compare_part(left, right, part, &mut rows, &mut found)?;
        // Not for each part, which would take long, and not only at the end, which would take much memory.
        keep_first(&mut found, samples, most_changed, SLACK);
    }
    keep_first(&mut found, samples, most_changed, 0);
    Ok(found)
}

fn keep_first(found: &mut ByKey, samples: usize, most_changed: usize, slack: usize) {
    first(&mut found.removed_rows, samples, slack);
    first(&mut found.added_rows, samples, slack);
    first(&mut found.changed_rows, most_changed, slack);
}

fn first<T: Ord>(rows: &mut Vec<T>, most: usize, slack: usize) {
    if slack == 0 || rows.len() > most.saturating_add(slack) {
        rows.sort_unstable();
        rows.truncate(most);
    }
}

/// A row of the left file, and the row of the right file with its key.
struct LeftRow {
    values: u64,
    number: u64,
    right: Option<u64>,
}

/// The rows of a part by their keys.
#[derive(Default)]
struct Rows {
    left: HashMap<u64, LeftRow, BuildHasherDefault<KeyHasher>>,
    /// Rows that only the right file has.
    right: HashMap<u64, u64, BuildHasherDefault<KeyHasher>>,
}

/// A hasher for keys, which are hashes already. It spreads them once more, as those of a part have the same highest
/// bits.
#[derive(Default)]
pub(crate) struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(self.0 ^ u64::from(*byte)));
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

fn compare_part(
    left: &PartedLog,
    right: &PartedLog,
    part: usize,
    rows: &mut Rows,
    found: &mut ByKey,
) -> Result<()> {
    rows.left.clear();
    rows.right.clear();
    left.each(part, |row| match rows.left.entry(row.key) {
        Entry::Occupied(first) => Err(not_unique("left", first.get().number, row.number)),
        Entry::Vacant(entry) => {
            entry.insert(LeftRow { values: row.values, number: row.number, right: None });
            Ok(())
        }
    })?;
    right.each(part, |row| {
        match rows.left.get_mut(&row.key) {
            Some(LeftRow { right: Some(first), .. }) => return Err(not_unique("right", *first, row.number)),
            Some(before) => {
                before.right = Some(row.number);
                if before.values != row.values {
                    found.changed += 1;
                    found.changed_rows.push((before.number, row.number));
                }
                if before.number != row.number {
                    let first = found.first_moved.get_or_insert(before.number);
                    *first = before.number.min(*first);
                }
            }
            None => {
                if let Some(first) = rows.right.insert(row.key, row.number) {
                    return Err(not_unique("right", first, row.number));
                }
                found.added += 1;
                found.added_rows.push(row.number);
            }
        }
        Ok(())
    })?;
    let removed = rows.left.values().filter(|row| row.right.is_none()).map(|row| row.number);
    let before = found.removed_rows.len();
    found.removed_rows.extend(removed);
    found.removed += (found.removed_rows.len() - before) as u64;
    Ok(())
}

fn not_unique(file: &str, first: u64, second: u64) -> Error {
    Error::argument(format!(
        "the key is not unique: rows {first} and {second} of the {file} file have the same; name more columns, or compare without a key"
    ))
}

/// Number of rows that are kept beyond the wanted ones, before the first of them are chosen.
const SLACK: usize = 1 << 18;
