//! Files that break one rule of VARIANT columns or of references to files, and whole ones.

use crate::chunk::Column;
use crate::chunk::file::{group, leaf, root};
use crate::file_rules::{Case, optional_strings};
use crate::make::Make;
use bytes::Bytes;
use marquetry_encoding::PhysicalType;
use marquetry_format::{LogicalType, Repetition, SchemaElement};

/// A VARIANT of these two columns, of ten rows: `metadata` of byte strings, and one of integers that are not negative.
fn variant(second: &str, edit: impl FnOnce(&mut SchemaElement)) -> Bytes {
    let mut make = Make::strings(&[&[1, 0, 0][..]; 10]);
    let mut typed = leaf(second, Repetition::OPTIONAL, PhysicalType::Int32);
    edit(&mut typed);
    let annotation = LogicalType::Variant { specification_version: Some(1) };
    let outer = SchemaElement { logical_type: Some(annotation), ..group("v", Repetition::REQUIRED, 2) };
    make.schema =
        vec![root(1), outer, leaf("metadata", Repetition::REQUIRED, PhysicalType::ByteArray), typed];
    make.columns[0].1 = vec!["v".into(), "metadata".into()];
    let words: Vec<_> = (0..10).map(Some).collect();
    make.columns.push((Column::flat(PhysicalType::Int32, &words, true), vec!["v".into(), second.into()]));
    make.good().finish()
}

pub(crate) fn variants() -> Vec<Case> {
    let unsigned = LogicalType::Integer { bit_width: 32, is_signed: false };
    vec![
        ("variant-group", variant("typed", |_| ())),
        ("variant-typed-value", variant("typed_value", |typed| typed.logical_type = Some(unsigned))),
        ("variant-metadata", shredded(&[2, 0, 0], &[None], &[Some(7)])),
        // A string of two bytes, only one of which is there.
        ("variant-value", shredded(&[1, 0, 0], &[Some(&[2 << 2 | 1, b'a'])], &[None])),
        ("variant-residual", shredded(&[1, 0, 0], &[Some(&[0])], &[Some(7)])),
        ("variant-residual", shredded_object(&[OBJECT_OF_A])),
        ("variant-missing", shredded(&[1, 0, 0], &[Some(&[0]), None], &[None, None])),
    ]
}

/// FILE values with these fields: a `uri`, an offset and a size, a checksum, and bytes.
fn files(values: &[FileRow], edit: impl FnOnce(&mut Vec<SchemaElement>)) -> Bytes {
    let texts = |of: fn(&FileRow) -> Option<&'static [u8]>| {
        optional_strings(&values.iter().map(of).collect::<Vec<_>>(), 1)
    };
    let numbers = |of: fn(&FileRow) -> Option<u64>| {
        Column::flat(PhysicalType::Int64, &values.iter().map(of).collect::<Vec<_>>(), true)
    };
    let mut make = Make::ints();
    let outer =
        SchemaElement { logical_type: Some(LogicalType::File), ..group("f", Repetition::REQUIRED, 5) };
    let text = |name: &str| SchemaElement {
        logical_type: Some(LogicalType::String),
        ..leaf(name, Repetition::OPTIONAL, PhysicalType::ByteArray)
    };
    make.schema = vec![
        root(1),
        outer,
        text("uri"),
        leaf("offset", Repetition::OPTIONAL, PhysicalType::Int64),
        leaf("size", Repetition::OPTIONAL, PhysicalType::Int64),
        text("checksum"),
        leaf("inline", Repetition::OPTIONAL, PhysicalType::ByteArray),
    ];
    edit(&mut make.schema);
    let columns = [
        texts(|row| row.uri),
        numbers(|row| row.offset),
        numbers(|row| row.size),
        texts(|row| row.checksum),
        texts(|row| row.inline),
    ];
    let path = |field: &SchemaElement| vec!["f".to_owned(), field.name.to_string()];
    make.columns = columns.into_iter().zip(make.schema[2..].iter().map(path)).collect();
    make.rows = values.len();
    make.good().finish()
}

#[derive(Clone, Copy, Default)]
struct FileRow {
    uri: Option<&'static [u8]>,
    offset: Option<u64>,
    size: Option<u64>,
    checksum: Option<&'static [u8]>,
    inline: Option<&'static [u8]>,
}

pub(crate) fn file_references() -> Vec<Case> {
    let row = FileRow::default();
    let of = |row: FileRow| files(&[row], |_| ());
    let uri = Some(&b"a.png"[..]);
    vec![
        ("file-group", files(&[FileRow { uri, ..row }], |schema| schema[6].name = "data".into())),
        ("file-group", files(&[FileRow { uri, ..row }], |schema| schema[3].name = "size_of".into())),
        ("file-value", of(row)),
        ("file-value", of(FileRow { size: Some(4), ..row })),
        ("file-value", of(FileRow { uri, offset: Some(4), ..row })),
        ("file-value", of(FileRow { offset: Some(0), size: Some(1 << 40), ..row })),
        ("file-value", of(FileRow { offset: Some(u64::MAX), size: Some(2), ..row })),
        ("file-value", of(FileRow { uri, checksum: Some(b"MD5:00"), ..row })),
        // A checksum of the first bytes, which are PAR1.
        (
            "file-checksum",
            of(FileRow { offset: Some(0), size: Some(4), checksum: Some(b"CRC32:00000000"), ..row }),
        ),
        ("file-checksum", of(FileRow { inline: Some(b"a"), checksum: Some(b"CRC32C:00000000"), ..row })),
    ]
}

pub(crate) fn good_file_references() -> Bytes {
    let row = FileRow::default();
    let rows = [
        FileRow { uri: Some(b"a.png"), checksum: Some(b"ETAG:x"), ..row },
        FileRow { uri: Some(b"a.png"), size: Some(1 << 40), ..row },
        FileRow { offset: Some(0), size: Some(4), checksum: Some(b"CRC32C:4d9e7a63"), ..row },
        FileRow { inline: Some(b"123456789"), checksum: Some(b"CRC32C:e3069283"), ..row },
    ];
    files(&rows, |_| ())
}

/// Metadata of the names `a` and `b`, and objects of one of them, which is null.
const NAMES: &[u8] = &[1, 2, 0, 1, 2, b'a', b'b'];
const OBJECT_OF_A: &[u8] = &[2, 1, 0, 0, 1, 0];
const OBJECT_OF_B: &[u8] = &[2, 1, 1, 0, 1, 0];

/// A VARIANT of these values; those of the last column are integers.
fn shredded(metadata: &[u8], values: &[Option<&[u8]>], typed: &[Option<u64>]) -> Bytes {
    let mut make = Make::strings(&vec![metadata; values.len()]);
    let annotation = LogicalType::Variant { specification_version: Some(1) };
    let outer = SchemaElement { logical_type: Some(annotation), ..group("v", Repetition::REQUIRED, 3) };
    make.schema = vec![
        root(1),
        outer,
        leaf("metadata", Repetition::REQUIRED, PhysicalType::ByteArray),
        leaf("value", Repetition::OPTIONAL, PhysicalType::ByteArray),
        leaf("typed_value", Repetition::OPTIONAL, PhysicalType::Int32),
    ];
    let path = |name: &str| vec!["v".to_owned(), name.to_owned()];
    make.columns[0].1 = path("metadata");
    make.columns.push((optional_strings(values, 1), path("value")));
    make.columns.push((Column::flat(PhysicalType::Int32, typed, true), path("typed_value")));
    make.good().finish()
}

/// A VARIANT of objects whose field `a` is shredded and null; the rest is given.
fn shredded_object(rest: &[&[u8]]) -> Bytes {
    let mut make = Make::strings(&vec![NAMES; rest.len()]);
    let annotation = LogicalType::Variant { specification_version: Some(1) };
    let outer = SchemaElement { logical_type: Some(annotation), ..group("v", Repetition::REQUIRED, 3) };
    make.schema = vec![
        root(1),
        outer,
        leaf("metadata", Repetition::REQUIRED, PhysicalType::ByteArray),
        leaf("value", Repetition::OPTIONAL, PhysicalType::ByteArray),
        group("typed_value", Repetition::OPTIONAL, 1),
        group("a", Repetition::REQUIRED, 1),
        leaf("value", Repetition::OPTIONAL, PhysicalType::ByteArray),
    ];
    let path = |names: &[&str]| [&["v"], names].concat().into_iter().map(str::to_owned).collect();
    let all = |bytes| rest.iter().map(|_| Some(bytes)).collect::<Vec<Option<&[u8]>>>();
    make.columns[0].1 = path(&["metadata"]);
    let rest: Vec<_> = rest.iter().copied().map(Some).collect();
    make.columns.push((optional_strings(&rest, 1), path(&["value"])));
    make.columns.push((optional_strings(&all(&[0]), 2), path(&["typed_value", "a", "value"])));
    make.good().finish()
}

/// VARIANTs that are valid.
pub(crate) fn good_variants() -> Vec<(&'static str, Bytes)> {
    vec![
        ("a variant", variant("typed_value", |_| ())),
        ("an object of which one field is shredded", shredded_object(&[OBJECT_OF_B; 3])),
        ("all types", shredded(&[1, 0, 0], &[Some(&[0]), None], &[None, Some(7)])),
    ]
}
