//! A recovered file that is recovered again: its pages have right checksums now, and nothing is more certain than it was.

use crate::beside_pages::{file, flipped, metadata, recovered_with, tells};
use crate::sample::contents;
use bytes::Bytes;
use marquetry_core::write::PageVersion;
use marquetry_recover::{Confidence, KeptRowGroup, RecoverOptions};

fn again(file: &Bytes, options: &RecoverOptions) -> (Vec<KeptRowGroup>, Bytes) {
    let (recovery, new) = recovered_with(file, options).unwrap();
    (recovery.report().row_groups.clone(), new)
}

fn note(file: &Bytes) -> Option<String> {
    let metadata = metadata(file);
    let found = metadata.key_value_metadata().iter().find(|pair| &*pair.key == "marquetry.recovered")?;
    found.value.as_deref().map(str::to_owned)
}

#[test]
fn what_had_no_checksums_stays_unproven() {
    for version in [PageVersion::V1, PageVersion::V2] {
        let options = RecoverOptions::default();
        let (first, once) = again(&file(false, version), &options);
        assert!(first.iter().all(|group| group.confidence == Confidence::High), "{first:?}");
        assert!(note(&once).is_some_and(|note| note.starts_with("2 row groups\n0 60 high ")));
        let (second, twice) = again(&once, &options);
        for group in &second {
            assert_eq!(group.confidence, Confidence::High, "{}", group.why);
            assert!(
                group
                    .why
                    .contains("recovered before (high): a row group of the footer, not all with checksums")
            );
        }
        // The note does not grow with each recovery.
        let (third, thrice) = again(&twice, &options);
        let whys = |groups: &[KeptRowGroup]| groups.iter().map(|group| group.why.clone()).collect::<Vec<_>>();
        assert_eq!(whys(&third), whys(&second));
        assert_eq!((note(&twice), note(&thrice)), (note(&once), note(&once)));
        assert_eq!(contents(&thrice).unwrap(), contents(&file(false, version)).unwrap());
    }
}

#[test]
fn what_is_proven_has_no_note() {
    let options = RecoverOptions::default();
    let (_, once) = again(&file(true, PageVersion::V2), &options);
    assert_eq!(note(&once), None);
    let (second, _) = again(&once, &options);
    assert!(second.iter().all(|group| group.confidence == Confidence::Exact), "{second:?}");
}

/// Only the row group that was contradicted stays the less certain one.
#[test]
fn a_contradiction_is_told_again() {
    let good = file(false, PageVersion::V1);
    let chunk = metadata(&good).row_group(1).column(0).unwrap().byte_range().unwrap();
    // The highest byte of the last id.
    let broken = flipped(&good, chunk.end as usize - 1, 0x40);
    let options = RecoverOptions::default();
    let (first, once) = again(&broken, &options);
    let levels = |groups: &[KeptRowGroup]| groups.iter().map(|group| group.confidence).collect::<Vec<_>>();
    assert_eq!(levels(&first), [Confidence::High, Confidence::Low]);
    let (recovery, twice) = recovered_with(&once, &options).unwrap();
    let report = recovery.report();
    assert!(!tells(report, ""), "{report}");
    assert_eq!(levels(&report.row_groups), [Confidence::High, Confidence::Low], "{report}");
    assert!(report.row_groups[1].why.contains("not as the file says of them"), "{report}");
    assert_eq!(levels(&again(&twice, &options).0), [Confidence::High, Confidence::Low]);
}

#[test]
fn nulls_of_a_lost_column_are_told_again() {
    let good = file(true, PageVersion::V1);
    let chunk = metadata(&good).row_group(0).column(1).unwrap().byte_range().unwrap();
    let options = RecoverOptions::default().with_partial(true);
    let (first, once) = again(&flipped(&good, chunk.end as usize - 1, 1), &options);
    assert_eq!(first[0].nulls, ["price"]);
    let (second, _) = again(&once, &options);
    assert!(second[0].nulls.is_empty() && second[0].why.contains("lost, and null now: price"), "{second:?}");
    assert!(!second[1].why.contains("recovered before"), "{second:?}");
}
