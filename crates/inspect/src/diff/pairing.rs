//! Reads both files in turn, for files that do not have the same rows at the same places. Two equal rows, one of each
//! file, cancel out once both were read. If one file has additional rows, the others come a little later there, and few
//! rows wait meanwhile. This is enough if few rows differ, whatever the size of the files. Keys, if there are any, must
//! be in order.
//!
//! ```text
//! left    a b c d e f       b is kept until the end: it was removed
//! right   a c d e f g       g too: it was added
//! ```

use super::diff_file::DiffFile;
use super::key_order::KeyOrder;
use super::keyed::KeyHasher;
use super::options::DiffOptions;
use super::side::Side;
use marquetry_base::{Error, Result, available_threads, parallel_map};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::BuildHasherDefault;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The rows that are not in both files, by their numbers in each, ascending. Without a key, at most `samples` numbers
/// of equal rows are kept.
#[derive(Debug, Default)]
pub(crate) struct Unpaired {
    pub(crate) removed: u64,
    pub(crate) added: u64,
    pub(crate) removed_rows: Vec<u64>,
    pub(crate) added_rows: Vec<u64>,
    /// Rows with the same key and other values: their numbers in both files.
    pub(crate) changed_rows: Vec<(u64, u64)>,
}

/// Pairs the rows of both files. Returns `None` if more rows wait for others than there is room for, or if there is a
/// key and it is not known to be unique, because the keys of a file do not ascend or descend.
pub(crate) fn compare(
    left: &DiffFile,
    right: &DiffFile,
    names: &[String],
    options: &DiffOptions,
) -> Result<Option<Unpaired>> {
    let threads = match options.threads {
        0 => available_threads(),
        threads => threads,
    };
    let parts = parts(&starts(left), &starts(right), threads * PARTS_OF_A_THREAD);
    let each = (threads / (2 * parts.len().max(1))).max(1);
    let (mut workers, executor) =
        (vec![(); threads.min(parts.len())], options.executor.or_threads("marquetry-diff"));
    let (left, right) = (left.clone(), right.clone());
    let (names, options) = (names.to_vec(), options.clone());
    let (state, samples, has_key) = (Arc::new(State::default()), options.samples, !options.key.is_empty());
    let shared = state.clone();
    let compared = parallel_map(&*executor, parts, &mut workers, move |(lefts, rights), ()| {
        let side = |file: &DiffFile, rows: Range<u64>| {
            let start = rows.start;
            let reader = file.rows(&names, rows, each, &options.executor)?;
            let mut side = Side::new(reader, &options.key, start);
            let is_watched = !has_key || side.watch_order()?;
            Ok::<_, Error>(is_watched.then_some(side))
        };
        match (side(&left, lefts)?, side(&right, rights)?) {
            (Some(left), Some(right)) => pair(left, right, samples, &shared),
            _ => Ok(None),
        }
    });
    let compared: Option<Vec<Part>> = compared.into_iter().collect::<Result<_>>()?;
    let Some(compared) = compared.filter(|_| !state.is_over()) else { return Ok(None) };
    let order =
        |of: fn(&Part) -> &Option<KeyOrder>| compared.iter().filter_map(move |part| of(part).as_ref());
    let are_in_order = KeyOrder::holds_over(order(|part| &part.left_order))
        && KeyOrder::holds_over(order(|part| &part.right_order));
    if has_key && !are_in_order {
        return Ok(None);
    }
    let mut all = Waiting::default();
    for part in compared {
        all.merge(part.waiting, samples);
    }
    Ok((all.rows.len() <= MOST_WAITING).then(|| all.unpaired()))
}

/// Returns where row groups begin, and the end.
fn starts(file: &DiffFile) -> Vec<u64> {
    let groups = file.metadata().metadata().row_groups().map(|group| group.num_rows());
    let ends = groups.scan(0u64, |end, rows| {
        *end = end.saturating_add(rows);
        Some(*end)
    });
    let mut starts: Vec<u64> = std::iter::once(0).chain(ends).collect();
    starts.dedup();
    starts
}

/// Divides both files into at most `most` parts that are read together. They begin with row groups that begin at about
/// the same row, so that equal rows are mostly in the same part.
fn parts(lefts: &[u64], rights: &[u64], most: usize) -> Vec<(Range<u64>, Range<u64>)> {
    let end = |starts: &[u64]| starts.last().copied().unwrap_or(0);
    let (left_end, right_end) = (end(lefts), end(rights));
    // Rows may be later in one file by as many rows as it has more.
    let apart = left_end.abs_diff(right_end);
    let most = (MOST_WAITING as u64 / 4 / apart.max(1)).min(most as u64).max(1);
    let fewest = (left_end / most).max(FEWEST_ROWS);
    let mut out: Vec<(Range<u64>, Range<u64>)> = Vec::new();
    let (mut left_start, mut right_start) = (0, 0);
    for left in lefts.iter().copied().filter(|left| *left < left_end) {
        let at = rights.partition_point(|right| *right < left);
        let near = rights[at.saturating_sub(1)..].iter().take(2).copied();
        let Some(right) = near.min_by_key(|right| right.abs_diff(left)) else { continue };
        let is_near = right.abs_diff(left) <= (MOST_WAITING as u64 / 8 / most).max(apart);
        if left - left_start >= fewest && is_near && right > right_start && right < right_end {
            out.push((left_start..left, right_start..right));
            (left_start, right_start) = (left, right);
        }
    }
    out.push((left_start..left_end, right_start..right_end));
    out
}

/// The state that all parts share.
#[derive(Default)]
struct State {
    /// Number of rows that wait.
    waiting: AtomicUsize,
    has_no_order: AtomicBool,
}

impl State {
    fn is_over(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > MOST_WAITING || self.has_no_order.load(Ordering::Relaxed)
    }
}

/// The result of a part.
struct Part {
    waiting: Waiting,
    left_order: Option<KeyOrder>,
    right_order: Option<KeyOrder>,
}

/// Returns `None` if it is given up before the end.
fn pair(mut left: Side, mut right: Side, samples: usize, state: &State) -> Result<Option<Part>> {
    let (mut waiting, mut counted) = (Waiting::default(), 0);
    loop {
        let (has_left, has_right) = (left.fill()?, right.fill()?);
        if !left.is_in_order() || !right.is_in_order() {
            state.has_no_order.store(true, Ordering::Relaxed);
        }
        // Fewer rows may wait than before.
        state.waiting.fetch_add(waiting.held(), Ordering::Relaxed);
        state.waiting.fetch_sub(counted, Ordering::Relaxed);
        counted = waiting.held();
        if state.is_over() {
            return Ok(None);
        }
        match (has_left, has_right) {
            (false, false) => {
                return Ok(Some(Part { waiting, left_order: left.order, right_order: right.order }));
            }
            (true, false) => waiting.add(&mut left, usize::MAX, Which::Left, samples),
            (false, true) => waiting.add(&mut right, usize::MAX, Which::Right, samples),
            (true, true) => pass(&mut left, &mut right, &mut waiting, samples),
        }
    }
}

/// Pairs the rows of both batches, up to the end of one of them.
fn pass(left: &mut Side, right: &mut Side, waiting: &mut Waiting, samples: usize) {
    let mut searches = SEARCHES;
    while left.left() > 0 && right.left() > 0 {
        let (lefts, rights) = (left.rest().1, right.rest().1);
        let same = lefts.iter().zip(rights).take_while(|(left, right)| left == right).count();
        left.take(same);
        right.take(same);
        let (lefts, rights) = (left.rest().1, right.rest().1);
        if lefts.is_empty() || rights.is_empty() {
            return;
        }
        let (more_left, more_right) = drift(lefts, rights, &mut searches);
        waiting.add(left, more_left, Which::Left, samples);
        waiting.add(right, more_right, Which::Right, samples);
    }
}

/// Returns how many rows of each side to skip until both go on alike: few of them, or after a search as many as it
/// takes. If they do not in these batches, returns as many of each as both have.
fn drift(lefts: &[u64], rights: &[u64], searches: &mut usize) -> (usize, usize) {
    let go_on = |left: usize, right: usize| {
        let (lefts, rights) =
            (lefts.get(left..).unwrap_or_default(), rights.get(right..).unwrap_or_default());
        let n = lefts.len().min(rights.len()).min(ALIKE);
        n > 0 && lefts[..n] == rights[..n]
    };
    if go_on(1, 1) {
        return (1, 1);
    }
    for more in 1..FURTHEST {
        if go_on(0, more) {
            return (0, more);
        }
        if go_on(more, 0) {
            return (more, 0);
        }
    }
    if *searches > 0 {
        *searches -= 1;
        // The first place of each row.
        let places = lefts.iter().enumerate().rev().map(|(place, hash)| (*hash, place));
        let places: HashMap<u64, usize, BuildHasherDefault<KeyHasher>> = places.collect();
        let found = rights.iter().enumerate().find_map(|(right, hash)| {
            let left = *places.get(hash)?;
            go_on(left, right).then_some((left, right))
        });
        if let Some(found) = found {
            return found;
        }
        *searches = 0;
    }
    let n = lefts.len().min(rights.len());
    (n, n)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Which {
    Left,
    Right,
}

/// Rows that wait for those of the other file, by their key or by their values.
#[derive(Default)]
struct Waiting {
    rows: HashMap<u64, WaitingRows, BuildHasherDefault<KeyHasher>>,
    /// Number of row numbers besides the first one of each.
    more: usize,
    changed: Vec<(u64, u64)>,
}

/// Rows that are the same in what is compared.
struct WaitingRows {
    which: Which,
    /// How many they are, and the hash of all values.
    count: u64,
    values: u64,
    /// The numbers of the first of them.
    first: u64,
    more: Vec<u64>,
}

impl Waiting {
    /// Returns the number of entries that memory is held for.
    fn held(&self) -> usize {
        self.rows.len() + self.more + self.changed.len()
    }

    /// Adds the next rows of a side, up to `n`. Each of them takes out a row that waits for it, or waits itself.
    fn add(&mut self, side: &mut Side, n: usize, which: Which, samples: usize) {
        let (n, first) = (n.min(side.left()), side.next());
        let (keys, rows) = side.take(n);
        for (at, values) in rows.iter().enumerate() {
            let key = keys.get(at).unwrap_or(values);
            let row =
                WaitingRows { which, count: 1, values: *values, first: first + at as u64, more: Vec::new() };
            self.add_rows(*key, row, samples);
        }
    }

    fn add_rows(&mut self, key: u64, row: WaitingRows, samples: usize) {
        let mut entry = match self.rows.entry(key) {
            Entry::Vacant(entry) => {
                self.more += row.more.len();
                entry.insert(row);
                return;
            }
            Entry::Occupied(entry) => entry,
        };
        let known = entry.get_mut();
        self.more -= known.more.len();
        if known.which == row.which {
            known.count += row.count;
            known.more.extend([row.first].into_iter().chain(row.more));
            known.more.truncate(samples.saturating_sub(1));
            self.more += known.more.len();
            return;
        }
        if known.values != row.values {
            // One of each, as keys are unique.
            let (left, right) =
                if row.which == Which::Left { (row.first, known.first) } else { (known.first, row.first) };
            self.changed.push((left, right));
        }
        let taken = known.count.min(row.count);
        let mut rest = if known.count > taken {
            entry.remove()
        } else {
            entry.remove();
            row
        };
        rest.count -= taken;
        if rest.count > 0 {
            // They are all the same: any of them may be the ones that are left.
            rest.more.truncate(usize::try_from(rest.count - 1).unwrap_or(usize::MAX));
            self.more += rest.more.len();
            self.rows.insert(key, rest);
        }
    }

    fn merge(&mut self, other: Waiting, samples: usize) {
        self.changed.extend(other.changed);
        for (key, rows) in other.rows {
            self.add_rows(key, rows, samples);
        }
    }

    /// Returns the rows that are left at the end.
    fn unpaired(self) -> Unpaired {
        let mut found = Unpaired { changed_rows: self.changed, ..Unpaired::default() };
        for rows in self.rows.into_values() {
            let (count, numbers) = match rows.which {
                Which::Left => (&mut found.removed, &mut found.removed_rows),
                Which::Right => (&mut found.added, &mut found.added_rows),
            };
            *count += rows.count;
            numbers.push(rows.first);
            numbers.extend(rows.more);
        }
        found.removed_rows.sort_unstable();
        found.added_rows.sort_unstable();
        found.changed_rows.sort_unstable();
        found
    }
}

/// Maximum number of rows that may wait: some 50 MB.
const MOST_WAITING: usize = 1 << 19;
/// Number of parts per thread, as one part may take longer than others.
const PARTS_OF_A_THREAD: usize = 4;
/// Minimum number of rows of a reader, if the file has that many.
const FEWEST_ROWS: u64 = 1 << 18;
/// How far rows that go on alike are looked for before whole batches are searched, how many rows must be alike, and how
/// often a batch is searched.
const FURTHEST: usize = 16;
const ALIKE: usize = 4;
const SEARCHES: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_go_on_alike_after_what_one_file_has_more() {
        let rows: Vec<u64> = (0..1_000).collect();
        let drift = |lefts: &[u64], rights: &[u64]| drift(lefts, rights, &mut { SEARCHES });
        assert_eq!(drift(&rows[1..], &rows), (0, 1));
        assert_eq!(drift(&rows, &rows[3..]), (3, 0));
        // A row became another.
        assert_eq!(drift(&rows, &[&[7_000], &rows[1..]].concat()), (1, 1));
        // Far away, with other rows in between.
        assert_eq!(drift(&rows, &rows[700..]), (700, 0));
        assert_eq!(drift(&rows[10..], &[&[7_000; 90], &rows[40..]].concat()), (30, 90));
        // Nowhere, or too often.
        let others: Vec<u64> = (5_000..5_900).collect();
        assert_eq!(drift(&rows, &others), (900, 900));
        assert_eq!(super::drift(&rows, &rows[700..], &mut 0), (300, 300));
    }

    #[test]
    fn parts_begin_at_about_the_same_row() {
        let starts = |end: u64, step: u64| (0..end).step_by(step as usize).chain([end]).collect::<Vec<_>>();
        let covers = |parts: &[(Range<u64>, Range<u64>)], left: u64, right: u64| {
            assert!(
                parts.windows(2).all(|two| two[0].0.end == two[1].0.start && two[0].1.end == two[1].1.start)
            );
            assert_eq!((parts[0].0.start, parts[0].1.start), (0, 0));
            let last = parts.last().unwrap();
            assert_eq!((last.0.end, last.1.end), (left, right));
        };
        let parts_of = |left: u64, right: u64, steps: (u64, u64)| {
            let parts = parts(&starts(left, steps.0), &starts(right, steps.1), 8);
            covers(&parts, left, right);
            parts.len()
        };
        assert_eq!(parts_of(8 << 20, (8 << 20) + 1, (1 << 20, 1 << 20)), 8);
        assert_eq!(parts_of(8 << 20, 8 << 20, (1 << 20, 8 << 20)), 1);
        assert_eq!(parts_of(8 << 20, 4 << 20, (1 << 20, 1 << 20)), 1);
        assert!(parts_of(8 << 20, 8 << 20, (1 << 20, 100_000)) > 1);
        assert_eq!(parts_of(0, 5, (10, 10)), 1);
        assert_eq!(parts_of(5, 0, (10, 10)), 1);
    }
}
