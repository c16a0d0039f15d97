//! Checks the places, sizes and counts of row groups and column chunks in the footer.

use crate::context::VerifyContext;
use crate::display::display_name;
use crate::encryption;
use crate::file_parts::FileParts;
use crate::findings::Findings;
use crate::rule::{Level, Rule, Severity, rule};
use marquetry_base::{ErrorKind, ErrorLocation};
use marquetry_core::metadata::{ColumnChunk, RowGroup};
use marquetry_format::{CompressionCodec, PAR1};
use std::ops::Range;

const COUNT: Rule = rule(
    "chunk-count",
    Severity::Invalid,
    Level::Quick,
    "A row group has one chunk for each column",
    "parquet.thrift, RowGroup.columns",
);
const METADATA: Rule = rule(
    "chunk-metadata",
    Severity::Corrupt,
    Level::Quick,
    "A chunk has metadata, and the type of its column",
    "parquet.thrift, ColumnChunk.meta_data, ColumnMetaData.type",
);
const PATH: Rule = rule(
    "chunk-path",
    Severity::Suspicious,
    Level::Quick,
    "The path of a chunk is that of its column",
    "parquet.thrift, ColumnMetaData.path_in_schema, RowGroup.columns",
);
const PLACE: Rule = rule(
    "chunk-place",
    Severity::Corrupt,
    Level::Quick,
    "The pages of a chunk are between the opening magic and the footer",
    "README.md, File format; parquet.thrift, ColumnMetaData.data_page_offset",
);
const OVERLAP: Rule = rule(
    "chunk-overlap",
    Severity::Invalid,
    Level::Quick,
    "Chunks, indexes and bloom filters do not overlap",
    "README.md, File format",
);
const COUNTS: Rule = rule(
    "chunk-counts",
    Severity::Corrupt,
    Level::Quick,
    "Counts and sizes of a chunk are not negative",
    "parquet.thrift, ColumnMetaData",
);
const VALUES: Rule = rule(
    "chunk-values",
    Severity::Invalid,
    Level::Quick,
    "A column in no list has as many entries as its row group has rows; one in a list has no fewer",
    "parquet.thrift, ColumnMetaData.num_values: nulls included",
);
const DICTIONARY_OFFSET: Rule = rule(
    "chunk-dictionary-offset",
    Severity::Suspicious,
    Level::Quick,
    "The dictionary page of a chunk, where the footer gives its place, is before the data pages",
    "parquet.thrift, ColumnMetaData.dictionary_page_offset",
);
const CODEC: Rule = rule(
    "chunk-codec-deprecated",
    Severity::Style,
    Level::Quick,
    "No chunk is compressed with the deprecated LZ4, whose framing was never defined",
    "Compression.md, LZ4",
);
const GROUP_SIZE: Rule = rule(
    "row-group-size",
    Severity::Suspicious,
    Level::Quick,
    "The sizes of a row group are the sums of those of its chunks",
    "parquet.thrift, RowGroup.total_byte_size, total_compressed_size",
);
const GROUP_OFFSET: Rule = rule(
    "row-group-offset",
    Severity::Suspicious,
    Level::Quick,
    "The place of a row group, where the footer gives it, is that of its first page",
    "parquet.thrift, RowGroup.file_offset",
);
const GROUP_ORDINAL: Rule = rule(
    "row-group-ordinal",
    Severity::Suspicious,
    Level::Quick,
    "The ordinal of a row group, where the footer gives it, is its number in the file",
    "parquet.thrift, RowGroup.ordinal",
);
const INDEX_PLACE: Rule = rule(
    "index-place",
    Severity::Invalid,
    Level::Quick,
    "Offset and length of an index come together and are inside the file",
    "parquet.thrift, ColumnChunk.column_index_offset, offset_index_offset",
);
const BLOOM_PLACE: Rule = rule(
    "bloom-place",
    Severity::Invalid,
    Level::Quick,
    "A bloom filter is inside the file",
    "parquet.thrift, ColumnMetaData.bloom_filter_offset",
);

pub(crate) const RULES: &[Rule] = &[
    COUNT,
    METADATA,
    PATH,
    PLACE,
    OVERLAP,
    COUNTS,
    VALUES,
    DICTIONARY_OFFSET,
    CODEC,
    GROUP_SIZE,
    GROUP_OFFSET,
    GROUP_ORDINAL,
    INDEX_PLACE,
    BLOOM_PLACE,
];

/// A part of the file that the footer refers to.
struct Named {
    range: Range<u64>,
    what: &'static str,
    row_group: usize,
    column: usize,
}

/// Checks all row groups and chunks. Returns the places of all parts that the footer refers to.
pub(crate) fn check_row_groups(file: &VerifyContext, findings: &mut Findings) -> FileParts {
    let metadata = file.metadata.clone();
    for row_group in metadata.row_groups() {
        let place = ErrorLocation::default().with_row_group(row_group.index());
        let columns = metadata.schema().num_columns();
        if row_group.num_columns() != columns {
            findings.add(&COUNT, place.clone(), || {
                format!("{} chunks, {columns} columns", row_group.num_columns())
            });
        }
        let mut sizes = Some((0i64, 0i64));
        for column in 0..columns {
            let place = file.place(row_group.index(), column);
            match row_group.column(column) {
                Ok(chunk) => {
                    check_chunk(file, row_group, column, chunk, &place, findings);
                    let add = |sum: i64, size: i64| sum.checked_add(size.max(0));
                    sizes = sizes.and_then(|(stored, plain)| {
                        Some((add(stored, chunk.compressed_size())?, add(plain, chunk.uncompressed_size())?))
                    });
                }
                Err(error) => {
                    sizes = None;
                    // A missing chunk was reported for the row group.
                    if error.kind() == ErrorKind::Key {
                        encryption::add_refused(file, row_group, column, &METADATA, error, findings);
                    } else if row_group.num_columns() >= columns {
                        findings.add_error(&METADATA, place, error);
                    }
                }
            }
        }
        if let Some(sizes) = sizes.filter(|_| row_group.num_columns() == columns) {
            check_sizes(row_group, sizes, &place, findings);
        }
        check_offset(row_group, &place, findings);
        check_ordinal(row_group, &place, findings);
    }
    check_overlaps(file, findings)
}

fn check_sizes(
    row_group: RowGroup<'_>,
    (stored, plain): (i64, i64),
    place: &ErrorLocation,
    findings: &mut Findings,
) {
    let thrift = row_group.head();
    if thrift.total_byte_size != plain {
        findings.add(&GROUP_SIZE, place.clone(), || {
            format!("total_byte_size is {}, its chunks have {plain}", thrift.total_byte_size)
        });
    }
    if let Some(total) = thrift.total_compressed_size.filter(|total| *total != stored) {
        findings.add(&GROUP_SIZE, place.clone(), || {
            format!("total_compressed_size is {total}, its chunks have {stored}")
        });
    }
}

/// Checks the place of a row group. Some readers take the row groups whose place is in their part of the file.
fn check_offset(row_group: RowGroup<'_>, place: &ErrorLocation, findings: &mut Findings) {
    // QUIRK: some writers set it to 0 instead of leaving it out.
    let Some(said) = row_group.head().file_offset.filter(|said| *said != 0) else { return };
    // An encrypted chunk does not reveal its place to everybody. A place of 0 means a chunk without pages.
    let first: Option<Vec<i64>> = row_group.columns().map(|chunk| chunk.ok().map(first_offset)).collect();
    let Some(first) = first.filter(|first| !first.is_empty() && !first.contains(&0)) else { return };
    // The first chunk of the file need not be that of the first column.
    if said != first[0] && Some(&said) != first.iter().min() {
        findings.add(&GROUP_OFFSET, place.clone(), || {
            format!("file_offset is {said}, its first page is at byte {}", first[0])
        });
    }
}

fn check_ordinal(row_group: RowGroup<'_>, place: &ErrorLocation, findings: &mut Findings) {
    // The ordinal of a row group in another file is its number there.
    let is_elsewhere = |chunk: ColumnChunk<'_>| chunk.file_path().is_some_and(|path| !path.is_empty());
    let is_here = !row_group.columns().flatten().any(is_elsewhere);
    // Row groups have larger numbers than ordinals can.
    let number = i16::try_from(row_group.index()).ok();
    if let (Some(said), Some(number), true) = (row_group.head().ordinal, number, is_here)
        && said != number
    {
        findings
            .add(&GROUP_ORDINAL, place.clone(), || format!("the ordinal of row group {number} is {said}"));
    }
}

fn check_chunk(
    file: &VerifyContext,
    row_group: RowGroup<'_>,
    column: usize,
    chunk: ColumnChunk<'_>,
    place: &ErrorLocation,
    findings: &mut Findings,
) {
    let leaf = chunk.leaf();
    if let Some(path) = row_group
        .path_at(column)
        .filter(|path| !path.iter().map(String::as_str).eq(leaf.path().iter().map(AsRef::as_ref)))
    {
        findings.add(&PATH, place.clone(), || match path.is_empty() {
            true => "the path is missing".to_owned(),
            false => format!("the path is {}", display_name(&path.join("."))),
        });
    }
    let counts = [
        ("num_values", chunk.num_values()),
        ("total_compressed_size", chunk.compressed_size()),
        ("total_uncompressed_size", chunk.uncompressed_size()),
    ];
    for (name, count) in counts.into_iter().filter(|(_, count)| *count < 0) {
        findings.add(&COUNTS, place.clone(), || format!("{name} is {count}"));
    }
    check_values(row_group, chunk, place, findings);
    if chunk.compression() == CompressionCodec::LZ4 {
        findings.add(&CODEC, place.clone(), || "the codec is LZ4; LZ4_RAW took its place".to_owned());
    }
    let Some(range) = byte_range(file, chunk) else {
        if chunk.num_values() > 0 && chunk.compressed_size() >= 0 && !is_elsewhere(file, chunk) {
            findings.add(&PLACE, place.clone(), || {
                let (offset, size) = (first_offset(chunk), chunk.compressed_size());
                format!("{size} bytes from byte {offset} on, the footer begins at byte {}", file.data_end)
            });
        }
        return;
    };
    if let Some(dictionary) = chunk.dictionary_page_offset()
        && range.start != u64::try_from(dictionary).unwrap_or(0)
    {
        findings.add(&DICTIONARY_OFFSET, place.clone(), || {
            format!("byte {dictionary}, data pages from byte {} on", chunk.data_page_offset())
        });
    }
}

fn check_values(
    row_group: RowGroup<'_>,
    chunk: ColumnChunk<'_>,
    place: &ErrorLocation,
    findings: &mut Findings,
) {
    let (rows, is_flat) = (row_group.num_rows(), chunk.leaf().max_rep() == 0);
    let Ok(values) = u64::try_from(chunk.num_values()) else {
        return;
    };
    if values < rows || is_flat && values > rows {
        findings.add(&VALUES, place.clone(), || format!("{values} entries, the row group has {rows} rows"));
    }
}

/// Whether the pages are in another file.
fn is_elsewhere(file: &VerifyContext, chunk: ColumnChunk<'_>) -> bool {
    chunk.file_path().is_some_and(|path| !path.is_empty())
        && u64::try_from(first_offset(chunk)).is_ok_and(|first| first >= file.data_end)
}

fn first_offset(chunk: ColumnChunk<'_>) -> i64 {
    match chunk.dictionary_page_offset() {
        Some(dictionary) if dictionary > 0 && dictionary < chunk.data_page_offset() => dictionary,
        _ => chunk.data_page_offset(),
    }
}

/// Returns the byte range of a chunk's pages, or `None` if it is not inside the file.
pub(crate) fn byte_range(file: &VerifyContext, chunk: ColumnChunk<'_>) -> Option<Range<u64>> {
    chunk.byte_range().ok().filter(|range| range.start < file.data_end && range.end <= file.data_end)
}

/// Calls `each` for all parts that the footer refers to, except those with an invalid place.
fn named_parts(file: &VerifyContext, mut each: impl FnMut(Named), findings: &mut Findings) {
    for row_group in file.metadata.row_groups() {
        for column in 0..file.metadata.schema().num_columns() {
            let Ok(chunk) = row_group.column(column) else { continue };
            let index = row_group.index();
            let mut part = |range, what| each(Named { range, what, row_group: index, column });
            if let Some(range) = byte_range(file, chunk).filter(|_| chunk.num_values() > 0) {
                part(range, PAGES);
            }
            let ((column_offset, column_len), (offset, len)) =
                (chunk.declared_column_index(), chunk.declared_offset_index());
            let indexes = [("column index", column_offset, column_len), ("offset index", offset, len)];
            let place = file.place(index, column);
            for (what, offset, len) in indexes {
                match index_range(file, offset, len) {
                    Ok(Some(range)) => part(range, what),
                    Ok(None) => {}
                    // Places in another file can only be checked against the footer of that file.
                    Err(_) if is_elsewhere(file, chunk) => {}
                    Err(message) => {
                        findings.add(&INDEX_PLACE, place.clone(), || format!("{what}: {message}"))
                    }
                }
            }
            let Some(offset) = chunk.declared_bloom_filter_offset() else { continue };
            let len = i64::from(chunk.bloom_filter_length().unwrap_or(1));
            match range(file, offset, len) {
                Some(range) => part(range, "bloom filter"),
                None if is_elsewhere(file, chunk) => {}
                None => {
                    findings.add(&BLOOM_PLACE, place.clone(), || format!("{len} bytes from byte {offset} on"))
                }
            }
        }
    }
}

/// Returns the byte range of an index. QUIRK: writers without an index leave out offset and length, or set them to 0.
fn index_range(
    file: &VerifyContext,
    offset: Option<i64>,
    len: Option<i32>,
) -> Result<Option<Range<u64>>, String> {
    match (offset.filter(|offset| *offset != 0), len.filter(|len| *len != 0)) {
        (None, None) => Ok(None),
        (Some(offset), Some(len)) => match range(file, offset, i64::from(len)) {
            Some(range) => Ok(Some(range)),
            None => {
                Err(format!("{len} bytes from byte {offset} on, the footer begins at byte {}", file.data_end))
            }
        },
        (offset, len) => Err(format!("offset {offset:?}, length {len:?}")),
    }
}

fn range(file: &VerifyContext, offset: i64, len: i64) -> Option<Range<u64>> {
    let start = u64::try_from(offset).ok().filter(|start| *start >= 4)?;
    let end = start.checked_add(u64::try_from(len).ok()?)?;
    (end <= file.data_end).then_some(start..end)
}

fn check_overlaps(file: &VerifyContext, findings: &mut Findings) -> FileParts {
    let mut parts = Vec::new();
    named_parts(file, |part| parts.push(part), findings);
    parts.sort_by_key(|part| (part.range.start, part.range.end));
    // The part that ends last so far, and the gaps between parts.
    let mut furthest: Option<&Named> = None;
    let mut gaps = Vec::new();
    let end_of = |furthest: Option<&Named>| furthest.map_or(PAR1.len() as u64, |part| part.range.end);
    for part in &parts {
        gaps.push(end_of(furthest)..part.range.start);
        if let Some(before) = furthest.filter(|before| before.range.end > part.range.start) {
            let place = file.place(part.row_group, part.column).with_offset(part.range.start);
            findings.add(&OVERLAP, place, || {
                let other = file.leaf(before.column).dotted();
                format!(
                    "the {} {} inside the {} of column {other}, row group {}",
                    part.what,
                    if part.what == PAGES { "begin" } else { "begins" },
                    before.what,
                    before.row_group
                )
            });
        }
        if furthest.is_none_or(|before| before.range.end < part.range.end) {
            furthest = Some(part);
        }
    }
    gaps.push(end_of(furthest)..file.data_end);
    gaps.retain(|gap| !gap.is_empty());
    FileParts { starts: parts.iter().map(|part| part.range.start).collect(), gaps }
}

/// The only part with a plural name.
const PAGES: &str = "pages";
