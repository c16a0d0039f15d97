//! Damaged files give up what is whole, and the report says exactly what is not.

use crate::corpus;
use crate::damage;
use crate::damage::{Fault, Random, changed, check, consequences, pages, salvage, written};
use arrow_array::{Array, RecordBatch, RecordBatchReader};
use arrow_select::concat::concat_batches;
use bytes::Bytes;
use marquetry::OpenFile;
use marquetry::arrow::arrow_reader::OnCorrupt;
use marquetry::basic::{Compression, Encoding, ZstdLevel};
use marquetry::errors::{ErrorKind, Limits};
use marquetry::file::properties::{WriterProperties, WriterPropertiesBuilder, WriterVersion};
use marquetry::file::read_metadata;
use marquetry::predicate::Predicate;
use marquetry_recover::{GivenSchema, RecoverOptions, SchemaOrigin, recover};
use proptest::prelude::*;
use std::sync::Arc;
use std::time::Instant;

const MODES: [OnCorrupt; 3] = [OnCorrupt::SkipPage, OnCorrupt::NullPage, OnCorrupt::SkipRowGroup];

/// Returns a number from an environment variable.
fn number(variable: &str, otherwise: usize) -> usize {
    std::env::var(variable).ok().and_then(|number| number.parse().ok()).unwrap_or(otherwise)
}

/// Small pages, so that there are many.
fn properties(random: &mut Random) -> WriterPropertiesBuilder {
    WriterProperties::builder()
        .set_compression(random.pick(&[
            Compression::UNCOMPRESSED,
            Compression::SNAPPY,
            Compression::ZSTD(ZstdLevel::try_new(1).unwrap()),
        ]))
        .set_writer_version(random.pick(&[WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0]))
        .set_data_page_row_count_limit(random.pick(&[40, 100, 333]))
        .set_write_batch_size(20)
        .set_dictionary_enabled(random.below(3) > 0)
        .set_max_row_group_row_count(Some(random.pick(&[500, 900, 5000])))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: number("PROPTEST_CASES", 96) as u32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_whole_is_read_and_the_rest_is_reported(seed in any::<u64>()) {
        faults_of(seed)?;
    }
}

/// One bit in a page header gave wrong rows here once.
#[test]
fn a_seed_that_was_found() {
    faults_of(8_097_406_575_228_789_359).unwrap();
}

/// A file with the faults that `seed` determines.
fn faults_of(seed: u64) -> Result<(), TestCaseError> {
    let mut random = Random(seed);
    let table = damage::table(1200, &mut random);
    let properties = properties(&mut random);
    let has_index = random.below(2) == 0;
    let indexed = written(&table, properties.clone().build());
    let good = match has_index {
        true => indexed.clone(),
        false => written(&table, properties.set_offset_index_disabled(true).build()),
    };
    let pages = pages(&good, &indexed);
    let area = pages[0].header.start..pages.last().unwrap().body.end;
    for _ in 0..12 {
        let fault = match Fault::any(&area, &mut random) {
            Fault::Cut(_) => continue,
            // Headers are few bytes, and must be hit too.
            Fault::Bit(_, mask) if random.below(2) == 0 => {
                let page = &pages[random.below(pages.len())];
                Fault::Bit(page.header.start + random.below(page.header.len()), mask)
            }
            fault => fault,
        };
        let bad = fault.on(&good);
        // A page that was copied as a whole over another has a right checksum: such damage cannot be noticed.
        if let Fault::Copied { from, to, .. } = fault
            && pages.iter().any(|page| page.was_moved(&good, &bad, from, to))
        {
            continue;
        }
        let (may, must) = consequences(&pages, &changed(&good, &bad), table.num_columns(), has_index);
        let batch_size = random.pick(&[7, 100, 1000]);
        for mode in MODES {
            let salvaged = salvage(bad.clone(), mode, batch_size, table.num_columns());
            let salvaged =
                salvaged.map_err(|error| TestCaseError::fail(format!("{fault:?} {mode:?}: {error}")))?;
            let checked = check(&table, &salvaged, mode, &may);
            prop_assert_eq!(checked, Ok(()), "{:?} {:?}\n{}", fault, mode, salvaged.report);
            prop_assert!(must.is_empty() || !salvaged.report.is_empty(), "{:?} {:?}: silent", fault, mode);
        }
    }
    Ok(())
}

/// A predicate selects the same rows of the undamaged ones as from a file that has only these.
#[test]
fn a_predicate_is_asked_about_what_is_whole() {
    // With the columns that each looks at.
    const PREDICATES: [(&str, &[&str]); 10] = [
        ("id >= 100 and id < 900", &["id"]),
        ("few = 'city 3' or float > 300", &["few", "float"]),
        ("many is null and group.number > 20", &["many", "group.number"]),
        ("not few in ('city 1', 'city 2') and float is not null", &["few", "float"]),
        ("id < 0", &["id"]),
        ("many is not null or group.number < 100", &["many", "group.number"]),
        ("any(list) < 300 and not all(list) > 100", &["list"]),
        ("cardinality(list) > 1 or float > 300", &["list", "float"]),
        ("list is null", &["list"]),
        ("list is not empty and id > 50", &["list", "id"]),
    ];
    // All columns, others than those of the predicates, one of a struct with another one in a predicate, none.
    const COLUMNS: [Option<&[&str]>; 4] = [None, Some(&["list", "float"]), Some(&["group.tags"]), Some(&[])];
    let mut random = Random(77);
    let (mut wanted_rows, mut lossy) = (0, 0);
    for _ in 0..24 {
        let table = damage::table(1000, &mut random);
        let good = written(&table, properties(&mut random).build());
        let pages = pages(&good, &good);
        let page = &pages[random.below(pages.len())];
        let bad = Fault::Bit(page.body.start + random.below(page.body.len()), 0x10).on(&good);
        let cases = MODES.into_iter().flat_map(|mode| PREDICATES.map(|predicate| (mode, predicate)));
        for ((mode, (text, asked)), columns) in cases.flat_map(|case| COLUMNS.map(|columns| (case, columns)))
        {
            // Parts of a struct that are read together are lost together.
            if mode == OnCorrupt::NullPage && columns == COLUMNS[2] {
                continue;
            }
            let open =
                |file: &Bytes| marquetry::open_bytes(file.clone()).unwrap().on_corrupt(mode).batch_size(70);
            let of_columns = |file: OpenFile, columns: Option<Vec<&str>>| match columns {
                Some(columns) => file.columns(columns),
                None => file,
            };
            let all = |file: OpenFile| {
                let mut reader = file.batches().unwrap();
                let (schema, batches) = (reader.schema(), reader.by_ref().map(Result::unwrap));
                (concat_batches(&schema, &batches.collect::<Vec<_>>()).unwrap(), reader.loss_report())
            };
            let read = columns.map(|columns| [columns, asked].concat());
            let (whole, _) = all(of_columns(open(&bad), read));
            let whole = written(&whole, WriterProperties::default());
            let (offset, limit) = (random.pick(&[0, 0, 13]), random.pick(&[5, 200, usize::MAX]));
            let chosen = |file: &Bytes| {
                let file = open(file).filter(Predicate::parse(text).unwrap()).offset(offset).limit(limit);
                of_columns(file, columns.map(<[&str]>::to_vec))
            };
            let (found, report) = all(chosen(&bad));
            let (expected, _) = all(chosen(&whole).on_corrupt(OnCorrupt::Fail));
            assert_eq!(found.num_rows(), expected.num_rows(), "{mode:?} {text} {columns:?}\n{report}");
            assert_eq!(found.columns(), expected.columns(), "{mode:?} {text} {columns:?}\n{report}");
            wanted_rows += found.num_rows();
            lossy += usize::from(!report.is_empty());
        }
    }
    assert!(wanted_rows > 10_000 && lossy > 100, "{wanted_rows}, {lossy}");
}

/// No checksum covers page headers: each bit of each of them is flipped, in pages so small that much could fit by chance.
/// `MARQUETRY_SLOW` makes it all bits of all files; otherwise a part, always the same.
#[test]
fn every_bit_of_every_page_header() {
    let table = damage::table(60, &mut Random(5));
    let step = if std::env::var_os("MARQUETRY_SLOW").is_some() { 1 } else { 11 };
    let (mut flips, mut unseen, mut failing, mut wrong) = (0, 0, 0, 0);
    let only = std::env::var("MARQUETRY_FILE").ok().and_then(|number| number.parse().ok());
    for number in (0..16usize).filter(|number| only.is_none_or(|only: usize| only == *number)) {
        let bit = |i: usize| number >> i & 1 == 1;
        let mut properties = WriterProperties::builder()
            .set_data_page_row_count_limit(20)
            .set_write_batch_size(20)
            .set_compression(if bit(0) { Compression::SNAPPY } else { Compression::UNCOMPRESSED })
            .set_writer_version(if bit(1) { WriterVersion::PARQUET_2_0 } else { WriterVersion::PARQUET_1_0 })
            .set_dictionary_enabled(bit(2));
        if !bit(2) {
            let columns = [
                ("id", Encoding::DELTA_BINARY_PACKED),
                ("float", Encoding::BYTE_STREAM_SPLIT),
                ("few", Encoding::DELTA_LENGTH_BYTE_ARRAY),
                ("many", Encoding::DELTA_BYTE_ARRAY),
            ];
            for (column, encoding) in columns {
                properties = properties.set_column_encoding(column.into(), encoding);
            }
        }
        let indexed = written(&table, properties.clone().build());
        let good = match bit(3) {
            true => indexed.clone(),
            false => written(&table, properties.set_offset_index_disabled(true).build()),
        };
        let pages = pages(&good, &indexed);
        let bits = pages
            .iter()
            .flat_map(|page| page.header.clone())
            .flat_map(|at| (0..8).map(move |i| (at, 1u8 << i)));
        for (at, mask) in bits.skip(number % step).step_by(step) {
            let fault = Fault::Bit(at, mask);
            let (may, _) = consequences(&pages, &[at], table.num_columns(), bit(3));
            let salvaged = salvage(fault.on(&good), OnCorrupt::SkipPage, 7, table.num_columns()).unwrap();
            let checked = check(&table, &salvaged, OnCorrupt::SkipPage, &may);
            let page = pages.iter().find(|page| page.header.contains(&at)).unwrap();
            let header = &good[page.header.clone()];
            let byte = at - page.header.start;
            let words = format!("file {number}, {fault:?}, byte {byte} of {header:02x?} of {page:?}");
            assert_eq!(checked, Ok(()), "{words}\n{}", salvaged.report);
            flips += 1;
            unseen += usize::from(salvaged.report.is_empty());
            // The same without salvage: most of it fails.
            match salvage(fault.on(&good), OnCorrupt::Fail, 7, table.num_columns()) {
                Ok(read) => {
                    wrong += usize::from(check(&table, &read, OnCorrupt::Fail, &may).is_err());
                }
                Err(_) => failing += 1,
            }
        }
    }
    println!(
        "{flips} bits flipped, {unseen} without effect; not salvaged, {failing} fail, {wrong} give wrong rows"
    );
    assert!(flips > 1000 && wrong * 50 < flips);
}

/// The first `MARQUETRY_FAULT_ROWS` rows of a table like lineitem, or of the Parquet file `MARQUETRY_LINEITEM`.
fn lineitem() -> RecordBatch {
    let rows = number("MARQUETRY_FAULT_ROWS", 60_000);
    let Some(path) = std::env::var_os("MARQUETRY_LINEITEM") else { return damage::lineitem(rows) };
    let batches = marquetry::open(path).unwrap().limit(rows).batches().unwrap();
    let schema = batches.schema();
    concat_batches(&schema, &batches.collect::<Result<Vec<_>, _>>().unwrap()).unwrap()
}

/// `MARQUETRY_FAULTS=1000 MARQUETRY_FAULT_ROWS=600572` is the size of SF0.1.
#[test]
fn single_faults_in_lineitem() {
    let count = number("MARQUETRY_FAULTS", 50);
    let table = lineitem();
    let rows = table.num_rows();
    let good = written(&table, WriterProperties::default());
    let pages = pages(&good, &good);
    let area = pages[0].header.start..pages.last().unwrap().body.end;
    let mut random = Random(7);
    let schema = table.schema();
    let roots: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    let mut tally = Tally::default();
    let start = Instant::now();
    while tally.faults < count {
        let fault = Fault::any(&area, &mut random);
        let bad = fault.on(&good);
        if bad == good {
            continue;
        }
        tally.faults += 1;
        if bad.len() < good.len() {
            // Without a footer: a case for `recover`.
            assert!(marquetry::open_bytes(bad).is_err(), "{fault:?}");
            tally.cut += 1;
            continue;
        }
        let (may, must) = consequences(&pages, &changed(&good, &bad), table.num_columns(), true);
        let plain = salvage(bad.clone(), OnCorrupt::Fail, 8192, table.num_columns());
        assert!(must.is_empty() || plain.is_err(), "{fault:?}: silent");
        let salvaged = salvage(bad, OnCorrupt::SkipPage, 8192, table.num_columns()).unwrap();
        assert_eq!(check(&table, &salvaged, OnCorrupt::SkipPage, &may), Ok(()), "{fault:?}");
        let named = |page: &damage::Page| {
            let is_it = |column: &str, index| column == roots[page.root] && index == Some(page.index);
            salvaged.report.losses.iter().any(|loss| is_it(&loss.column, loss.page))
        };
        // Damage in rows that another column leaves out is never met.
        let lost = damage::reported(&salvaged.report, &roots, rows);
        let is_left_out =
            |page: &damage::Page| page.rows.clone().all(|row| lost.iter().any(|lost| lost[row as usize]));
        let is_silent = |page: &damage::Page| !named(page) && !is_left_out(page);
        assert!(!must.iter().any(is_silent), "{fault:?}: silent\n{}", salvaged.report);
        match (must.is_empty(), salvaged.report.is_empty()) {
            (false, _) => tally.in_page_data += 1,
            (true, false) => tally.in_headers += 1,
            (true, true) => tally.without_effect += 1,
        }
        tally.rows_left_out += salvaged.report.rows_left_out;
    }
    println!(
        "{tally:?} in {:?}, {} rows, {} bytes, {} pages",
        start.elapsed(),
        rows,
        good.len(),
        pages.len()
    );
}

/// What is cut off somewhere comes back up to the last whole row group, to the bit.
#[test]
fn cuts_in_lineitem_keep_every_whole_row_group() {
    let table = lineitem();
    let rows = table.num_rows();
    let per_group = rows.div_ceil(12);
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(per_group)).build();
    let good = written(&table, properties);
    let metadata = read_metadata(&good, &Limits::default()).unwrap().metadata;
    let ends: Vec<u64> = metadata
        .row_groups()
        .map(|group| group.columns().map(|chunk| chunk.unwrap().byte_range().unwrap().end).max().unwrap())
        .collect();
    let schema = GivenSchema::new(metadata.head().schema.clone(), SchemaOrigin::Sibling)
        .with_created_by(metadata.created_by().map(str::to_owned))
        .with_key_values(metadata.key_value_metadata().to_vec());
    let options = RecoverOptions::default().with_schema(Some(schema));
    let (mut random, mut kept) = (Random(23), 0);
    for _ in 0..number("MARQUETRY_FAULTS", 100) / 5 {
        let len = ends[0] as usize + random.below(good.len() - ends[0] as usize);
        let whole = ends.iter().filter(|end| **end <= len as u64).count();
        let recovery = recover(Arc::new(good.slice(..len)), &options).unwrap();
        assert_eq!(recovery.report().row_groups.len(), whole, "cut at {len}: {}", recovery.report());
        let file = Bytes::from(recovery.write(Vec::new(), None).unwrap());
        let back = salvage(file, OnCorrupt::Fail, 8192, table.num_columns()).unwrap();
        let wanted = table.slice(0, rows.min(whole * per_group));
        for (wanted, back) in wanted.columns().iter().zip(&back.rows) {
            assert!(wanted == back, "cut at {len}: other values");
        }
        kept += whole;
    }
    println!("{kept} row groups came back");
}

#[derive(Debug, Default)]
struct Tally {
    faults: usize,
    in_page_data: usize,
    in_headers: usize,
    without_effect: usize,
    cut: usize,
    rows_left_out: u64,
}

fn spoiled(pages: &[damage::Page], good: &Bytes, root: usize, index: usize) -> Bytes {
    let page = pages.iter().find(|page| page.root == root && page.index == index && page.row_group == 0);
    Fault::Bit(page.unwrap().body.start + 5, 1).on(good)
}

fn plain_file() -> (arrow_array::RecordBatch, Bytes, Vec<damage::Page>) {
    let table = damage::table(1000, &mut Random(3));
    let properties = WriterProperties::builder()
        .set_data_page_row_count_limit(100)
        .set_write_batch_size(100)
        .set_dictionary_enabled(false)
        .set_encoding(Encoding::PLAIN)
        .set_max_row_group_row_count(Some(500));
    let good = written(&table, properties.build());
    let pages = pages(&good, &good);
    (table, good, pages)
}

#[test]
fn a_read_fails_unless_it_is_told_not_to() {
    let (_, good, pages) = plain_file();
    let bad = spoiled(&pages, &good, 0, 1);
    let mut reader = marquetry::open_bytes(bad).unwrap().batches().unwrap();
    assert_eq!(reader.next_batch().unwrap().unwrap_err().kind(), ErrorKind::Corrupt);
    assert!(reader.loss_report().is_empty());
}

#[test]
fn each_mode_and_its_report() {
    let (_, good, pages) = plain_file();
    let bad = spoiled(&pages, &good, 0, 1);
    let read = |mode| {
        let mut reader = marquetry::open_bytes(bad.clone()).unwrap().on_corrupt(mode).batches().unwrap();
        let rows: Vec<_> = std::iter::from_fn(|| reader.next_batch()).map(Result::unwrap).collect();
        let nulls = rows.iter().map(|batch| batch.column(0).null_count()).sum::<usize>();
        let nullable = reader.schema().field(0).is_nullable();
        (rows.iter().map(|batch| batch.num_rows()).sum::<usize>(), nulls, nullable, reader.loss_report())
    };
    let (rows, nulls, nullable, report) = read(OnCorrupt::SkipPage);
    assert_eq!((rows, nulls, nullable, report.rows_left_out), (900, 0, false, 100));
    let loss = &report.losses[0];
    assert_eq!((loss.row_group, &*loss.column, loss.page, loss.rows.clone()), (0, "id", Some(1), 100..200));
    let page = pages.iter().find(|page| page.root == 0 && page.index == 1).unwrap();
    assert_eq!(loss.bytes, page.header.start as u64..page.body.end as u64);
    assert!(loss.reason.contains("checksum"), "{loss}");
    assert_eq!(report.losses.len(), 1);

    let (rows, nulls, nullable, report) = read(OnCorrupt::NullPage);
    assert_eq!((rows, nulls, nullable), (1000, 100, true));
    assert_eq!((report.rows_left_out, report.values_made_null, report.losses.len()), (0, 100, 1));

    let (rows, nulls, _, report) = read(OnCorrupt::SkipRowGroup);
    assert_eq!((rows, nulls, report.rows_left_out, report.losses[0].rows.clone()), (500, 0, 500, 0..500));
}

#[test]
fn an_offset_counts_rows_of_the_file_and_a_limit_those_given() {
    let (_, good, pages) = plain_file();
    let bad = spoiled(&pages, &good, 0, 1);
    let read = |offset, limit| {
        let file = marquetry::open_bytes(bad.clone()).unwrap().on_corrupt(OnCorrupt::SkipPage);
        let mut reader = file.columns(["id"]).offset(offset).limit(limit).batches().unwrap();
        let mut ids = Vec::new();
        while let Some(batch) = reader.next_batch() {
            let batch = batch.unwrap();
            let array = batch.column(0).as_any().downcast_ref::<arrow_array::Int64Array>().unwrap();
            ids.extend(array.values().iter().copied());
        }
        (ids, reader.loss_report().losses.len())
    };
    assert_eq!(read(0, 3), ((0..3).collect(), 0));
    assert_eq!(read(98, 4), (vec![98, 99, 200, 201], 1));
    assert_eq!(read(150, 2), (vec![200, 201], 1));
    assert_eq!(read(200, 2), (vec![200, 201], 0));
    assert_eq!(read(700, 2), (vec![700, 701], 0));
    assert_eq!(read(0, usize::MAX).0.len(), 900);
}

#[test]
fn whatever_is_cut_out_or_doubled_is_no_panic_and_no_wrong_row() {
    let (table, good, pages) = plain_file();
    let area = pages[0].header.start..pages.last().unwrap().body.end;
    let mut random = Random(11);
    let anywhere = vec![vec![0..table.num_rows() as u64]; table.num_columns()];
    for _ in 0..40 {
        let at = area.start + random.below(area.len() - 5000);
        let fault = match random.below(2) {
            0 => Fault::Doubled(at..at + 4096),
            _ => Fault::Doubled(at..at + 1 + random.below(100)),
        };
        let bad = fault.on(&good);
        for mode in MODES {
            match salvage(bad.clone(), mode, 64, table.num_columns()) {
                Ok(salvaged) => {
                    assert!(!salvaged.report.is_empty(), "{fault:?}");
                    assert_eq!(check(&table, &salvaged, mode, &anywhere), Ok(()), "{fault:?} {mode:?}");
                }
                Err(error) => panic!("{fault:?} {mode:?}: {error}"),
            }
        }
    }
}

/// Without damage, all modes read the same, and report nothing.
#[test]
fn good_files_are_read_the_same() {
    let Some(root) = corpus::root() else { return };
    let (mut read, mut wrong) = (0, Vec::new());
    // QUIRK: it has too many bytes behind the levels, and behind the values of the only page of a chunk.
    let is_odd = |path: &String| path.ends_with("test/files/issue72.parquet");
    let files = [corpus::files(&root, "corpus"), corpus::files(&root, "parquet-testing/data")].concat();
    let slow = std::env::var_os("MARQUETRY_SLOW").is_some();
    let (most, step) = if slow { (1 << 20, 1) } else { (20_000, 2) };
    let is_small = |path: &String| std::fs::metadata(root.join(path)).is_ok_and(|file| file.len() < most);
    for path in files
        .into_iter()
        .filter(|path| path.ends_with(".parquet") && is_small(path) && !is_odd(path))
        .step_by(step)
    {
        let rows = |mode| -> Option<(usize, bool)> {
            let file = marquetry::open(root.join(&path)).ok()?.on_corrupt(mode);
            let mut reader = file.batches().ok()?;
            let mut rows = 0;
            while let Some(batch) = reader.next_batch() {
                rows += batch.ok()?.num_rows();
            }
            Some((rows, reader.loss_report().is_empty()))
        };
        let Some(expected) = rows(OnCorrupt::Fail) else { continue };
        for mode in MODES {
            let found = rows(mode);
            if found != Some(expected) {
                wrong.push(format!("{path} {mode:?}: {found:?}, not {expected:?}"));
            }
        }
        read += 1;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    println!("{read} files");
    assert!(read > 100, "{read}");
}
