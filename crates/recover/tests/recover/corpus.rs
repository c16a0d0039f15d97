//! Files of other writers without their footers. They stand beside the repository, or where `MARQUETRY_CORPUS` says;
//! without them this passes and says so.

use crate::sample::{contents, footer_start, given};
use bytes::Bytes;
use marquetry_base::{ErrorKind, Limits};
use marquetry_core::io::read_metadata;
use marquetry_recover::{GivenSchema, RecoverOptions, Recovery, SchemaOrigin, recover};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The folder of the files; `None` if the test is to be skipped.
fn root() -> Option<PathBuf> {
    let root = match std::env::var_os("MARQUETRY_CORPUS") {
        Some(path) => PathBuf::from(path),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
    };
    let is_there = root.join("parquet-testing/data").is_dir();
    assert!(is_there || std::env::var_os("CI").is_none(), "no corpus at {}", root.display());
    if !is_there {
        println!("skipped: no corpus at {}", root.display());
    }
    is_there.then_some(root)
}

#[test]
fn files_without_their_footers() {
    let Some(root) = root() else { return };
    let entries = std::fs::read_dir(root.join("parquet-testing/data")).unwrap();
    let (mut files, mut with_schema, mut without, mut cut_in_footer, mut suggested) = (0, 0, 0, 0, 0);
    let mut wrong = Vec::new();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths.iter().filter(|path| path.extension().is_some_and(|extension| extension == "parquet")) {
        let bytes = Bytes::from(std::fs::read(path).unwrap());
        // Large files, encrypted ones, and those that cannot be read are no use here.
        let Ok(read) = read_metadata(&bytes, &Limits::default()) else { continue };
        let is_slow = SLOW.iter().any(|name| path.ends_with(name));
        if is_slow || bytes.len() > MOST_BYTES || read.metadata.num_rows() == 0 {
            continue;
        }
        let Ok(good) = contents(&bytes) else { continue };
        files += 1;
        let broken = bytes.slice(..footer_start(&bytes));
        let schema = GivenSchema::new(read.metadata.head().schema.clone(), SchemaOrigin::Sibling)
            .with_created_by(read.metadata.created_by().map(str::to_owned));
        let with_footers = RecoverOptions::default().with_schema(Some(schema));
        let name = path.file_name().unwrap().to_string_lossy();
        match outcome(&broken, &with_footers, &good) {
            Ok(()) => with_schema += 1,
            Err(why) => println!("{name}, with schema: {why}"),
        }
        // Without anything of the footer, nothing shows that the last row group is whole.
        for (cut, count) in [(footer_start(&bytes), &mut without), (bytes.len() - 8, &mut cut_in_footer)] {
            let broken = bytes.slice(..cut);
            match outcome(&broken, &RecoverOptions::default(), &good) {
                Ok(()) => *count += 1,
                // A file that cannot be kept although its schema is known: its checksums are wrong.
                Err(why) if why.contains("give the schema") || name.contains("corrupt-checksum") => {
                    println!("{name}, {cut} bytes: {why}")
                }
                Err(why) => wrong.push(format!("{name}, {cut} bytes: {why}")),
            }
        }
        // A caller who knows that nothing is missing can use the schema in the report.
        let options = suggestion(&broken).map_or_else(RecoverOptions::default, |text| given(&text));
        match outcome(&broken, &options, &good) {
            Ok(()) => suggested += 1,
            Err(why) => println!("{name}, suggested: {why}"),
        }
    }
    println!(
        "{files} files: {with_schema} come back with their schema; without it {without}, {cut_in_footer} if the footer is \
         cut, {suggested} if the likeliest schema is taken"
    );
    assert!(wrong.is_empty(), "{wrong:#?}");
    // Columns that are all alike, in pages of as many rows each, are given up: there is more than one way to read them.
    assert!(with_schema * 100 >= files * 85, "{with_schema} of {files}");
    assert!(cut_in_footer * 100 >= files * 95, "{cut_in_footer} of {files}");
    assert!(suggested * 100 >= files * 55, "{suggested} of {files}");
}

/// The schema that the report calls the likeliest.
fn suggestion(broken: &Bytes) -> Option<String> {
    let recovery = recover(Arc::new(broken.clone()), &RecoverOptions::default()).ok()?;
    let mut decisions = recovery.report().decisions.iter();
    decisions.find_map(|decision| Some(decision.why.split_once("the likeliest is: ")?.1.to_owned()))
}

/// Encrypted files are refused, with and without a footer; none of their bytes are taken for pages.
#[test]
fn encrypted_files_of_others_are_left() {
    let Some(root) = root() else { return };
    let mut files = 0;
    for entry in std::fs::read_dir(root.join("parquet-testing/data")).unwrap() {
        let path = entry.unwrap().path();
        if !path.to_string_lossy().ends_with(".parquet.encrypted") {
            continue;
        }
        files += 1;
        let bytes = Bytes::from(std::fs::read(&path).unwrap());
        let error = recover(Arc::new(bytes), &RecoverOptions::default()).err();
        assert_eq!(error.map(|error| error.kind()), Some(ErrorKind::Key), "{}", path.display());
    }
    assert!(files > 5, "{files}");
}

/// parquet-cpp before 2.0 marked its compressed V2 pages as uncompressed (ARROW-17100).
#[test]
fn pages_that_are_marked_wrong_come_back() {
    let Some(root) = root() else { return };
    let path = root.join("corpus/apache__arrow-testing/data/parquet/ARROW-17100.parquet");
    let bytes = Bytes::from(std::fs::read(path).unwrap());
    let good = contents(&bytes).unwrap();
    let metadata = read_metadata(&bytes, &Limits::default()).unwrap().metadata;
    let schema = GivenSchema::new(metadata.head().schema.clone(), SchemaOrigin::Sibling)
        .with_created_by(metadata.created_by().map(str::to_owned));
    let options = RecoverOptions::default().with_schema(Some(schema));
    outcome(&bytes.slice(..footer_start(&bytes)), &options, &good).unwrap();
    outcome(&bytes, &RecoverOptions::default(), &good).unwrap();
}

/// Whether all values come back; types may be guessed wrong, as long as the bytes are right.
fn outcome(broken: &Bytes, options: &RecoverOptions, good: &[Vec<String>]) -> Result<(), String> {
    let recovery = recover(Arc::new(broken.clone()), options).map_err(|error| error.to_string())?;
    let first_loss = |recovery: &Recovery| recovery.report().losses.first().map(|loss| loss.why.clone());
    if recovery.report().row_groups.is_empty() {
        return Err(format!("nothing is kept: {:?}", first_loss(&recovery)));
    }
    let written = recovery.write(Vec::new(), None).map_err(|error| error.to_string())?;
    let seen = contents(&written.into()).map_err(|error| error.to_string())?;
    match seen == good {
        true => Ok(()),
        false => {
            let differs = seen.iter().flatten().zip(good.iter().flatten()).find(|(seen, good)| seen != good);
            Err(format!("other values: {differs:?}, {:?}", first_loss(&recovery)))
        }
    }
}

const MOST_BYTES: usize = 200 << 10;

/// Pages of a few bytes that become gigabytes, and very many pages.
const SLOW: [&str; 2] = ["large_string_map.brotli.parquet", "overflow_i16_page_cnt.parquet"];

/// The metadata of other writers' whole files is copied, unless it is wrong in itself.
#[test]
fn what_other_writers_say_is_not_contradicted() {
    let Some(root) = root() else { return };
    let entries = std::fs::read_dir(root.join("parquet-testing/data")).unwrap();
    let (mut files, mut told) = (0, Vec::new());
    for path in entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "parquet"))
    {
        let bytes = Bytes::from(std::fs::read(&path).unwrap());
        let Ok(recovery) = recover(Arc::new(bytes), &RecoverOptions::default()) else { continue };
        files += 1;
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let of_columns =
            recovery.report().decisions.iter().filter(|decision| decision.what.contains("row group at byte"));
        told.extend(of_columns.map(|decision| format!("{name}: {}: {}", decision.what, decision.why)));
    }
    // Their column indexes mark pages as null that are not.
    told.retain(|told| !(told.starts_with("datapage_v1-") && told.contains("null page: true")));
    assert!(files > 50 && told.is_empty(), "{files} files: {told:#?}");
}
