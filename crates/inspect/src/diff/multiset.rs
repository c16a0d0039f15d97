//! Compares rows wherever they are, by how often each occurs in both files.
//!
//! Rows fall into buckets by their hash. If a bucket has as many rows of both files, with the same sum of hashes, these
//! are the same rows. Only the rows of other buckets are compared one by one, as many buckets at a time as memory has
//! room for.

use super::row_log::RowLog;
use marquetry_base::Result;
use std::collections::HashMap;

/// The rows that only one of both files has.
#[derive(Default)]
pub(crate) struct OnlyInOne {
    pub(crate) removed: u64,
    pub(crate) added: u64,
    /// The first of them, ascending.
    pub(crate) removed_rows: Vec<u64>,
    pub(crate) added_rows: Vec<u64>,
}

pub(crate) fn compare(left: &RowLog, right: &RowLog, samples: usize) -> Result<OnlyInOne> {
    let mut buckets = vec![Bucket::default(); BUCKETS];
    left.each(|_, hashes| {
        hashes.iter().for_each(|hash| buckets[bucket(*hash)].add(*hash));
        Ok(())
    })?;
    right.each(|_, hashes| {
        hashes.iter().for_each(|hash| buckets[bucket(*hash)].subtract(*hash));
        Ok(())
    })?;
    let mut found = OnlyInOne::default();
    let (mut start, mut rows) = (0, 0);
    for end in 0..BUCKETS {
        rows += buckets[end].rows_to_look_at();
        if rows >= ROWS_AT_A_TIME || (end + 1 == BUCKETS && rows > 0) {
            look_at(
                left,
                right,
                samples,
                |hash| (start..=end).contains(&bucket(hash)) && buckets[bucket(hash)].rows_to_look_at() > 0,
                &mut found,
            )?;
            (start, rows) = (end + 1, 0);
        }
    }
    for rows in [&mut found.removed_rows, &mut found.added_rows] {
        rows.sort_unstable();
        rows.truncate(samples);
    }
    Ok(found)
}

#[derive(Clone, Copy, Default)]
struct Bucket {
    left: u64,
    right: u64,
    /// The sum of the left file's hashes, minus those of the right one.
    sum: u64,
}

impl Bucket {
    fn add(&mut self, hash: u64) {
        self.left += 1;
        self.sum = self.sum.wrapping_add(hash);
    }

    fn subtract(&mut self, hash: u64) {
        self.right += 1;
        self.sum = self.sum.wrapping_sub(hash);
    }

    fn rows_to_look_at(&self) -> u64 {
        match self.sum == 0 && self.left == self.right {
            true => 0,
            false => self.left + self.right,
        }
    }
}

fn bucket(hash: u64) -> usize {
    (hash >> (64 - BUCKET_BITS)) as usize
}

/// Counts the rows of some buckets one by one.
fn look_at(
    left: &RowLog,
    right: &RowLog,
    samples: usize,
    is_wanted: impl Fn(u64) -> bool,
    found: &mut OnlyInOne,
) -> Result<()> {
    // How much more often the left file has a row.
    let mut excess: HashMap<u64, i64> = HashMap::new();
    for (log, step) in [(left, 1), (right, -1)] {
        log.each(|_, hashes| {
            let wanted = hashes.iter().filter(|hash| is_wanted(**hash));
            wanted.for_each(|hash| *excess.entry(*hash).or_default() += step);
            Ok(())
        })?;
    }
    excess.retain(|_, excess| *excess != 0);
    found.removed += excess.values().map(|excess| (*excess).max(0) as u64).sum::<u64>();
    found.added += excess.values().map(|excess| (-*excess).max(0) as u64).sum::<u64>();
    for (log, sign, rows) in [(left, 1, &mut found.removed_rows), (right, -1, &mut found.added_rows)] {
        let mut taken = 0;
        log.each(|start, hashes| {
            for (i, hash) in hashes.iter().enumerate() {
                let Some(excess) = excess.get_mut(hash).filter(|excess| **excess * sign > 0) else {
                    continue;
                };
                if taken < samples {
                    *excess -= sign;
                    rows.push(start + i as u64);
                    taken += 1;
                }
            }
            Ok(())
        })?;
    }
    Ok(())
}

const BUCKET_BITS: u32 = 18;
const BUCKETS: usize = 1 << BUCKET_BITS;
/// Number of rows that are counted one by one at a time: some 60 MB.
const ROWS_AT_A_TIME: u64 = 2 << 20;
