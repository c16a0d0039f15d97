//! Compares rows that have the same key.

use super::row_log::RowLog;
use marquetry_base::{Error, Result};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// What became of the rows of the left file.
#[derive(Default)]
pub(crate) struct ByKey {
    pub(crate) removed: u64,
    pub(crate) added: u64,
    pub(crate) changed: u64,
    pub(crate) removed_rows: Vec<u64>,
    pub(crate) added_rows: Vec<u64>,
    pub(crate) changed_rows: Vec<(u64, u64)>,
}

/// Logs have a word for the key and one for all columns of each row. Of each kind `samples` rows are kept, and of those that were
/// changed `most_changed`, the first ones.
///
/// Fails if two rows of a file have the same key.
pub(crate) fn compare(left: &RowLog, right: &RowLog, samples: usize, most_changed: usize) -> Result<ByKey> {
    let parts = (left.len().max(right.len()) / WORDS_AT_A_TIME + 1).next_power_of_two();
    let mut found = ByKey::default();
    for part in 0..parts {
        compare_part(left, right, samples.max(most_changed), |key| key % parts == part, &mut found)?;
    }
    for (rows, most) in [(&mut found.removed_rows, samples), (&mut found.added_rows, samples)] {
        rows.sort_unstable();
        rows.truncate(most);
    }
    found.changed_rows.sort_unstable();
    found.changed_rows.truncate(most_changed);
    Ok(found)
}

/// A row of the left file, and the one of the right file that has its key.
struct LeftRow {
    values: u64,
    number: u64,
    right: Option<u64>,
}

fn compare_part(
    left: &RowLog,
    right: &RowLog,
    most: usize,
    is_wanted: impl Fn(u64) -> bool,
    found: &mut ByKey,
) -> Result<()> {
    let mut rows: HashMap<u64, LeftRow> = HashMap::new();
    each_row(left, &is_wanted, |number, key, values| {
        match rows.entry(key) {
            Entry::Occupied(first) => return Err(not_unique("left", first.get().number, number)),
            Entry::Vacant(entry) => entry.insert(LeftRow { values, number, right: None }),
        };
        Ok(())
    })?;
    let (mut changed, mut added) = (0, 0);
    let mut new_keys: HashMap<u64, u64> = HashMap::new();
    each_row(right, &is_wanted, |number, key, values| {
        match rows.get_mut(&key) {
            Some(LeftRow { right: Some(first), .. }) => return Err(not_unique("right", *first, number)),
            Some(row) => {
                row.right = Some(number);
                if row.values != values {
                    found.changed += 1;
                    if changed < most {
                        found.changed_rows.push((row.number, number));
                        changed += 1;
                    }
                }
            }
            None => {
                if let Some(first) = new_keys.insert(key, number) {
                    return Err(not_unique("right", first, number));
                }
                found.added += 1;
                if added < most {
                    found.added_rows.push(number);
                    added += 1;
                }
            }
        }
        Ok(())
    })?;
    let mut removed: Vec<u64> =
        rows.values().filter(|row| row.right.is_none()).map(|row| row.number).collect();
    found.removed += removed.len() as u64;
    removed.sort_unstable();
    found.removed_rows.extend(removed.into_iter().take(most));
    Ok(())
}

fn each_row(
    log: &RowLog,
    is_wanted: impl Fn(u64) -> bool,
    mut look: impl FnMut(u64, u64, u64) -> Result<()>,
) -> Result<()> {
    log.each(|start, words| {
        let (rows, _) = words.as_chunks::<2>();
        let rows = rows.iter().enumerate().filter(|(_, [key, _])| is_wanted(*key));
        rows.map(|(i, [key, values])| (start / 2 + i as u64, *key, *values))
            .try_for_each(|(number, key, values)| look(number, key, values))
    })
}

fn not_unique(file: &str, first: u64, second: u64) -> Error {
    Error::argument(format!(
        "the key is not unique: rows {first} and {second} of the {file} file have the same; name more columns, or compare without a key"
    ))
}

/// Rows of which a part is, at most: about 100 MB with their keys.
const WORDS_AT_A_TIME: u64 = 4 << 20;
