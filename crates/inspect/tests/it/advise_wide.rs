//! Advice for tables of more columns than are tried at once: what few have, all have, as far as there is time.

use arrow_array::builder::{Int32Builder, ListBuilder};
use arrow_array::{ArrayRef, BooleanArray, Int64Array, RecordBatch, StringArray};
use bytes::Bytes;
use marquetry_arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use marquetry_arrow::arrow_writer::ArrowWriter;
use marquetry_core::source::Source;
use marquetry_core::write::{Compression, EnabledStatistics, WriterProperties};
use marquetry_inspect::{
    Advice, AdviceKind, AdviseOptions, Change, ColumnSource, Finding, NewType, Query, advise,
};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

const ROWS: usize = 6_000;
const COLUMNS: usize = 1_600;

/// Pseudo-random 32 bits.
fn mixed(i: usize) -> u64 {
    let z = (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb) >> 32
}

/// Of ten columns: a day as text, a small number in many bits, a number that needs them, a list of one; the others are
/// booleans. No dictionary and no recommended codec achieves for days and small numbers what another type does: days
/// are all different, and the sign bytes of numbers are not all the same.
fn column(at: usize) -> ArrayRef {
    let numbers = |number: &dyn Fn(usize) -> i64| -> ArrayRef {
        Arc::new(Int64Array::from_iter_values((0..ROWS).map(number)))
    };
    match at % 10 {
        0 => {
            let day = |i: usize| {
                let day = mixed(i + at) % (60 * 12 * 28);
                format!("{}-{:02}-{:02}", 1960 + day / (12 * 28), 1 + day / 28 % 12, 1 + day % 28)
            };
            Arc::new(StringArray::from_iter_values((0..ROWS).map(day)))
        }
        1 => numbers(&|i| i64::from(mixed(i + at) as i32)),
        2 => numbers(&|i| (mixed(i + at) << 20) as i64),
        3 => {
            let mut lists = ListBuilder::new(Int32Builder::new());
            (0..ROWS).for_each(|i| lists.append_value([Some((mixed(i) % 99) as i32)]));
            Arc::new(lists.finish())
        }
        _ => Arc::new((0..ROWS).map(|i| Some(mixed(i * at).is_multiple_of(2))).collect::<BooleanArray>()),
    }
}

/// In three row groups, without statistics. The column in the query is the smallest of all.
fn wide() -> ColumnSource {
    let mut columns: Vec<(String, ArrayRef)> =
        (0..COLUMNS - 1).map(|at| (format!("c{at}"), column(at))).collect();
    let kinds = StringArray::from_iter_values((0..ROWS).map(|i| format!("kind {}", mixed(i) % 90)));
    columns.push(("kind".to_owned(), Arc::new(kinds)));
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let properties = WriterProperties::builder()
        .set_compression(Compression::UNCOMPRESSED)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_max_row_group_row_count(Some(ROWS / 3));
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties.build())).unwrap();
    writer.write(&batch).unwrap();
    let source: Arc<dyn Source> = Arc::new(Bytes::from(writer.into_inner().unwrap()));
    let metadata = ArrowReaderMetadata::load(source.clone(), ArrowReaderOptions::new()).unwrap();
    ColumnSource::new(source, metadata.metadata().clone())
}

fn with(budget: Duration) -> AdviseOptions {
    AdviseOptions::default().with_budget(budget).with_queries(Query::parse_lines("kind = 'kind 7'").unwrap())
}

fn of(advice: &Advice, kind: AdviceKind) -> Vec<&Finding> {
    advice.findings.iter().filter(|finding| finding.kind == kind).collect()
}

/// Which columns get a type.
fn typed(advice: &Advice, new: NewType) -> BTreeSet<String> {
    let found = advice.findings.iter().filter(|finding| finding.change == Change::Type(new));
    found.flat_map(|finding| finding.columns.clone()).collect()
}

fn named(rest: usize) -> BTreeSet<String> {
    (0..COLUMNS - 1).filter(|at| at % 10 == rest).map(|at| format!("c{at}")).collect()
}

#[test]
fn all_kinds_of_advice_are_given() {
    let input = wide();
    let advice = advise(&input, &with(Duration::from_secs(300))).unwrap();
    assert_eq!(typed(&advice, NewType::Date), named(0));
    assert_eq!(typed(&advice, NewType::Int32), named(1));
    assert_eq!(typed(&advice, NewType::Element), named(3));
    let indexes = of(&advice, AdviceKind::Indexes);
    assert!(indexes[0].what.contains("4800 of 4800 column chunks have no bounds"), "{indexes:?}");
    let order = of(&advice, AdviceKind::SortOrder);
    assert_eq!(order[0].columns[0], "kind", "{order:?}");
    // Only some of the columns were sorted; the result holds for the whole file.
    assert!(order[0].confidence.share() < 0.5 && order[0].skipped.unwrap().after > 0.5, "{order:?}");
    let bytes = order[0].bytes.unwrap();
    assert_eq!(bytes.before, advice.file_bytes);
    assert!(bytes.after > bytes.before * 9 / 10, "nothing but one column is in another order: {order:?}");
    let written = of(&advice, AdviceKind::Encoding);
    assert!(written[0].decode.is_some(), "{written:?}");
    let left: Vec<&String> = advice.not_measured.iter().filter(|told| !told.contains("one codec")).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn what_there_is_no_time_for_is_told() {
    let input = wide();
    for budget in [0, 200, 2_000].map(Duration::from_millis) {
        let start = Instant::now();
        let advice = advise(&input, &with(budget)).unwrap();
        // Work that was begun is finished, in a build that is hardly optimized and beside other tests.
        assert!(start.elapsed() < budget + Duration::from_secs(20), "{budget:?}: {:?}", start.elapsed());
        let found = typed(&advice, NewType::Date).len() + typed(&advice, NewType::Int32).len();
        let told = advice.not_measured.join("\n");
        let is_told = ["types: ", "rows: ", "no time was left"].iter().any(|what| told.contains(what));
        assert!(found == 320 || is_told, "{budget:?}: {found} types, and not a word: {told}");
    }
}
