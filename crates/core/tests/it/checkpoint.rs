//! Checkpoints: of a file that is cut anywhere, the last one is found, and nothing else is taken for one.

use bytes::Bytes;
use marquetry_base::{ErrorKind, Limits, Result};
use marquetry_core::checkpoint::{
    APPEND_MAGIC, CHECKPOINT_FRAME_LEN, CHECKPOINT_MAGIC, CheckpointFound, Evidence, find_last_checkpoint,
    find_last_footer, frame, marker,
};
use marquetry_core::io::{read_metadata, unreferenced_bytes};
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::nesting::{ColumnValues, DefinitionLevels, ShreddedColumn};
use marquetry_core::schema::Schema;
use marquetry_core::write::{
    CheckpointEvery, ColumnWriter, Compression, Durable, EncodedChunk, Encoding, FileSettings, FileWriter,
    Workspace, WriterProperties,
};
use marquetry_encoding::{StringViews, Values};
use marquetry_format::{Repetition, SchemaElement, Type};
use std::io::{self, Write};

pub(crate) fn schema(physical: Type) -> Vec<SchemaElement> {
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
pub(crate) fn chunk_of(physical: Type, values: Values) -> EncodedChunk {
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
pub(crate) fn numbers(first: u64, rows: u64) -> EncodedChunk {
    chunk_of(Type::INT64, Values::W64((first..first + rows).collect()))
}

pub(crate) fn write_group<W: Write>(writer: &mut FileWriter<W>, first: u64, rows: u64) -> Result<()> {
    writer.write_row_group(rows, vec![numbers(first, rows)], None)
}

pub(crate) fn limits() -> Limits {
    Limits::default()
}

pub(crate) fn found(bytes: &[u8]) -> Option<CheckpointFound> {
    find_last_checkpoint(&Bytes::copy_from_slice(bytes), &limits()).unwrap()
}

pub(crate) fn footer(bytes: &[u8]) -> ParquetMetaData {
    read_metadata(&Bytes::copy_from_slice(bytes), &limits()).unwrap().metadata
}

/// A file of four row groups with a checkpoint behind each of the first three, and for each where it ends.
pub(crate) fn checkpointed() -> (Vec<u8>, Vec<(usize, u64)>) {
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
pub(crate) struct Faulty {
    pub(crate) bytes: Vec<u8>,
    pub(crate) room: usize,
    pub(crate) synced: usize,
    pub(crate) flushes_fail: bool,
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

/// Notes each sync.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    pub(crate) bytes: Vec<u8>,
    pub(crate) synced: Vec<usize>,
    /// How long it was when it was asked to sync soon.
    pub(crate) soon: Vec<usize>,
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
