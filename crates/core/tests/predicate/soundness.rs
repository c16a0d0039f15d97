//! Pruning loses no row that matches, and only says of rows that all match if they do.

use crate::ask::Ask;
use crate::damage::weakened;
use crate::data::Random;
use crate::sample::{Sample, leaf_values};
use marquetry_core::predicate::{BoundPredicate, Predicate};
use marquetry_core::prune::{PruneOptions, PruneReport, RowGroupMatch, Stage, prune_row_group};
use std::collections::BTreeMap;

/// How often a stage was of use: a test that prunes nothing would always pass.
#[derive(Debug, Default, Clone, PartialEq)]
struct Use {
    none: usize,
    all: usize,
    some: usize,
}

/// Random schemas, data, layouts and predicates: 3,000, or as many as `MARQUETRY_PRUNE_CASES` says (100,000 at night).
#[test]
fn no_row_is_lost() {
    let cases = std::env::var("MARQUETRY_PRUNE_CASES").map_or(3_000, |cases| cases.parse().unwrap());
    let first = std::env::var("MARQUETRY_PRUNE_FIRST").map_or(0, |first| first.parse().unwrap());
    let mut uses = BTreeMap::new();
    for seed in first..first + cases {
        let run = || case(seed, &mut uses);
        let run = std::panic::AssertUnwindSafe(run);
        if std::panic::catch_unwind(run).is_err() {
            panic!("case {seed}: repeat it with MARQUETRY_PRUNE_FIRST={seed} MARQUETRY_PRUNE_CASES=1");
        }
    }
    if cases >= 1_000 {
        for (stage, used) in &uses {
            let has_some = used.some > 0 || *stage != "page index";
            let has_all = used.all > 0 || *stage == "bloom filters";
            assert!(used.none > 0 && has_all && has_some, "{stage}: {used:?}");
        }
    }
    println!("{uses:?}");
}

fn case(seed: u64, uses: &mut BTreeMap<&'static str, Use>) {
    let sample = Sample::new(seed);
    let random = &mut Random(seed ^ 0x5eed);
    let metadata = weakened(random, &sample.metadata);
    for _ in 0..4 {
        let ask = Ask::random(random, &sample.columns, 2);
        let predicate = ask.predicate(&sample.columns);
        let bound = predicate.bind(metadata.schema()).unwrap();
        let again =
            Predicate::parse(&predicate.to_string()).unwrap_or_else(|error| panic!("{predicate}: {error}"));
        assert_eq!(again.bind(metadata.schema()).unwrap(), bound, "{predicate}");
        for (row_group, cells) in sample.row_groups.iter().enumerate() {
            let rows = cells[0].len();
            let truth: Vec<bool> = (0..rows)
                .map(|row| ask.of(&cells.iter().map(|column| &column[row]).collect::<Vec<_>>()) == Some(true))
                .collect();
            evaluates(&sample, row_group, &bound, &truth, &predicate);
            for (name, options) in every_option() {
                let mut report = PruneReport::default();
                let kept = prune_row_group(&sample.file, &metadata, row_group, &bound, &options, &mut report)
                    .unwrap();
                assert!(report.notes.is_empty(), "{name}: {:?}", report.notes);
                is_sound(&kept, &truth, || format!("{name}, row group {row_group}: {predicate}\n{kept:?}"));
                let used = uses.entry(name).or_default();
                match kept {
                    _ if rows == 0 => {}
                    RowGroupMatch::None => used.none += 1,
                    RowGroupMatch::All => used.all += 1,
                    RowGroupMatch::Some(ranges) => {
                        let kept: u64 = ranges.iter().map(|range| range.end - range.start).sum();
                        used.some += usize::from(kept < rows as u64);
                    }
                }
            }
        }
    }
}

pub(crate) fn every_option() -> [(&'static str, PruneOptions); 5] {
    let only = |stage: Stage| (stage.name(), PruneOptions::only(stage));
    let [a, b, c, d] = [0, 1, 2, 3].map(|stage| only(Stage::ALL[stage]));
    [("all", PruneOptions::default()), a, b, c, d]
}

/// What is kept holds every row that matches; if all match, all do.
pub(crate) fn is_sound(kept: &RowGroupMatch, truth: &[bool], what: impl Fn() -> String) {
    match kept {
        RowGroupMatch::None => assert!(!truth.contains(&true), "a row is lost: {}", what()),
        RowGroupMatch::All => assert!(!truth.contains(&false), "not all match: {}", what()),
        RowGroupMatch::Some(ranges) => {
            assert!(!ranges.is_empty() && ranges.iter().all(|range| range.start < range.end), "{}", what());
            assert!(ranges.windows(2).all(|pair| pair[0].end < pair[1].start), "{}", what());
            assert!(ranges.last().unwrap().end <= truth.len() as u64, "{}", what());
            for (row, _) in truth.iter().enumerate().filter(|(_, is)| **is) {
                let is_kept = ranges.iter().any(|range| range.contains(&(row as u64)));
                assert!(is_kept, "row {row} is lost: {}", what());
            }
        }
    }
}

/// Values and keys give what each row means.
fn evaluates(
    sample: &Sample,
    row_group: usize,
    bound: &BoundPredicate,
    truth: &[bool],
    predicate: &Predicate,
) {
    for want_keys in [false, true] {
        let batches: Vec<_> =
            bound.leaves().iter().map(|leaf| (*leaf, sample.read(row_group, *leaf, want_keys))).collect();
        let columns: Vec<_> = batches.iter().map(|(leaf, batch)| (*leaf, leaf_values(batch))).collect();
        let found = bound.evaluate(truth.len(), &columns).unwrap();
        let found: Vec<bool> = (0..found.len()).map(|row| found.get(row)).collect();
        assert_eq!(found, truth, "{predicate}, keys: {want_keys}");
    }
}

/// Parts of a conjunction are true together.
#[test]
fn conjuncts_are_the_whole() {
    for seed in 0..200 {
        let sample = Sample::new(seed);
        let ask = Ask::random(&mut Random(seed), &sample.columns, 3);
        let bound = ask.predicate(&sample.columns).bind(sample.metadata.schema()).unwrap();
        let batches: Vec<_> =
            bound.leaves().iter().map(|leaf| (*leaf, sample.read(0, *leaf, true))).collect();
        let columns: Vec<_> = batches.iter().map(|(leaf, batch)| (*leaf, leaf_values(batch))).collect();
        let rows = sample.row_groups[0][0].len();
        let mut all: marquetry_encoding::Bitmap = (0..rows).map(|_| true).collect();
        bound.conjuncts().iter().for_each(|part| all.and(&part.evaluate(rows, &columns).unwrap()));
        assert_eq!(all, bound.evaluate(rows, &columns).unwrap());
    }
}
