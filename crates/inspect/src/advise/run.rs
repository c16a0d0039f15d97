//! Finds the best choice for each column.

use super::advice::{Advice, ColumnAdvice};
use super::candidates::{Choice, candidates, likely, usual_saving};
use super::findings::find;
use super::measure::{Measured, Window, column_bytes, encoded_bytes, stored_bytes, windows};
use super::options::{AdviseOptions, Goal};
use super::query::bound;
use super::time_left::TimeLeft;
use crate::reencode::ColumnSource;
use marquetry_base::{Error, Result, SharedExecutor, Stopwatch, available_threads, parallel_map};
use marquetry_codec::Codec;
use marquetry_format::Encoding;
use std::cmp::Reverse;
use std::time::Duration;

/// Returns what would make a file smaller or faster. Columns are measured one by one, by decoding rows and encoding
/// them again with each encoding and codec that may be better. Everything else, as listed in
/// [`AdviceKind`](super::AdviceKind), is tried on up to 2^18 rows, in stretches that are spread evenly, which are
/// written with the change and without.
///
/// All candidates are tried on the first rows of a row group in the middle. The best three go on to whole row groups,
/// which are spread evenly over the file, as many as the budget allows. Large columns come first. If there are so many
/// columns that there is no time for this, one candidate is first tried on few rows of each, beginning with the columns
/// that have most to gain by their footer; those that would then save most get the rest of the time. A choice must save
/// 3 % of the column, and more than its error, or the column is left as it is. Memory: one column of one row group at a
/// time, up to 512 MiB, and the rest in a temporary file.
///
/// Of more than 1,000 columns, those with most bytes, those that queries use, and some that are spread evenly over the
/// others are tried as a table. Other types and lists of one are looked for in all columns, in lots, those with most
/// bytes first.
///
/// Fails if reading a column fails. The bytes of encrypted columns are those without encryption.
///
/// ```
/// use marquetry_arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
/// use marquetry_inspect::{AdviseOptions, ColumnSource, advise};
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/wines.parquet");
/// let source: std::sync::Arc<dyn marquetry_core::source::Source> = std::sync::Arc::new(bytes::Bytes::from(std::fs::read(path)?));
/// let metadata = ArrowReaderMetadata::load(source.clone(), ArrowReaderOptions::new())?;
/// let advice = advise(&ColumnSource::new(source, metadata.metadata().clone()), &AdviseOptions::default())?;
/// assert!(advice.predicted_bytes <= advice.file_bytes);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn advise(input: &ColumnSource, options: &AdviseOptions) -> Result<Advice> {
    let watch = Stopwatch::start();
    for query in &options.queries {
        bound(&query.predicate, &input.metadata)?;
    }
    let for_columns = options.budget.mul_f64(COLUMNS_SHARE);
    let columns = 0..input.metadata.schema().num_columns();
    let mut columns = columns.map(|leaf| unmeasured(input, leaf)).collect::<Result<Vec<_>>>()?;
    let time = TimeLeft::of(for_columns);
    let not_measured = match for_columns / columns.len().max(1) as u32 >= LEAST_TIME {
        true => each_alike(input, &mut columns, options, time)?,
        false => best_first(input, &mut columns, options, time)?,
    };
    columns.sort_by_key(|column| Reverse(column.bytes - column.predicted));
    let saved = columns.iter().map(|column| column.bytes - column.predicted).fold(0, u64::saturating_add);
    let file_bytes = input.source.len();
    let predicted_bytes = file_bytes.saturating_sub(saved);
    // Without rows there is nothing to measure, however much time there is.
    let not_measured = Vec::from_iter(not_measured.filter(|_| input.metadata.num_rows() > 0));
    let mut advice = Advice { file_bytes, predicted_bytes, columns, findings: Vec::new(), not_measured };
    let left = options.budget.saturating_sub(watch.elapsed());
    find(input, options, TimeLeft::of(left), &mut advice);
    Ok(advice)
}

/// Measures columns, the largest first, each with an equal share of the remaining time. Returns a message about columns
/// for which no time was left.
fn each_alike(
    input: &ColumnSource,
    columns: &mut [ColumnAdvice],
    options: &AdviseOptions,
    time: TimeLeft,
) -> Result<Option<String>> {
    columns.sort_by_key(|column| Reverse(column.bytes));
    let count = columns.len();
    for (i, column) in columns.iter_mut().enumerate() {
        if time.is_over() {
            break;
        }
        measure(input, column, options, time.share(1.0 / (count - i) as f64))?;
    }
    Ok(left_out(columns, 0))
}

/// Examines each column briefly, and then measures those that would save most, one after the other. Returns a message
/// about columns for which no time was left.
fn best_first(
    input: &ColumnSource,
    columns: &mut [ColumnAdvice],
    options: &AdviseOptions,
    time: TimeLeft,
) -> Result<Option<String>> {
    let gains = columns.iter().map(|column| expected_gain(input, column, options.goal));
    let gains = gains.collect::<Result<Vec<_>>>()?;
    let gain = |column: &ColumnAdvice| gains[column.leaf];
    columns.sort_by(|a, b| gain(b).total_cmp(&gain(a)));
    screen_all(input, columns, options, time.share(SCREENING_SHARE))?;
    // The columns that would save most come first. Those that were not examined come before those that would save
    // nothing.
    let saved = |column: &ColumnAdvice| column.bytes - column.predicted;
    columns.sort_by_key(|column| Reverse((saved(column), column.measured == 0.0)));
    let mut measured = 0;
    for column in columns.iter_mut().filter(|column| column.measured == 0.0 || saved(column) > 0) {
        if time.is_over() {
            break;
        }
        let looked_at = column.clone();
        // A column that takes long gets a part of the time; one that does not leaves its time to others.
        measure(input, column, options, time.share(MOST_SHARE).at_least(LEAST_TIME))?;
        if column.measured < looked_at.measured {
            *column = looked_at;
        }
        measured += 1;
    }
    let looked_at = columns.iter().filter(|column| column.measured > 0.0).count();
    Ok(left_out(columns, looked_at.saturating_sub(measured)))
}

/// Returns a message about columns for which there was no time, or little.
fn left_out(columns: &[ColumnAdvice], only_looked_at: usize) -> Option<String> {
    let bytes = |of: &mut dyn Iterator<Item = &ColumnAdvice>| {
        of.map(|column| column.bytes).fold(0, u64::saturating_add)
    };
    let is_left_out = |column: &&ColumnAdvice| column.measured == 0.0 && column.bytes > 0;
    let count = columns.iter().filter(is_left_out).count();
    if count == 0 && only_looked_at == 0 {
        return None;
    }
    let share =
        bytes(&mut columns.iter().filter(is_left_out)) as f64 / bytes(&mut columns.iter()).max(1) as f64;
    let mut told = Vec::new();
    if count > 0 {
        let of = columns.len();
        told.push(format!("{count} of {of} columns with {:.1} % of the bytes", share * 100.0));
    }
    if only_looked_at > 0 {
        told.push(format!("{only_looked_at} columns but for one codec on some of their rows"));
    }
    Some(format!("{}: more time would do it", told.join(", and ")))
}

fn unmeasured(input: &ColumnSource, leaf: usize) -> Result<ColumnAdvice> {
    let bytes = column_bytes(&input.metadata, leaf)?;
    let column = input.metadata.schema().column(leaf).dotted().to_string();
    Ok(ColumnAdvice { leaf, column, bytes, predicted: bytes, choice: None, measured: 0.0, error: 0.0 })
}

/// The measurements of a candidate.
struct Tried {
    choice: Choice,
    /// Present and predicted bytes, for each row group that was measured.
    ratios: Vec<(f64, f64)>,
}

impl Tried {
    fn ratio(&self) -> f64 {
        let (before, after) = self.ratios.iter().fold((0.0, 0.0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
        after / before
    }

    /// Returns the spread of the ratio: twice the standard error of its mean. A single row group shows no spread.
    fn error(&self) -> f64 {
        let n = self.ratios.len() as f64;
        if self.ratios.len() < 2 {
            return LONE_ERROR;
        }
        let mean = self.ratio();
        let squares: f64 = self.ratios.iter().map(|(before, after)| (after / before - mean).powi(2)).sum();
        2.0 * (squares / (n - 1.0) / n).sqrt() / mean
    }
}

fn measure(
    input: &ColumnSource,
    column: &mut ColumnAdvice,
    options: &AdviseOptions,
    time: TimeLeft,
) -> Result<()> {
    with_groups(input, column, |column, groups, (middle, codec)| {
        try_all(input, column, options, time, groups, (middle, codec))
    })
}

/// A row group with rows: its index, its number of rows, and the bytes of the column.
type Group = (usize, u64, u64);

/// Calls `work` with the row groups in which a column has bytes, and the middle one with its codec. Does nothing if
/// there are none. Errors name the column.
fn with_groups(
    input: &ColumnSource,
    column: &mut ColumnAdvice,
    work: impl FnOnce(&mut ColumnAdvice, &[Group], (Group, Codec)) -> Result<()>,
) -> Result<()> {
    let leaf = column.leaf;
    let done = || {
        let groups = worth_measuring(input, leaf)?;
        let Some(&middle) = groups.get(groups.len() / 2) else { return Ok(()) };
        let codec = input.metadata.row_group(middle.0).column(leaf)?.codec()?;
        work(column, &groups, (middle, codec))
    };
    done().map_err(|error: Error| error.in_column(input.metadata.schema().column(leaf).dotted().clone()))
}

fn try_all(
    input: &ColumnSource,
    column: &mut ColumnAdvice,
    options: &AdviseOptions,
    time: TimeLeft,
    groups: &[Group],
    (middle, codec): (Group, Codec),
) -> Result<()> {
    let choices = candidates(input.metadata.schema().column(column.leaf).physical(), codec, options);
    let (looked, mut tried) = first_look(input, column.leaf, middle, choices, (time, FIRST_LOOK))?;
    let (mut rows, mut is_whole) = (0, true);
    for i in spread(groups.len()) {
        if time.is_over() {
            break;
        }
        let (group, group_rows, stored) = groups[i];
        let windows = windows(group, group_rows, options.window_rows);
        is_whole &= windows.len() == 1;
        let choices: Vec<Choice> = tried.iter().map(|tried| tried.choice).collect();
        let measured = compare(input, column.leaf, &windows, &choices, (time, looked))?;
        if measured.rows == 0 {
            // There was not even time for one window, so the results so far must do.
            break;
        }
        let before = stored as f64 * measured.rows as f64 / group_rows as f64;
        for (tried, after) in tried.iter_mut().zip(&measured.bytes) {
            if rows == 0 {
                tried.ratios.clear();
            }
            tried.ratios.push((before, *after as f64));
        }
        rows += measured.rows.min(group_rows);
    }
    decide(column, &tried, if rows == 0 { looked } else { rows }, groups, is_whole && rows > 0);
    Ok(())
}

/// Gives a column the best of the choices that were tried on `rows` of its rows, if it saves enough.
fn decide(column: &mut ColumnAdvice, tried: &[Tried], rows: u64, groups: &[Group], is_whole: bool) {
    let total = groups.iter().map(|(_, rows, _)| *rows).fold(0, u64::saturating_add);
    let Some(best) = tried.iter().min_by(|a, b| a.ratio().total_cmp(&b.ratio())) else { return };
    column.measured = rows as f64 / total as f64;
    column.error = if is_whole && rows == total { 0.0 } else { best.error() };
    let (ratio, least) = (best.ratio(), LEAST_SAVING.max(column.error * best.ratio()));
    (column.predicted, column.choice) = (column.bytes, None);
    if ratio < 1.0 - least {
        column.predicted = (column.bytes as f64 * ratio) as u64;
        column.choice = Some(best.choice);
    }
}

/// Tries one candidate on few rows of each column, in their order, on all threads, until the time is over.
fn screen_all(
    input: &ColumnSource,
    columns: &mut [ColumnAdvice],
    options: &AdviseOptions,
    time: TimeLeft,
) -> Result<()> {
    let items: Vec<(usize, ColumnAdvice)> = columns.iter().cloned().enumerate().collect();
    let mut workers = vec![(); available_threads().min(items.len())];
    let executor = SharedExecutor::default().or_threads("marquetry-advise");
    let (input, options) = (input.clone(), options.clone());
    let screened = parallel_map(&*executor, items, &mut workers, move |(at, mut column), ()| {
        if time.is_over() {
            return Ok::<_, Error>(None);
        }
        // A column that was begun is finished, unless it takes very long.
        screen(&input, &mut column, &options, time.at_least(MOST_TIME))?;
        Ok(Some((at, column)))
    });
    for screened in screened {
        if let Some((at, column)) = screened? {
            columns[at] = column;
        }
    }
    Ok(())
}

/// Tries one candidate on few rows in the middle.
fn screen(
    input: &ColumnSource,
    column: &mut ColumnAdvice,
    options: &AdviseOptions,
    time: TimeLeft,
) -> Result<()> {
    with_groups(input, column, |column, groups, (middle, codec)| {
        let choices = vec![likely(codec, options.goal)];
        let (rows, tried) = first_look(input, column.leaf, middle, choices, (time, SCREENED_ROWS))?;
        // With fewer rows, dictionaries and headers weigh too much.
        if rows >= SCREENED_ROWS.min(middle.1) {
            decide(column, &tried, rows, groups, true);
        }
        Ok(())
    })
}

/// Estimates the bytes that a column may save, by its footer and by what other files with such codecs and encodings
/// save.
fn expected_gain(input: &ColumnSource, column: &ColumnAdvice, goal: Goal) -> Result<f64> {
    let groups = input.metadata.num_row_groups();
    if groups == 0 {
        return Ok(0.0);
    }
    let chunk = input.metadata.row_group(groups / 2).column(column.leaf)?;
    let encodings = chunk.encodings();
    let dictionaries = [Encoding::PLAIN_DICTIONARY, Encoding::RLE_DICTIONARY];
    let is_plain = !dictionaries.iter().any(|dictionary| encodings.contains(*dictionary));
    Ok(column.bytes as f64 * usual_saving(chunk.codec()?, is_plain, goal))
}

/// Tries candidates on up to `most` first rows of a row group. Returns the number of rows, and the best candidates. If
/// the time ends first, only those that were tried are compared.
fn first_look(
    input: &ColumnSource,
    leaf: usize,
    (row_group, group_rows, stored): Group,
    choices: Vec<Choice>,
    (time, most): (TimeLeft, u64),
) -> Result<(u64, Vec<Tried>)> {
    let mut look = Window { row_group, first: 0, rows: group_rows.min(most) };
    let mut sized: Vec<(Measured, Choice)> = Vec::new();
    for choice in choices {
        let measured = encoded_bytes(input, leaf, look, choice, (time, FIRST_LOOK_BYTES))?;
        if sized.is_empty() {
            // The others are tried on the same rows.
            look.rows = measured.rows;
        }
        if measured.rows == look.rows {
            sized.push((measured, choice));
        }
        if time.is_over() {
            break;
        }
    }
    sized.sort_by_key(|(measured, _)| measured.bytes);
    let before = stored as f64 * look.rows as f64 / group_rows as f64;
    let tried = |(measured, choice): (Measured, Choice)| Tried {
        choice,
        ratios: vec![(before, measured.bytes as f64)],
    };
    Ok((look.rows, sized.into_iter().take(FINALISTS).map(tried).collect()))
}

/// The results of several choices for the same rows.
struct Compared {
    rows: u64,
    bytes: Vec<u64>,
}

/// Writes the windows with each choice, each with as many rows as there is time for with all choices. Parts of windows
/// with fewer than `least` rows prove nothing.
fn compare(
    input: &ColumnSource,
    leaf: usize,
    windows: &[Window],
    choices: &[Choice],
    (time, least): (TimeLeft, u64),
) -> Result<Compared> {
    let mut compared = Compared { rows: 0, bytes: vec![0; choices.len()] };
    for window in windows {
        let mut window = *window;
        let mut bytes = Vec::new();
        for choice in choices {
            // The first choice takes no more time than the others will have.
            let its_time = if bytes.is_empty() { time.share(1.0 / (choices.len() + 1) as f64) } else { time };
            let measured = encoded_bytes(input, leaf, window, *choice, (its_time, u64::MAX))?;
            if bytes.is_empty() {
                let is_too_few = measured.rows < window.rows.min(least);
                window.rows = if is_too_few { window.rows } else { measured.rows };
            }
            if measured.rows < window.rows {
                return Ok(compared);
            }
            bytes.push(measured.bytes);
        }
        compared.rows += window.rows;
        compared.bytes.iter_mut().zip(&bytes).for_each(|(sum, bytes)| *sum += bytes);
    }
    Ok(compared)
}

/// Returns the row groups with rows and bytes of the column, with both numbers.
fn worth_measuring(input: &ColumnSource, leaf: usize) -> Result<Vec<Group>> {
    let groups = input.metadata.row_groups().map(|group| (group.index(), group.num_rows()));
    let sized = groups.map(|(group, rows)| Ok((group, rows, stored_bytes(&input.metadata, group, leaf)?)));
    let mut sized = sized.collect::<Result<Vec<_>>>()?;
    sized.retain(|(_, rows, bytes)| *rows > 0 && *bytes > 0);
    Ok(sized)
}

/// Returns all of `0..n` in an order whose beginning is spread evenly: the middle, the quarters, the eighths.
fn spread(n: usize) -> Vec<usize> {
    let (mut order, mut is_taken) = (Vec::new(), vec![false; n]);
    let mut parts = 2;
    while order.len() < n {
        // The first place comes once parts are smaller than one.
        for i in (1..parts).map(|part| n * part / parts) {
            if !std::mem::replace(&mut is_taken[i], true) {
                order.push(i);
            }
        }
        parts *= 2;
    }
    order
}

/// The share of the budget for columns.
const COLUMNS_SHARE: f64 = 0.6;
/// Minimum time of a column that is measured: all candidates are tried on some rows.
const LEAST_TIME: Duration = Duration::from_millis(120);
/// Maximum share of the time for examining many columns, and maximum share of the rest for each that is then measured.
const SCREENING_SHARE: f64 = 0.9;
const MOST_SHARE: f64 = 0.1;
/// Minimum time of a screening that was begun, even if the time is over.
const MOST_TIME: Duration = Duration::from_millis(500);
/// Number of rows of each of many columns that one candidate is tried on.
const SCREENED_ROWS: u64 = 1 << 13;
/// Number of rows that all candidates are tried on.
const FIRST_LOOK: u64 = 1 << 16;
/// Maximum bytes of their values.
const FIRST_LOOK_BYTES: u64 = 64 << 20;
/// Number of candidates that are tried on whole row groups.
const FINALISTS: usize = 3;
/// Minimum saving of a column, below which it is left as it is.
const LEAST_SAVING: f64 = 0.03;
/// The assumed error of a prediction from one row group of several.
const LONE_ERROR: f64 = 0.1;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_groups_are_taken_from_everywhere() {
        assert!(spread(0).is_empty());
        assert_eq!(spread(1), [0]);
        assert_eq!(spread(8), [4, 2, 6, 1, 3, 5, 7, 0]);
        let mut all = spread(100);
        all.sort_unstable();
        assert!(all.into_iter().eq(0..100));
    }
}
