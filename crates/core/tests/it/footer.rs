//! Footers: how many reads they take, and what is said of files that have none.

use crate::chunk;
use crate::chunk::file::{Counted, File};
use crate::chunk::{Column, Layout};
use bytes::Bytes;
use marquetry_base::{Error, ErrorKind, Limits, MemoryBudget};
use marquetry_core::io::{LocalFile, read_metadata};
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::source::Source;
use marquetry_format as format;

fn sample() -> File {
    File::flat(&Column::ints(0..100), &Layout::default())
}

/// A file whose footer has `len` bytes.
fn with_footer_of(len: usize) -> Bytes {
    let mut file = sample();
    file.metadata.created_by = Some("".into());
    let bytes = |file: &File| chunk::file::footer(&file.metadata);
    for _ in 0..3 {
        let missing = len as i64 - bytes(&file).len() as i64;
        let name = file.metadata.created_by.as_mut().unwrap();
        let wanted = (name.len() as i64 + missing) as usize;
        *name = "x".repeat(wanted).into();
    }
    assert_eq!(bytes(&file).len(), len);
    file.finish()
}

fn error_of(bytes: &[u8]) -> Error {
    read_metadata(&Bytes::copy_from_slice(bytes), &Limits::default()).unwrap_err()
}

#[test]
fn one_read_for_short_footers_and_two_for_long_ones() {
    const TAIL: usize = 64 << 10;
    for (len, reads) in
        [(200, 1), (40_000, 1), (TAIL - 8, 1), (TAIL - 7, 2), (TAIL, 2), (TAIL + 1, 2), (300_000, 2)]
    {
        let file = with_footer_of(len);
        let file_len = file.len();
        let source = Counted::new(file);
        let read = read_metadata(&*source, &Limits::default()).unwrap();
        assert_eq!(read.footer_len, len);
        assert_eq!(read.metadata.num_rows(), 100);
        let start = (file_len - 8 - len) as u64;
        assert_eq!(read.metadata.row_group(0).column(0).unwrap().data_end(), Some(start));
        let done = source.take();
        assert_eq!(done.len(), reads, "footer of {len} bytes");
        let first = file_len.min(TAIL);
        assert_eq!(done[0], ((file_len - first) as u64, first));
        if reads == 2 {
            assert_eq!(done[1], (start, len));
        }
    }
}

/// A store may claim any length, and make the bytes as they are asked for.
#[test]
fn a_long_footer_is_held_against_the_memory() {
    const LEN: usize = 900 << 20;
    /// Reads zeros, but for the last bytes; refuses to make a footer of them.
    #[derive(Debug)]
    struct Endless;
    impl Source for Endless {
        fn len(&self) -> u64 {
            1 << 40
        }

        fn read_at(&self, offset: u64, len: usize) -> marquetry_base::Result<Bytes> {
            assert!(len < 1 << 20, "{len} bytes asked for");
            let mut bytes = vec![0; len];
            if offset + len as u64 == self.len() {
                bytes[len - 8..len - 4].copy_from_slice(&(LEN as u32).to_le_bytes());
                bytes[len - 4..].copy_from_slice(b"PAR1");
            }
            Ok(bytes.into())
        }
    }
    let limits = Limits::default().with_memory(MemoryBudget::new(1 << 30));
    let error = read_metadata(&Endless, &limits).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Memory);
    assert!(error.message().contains("1887436800 more bytes"), "{error}");
}

#[test]
fn an_encrypted_footer_is_called_so() {
    let mut bytes = sample().finish().to_vec();
    let end = bytes.len();
    bytes[..4].copy_from_slice(b"PARE");
    bytes[end - 4..].copy_from_slice(b"PARE");
    let error = error_of(&bytes);
    assert_eq!(error.kind(), ErrorKind::Key);
    assert!(error.message().contains("the footer is encrypted"), "{error}");
    assert_eq!(error.place().offset, Some(end as u64 - 4));
    // A plain footer with the opening magic of an encrypted one is read: the end decides.
    bytes[end - 4..].copy_from_slice(b"PAR1");
    read_metadata(&Bytes::from(bytes), &Limits::default()).unwrap();
}

#[test]
fn files_that_are_none() {
    for (bytes, kind, text) in [
        (&b""[..], ErrorKind::Truncated, "not a Parquet file: 0 bytes"),
        (b"PAR1", ErrorKind::Truncated, "not a Parquet file: 4 bytes"),
        (b"PAR1PAR1", ErrorKind::Truncated, "not a Parquet file: 8 bytes"),
        (b"id,name\n1,one\n", ErrorKind::Corrupt, "not a Parquet file: it ends in \"one\\n\""),
        (&[0; 100], ErrorKind::Corrupt, "not a Parquet file: it ends in"),
    ] {
        let error = error_of(bytes);
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.message().contains(text), "{error}");
        assert!(!error.message().contains("recover"), "{error}");
        if kind == ErrorKind::Corrupt {
            assert_eq!(error.place().offset, Some(bytes.len() as u64 - 4));
        }
    }
}

#[test]
fn footers_said_to_be_longer_than_the_file() {
    let good = sample().finish();
    let at = good.len() - 8;
    for len in [at as u32 - 3, 1 << 20, u32::MAX] {
        let mut bytes = good.to_vec();
        bytes[at..at + 4].copy_from_slice(&len.to_le_bytes());
        let error = error_of(&bytes);
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        assert!(error.message().contains(&format!("the footer's length is {len} bytes")), "{error}");
        assert_eq!(error.place().offset, Some(at as u64));
    }
    let mut bytes = good.to_vec();
    bytes[at..at + 4].copy_from_slice(&0u32.to_le_bytes());
    let error = error_of(&bytes);
    assert!(error.message().starts_with("footer: "), "{error}");
    assert_eq!(error.place().offset, Some(at as u64));
}

#[test]
fn files_cut_off_anywhere() {
    let good = sample().finish();
    for cut in 0..good.len() {
        let error = error_of(&good[..cut]);
        assert!(matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::Truncated), "{cut}: {error}");
        assert!(error.message().contains("not a Parquet file"), "{cut}: {error}");
        // What begins as one, and could be one, has more in it than a command can guess from its end.
        assert_eq!(error.message().contains("`marquetry recover`"), cut >= 12, "{cut}: {error}");
    }
    // Bytes are missing in the middle: the footer's first ones are pages.
    let hole = [&good[..50], &good[80..]].concat();
    let error = read_metadata(&Bytes::from(hole), &Limits::default());
    assert!(error.is_ok(), "the footer is whole: {error:?}");
}

#[test]
fn damaged_footers_say_so_and_where() {
    let file = sample();
    let good = file.finish();
    let (start, end) = (file.bytes.len(), good.len() - 8);
    let mut refused = 0;
    for at in start..end {
        for flip in [0x01, 0x10, 0x80, 0xff] {
            let mut bytes = good.to_vec();
            bytes[at] ^= flip;
            let Err(error) = read_metadata(&Bytes::from(bytes), &Limits::default()) else { continue };
            refused += 1;
            assert!(error.message().starts_with("footer: "), "{error}");
            let offset = error.place().offset.unwrap();
            assert!((start as u64..=end as u64).contains(&offset), "{error}");
        }
    }
    assert!(refused > 50, "{refused}");
    let mut bytes = good.to_vec();
    bytes[start..end].fill(0xff);
    let error = error_of(&bytes);
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(error.message().starts_with("footer: Thrift type 15; if it was cut off, overwritten"), "{error}");
    assert_eq!(error.place().offset, Some(start as u64 + 1));
}

#[test]
fn a_bad_schema_is_placed() {
    let mut file = sample();
    file.metadata.schema[1].type_ = Some(marquetry_format::Type(50));
    let error = error_of(&file.finish());
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert_eq!(error.message(), "footer: physical type UNKNOWN(50)");
    assert_eq!(error.place().column.as_deref(), Some("x"));
    assert_eq!(error.place().offset, Some(file.bytes.len() as u64));
}

#[test]
fn the_limit_on_footers() {
    let limits = Limits::default().with_footer_bytes(999);
    let error = read_metadata(&with_footer_of(1_000), &limits).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
    assert!(error.message().contains("raise Limits::footer_bytes"), "{error}");
    assert!(read_metadata(&with_footer_of(999), &limits).is_ok());
}

#[test]
fn rows_are_those_of_the_row_groups() {
    let mut file = sample();
    file.push(&Column::ints(0..7), 7, &Layout::default());
    file.metadata.num_rows = 0;
    let metadata = read_metadata(&file.finish(), &Limits::default()).unwrap().metadata;
    assert_eq!((metadata.num_rows(), metadata.declared_rows()), (107, 0));
    file.metadata.row_groups.iter_mut().for_each(|row_group| row_group.num_rows = i64::MAX);
    file.push(&Column::ints(0..7), 7, &Layout::default());
    let metadata = read_metadata(&file.finish(), &Limits::default()).unwrap().metadata;
    assert_eq!(metadata.num_rows(), u64::MAX);
}

/// A bit that flips in a footer may make a field one that nobody knows: rows are not lost in silence.
#[test]
fn row_groups_without_their_rows_are_damage() {
    let mut file = sample();
    file.push(&Column::ints(0..7), 7, &Layout::default());
    file.metadata.num_rows = 107;
    assert!(read_metadata(&file.finish(), &Limits::default()).is_ok());
    let error = |edit: &dyn Fn(&mut File)| {
        let mut file = file.clone();
        edit(&mut file);
        let error = error_of(&file.finish());
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        error.to_string()
    };
    let lost = error(&|file| file.metadata.row_groups[1].num_rows = 0);
    assert!(lost.contains("107 rows, of which the row groups have 100"), "{lost}");
    assert!(lost.contains("marquetry recover"), "{lost}");
    let gone = error(&|file| file.metadata.row_groups.clear());
    assert!(gone.contains("107 rows, of which the row groups have 0"), "{gone}");
    let negative = error(&|file| file.metadata.row_groups[1].num_rows = -7);
    assert!(negative.contains("a row group of -7 rows") && negative.contains("row group 1"), "{negative}");
    // QUIRK: old parts of fastparquet have the rows of the whole table.
    file.metadata.num_rows = 1000;
    let read = read_metadata(&file.finish(), &Limits::default()).unwrap().metadata;
    assert_eq!((read.num_rows(), read.declared_rows()), (107, 1000));
    // QUIRK: `_common_metadata` of dask has the rows of all files, and no row groups.
    let mut only_footer = File::new(file.metadata.schema.clone());
    only_footer.metadata.num_rows = 107;
    let read = read_metadata(&only_footer.finish(), &Limits::default()).unwrap().metadata;
    assert_eq!((read.num_rows(), read.declared_rows()), (0, 107));
}

#[test]
fn chunks_that_do_not_fit_the_schema() {
    let mut file = sample();
    file.metadata.row_groups[0].columns.clear();
    let metadata = read_metadata(&file.finish(), &Limits::default()).unwrap().metadata;
    let error = metadata.row_group(0).column(0).unwrap_err();
    assert!(error.message().contains("the schema has 1 columns"), "{error}");
    assert_eq!(error.place().row_group, Some(0));
    let mut file = sample();
    file.chunk(0).type_ = marquetry_format::Type::INT64;
    let metadata = read_metadata(&file.finish(), &Limits::default()).unwrap().metadata;
    let error = metadata.row_group(0).column(0).unwrap_err();
    assert_eq!(error.message(), "the column chunk is INT64, the schema says INT32");
    assert_eq!(error.place().column.as_deref(), Some("x"));
}

/// Chunks stand in the order of the schema, unless their paths say otherwise; a path that nobody has says nothing. Columns may
/// have equal names.
#[test]
fn chunks_in_another_order_are_found_by_their_paths() {
    for (columns, chunks, places) in [
        ("abc", "abc", [0, 1, 2]),
        ("abc", "cab", [1, 2, 0]),
        ("abc", "xyz", [0, 1, 2]),
        ("abb", "abb", [0, 1, 2]),
        ("abb", "axb", [0, 1, 2]),
        ("aba", "baa", [1, 0, 2]),
    ] {
        let mut thrift = sample().metadata;
        let leaf = thrift.schema.pop().unwrap();
        let name = |c: char| c.to_string();
        thrift
            .schema
            .extend(columns.chars().map(|c| format::SchemaElement { name: name(c).into(), ..leaf.clone() }));
        thrift.schema[0].num_children = Some(3);
        let chunk = thrift.row_groups[0].columns.pop().unwrap();
        for (place, c) in chunks.chars().enumerate() {
            let mut chunk = chunk.clone();
            let meta = chunk.meta_data.as_mut().unwrap();
            (meta.path_in_schema, meta.num_values) = (vec![name(c).into()], place as i64);
            thrift.row_groups[0].columns.push(chunk);
        }
        let metadata = ParquetMetaData::from_thrift(thrift, &Limits::default()).unwrap();
        let found = [0, 1, 2].map(|i| metadata.row_group(0).column(i).unwrap().num_values());
        assert_eq!(found.map(|place| place as usize), places, "{columns} among {chunks}");
    }
}

#[test]
fn local_files() {
    let path = std::env::temp_dir().join(format!("marquetry-core-footer-{}.parquet", std::process::id()));
    let bytes = with_footer_of(70_000);
    std::fs::write(&path, &bytes).unwrap();
    let file = LocalFile::open(&path).unwrap();
    assert_eq!(Source::len(&file), bytes.len() as u64);
    assert_eq!(read_metadata(&file, &Limits::default()).unwrap().footer_len, 70_000);
    assert_eq!(file.read_at(10, 20).unwrap(), bytes[10..30]);
    for (offset, len) in [(bytes.len() as u64, 1), (u64::MAX, 2), (0, usize::MAX)] {
        let error = file.read_at(offset, len).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Truncated, "{error}");
        assert_eq!(bytes.read_at(offset, len).unwrap_err().to_string(), error.to_string());
    }
    std::fs::remove_file(&path).unwrap();
    let error = LocalFile::open(&path).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert_eq!(error.place().file.as_deref(), path.to_str());
    assert_eq!(LocalFile::open(std::env::temp_dir()).unwrap_err().kind(), ErrorKind::Io);
}
