//! Files that are cut anywhere, without a schema: all row groups that are whole come back, or a schema is asked for.
//!
//! `MARQUETRY_SLOW` makes it 20 cuts of each of 500 files; `MARQUETRY_CUT_FILES` and `MARQUETRY_CUTS` any other number.

use crate::chunk::data::Random;
use crate::sample::{contents, ends, given, rewritten, saved};
use crate::shapes::Shape;
use bytes::Bytes;
use marquetry_recover::{RecoverOptions, Recovery, SchemaOrigin};
use std::collections::BTreeMap;

/// The result of a cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    /// All row groups before the cut.
    Kept,
    /// There is none before the cut, and none was made up.
    Nothing,
    /// The caller is asked for a schema.
    Refused,
    /// The cut footer has the schema, but columns are too much alike to find all row groups; losses report the others.
    Told,
    /// Columns whose kinds repeat were taken for row groups.
    SmallestPeriod,
}

/// Returns a number of repetitions.
fn number(variable: &str, quick: usize, slow: usize) -> usize {
    let is_slow = std::env::var_os("MARQUETRY_SLOW").is_some();
    let given = std::env::var(variable).ok().and_then(|number| number.parse().ok());
    given.unwrap_or(if is_slow { slow } else { quick })
}

#[test]
fn a_cut_gives_all_whole_row_groups_or_asks_for_a_schema() {
    let (files, cuts) = (number("MARQUETRY_CUT_FILES", 60, 500), number("MARQUETRY_CUTS", 3, 20));
    let mut outcomes: BTreeMap<Outcome, usize> = BTreeMap::new();
    let (mut wrong, mut possible) = (Vec::new(), 0);
    for seed in 0..files as u64 {
        let shape = Shape::random(seed);
        let good = shape.file();
        let (all, ends) = (contents(&good).unwrap(), ends(&good));
        let random = &mut Random(seed ^ 0xc07);
        for i in 0..cuts {
            // Anywhere, and sometimes just where a row group ends.
            let len = match i % 10 {
                9 => ends[random.below(ends.len())] as usize,
                _ => 5 + random.below(good.len() - 5),
            };
            let whole = ends.iter().filter(|end| **end <= len as u64).count();
            possible += usize::from(whole > 0);
            match outcome(&good.slice(..len), &all, whole, shape.period()) {
                Ok(outcome) => *outcomes.entry(outcome).or_default() += 1,
                Err(why) => wrong.push(format!("file {seed} cut at {len}: {why}\n{shape:?}")),
            }
        }
    }
    println!("{files} files, {} cuts, {possible} with a row group: {outcomes:?}", files * cuts);
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    let of = |outcome| outcomes.get(&outcome).copied().unwrap_or(0);
    // A sixth of the files has columns that are all alike, and every eighth one row group only.
    assert!(of(Outcome::Kept) * 5 > possible * 2, "{outcomes:?} of {possible}");
    // Nothing in the pages tells some of these from tables of fewer columns and more rows.
    assert!(of(Outcome::SmallestPeriod) * 100 < files * cuts, "{outcomes:?}");
    assert!(of(Outcome::Told) * 50 < files * cuts, "{outcomes:?}");
}

/// With a schema, what is kept are the first row groups of the file, and never more than are whole.
#[test]
fn a_cut_with_a_schema_gives_the_first_row_groups() {
    let (files, cuts) = (number("MARQUETRY_CUT_FILES", 60, 500), number("MARQUETRY_CUTS", 3, 20));
    let (mut possible, mut kept) = (0, 0);
    for seed in 0..files as u64 {
        let shape = Shape::random(seed);
        let good = shape.file();
        let (all, ends) = (contents(&good).unwrap(), ends(&good));
        let random = &mut Random(seed ^ 0xc08);
        for _ in 0..cuts {
            let len = 5 + random.below(good.len() - 5);
            let whole = ends.iter().filter(|end| **end <= len as u64).count();
            let options = given(&shape.schema().to_string());
            let Ok(recovery) = saved(&good.slice(..len), &options) else { continue };
            let groups =
                if recovery.report().row_groups.is_empty() { Vec::new() } else { rewritten(&recovery) };
            let is_right = groups.len() <= whole && groups == all[..groups.len()];
            let report = recovery.report();
            assert!(
                is_right || is_single_column(&groups, &all, 0),
                "file {seed} cut at {len}: {report}\n{shape:?}"
            );
            (possible, kept) = (possible + whole, kept + groups.len());
        }
    }
    println!("{kept} of {possible} row groups");
    assert!(kept * 4 > possible * 3, "{kept} of {possible}");
}

/// Compares what is kept of a file that was cut with what was written. `period`: the columns after which kinds repeat.
fn outcome(cut: &Bytes, all: &[Vec<String>], whole: usize, period: usize) -> Result<Outcome, String> {
    let Ok(recovery) = saved(cut, &RecoverOptions::default()) else {
        // Not one page is whole.
        return if whole == 0 { Ok(Outcome::Nothing) } else { Err("an error".to_owned()) };
    };
    if asks_for_schema(&recovery) {
        return Ok(Outcome::Refused);
    }
    let groups = if recovery.report().row_groups.is_empty() { Vec::new() } else { rewritten(&recovery) };
    if groups == all[..whole] || is_single_column(&groups, all, whole) {
        return Ok(if whole == 0 { Outcome::Nothing } else { Outcome::Kept });
    }
    let report = recovery.report();
    let is_told = report.schema == Some(SchemaOrigin::Footer) && !report.losses.is_empty();
    if is_told && groups.len() < whole && groups == all[..groups.len()] {
        return Ok(Outcome::Told);
    }
    let columns = groups.first().map_or(0, Vec::len);
    if columns == period && columns < all[0].len() {
        return Ok(Outcome::SmallestPeriod);
    }
    let of = |groups: &[Vec<String>]| {
        format!("{} row groups of {} columns", groups.len(), groups.first().map_or(0, Vec::len))
    };
    let differs = groups.iter().flatten().zip(all.iter().flatten()).find(|(kept, good)| kept != good);
    Err(format!("{} instead of {}: {differs:?}: {report}", of(&groups), of(&all[..whole])))
}

/// Whether these are the rows of a single column, at least those of `whole` row groups. Where row groups end does not
/// matter, and rows of one that is cut off are welcome.
fn is_single_column(groups: &[Vec<String>], all: &[Vec<String>], whole: usize) -> bool {
    let is_one = groups.iter().chain(all).all(|columns| columns.len() == 1);
    let (kept, good, least) = (joined(groups), joined(all), joined(&all[..whole]));
    is_one && (0..3).all(|i| good[i].starts_with(&kept[i]) && kept[i].starts_with(&least[i]))
}

/// The levels and the values of the first column in all row groups.
fn joined(groups: &[Vec<String>]) -> [String; 3] {
    let mut out = [const { String::new() }; 3];
    for columns in groups {
        // Three lists: repetition and definition levels of numbers, values of lists of bytes.
        let text = columns[0].strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap();
        for (out, list) in out.iter_mut().zip(text.splitn(3, "] [")).filter(|(_, list)| !list.is_empty()) {
            out.push_str(list);
            out.push_str(", ");
        }
    }
    out
}

fn asks_for_schema(recovery: &Recovery) -> bool {
    let report = recovery.report();
    report.schema.is_none() && report.losses.iter().any(|loss| loss.why.contains("give the schema"))
}
