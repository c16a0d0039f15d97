//! Statistics in headers of pages that are found without a footer: headers are in no checksum, so values tell whether they are right.

use crate::beside_pages::{PAGE_ROWS, SCHEMA, file, flipped, id, metadata, recovered_with, tells};
use crate::sample::{contents, ends, given};
use bytes::Bytes;
use marquetry_core::write::PageVersion;
use marquetry_encoding::PhysicalType;
use marquetry_format::{PageHeader, Reader, Statistics};
use marquetry_recover::{Confidence, RecoverOptions};
use std::ops::Range;

/// A data page: the bytes of its header, and the statistics in it.
struct DataPage {
    physical: PhysicalType,
    header: Range<usize>,
    statistics: Option<Statistics>,
}

/// All data pages, in the order of the file.
fn data_pages(file: &Bytes) -> Vec<DataPage> {
    let (metadata, mut pages) = (metadata(file), Vec::new());
    for chunk in metadata.row_groups().flat_map(|group| group.columns()) {
        let chunk = chunk.unwrap();
        let range = chunk.byte_range().unwrap();
        let (mut at, end) = (range.start as usize, range.end as usize);
        while at < end {
            let mut reader = Reader::new(&file[at..end]);
            let header = PageHeader::read(&mut reader).unwrap();
            let body = at + reader.position();
            let v1 = header.data_page_header.and_then(|v1| v1.statistics);
            let statistics = v1.or_else(|| header.data_page_header_v2.and_then(|v2| v2.statistics));
            pages.push(DataPage { physical: chunk.leaf().physical(), header: at..body, statistics });
            at = body + header.compressed_page_size as usize;
        }
    }
    pages
}

/// The file up to its last page.
fn without_footer(file: &Bytes) -> Bytes {
    file.slice(0..*ends(file).last().unwrap() as usize)
}

/// Whether statistics hold for a page that has the `true_ones`.
fn hold(said: &Statistics, true_ones: &Statistics, physical: PhysicalType) -> bool {
    let number = |bound: &[u8]| match physical {
        PhysicalType::Int32 => bound.try_into().ok().map(|bytes| f64::from(i32::from_le_bytes(bytes))),
        PhysicalType::Int64 => bound.try_into().ok().map(|bytes| i64::from_le_bytes(bytes) as f64),
        _ => bound.try_into().ok().map(f64::from_le_bytes),
    };
    let holds = |low: Option<&Vec<u8>>, high: Option<&Vec<u8>>| match (low, high) {
        (Some(low), Some(high)) => number(low).zip(number(high)).is_some_and(|(low, high)| low <= high),
        _ => true,
    };
    holds(said.min_value.as_ref(), true_ones.min_value.as_ref())
        && holds(true_ones.max_value.as_ref(), said.max_value.as_ref())
        && holds(said.min.as_ref(), true_ones.min_value.as_ref())
        && holds(true_ones.max_value.as_ref(), said.max.as_ref())
        // Of lists, the empty ones may be counted or not.
        && said.null_count.is_none_or(|nulls| match physical {
            PhysicalType::Int32 => Some(nulls) <= true_ones.null_count,
            _ => Some(nulls) == true_ones.null_count,
        })
}

/// Wherever a header was changed: what comes back can be written, and no statistics in it are wrong.
#[test]
fn a_flip_in_a_header() {
    for (checksums, version) in [(true, PageVersion::V1), (true, PageVersion::V2), (false, PageVersion::V1)] {
        let good = file(checksums, version);
        let (all, pages, cut) = (contents(&good).unwrap(), data_pages(&good), without_footer(&good));
        let (mut compared, mut told) = (0, 0);
        // A page of each column, with nulls and lists in two of them.
        for at in [1, 6, 11].into_iter().flat_map(|page| pages[page].header.clone()) {
            for bit in [at % 4, at % 4 + 4] {
                let broken = flipped(&cut, at, 1 << bit);
                let Some((recovery, new)) = recovered_with(&broken, &given(SCHEMA)) else { continue };
                let report = recovery.report();
                if contents(&new).unwrap() != all {
                    continue;
                }
                for (new, good) in data_pages(&new).iter().zip(&pages) {
                    let (Some(said), Some(good)) = (&new.statistics, &good.statistics) else { continue };
                    assert!(hold(said, good, new.physical), "byte {at}, bit {bit}: {said:?}, {report}");
                }
                compared += 1;
                told += usize::from(tells(report, "the statistics in headers of pages of"));
            }
        }
        assert!(compared > 80 && told > 40, "{compared} files, {told} reports");
    }
}

#[test]
fn a_wrong_bound_is_left_out_and_told() {
    for checksums in [true, false] {
        let good = file(checksums, PageVersion::V1);
        let cut = without_footer(&good);
        let (recovery, new) = recovered_with(&cut, &given(SCHEMA)).unwrap();
        assert!(!tells(recovery.report(), ""), "{}", recovery.report());
        assert!(data_pages(&new).iter().all(|page| page.statistics.is_some()));

        let greatest = (0..PAGE_ROWS).map(id).max().unwrap().to_le_bytes();
        let header = data_pages(&good)[0].header.clone();
        let at = header.start + good[header].windows(8).position(|bytes| bytes == greatest).unwrap();
        let broken = flipped(&cut, at + 7, 0x80);
        let (recovery, new) = recovered_with(&broken, &given(SCHEMA)).unwrap();
        let report = recovery.report();
        assert!(tells(report, "the statistics in headers of pages of id"), "{report}");
        let pages = data_pages(&new);
        assert!(pages[..5].iter().all(|page| page.statistics.is_none()), "{report}");
        assert!(pages[5..].iter().all(|page| page.statistics.is_some()), "{report}");
        assert_eq!(contents(&new).unwrap(), contents(&good).unwrap());
        let [first, second] = &report.row_groups[..] else { panic!("{report}") };
        let expected = if checksums { Confidence::High } else { Confidence::Medium };
        assert_eq!((first.confidence, second.confidence), (expected, expected), "{report}");
        assert_eq!(first.why.contains("not as the file says"), !checksums, "{report}");
    }
}

/// A schema that is not the file's may have another order. That is not a sign of damage.
#[test]
fn the_order_of_another_schema_does_not_accuse_the_values() {
    let good = file(false, PageVersion::V1);
    let cut = without_footer(&good);
    let unsigned = SCHEMA.replace("int64 id", "int64 id (INTEGER(64,false))");
    let (recovery, new) = recovered_with(&cut, &given(&unsigned)).unwrap();
    let report = recovery.report();
    assert!(tells(report, "the statistics in headers of pages of id"), "{report}");
    assert!(
        report.decisions.iter().any(|decision| decision.why.contains("the order in the schema")),
        "{report}"
    );
    assert!(report.row_groups.iter().all(|group| group.confidence == Confidence::Medium), "{report}");
    assert_eq!(contents(&new).unwrap(), contents(&good).unwrap());
    let (recovery, _) = recovered_with(&cut, &RecoverOptions::default()).unwrap();
    assert!(!tells(recovery.report(), ""), "{}", recovery.report());
}
