//! Checkpoints, and files that are changed in place: cut or torn anywhere, the last whole state is found, and no other.

use bytes::Bytes;
use marquetry_base::{ErrorKind, Limits, Result};
use marquetry_core::checkpoint::{
    APPEND_MAGIC, CHECKPOINT_FRAME_LEN, CHECKPOINT_MAGIC, CheckpointFound, Evidence, find_last_checkpoint,
    find_last_footer, frame, marker,
};
use marquetry_core::io::{FileEdit, read_metadata, unreferenced_bytes};
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::nesting::{ColumnValues, DefinitionLevels, ShreddedColumn};
use marquetry_core::schema::Schema;
use marquetry_core::write::{
    CheckpointEvery, ChunkBytes, ColumnWriter, Compression, Durable, EncodedChunk, Encoding, FileSettings,
    FileWriter, Workspace, WriterProperties,
};
use marquetry_encoding::{StringViews, Values};
use marquetry_format::{KeyValue, Repetition, SchemaElement, Type};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

fn schema(physical: Type) -> Vec<SchemaElement> {
    let root = SchemaElement { name: "root".into(), num_children: Some(1), ..Default::default() };
    let column = SchemaElement {
        type_: Some(physical),
        repetition_type: Some(Repetition::REQUIRED),
        name: "c".into(),
        ..Default::default()
    };
    vec![root, column]
}

/// A chunk of these values, plain and not compressed.
fn chunk_of(physical: Type, values: Values) -> EncodedChunk {
    let schema = Schema::from_thrift(&schema(physical), &Limits::default()).unwrap();
    let properties = WriterProperties::builder()
        .set_compression(Compression::UNCOMPRESSED)
        .set_encoding(Encoding::PLAIN)
        .set_dictionary_enabled(false)
        .build();
    let settings = properties.column_settings(schema.column(0)).unwrap();
    let mut writer = ColumnWriter::new(schema.column(0), &settings).unwrap();
    let rows = values.len();
    let block = ShreddedColumn::flat(rows, DefinitionLevels::Max, ColumnValues::Values(values));
    let mut workspace = Workspace::new();
    writer.write(&block, &mut workspace).unwrap();
    writer.close(&mut workspace).unwrap().0
}

/// A chunk of so many numbers that go up from `first`.
fn numbers(first: u64, rows: u64) -> EncodedChunk {
    chunk_of(Type::INT64, Values::W64((first..first + rows).collect()))
}

fn write_group<W: Write>(writer: &mut FileWriter<W>, first: u64, rows: u64) -> Result<()> {
    writer.write_row_group(rows, vec![numbers(first, rows)], None)
}

fn limits() -> Limits {
    Limits::default()
}

fn found(bytes: &[u8]) -> Option<CheckpointFound> {
    find_last_checkpoint(&Bytes::copy_from_slice(bytes), &limits()).unwrap()
}

fn footer(bytes: &[u8]) -> ParquetMetaData {
    read_metadata(&Bytes::copy_from_slice(bytes), &limits()).unwrap().metadata
}

/// A file of four row groups with a checkpoint behind each of the first three, and for each where it ends.
fn checkpointed() -> (Vec<u8>, Vec<(usize, u64)>) {
    let mut writer =
        FileWriter::new_durable(Vec::new(), schema(Type::INT64), FileSettings::default()).unwrap();
    let mut ends = Vec::new();
    for group in 0..4u64 {
        write_group(&mut writer, group * 100, 10 + group).unwrap();
        if group < 3 {
            writer.write_checkpoint().unwrap();
            ends.push((writer.position() as usize, (0..=group).map(|group| 10 + group).sum()));
        }
    }
    (writer.finish().unwrap().0, ends)
}

#[test]
fn a_checkpoint_is_a_frame_around_a_footer() {
    let wire = [
        &b"\x93MQsync\n"[..],                   // CHECKPOINT_MAGIC
        &[0x07, 0x01, 0, 0, 0, 0, 0, 0],        // where the marker is: 263
        &[3, 0, 0, 0],                          // footer length
        &crc32fast::hash(b"abc").to_le_bytes(), // CRC-32 of the footer
        b"abc",                                 // footer
        &[3, 0, 0, 0],                          // footer length
        b"PAR1",
    ]
    .concat();
    assert_eq!(frame(263, b"abc", *b"PAR1").unwrap(), wire);
    assert_eq!(wire.len() as u64, 3 + CHECKPOINT_FRAME_LEN);
    assert_eq!(marker(CHECKPOINT_MAGIC, 263), wire[..16]);
    assert_eq!(marker(APPEND_MAGIC, 1), *b"\x93MQgrow\n\x01\0\0\0\0\0\0\0");
}

#[test]
fn a_file_cut_anywhere_is_found_up_to_its_last_checkpoint() {
    let (file, ends) = checkpointed();
    for cut in 0..=file.len() {
        let bytes = &file[..cut];
        let last = ends.iter().rev().find(|(end, _)| *end <= cut);
        let found = found(bytes);
        if cut == file.len() {
            let found = found.unwrap();
            assert_eq!((found.evidence, found.metadata.num_rows()), (Evidence::End, 46));
            continue;
        }
        let seen = found.as_ref().map(|found| (found.end as usize, found.metadata.num_rows()));
        assert_eq!(seen, last.copied(), "cut at {cut}");
        if let Some(found) = found {
            assert_eq!(found.evidence, Evidence::Checkpoint);
            // Right behind a checkpoint the file is a file.
            assert_eq!(footer(&bytes[..found.end as usize]), found.metadata);
        }
    }
}

#[test]
fn what_is_behind_a_checkpoint_hides_nothing() {
    let (file, ends) = checkpointed();
    let (end, rows) = ends[2];
    let zeros = vec![0; 3 << 20];
    for rest in [&zeros[..], b"PAR1PAR1PAR1", b"\x05\0\0\0PAR1", &APPEND_MAGIC, &CHECKPOINT_MAGIC, &file] {
        let bytes = [&file[..end], rest].concat();
        if rest == &file[..] {
            continue;
        }
        let found = found(&bytes).unwrap();
        assert_eq!((found.end as usize, found.metadata.num_rows()), (end, rows));
    }
}

#[test]
fn a_changed_checkpoint_is_none() {
    let (file, ends) = checkpointed();
    let bytes = &file[..ends[1].0 + 50];
    let start = found(bytes).unwrap().footer.start as usize - 24;
    for at in start..ends[1].0 {
        let mut bytes = bytes.to_vec();
        bytes[at] ^= 1;
        let found = found(&bytes).unwrap();
        assert_eq!(found.end as usize, ends[0].0, "byte {at}");
    }
}

#[test]
fn the_finished_file_refers_to_no_checkpoint() {
    let (file, _) = checkpointed();
    let mut plain = FileWriter::new(Vec::new(), schema(Type::INT64), FileSettings::default()).unwrap();
    (0..4).for_each(|group| write_group(&mut plain, group * 100, 10 + group).unwrap());
    let plain = plain.finish().unwrap().0;
    assert_eq!(unreferenced_bytes(&Bytes::from(plain.clone()), &footer(&plain)), 0);
    let spent = unreferenced_bytes(&Bytes::from(file.clone()), &footer(&file));
    let mut writer =
        FileWriter::new_durable(Vec::new(), schema(Type::INT64), FileSettings::default()).unwrap();
    for group in 0..3 {
        write_group(&mut writer, group * 100, 10 + group).unwrap();
        writer.write_checkpoint().unwrap();
    }
    let cost = writer.checkpoints();
    assert_eq!((cost.count, cost.bytes), (3, spent));
}

#[test]
fn a_file_in_a_value_is_not_taken_for_the_file() {
    let (inner, ends) = checkpointed();
    // The inner file's footers and checkpoints are in the page, as they are.
    let mut values = StringViews::new();
    values.push(&inner[..ends[2].0]);
    values.push(&inner);
    let chunk = chunk_of(Type::BYTE_ARRAY, Values::Bytes(values));
    let mut writer = FileWriter::new(Vec::new(), schema(Type::BYTE_ARRAY), FileSettings::default()).unwrap();
    writer.write_row_group(2, vec![chunk], None).unwrap();
    let end_of_pages = writer.position() as usize;
    let file = writer.finish().unwrap().0;
    for cut in 0..file.len() {
        // Where the page happens to end in a whole footer, every reader takes it for the end of the file.
        if !file[..cut].ends_with(b"PAR1") {
            assert_eq!(found(&file[..cut]), None, "cut at {cut} of {end_of_pages}");
        }
    }
}

#[test]
fn without_a_marker_a_footer_is_plausible_at_most() {
    let (file, _) = checkpointed();
    let bytes = Bytes::from([&file[..], b"garbage that was appended"].concat());
    let found = find_last_footer(&bytes, &limits()).unwrap().unwrap();
    assert_eq!((found.evidence, found.end as usize), (Evidence::Plausible, file.len()));
    assert_eq!(found.metadata, footer(&file));
    let certain = find_last_checkpoint(&bytes, &limits()).unwrap().unwrap();
    assert_eq!((certain.evidence, certain.metadata.num_rows()), (Evidence::Checkpoint, 33));
    // Pages that are gone speak against it.
    let mut bytes = bytes.to_vec();
    bytes[4..40].fill(0);
    let found = find_last_footer(&Bytes::from(bytes), &limits()).unwrap().unwrap();
    assert_eq!(found.evidence, Evidence::Checkpoint);
}

#[test]
fn a_file_of_magics_costs_no_more_than_its_limit() {
    let bytes = Bytes::from(b"\x08\0\0\0PAR1".repeat(100_000));
    assert_eq!(find_last_checkpoint(&bytes, &limits()).unwrap(), None);
    let few = limits().with_footer_bytes(1 << 16);
    assert_eq!(find_last_footer(&bytes, &few).unwrap_err().kind(), ErrorKind::Limit);
}

/// Takes so many bytes, and then fails; knows what was synced.
#[derive(Debug, Default)]
struct Faulty {
    bytes: Vec<u8>,
    room: usize,
    synced: usize,
    flushes_fail: bool,
}

impl Write for Faulty {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = bytes.len().min(self.room - self.bytes.len());
        if n == 0 && !bytes.is_empty() {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.bytes.extend_from_slice(&bytes[..n]);
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.flushes_fail {
            true => Err(io::ErrorKind::StorageFull.into()),
            false => Ok(()),
        }
    }
}

impl Durable for Faulty {
    fn sync(&mut self) -> io::Result<()> {
        self.synced = self.bytes.len();
        Ok(())
    }
}

#[test]
fn a_full_disk_is_an_error_and_leaves_the_checkpoints() {
    let (file, ends) = checkpointed();
    for room in 0..file.len() {
        let mut sink = Faulty { room, ..Faulty::default() };
        let mut safe = 0;
        let mut write = || {
            let mut writer =
                FileWriter::new_durable(&mut sink, schema(Type::INT64), FileSettings::default())?;
            for group in 0..4 {
                write_group(&mut writer, group * 100, 10 + group)?;
                if group < 3 {
                    writer.write_checkpoint()?;
                    safe = (0..=group).map(|group| 10 + group).sum();
                }
            }
            writer.finish().map(drop)
        };
        let error = write().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Io, "{error}");
        let expected = ends.iter().rev().find(|(end, _)| *end <= room).map_or(0, |(_, rows)| *rows);
        assert_eq!(safe, expected);
        assert_eq!(found(&sink.bytes).map_or(0, |found| found.metadata.num_rows()), safe, "room for {room}");
    }
}

/// The old file, what is appended to it, and how much of that had been synced at each sync.
struct Grown {
    old: Vec<u8>,
    new: Vec<u8>,
    synced: Vec<usize>,
}

/// Notes each sync.
#[derive(Debug, Default)]
struct Journal {
    bytes: Vec<u8>,
    synced: Vec<usize>,
    /// How long it was when it was asked to sync soon.
    soon: Vec<usize>,
}

impl Write for Journal {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Durable for Journal {
    fn sync(&mut self) -> io::Result<()> {
        self.synced.push(self.bytes.len());
        Ok(())
    }

    fn sync_soon(&mut self) -> io::Result<()> {
        self.soon.push(self.bytes.len());
        Ok(())
    }
}

#[test]
fn row_groups_go_to_the_disk_before_their_checkpoint() {
    for every in [None, Some(CheckpointEvery::RowGroups(2))] {
        let mut journal = Journal::default();
        let settings = FileSettings::default().with_checkpoint_every(every);
        let mut writer = FileWriter::new_durable(&mut journal, schema(Type::INT64), settings).unwrap();
        let mut ends = Vec::new();
        for group in 0..4 {
            write_group(&mut writer, group * 100, 10).unwrap();
            ends.push(writer.position() as usize);
            if writer.is_checkpoint_due(0) {
                writer.write_checkpoint().unwrap();
            }
        }
        writer.finish().unwrap();
        let is_on = every.is_some();
        assert_eq!(journal.soon, if is_on { ends } else { Vec::new() });
        assert_eq!(journal.synced.len(), if is_on { 2 } else { 0 });
    }
}

fn pair(key: &str, value: &str) -> KeyValue {
    KeyValue::new(key, value.to_owned())
}

fn grown() -> Grown {
    let mut writer = FileWriter::new(Vec::new(), schema(Type::INT64), FileSettings::default()).unwrap();
    write_group(&mut writer, 0, 20).unwrap();
    write_group(&mut writer, 20, 5).unwrap();
    let (old, metadata) = writer.finish().unwrap();
    let mut journal = Journal::default();
    let mut writer = FileWriter::append_to(&mut journal, old.len() as u64, &metadata).unwrap();
    write_group(&mut writer, 25, 30).unwrap();
    writer.drop_row_group(1).unwrap();
    writer.set_key_value(pair("k", "v"));
    writer.finish().unwrap();
    let new = [&old[..], &journal.bytes].concat();
    Grown { synced: journal.synced.iter().map(|len| old.len() + len).collect(), old, new }
}

#[test]
fn a_changed_file_has_old_and_new_parts() {
    let Grown { old, new, synced } = grown();
    let (before, after) = (footer(&old), footer(&new));
    assert_eq!(new[..old.len()], old);
    assert_eq!((after.num_rows(), after.num_row_groups(), after.declared_rows()), (50, 2, 50));
    assert_eq!(before.to_thrift().unwrap().row_groups[0], after.to_thrift().unwrap().row_groups[0]);
    assert_eq!(after.to_thrift().unwrap().row_groups[1].ordinal, Some(1));
    assert_eq!(after.value_of("k").as_deref(), Some("v"));
    let chunk = after.row_group(1).column(0).unwrap();
    assert_eq!(chunk.byte_range().unwrap().start as usize, old.len() + 16);
    assert!(chunk.column_index_range().unwrap().start as usize > old.len());
    // The marker, all but the last eight bytes, all.
    assert_eq!(synced, [old.len() + 16, new.len() - 8, new.len()]);
}

#[test]
fn a_change_cut_anywhere_leaves_the_old_file_or_the_new_one() {
    let Grown { old, new, .. } = grown();
    for cut in old.len()..=new.len() {
        let found = found(&new[..cut]).unwrap();
        let (wanted, evidence) = match cut {
            _ if cut == old.len() => (&old, Evidence::End),
            _ if cut == new.len() => (&new, Evidence::End),
            _ => (&old, Evidence::Append),
        };
        assert_eq!((found.end as usize, found.evidence), (wanted.len(), evidence), "cut at {cut}");
        assert_eq!(found.metadata, footer(wanted), "cut at {cut}");
    }
}

/// A machine that stops keeps what was synced; of the rest any bytes may be zero, though the file has its length.
#[test]
fn a_torn_change_leaves_the_old_file_or_the_new_one() {
    let Grown { old, new, synced } = grown();
    let (is_old, is_new) = (footer(&old), footer(&new));
    let mut starts = vec![old.len()];
    starts.extend(&synced);
    let mut checked = 0;
    for pair in starts.windows(2) {
        let (safe, end) = (pair[0], pair[1]);
        for hole in (safe..end).step_by(if end - safe > 64 { 7 } else { 1 }) {
            for len in [1, 8, 16, 100, usize::MAX] {
                let mut bytes = new[..end].to_vec();
                bytes[hole..hole.saturating_add(len).min(end)].fill(0);
                let found =
                    found(&bytes).unwrap_or_else(|| panic!("{len} zeros from {hole} on, up to {end}"));
                assert!(found.metadata == is_old || found.metadata == is_new, "{len} zeros from {hole} on");
                checked += 1;
            }
        }
    }
    assert!(checked > 200, "{checked}");
}

/// An empty directory of this test's own.
fn directory(test: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("checkpoint-{test}"));
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    path
}

#[test]
fn an_edit_changes_the_file_when_it_is_finished() {
    let path = directory("edit").join("f.parquet");
    let old = grown().old;
    fs::write(&path, &old).unwrap();
    let open = || FileEdit::open(&path, &limits());
    // Given up, it leaves what was there.
    let mut edit = open().unwrap();
    edit.write_row_group(30, vec![numbers(0, 30)], None).unwrap();
    drop(edit);
    assert_eq!(fs::read(&path).unwrap(), old);
    // Two at a time there are not, and a mistake spoils nothing.
    let mut edit = open().unwrap();
    assert_eq!(open().unwrap_err().kind(), ErrorKind::Io);
    assert_eq!(edit.drop_row_group(2).unwrap_err().kind(), ErrorKind::Argument);
    edit.drop_row_group(0).unwrap();
    edit.set_key_value(pair("a", "1")).unwrap();
    edit.set_key_value(pair("b", "2")).unwrap();
    edit.set_key_value(pair("a", "3")).unwrap();
    assert!(edit.remove_key_value("b").unwrap());
    assert!(!edit.remove_key_value("b").unwrap());
    let edited = edit.finish().unwrap();
    let new = fs::read(&path).unwrap();
    assert_eq!(new[..old.len()], old);
    assert_eq!(footer(&new), edited.metadata);
    assert_eq!((edited.metadata.num_rows(), edited.metadata.num_row_groups()), (5, 1));
    assert_eq!(edited.metadata.key_value_metadata(), [pair("a", "3")]);
    let of_group = edited.metadata.row_group(0).column(0).unwrap().compressed_size() as u64;
    assert!(edited.unreferenced > 200 && edited.unreferenced + of_group < edited.len);
    // Again, and again something is at the end of the file.
    let mut edit = open().unwrap();
    edit.write_row_group(2, vec![numbers(7, 2)], None).unwrap();
    assert_eq!(edit.finish().unwrap().metadata.num_rows(), 7);
}

#[test]
fn a_file_with_an_unfinished_change_is_refused() {
    let path = directory("unfinished").join("f.parquet");
    let Grown { old, new, .. } = grown();
    fs::write(&path, &new[..new.len() - 3]).unwrap();
    let error = FileEdit::open(&path, &limits()).unwrap_err();
    assert!(error.to_string().contains("an earlier change of the file was not finished"), "{error}");
    assert_eq!(error.place().offset, Some(old.len() as u64));
    File::options().write(true).open(&path).unwrap().set_len(old.len() as u64).unwrap();
    assert!(FileEdit::open(&path, &limits()).is_ok());
}

/// What was written would be in a file that has no name any more.
#[cfg(unix)]
#[test]
fn an_edit_notices_that_its_file_was_replaced() {
    let directory = directory("replaced");
    let (path, new) = (directory.join("f.parquet"), directory.join("new"));
    let old = grown().old;
    for is_removed in [false, true] {
        fs::write(&path, &old).unwrap();
        let mut edit = FileEdit::open(&path, &limits()).unwrap();
        edit.write_row_group(30, vec![numbers(0, 30)], None).unwrap();
        match is_removed {
            true => fs::remove_file(&path).unwrap(),
            false => {
                fs::write(&new, "another file").unwrap();
                fs::rename(&new, &path).unwrap();
            }
        }
        let error = edit.finish().unwrap_err();
        assert!(error.to_string().contains("was replaced by another file"), "{error}");
        match is_removed {
            true => assert!(!path.exists()),
            false => assert_eq!(fs::read(&path).unwrap(), b"another file"),
        }
    }
}

/// The edits of one file by several threads, while another one replaces it: each edit that succeeds is in the file that had
/// the name when it began, and no file is half of one and half of another.
#[cfg(unix)]
#[test]
fn edits_and_replacements_at_once_leave_whole_files() {
    let path = directory("replaced-often").join("f.parquet");
    let old = grown().old;
    fs::write(&path, &old).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..300 {
                let mut file = marquetry_core::io::AtomicFile::create(&path).unwrap();
                file.write_all(&old).unwrap();
                file.finish().unwrap();
            }
        });
        for _ in 0..300 {
            let Ok(mut edit) = FileEdit::open(&path, &limits()) else { continue };
            edit.set_key_value(pair("k", "v")).unwrap();
            match edit.finish() {
                Ok(edited) => assert_eq!(edited.metadata.num_rows(), 25),
                Err(error) => assert!(error.to_string().contains("was replaced"), "{error}"),
            }
        }
    });
    assert_eq!(footer(&fs::read(&path).unwrap()).num_rows(), 25);
}

/// An error that comes once the new footer is on the disk must not cut the file: others may read it already.
#[test]
fn a_footer_that_is_on_the_disk_stays() {
    let Grown { old, .. } = grown();
    let metadata = footer(&old);
    let mut sink = Faulty { room: usize::MAX, flushes_fail: true, ..Faulty::default() };
    let mut writer = FileWriter::append_to(&mut sink, old.len() as u64, &metadata).unwrap();
    write_group(&mut writer, 25, 30).unwrap();
    writer.finish().unwrap();
    assert_eq!(footer(&[&old[..], &sink.bytes].concat()).num_rows(), 55);
    assert_eq!(sink.synced, sink.bytes.len());
}

/// What readers would refuse is refused before the first byte, and the writer goes on.
#[test]
fn chunks_that_make_no_row_group_are_refused_before_the_first_byte() {
    let path = directory("misfits").join("f.parquet");
    let old = grown().old;
    fs::write(&path, &old).unwrap();
    let mut edit = FileEdit::open(&path, &limits()).unwrap();
    let mut writer = FileWriter::new(Vec::new(), schema(Type::INT64), FileSettings::default()).unwrap();
    let mut elsewhere = numbers(0, 3);
    elsewhere.metadata.path_in_schema = vec!["d".into()];
    let mut late_page = numbers(0, 3);
    late_page.offset_index.as_mut().unwrap().page_locations[0].first_row_index = 4;
    let misfits = [
        (3, vec![], "0 column chunks for a schema of 1 columns"),
        (3, vec![numbers(0, 3), numbers(0, 3)], "2 column chunks for a schema of 1 columns"),
        (3, vec![elsewhere], "the chunk is one of column d"),
        (
            3,
            vec![chunk_of(Type::DOUBLE, Values::W64(vec![0; 3]))],
            "the chunk is DOUBLE, the schema says INT64",
        ),
        (4, vec![numbers(0, 3)], "the chunk has 3 entries, the row group 4 rows"),
        (2, vec![numbers(0, 3)], "the chunk has 3 entries, the row group 2 rows"),
        (3, vec![late_page], "begins with row 4"),
        (u64::MAX, vec![numbers(0, 3)], "counts up to 2^63 - 1"),
    ];
    for (rows, chunks, message) in misfits {
        let before = writer.position();
        let copies = |chunks: &[EncodedChunk]| chunks.iter().map(copy_of).collect::<Vec<_>>();
        let error = writer.write_row_group(rows, copies(&chunks), None).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Argument, "{error}");
        assert!(error.to_string().contains(message), "{error}");
        assert_eq!(writer.position(), before);
        let error = edit.write_row_group(rows, chunks, None).unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
    }
    write_group(&mut writer, 0, 3).unwrap();
    assert_eq!(footer(&writer.finish().unwrap().0).num_rows(), 3);
    edit.write_row_group(3, vec![numbers(0, 3)], None).unwrap();
    assert_eq!(edit.finish().unwrap().metadata.num_rows(), 28);
}

/// A chunk that says the same of no bytes.
fn copy_of(chunk: &EncodedChunk) -> EncodedChunk {
    EncodedChunk::new(ChunkBytes::new(), chunk.metadata.clone())
        .with_column_index(chunk.column_index.clone())
        .with_offset_index(chunk.offset_index.clone())
}

#[test]
fn nothing_is_added_where_readers_would_take_it_for_something_else() {
    let settings = FileSettings::default().with_created_by(Some("parquet-cpp version 1.5.1".into()));
    let mut writer = FileWriter::new(Vec::new(), schema(Type::INT64), settings).unwrap();
    write_group(&mut writer, 0, 3).unwrap();
    let (file, metadata) = writer.finish().unwrap();
    let mut writer = FileWriter::append_to(Vec::new(), file.len() as u64, &metadata).unwrap();
    assert_eq!(write_group(&mut writer, 3, 3).unwrap_err().kind(), ErrorKind::Unsupported);
}

#[test]
fn checkpoints_come_as_they_are_asked_for() {
    let due_after = |every: CheckpointEvery| {
        let settings = FileSettings::default().with_checkpoint_every(Some(every));
        let mut writer = FileWriter::new_durable(Vec::new(), schema(Type::INT64), settings).unwrap();
        let mut groups = Vec::new();
        for group in 0..9 {
            write_group(&mut writer, 0, 100).unwrap();
            if writer.is_checkpoint_due(0) {
                writer.write_checkpoint().unwrap();
                groups.push(group);
            }
        }
        groups
    };
    assert_eq!(due_after(CheckpointEvery::RowGroups(3)), [2, 5, 8]);
    assert_eq!(due_after(CheckpointEvery::RowGroups(0)).len(), 9);
    assert_eq!(due_after(CheckpointEvery::Bytes(1_500)), [1, 3, 5, 7]);
    assert_eq!(due_after(CheckpointEvery::Auto), [] as [u64; 0]);
    assert_eq!(due_after(CheckpointEvery::Time(std::time::Duration::from_secs(3_600))), [] as [u64; 0]);
    assert_eq!(due_after(CheckpointEvery::Time(std::time::Duration::ZERO)).len(), 9);
}
