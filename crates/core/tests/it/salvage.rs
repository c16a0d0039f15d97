//! What is left of damaged chunks: pages such as our writer would not write among them.

use crate::chunk::data::Random;
use crate::chunk::file::{File, group, leaf, root};
use crate::chunk::{Column, Layout, pages};
use marquetry_base::{ErrorKind, Limits};
use marquetry_codec::Codec;
use marquetry_core::io::read_metadata;
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::nesting::NestedField;
use marquetry_core::page::{ChecksumTrust, PageOptions};
use marquetry_core::read::{self, ChunkDamage, ColumnReader, ReadTarget, SkipThenRead, find_damage};
use marquetry_core::source::Source;
use marquetry_encoding::{PhysicalType, Values};
use marquetry_format::{Encoding, LogicalType, PageType, Repetition};
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A file of one column in memory, its page options and what is read of the column.
struct Opened {
    source: Arc<dyn Source>,
    metadata: Arc<ParquetMetaData>,
    options: PageOptions,
    target: ReadTarget,
}

fn open(file: &File) -> Opened {
    let source: Arc<dyn Source> = Arc::new(file.finish());
    let metadata = Arc::new(read_metadata(&*source, &Limits::default()).unwrap().metadata);
    let options = PageOptions::for_writer(None).with_trust(ChecksumTrust::Believed);
    let fields = NestedField::from_schema(metadata.schema());
    let target = ReadTarget::new(metadata.schema().column(0), &fields[0], 0, read::ValueLayout::Native);
    Opened { source, metadata, options, target }
}

impl Opened {
    fn survey(&self) -> ChunkDamage {
        find_damage(&self.source, &self.metadata, 0, 0, &self.target, &self.options).unwrap()
    }

    /// The values of these rows, by way of the survey.
    fn read(&self, survey: ChunkDamage, rows: &[Range<u64>]) -> Values {
        let mut passed = 0;
        let runs = rows.iter().map(|rows| {
            let at = survey.position(rows.start);
            let read = rows.end - rows.start;
            let run = SkipThenRead { skip: (at - passed) as usize, read: read as usize };
            passed = at + read;
            run
        });
        let runs: Vec<SkipThenRead> = runs.collect();
        let (source, metadata, options) = (self.source.clone(), self.metadata.clone(), self.options.clone());
        let (target, survey) = (self.target.clone(), Arc::new(survey));
        let mut reader = ColumnReader::new(source, metadata, &[0], 0, target, options).with_damage(survey);
        reader.read_runs(&runs).unwrap().values
    }
}

fn lost(survey: &ChunkDamage) -> Vec<(Option<usize>, Range<u64>)> {
    survey.lost().iter().map(|lost| (lost.page, lost.rows.clone())).collect()
}

/// Lists of 1 to 4 numbers: rows `0, 1, 1, ..`.
fn lists(rows: usize) -> (Column, Vec<Vec<u32>>) {
    let mut random = Random(5);
    let (mut rep, mut words, mut out) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rows {
        let row: Vec<u32> = (0..1 + random.below(4)).map(|_| random.below(1000) as u32).collect();
        rep.extend((0..row.len()).map(|i| u8::from(i > 0)));
        words.extend(row.iter().map(|&value| Some(u64::from(value))));
        out.push(row);
    }
    let column = Column {
        max_def: 1,
        max_rep: 1,
        def: vec![1; rep.len()],
        rep,
        ..Column::flat(PhysicalType::Int32, &words, false)
    };
    (column, out)
}

fn list_file(column: &Column, rows: usize, layout: &Layout, spoil: impl Fn(usize) -> bool) -> File {
    let mut list = group("x", Repetition::REQUIRED, 1);
    list.logical_type = Some(LogicalType::List);
    let schema = vec![
        root(1),
        list,
        group("list", Repetition::REPEATED, 1),
        leaf("element", Repetition::REQUIRED, column.physical),
    ];
    let mut file = File::new(schema);
    let mut pages = pages(column, layout);
    for (i, page) in pages.iter_mut().enumerate().filter(|(i, _)| spoil(*i)) {
        let last = page.body.len() - 1;
        page.body[last] ^= 1 + i as u8;
    }
    file.push_pages(column, rows, layout.codec, &pages);
    file
}

#[test]
fn rows_that_go_on_from_page_to_page() {
    let (column, rows) = lists(100);
    let cuts = vec![37, 41, 43, 50];
    let layout = Layout { cuts: cuts.clone(), ..Layout::default() };
    // The first row that begins in a page, and whether its first entry goes on with one.
    let entries_before = |page: usize| cuts[..page].iter().sum::<usize>();
    let row_at = |entry: usize| column.rep[..entry].iter().filter(|&&rep| rep == 0).count() as u64;
    for bad in [1usize, 2, 3] {
        let opened = open(&list_file(&column, rows.len(), &layout, |i| i == bad));
        let found = opened.survey();
        let (first, end) = (row_at(entries_before(bad)), row_at(entries_before(bad + 1)));
        // The row before may have gone on.
        assert_eq!(lost(&found), [(Some(bad), first - 1..end)], "page {bad}");
        let kept = [0..first - 1, end..100];
        let expected: Vec<u32> = kept
            .iter()
            .flat_map(|kept| &rows[kept.start as usize..kept.end as usize])
            .flatten()
            .copied()
            .collect();
        assert_eq!(opened.read(found, &kept), Values::W32(expected), "page {bad}");
    }
    // Between two lost pages nobody knows where rows are.
    let found = open(&list_file(&column, rows.len(), &layout, |i| i == 1 || i == 3)).survey();
    let lost_rows = row_at(entries_before(1)) - 1..row_at(entries_before(4));
    assert_eq!(lost(&found), [1, 2, 3].map(|page| (Some(page), lost_rows.clone())));
}

#[test]
fn v2_pages_say_how_many_rows_they_have() {
    let (column, rows) = lists(100);
    let layout = Layout { cuts: vec![37, 41, 43, 50], v2: true, ..Layout::default() };
    let opened = open(&list_file(&column, rows.len(), &layout, |i| i == 1 || i == 3));
    let found = opened.survey();
    let lost = lost(&found);
    assert_eq!((lost.len(), lost[0].0, lost[1].0), (2, Some(1), Some(3)));
    assert!(lost[0].1.end < lost[1].1.start);
    let kept = [0..lost[0].1.start, lost[0].1.end..lost[1].1.start, lost[1].1.end..100];
    let expected: Vec<u32> = kept
        .iter()
        .flat_map(|kept| &rows[kept.start as usize..kept.end as usize])
        .flatten()
        .copied()
        .collect();
    assert_eq!(found.rows(), kept.iter().map(|kept| kept.end - kept.start).sum::<u64>());
    assert_eq!(opened.read(found, &kept), Values::W32(expected));
}

#[test]
fn pages_of_other_kinds_are_no_gap() {
    let (column, rows) = lists(50);
    let layout = Layout { cuts: vec![11, 12, 13], strangers: true, ..Layout::default() };
    let opened = open(&list_file(&column, rows.len(), &layout, |_| false));
    let found = opened.survey();
    assert_eq!(lost(&found), []);
    let whole = std::slice::from_ref(&(0..50));
    assert_eq!(opened.read(found, whole), Values::W32(rows.concat()));
}

#[test]
fn a_chain_that_is_broken_and_no_index() {
    let column = Column::ints(0..40);
    let layout = Layout { cuts: vec![10, 10, 10], ..Layout::default() };
    let mut file = File::flat(&column, &layout);
    let at = file.offsets[0][2] as usize;
    file.bytes[at] = 0xff;
    let opened = open(&file);
    let found = opened.survey();
    assert_eq!(lost(&found), [(Some(2), 20..40)]);
    assert_eq!(found.lost()[0].bytes, at as u64..file.bytes.len() as u64);
    assert_eq!(opened.read(found, &[3..5, 19..20]), Values::W32(vec![3, 4, 19]));
}

#[test]
fn a_page_that_passes_for_another_kind() {
    let column = Column::ints(0..40);
    let mut pages = pages(&column, &Layout { cuts: vec![10, 10, 10], ..Layout::default() });
    pages[1].header.type_ = PageType(9);
    let found = open(&File::of_pages(&column, Codec::Uncompressed, &pages)).survey();
    assert_eq!(lost(&found), [(Some(1), 10..20)]);
}

/// A hostile footer lists millions of encodings, and each page is looked for among them.
#[test]
fn a_long_list_of_encodings_is_walked_once() {
    let mut file = File::flat(&Column::ints(0..5_000), &Layout { cuts: vec![1; 4_999], ..Layout::default() });
    let mut encodings = vec![Encoding::BIT_PACKED; 4_000_000];
    encodings.push(Encoding::PLAIN);
    file.chunk(0).encodings = encodings;
    let opened = open(&file);
    let started = Instant::now();
    assert_eq!(lost(&opened.survey()), []);
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
}

#[test]
fn a_chunk_that_nobody_can_read() {
    let mut file = File::flat(&Column::ints(0..40), &Layout::default());
    file.chunk(0).codec.0 = 42;
    let found = open(&file).survey();
    assert_eq!(lost(&found), [(None, 0..40)]);
    assert!(found.lost()[0].reason.contains("codec"));
    assert_eq!((found.rows(), found.position(7)), (0, 0));
}

#[test]
fn reading_that_fails_is_no_damage() {
    struct Broken(u64);
    impl Source for Broken {
        fn len(&self) -> u64 {
            self.0
        }
        fn read_at(&self, _: u64, _: usize) -> marquetry_base::Result<bytes::Bytes> {
            Err(std::io::Error::other("the disk is gone").into())
        }
    }
    let opened = open(&File::flat(&Column::ints(0..40), &Layout::default()));
    let broken: Arc<dyn Source> = Arc::new(Broken(opened.source.len()));
    let error = find_damage(&broken, &opened.metadata, 0, 0, &opened.target, &opened.options).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
}
