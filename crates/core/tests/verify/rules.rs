//! Every rule has its file.

use crate::make::Make;
use crate::{breaks, broken, more_breaks, report};
use marquetry_base::Kind;
use marquetry_core::verify::{Level, RULES, Severity, VerifyOptions, verify};
use std::collections::BTreeSet;
use std::sync::Arc;

fn cases() -> Vec<breaks::Case> {
    [
        breaks::footer(),
        breaks::schema(),
        breaks::nesting(),
        breaks::chunk(),
        breaks::page(),
        more_breaks::index(),
        more_breaks::statistics(),
        more_breaks::bloom(),
        more_breaks::values(),
        more_breaks::sorting(),
    ]
    .concat()
}

#[test]
fn each_rule_is_broken_by_a_file_that_breaks_no_other() {
    let mut failures = Vec::new();
    for (ids, bytes) in cases() {
        let report = report(&bytes, Level::Deep);
        let expected: BTreeSet<_> = ids.split(' ').collect();
        if broken(&report) != expected {
            failures.push(format!("{ids}: {:#?}", report.findings));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn each_rule_has_a_file() {
    let cases = cases();
    let tested: BTreeSet<_> = cases.iter().flat_map(|(ids, _)| ids.split(' ')).collect();
    let rules: BTreeSet<_> = RULES.iter().map(|rule| rule.id).collect();
    assert_eq!(tested, rules);
    assert_eq!(rules.len(), RULES.len(), "ids are unique");
}

#[test]
fn a_rule_is_checked_from_its_level_on() {
    for (ids, bytes) in cases() {
        for level in [Level::Quick, Level::Default] {
            let broken = broken(&report(&bytes, level));
            for id in ids.split(' ') {
                let rule = RULES.iter().find(|rule| rule.id == id).unwrap();
                // What could not be checked shows where it is looked at.
                let is_due = rule.level <= level && id != "unchecked";
                assert!(!is_due || broken.contains(id), "{id} at {}", level.name());
                assert!(rule.level <= level || !broken.contains(id), "{id} at {}", level.name());
            }
        }
    }
}

#[test]
fn good_files_break_nothing() {
    for (name, bytes) in more_breaks::good() {
        for level in [Level::Quick, Level::Default, Level::Deep] {
            let report = report(&bytes, level);
            assert_eq!(report.findings, [], "{name}");
            assert_eq!(report.pages > 0, level > Level::Quick, "{name}");
        }
    }
}

#[test]
fn a_finding_says_where() {
    let (_, bytes) = breaks::page().into_iter().find(|(id, _)| *id == "page-checksum").unwrap();
    let report = report(&bytes, Level::Default);
    let finding = &report.findings[0];
    assert_eq!(finding.rule.severity, Severity::Corrupt);
    assert_eq!((finding.place.row_group, finding.place.page), (Some(0), Some(1)));
    assert_eq!(finding.place.column.as_deref(), Some("x"));
    assert!(finding.place.offset.is_some());
    assert_eq!(report.worst(), Some(Severity::Corrupt));
}

#[test]
fn rules_are_chosen_and_left_out() {
    let bytes = Make::ints().good().edited(|made| {
        made.file.metadata.version = 7;
        made.file.metadata.num_rows = 3;
    });
    let run = |options: VerifyOptions| verify(Arc::new(bytes.clone()), &options);
    let broken = |options| broken(&run(options).unwrap()).into_iter().collect::<Vec<_>>();
    let ids = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>();
    assert_eq!(broken(VerifyOptions::default()), ["footer-rows", "footer-version"]);
    let only = VerifyOptions { rules: Some(ids(&["footer-version"])), ..VerifyOptions::default() };
    assert_eq!(broken(only), ["footer-version"]);
    let without = VerifyOptions { ignore: ids(&["footer-version"]), ..VerifyOptions::default() };
    assert_eq!(broken(without), ["footer-rows"]);
    let wrong = VerifyOptions { ignore: ids(&["no-such-rule"]), ..VerifyOptions::default() };
    assert_eq!(run(wrong).unwrap_err().kind(), Kind::Argument);
}

#[test]
fn findings_are_bounded_and_counted() {
    let mut make = Make::ints();
    make.layout.cuts = vec![1; 9];
    let bytes = make.of(|pages| pages.iter_mut().for_each(|page| page.header.crc = Some(1))).finish();
    let options = VerifyOptions { findings_per_rule: 3, ..VerifyOptions::default() };
    let report = verify(Arc::new(bytes.clone()), &options).unwrap();
    assert_eq!(report.findings.len(), 3);
    assert_eq!(
        report.omitted.iter().map(|(rule, more)| (rule.id, *more)).collect::<Vec<_>>(),
        [("page-checksum", 7)]
    );
    // What is not kept is as bad.
    let options = VerifyOptions { findings_per_rule: 0, ..VerifyOptions::default() };
    let report = verify(Arc::new(bytes), &options).unwrap();
    assert_eq!((report.findings.len(), report.worst()), (0, Some(Severity::Corrupt)));
}
