//! Files that are changed in place: cut or torn anywhere, the old file is there or the new one.

use crate::checkpoint::{Faulty, Journal, chunk_of, footer, found, limits, numbers, schema, write_group};
use marquetry_base::ErrorKind;
use marquetry_core::checkpoint::Evidence;
use marquetry_core::io::FileEdit;
use marquetry_core::write::{ChunkBytes, EncodedChunk, FileSettings, FileWriter};
use marquetry_encoding::Values;
use marquetry_format::{KeyValue, Type};
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

/// The old file, what is appended to it, and how much of that had been synced at each sync.
struct Grown {
    old: Vec<u8>,
    new: Vec<u8>,
    synced: Vec<usize>,
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
