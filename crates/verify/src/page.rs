//! Checks page headers and checksums, and what the footer says of all pages of a chunk.

use crate::context::VerifyContext;
use crate::findings::Findings;
use crate::rule::{Level, Rule, Severity, rule};
use marquetry_base::ErrorLocation;
use marquetry_core::metadata::ColumnChunk;
use marquetry_core::page::{Checksum, LocatedHeader, PageKinds, canonical_encoding, value_encoding};
use marquetry_encoding::registry;
use marquetry_format::{CompressionCodec, Encoding, PageType};

pub(crate) const HEADER: Rule = rule(
    "page-header",
    Severity::Corrupt,
    Level::Default,
    "Page headers can be read, and pages are inside the file",
    "parquet.thrift, PageHeader",
);
const CHECKSUM: Rule = rule(
    "page-checksum",
    Severity::Corrupt,
    Level::Default,
    "The checksum of a page is that of its bytes",
    "README.md, Checksumming; parquet.thrift, PageHeader.crc",
);
const UNTRUSTED: Rule = rule(
    "page-checksum-untrusted",
    Severity::Suspicious,
    Level::Default,
    "Checksums are right even of writers that are known for wrong ones; 0 is not stored for none",
    "README.md, Checksumming; parquet.thrift, PageHeader.crc",
);
const SIZES: Rule = rule(
    "page-sizes",
    Severity::Corrupt,
    Level::Default,
    "The parts of a page fit into it, and a page that is not compressed has one size",
    "parquet.thrift, PageHeader, DataPageHeaderV2",
);
pub(crate) const UNREADABLE: Rule = rule(
    "page-unreadable",
    Severity::Corrupt,
    Level::Default,
    "Pages can be decompressed, to the size in their header, and have all their levels",
    "README.md, Data Pages; Compression.md; Encodings.md, RLE",
);
const ENCODING: Rule = rule(
    "page-encoding",
    Severity::Invalid,
    Level::Default,
    "The encoding of a page is legal for the type of the column, that of a dictionary is PLAIN, those of levels are for levels",
    "Encodings.md; parquet.thrift, DictionaryPageHeader.encoding",
);
const LISTED: Rule = rule(
    "page-encoding-listed",
    Severity::Invalid,
    Level::Default,
    "The footer lists the encodings of a chunk's data pages",
    "parquet.thrift, ColumnMetaData.encodings",
);
const STATS: Rule = rule(
    "page-encoding-stats",
    Severity::Invalid,
    Level::Default,
    "The footer's counts of pages by kind and encoding are right",
    "parquet.thrift, ColumnMetaData.encoding_stats",
);
const BIT_PACKED: Rule = rule(
    "page-levels-deprecated",
    Severity::Style,
    Level::Default,
    "Levels are not in the deprecated encoding BIT_PACKED",
    "Encodings.md, Bit-packed (Deprecated)",
);
const DICTIONARY: Rule = rule(
    "page-dictionary",
    Severity::Invalid,
    Level::Default,
    "A chunk has at most one dictionary page, and it is the first page",
    "README.md, Data Pages; parquet.thrift, DictionaryPageHeader",
);
const NO_DICTIONARY: Rule = rule(
    "page-dictionary-missing",
    Severity::Corrupt,
    Level::Default,
    "There is a dictionary page if a data page needs one",
    "Encodings.md, Dictionary Encoding",
);
const NULLS: Rule = rule(
    "page-nulls",
    Severity::Invalid,
    Level::Default,
    "A V2 page has as many nulls and rows as its header says",
    "parquet.thrift, DataPageHeaderV2.num_nulls, num_rows",
);
const VALUES: Rule = rule(
    "page-values",
    Severity::Invalid,
    Level::Default,
    "The pages of a chunk have as many entries as the footer says",
    "parquet.thrift, ColumnMetaData.num_values",
);
const ROWS: Rule = rule(
    "page-rows",
    Severity::Invalid,
    Level::Default,
    "The pages of a chunk have as many rows as its row group",
    "parquet.thrift, RowGroup.num_rows",
);
const STORED: Rule = rule(
    "chunk-compressed-size",
    Severity::Invalid,
    Level::Default,
    "The pages of a chunk with their headers have as many bytes as the footer says",
    "parquet.thrift, ColumnMetaData.total_compressed_size",
);
const PLAIN_SIZE: Rule = rule(
    "chunk-uncompressed-size",
    Severity::Suspicious,
    Level::Default,
    "The pages of a chunk with their headers have as many bytes before compression as the footer says",
    "parquet.thrift, ColumnMetaData.total_uncompressed_size",
);
const DATA_OFFSET: Rule = rule(
    "chunk-data-offset",
    Severity::Suspicious,
    Level::Default,
    "The footer gives the place of the first data page, and of the dictionary page if there is one",
    "parquet.thrift, ColumnMetaData.data_page_offset, dictionary_page_offset",
);

pub(crate) const RULES: &[Rule] = &[
    HEADER,
    CHECKSUM,
    UNTRUSTED,
    SIZES,
    UNREADABLE,
    ENCODING,
    LISTED,
    STATS,
    BIT_PACKED,
    DICTIONARY,
    NO_DICTIONARY,
    NULLS,
    VALUES,
    ROWS,
    STORED,
    PLAIN_SIZE,
    DATA_OFFSET,
];

/// Counts over the pages of a chunk.
#[derive(Debug, Default)]
pub(crate) struct PageTotals {
    pub(crate) count: u64,
    pub(crate) values: u64,
    /// Number of rows, or `None` after a page with an unknown number of rows.
    pub(crate) rows: Option<u64>,
    /// Bytes of pages with their headers, as stored and before compression.
    pub(crate) stored: u64,
    pub(crate) plain: u64,
    /// Whether all headers were read, with as many entries as the footer states, so that counts of headers can be
    /// compared.
    pub(crate) is_complete: bool,
    /// Whether no page was damaged.
    pub(crate) is_whole: bool,
    pub(crate) has_dictionary: bool,
    pub(crate) kinds: PageKinds,
    /// Offsets of the first data page and the first dictionary page.
    pub(crate) first_data: Option<u64>,
    pub(crate) first_dictionary: Option<u64>,
}

/// Checks a header alone, and counts the page. Returns whether the page can be opened.
pub(crate) fn check_header(
    start: &LocatedHeader,
    chunk: ColumnChunk<'_>,
    pages: &mut PageTotals,
    place: &ErrorLocation,
    findings: &mut Findings,
) -> bool {
    let header = &start.header;
    let header_len = start.body - start.offset;
    pages.count += 1;
    pages.stored += header_len + u64::from(header.compressed_page_size.unsigned_abs());
    pages.plain += header_len + u64::from(header.uncompressed_page_size.unsigned_abs());
    pages.kinds.add(header);
    let mut is_legal = true;
    if start.is_dictionary() {
        if pages.has_dictionary {
            findings.add(&DICTIONARY, place.clone(), || "a second dictionary page".to_owned());
        } else if pages.first_data.is_some() {
            findings.add(&DICTIONARY, place.clone(), || "a dictionary page behind data pages".to_owned());
        }
        pages.has_dictionary = true;
        pages.first_dictionary.get_or_insert(start.offset);
        is_legal = check_dictionary_encoding(start, place, findings);
    } else if start.is_data() {
        pages.first_data.get_or_insert(start.offset);
        is_legal = check_encoding(start, chunk, pages, place, findings);
    }
    check_sizes(start, chunk, place, findings) && is_legal
}

/// Returns whether the encoding of a dictionary page is legal. Unknown encodings may be.
fn check_dictionary_encoding(start: &LocatedHeader, place: &ErrorLocation, findings: &mut Findings) -> bool {
    let wrong = value_encoding(&start.header)
        .filter(|found| *found != Encoding::PLAIN && registry::find(found.0).is_some());
    if let Some(encoding) = wrong {
        findings.add(&ENCODING, place.clone(), || format!("{encoding} for a dictionary"));
    }
    wrong.is_none()
}

/// Returns whether the encoding is legal for the type of the column.
fn check_encoding(
    start: &LocatedHeader,
    chunk: ColumnChunk<'_>,
    pages: &PageTotals,
    place: &ErrorLocation,
    findings: &mut Findings,
) -> bool {
    let Some(encoding) = value_encoding(&start.header) else { return true };
    let physical = chunk.leaf().physical();
    let is_legal = registry::find(encoding.0).is_none_or(|row| (row.supports)(physical))
        && encoding != Encoding::BIT_PACKED;
    if !is_legal {
        findings.add(&ENCODING, place.clone(), || format!("{encoding} for {physical}"));
    }
    let listed = chunk.encodings().iter().take(MOST_LISTED);
    let mut listed = listed.map(|listed| canonical_encoding(start.header.type_, listed));
    if !listed.any(|listed| listed == encoding) {
        findings.add(&LISTED, place.clone(), || {
            let listed: Vec<_> = chunk.encodings().iter().take(8).map(|listed| listed.to_string()).collect();
            format!("{encoding} is not among [{}]", listed.join(", "))
        });
    }
    if encoding == Encoding::RLE_DICTIONARY && !pages.has_dictionary {
        findings
            .add(&NO_DICTIONARY, place.clone(), || "dictionary indices without a dictionary page".to_owned());
    }
    is_legal & check_levels(start, chunk, place, findings)
}

/// Returns whether the encodings of a V1 page's levels are legal.
fn check_levels(
    start: &LocatedHeader,
    chunk: ColumnChunk<'_>,
    place: &ErrorLocation,
    findings: &mut Findings,
) -> bool {
    let Some(header) = start.header.data_page_header.as_ref() else { return true };
    let leaf = chunk.leaf();
    let levels = [
        (leaf.max_rep(), header.repetition_level_encoding),
        (leaf.max_def(), header.definition_level_encoding),
    ];
    // If the maximum level is 0, nothing is stored.
    let mut is_legal = true;
    for (_, encoding) in levels.into_iter().filter(|(max, _)| *max > 0) {
        match encoding {
            Encoding::RLE => {}
            Encoding::BIT_PACKED => {
                findings.add(&BIT_PACKED, place.clone(), || "levels in BIT_PACKED".to_owned());
            }
            other => {
                is_legal = false;
                findings.add(&ENCODING, place.clone(), || format!("{other} for levels"));
            }
        }
    }
    is_legal
}

fn check_sizes(
    start: &LocatedHeader,
    chunk: ColumnChunk<'_>,
    place: &ErrorLocation,
    findings: &mut Findings,
) -> bool {
    let header = &start.header;
    let stored = header.compressed_page_size.saturating_sub(chunk.page_overhead() as i32);
    let plain = header.uncompressed_page_size;
    let is_plain = chunk.compression() == CompressionCodec::UNCOMPRESSED
        || header.data_page_header_v2.as_ref().is_some_and(|header| !header.is_compressed);
    let is_known = start.is_data() || start.is_dictionary();
    if is_known && is_plain && stored != plain {
        findings.add(&SIZES, place.clone(), || format!("{stored} bytes, {plain} without compression"));
        return false;
    }
    if let Some(v2) = header.data_page_header_v2.as_ref().filter(|_| header.type_ == PageType::DATA_PAGE_V2) {
        let (rep, def) = (v2.repetition_levels_byte_length, v2.definition_levels_byte_length);
        let levels = i64::from(rep) + i64::from(def);
        if rep < 0 || def < 0 || levels > i64::from(stored.min(plain)) {
            findings.add(&SIZES, place.clone(), || {
                format!("{rep} + {def} bytes of levels in a page of {stored}")
            });
            return false;
        }
        if v2.num_nulls < 0 || v2.num_nulls > v2.num_values {
            findings.add(&NULLS, place.clone(), || {
                format!("{} nulls among {} entries", v2.num_nulls, v2.num_values)
            });
            return false;
        }
    }
    true
}

/// Reports a wrong checksum. Returns whether the page can be read.
pub(crate) fn check_checksum(
    start: &LocatedHeader,
    checksum: Checksum,
    place: &ErrorLocation,
    findings: &mut Findings,
) -> bool {
    match checksum {
        Checksum::Good => true,
        Checksum::Absent if start.header.crc.is_some() => {
            findings
                .add(&UNTRUSTED, place.clone(), || "0 is stored, as if none had been computed".to_owned());
            true
        }
        Checksum::Absent => true,
        Checksum::Untrusted => {
            let stored = start.header.crc.unwrap_or(0);
            findings.add(&UNTRUSTED, place.clone(), || {
                format!("{stored:08x} is stored, by a writer known for it")
            });
            true
        }
        Checksum::Bad { stored, computed } => {
            findings.add(&CHECKSUM, place.clone(), || {
                format!("the header says {stored:08x}, the bytes give {computed:08x}")
            });
            false
        }
    }
}

/// Compares the counts of a V2 header with the page.
pub(crate) fn check_v2(
    start: &LocatedHeader,
    nulls: Option<u64>,
    rows: Option<u64>,
    place: &ErrorLocation,
    findings: &mut Findings,
) {
    let Some(header) = start.header.data_page_header_v2.as_ref().filter(|_| start.is_data()) else {
        return;
    };
    if let Some(nulls) = nulls.filter(|nulls| u64::try_from(header.num_nulls) != Ok(*nulls)) {
        findings
            .add(&NULLS, place.clone(), || format!("num_nulls is {}, there are {nulls}", header.num_nulls));
    }
    if let Some(rows) = rows.filter(|rows| u64::try_from(header.num_rows) != Ok(*rows)) {
        findings.add(&NULLS, place.clone(), || format!("num_rows is {}, there are {rows}", header.num_rows));
    }
}

/// Compares the footer with the counts over all pages of a chunk.
pub(crate) fn check_totals(
    file: &VerifyContext,
    chunk: ColumnChunk<'_>,
    row_group: usize,
    pages: &mut PageTotals,
    place: &ErrorLocation,
    findings: &mut Findings,
) {
    if !pages.is_complete {
        return;
    }
    let rows = file.metadata.row_group(row_group).num_rows();
    if u64::try_from(chunk.num_values()) != Ok(pages.values) {
        pages.is_complete = false;
        findings.add(&VALUES, place.clone(), || {
            format!("the footer says {}, the pages have {}", chunk.num_values(), pages.values)
        });
    } else if let Some(counted) = pages.rows.filter(|counted| *counted != rows && chunk.leaf().max_rep() > 0)
    {
        findings.add(&ROWS, place.clone(), || format!("{counted} rows, the row group has {rows}"));
    }
    if u64::try_from(chunk.compressed_size()).is_ok_and(|size| size != pages.stored) {
        findings.add(&STORED, place.clone(), || {
            format!("the footer says {}, the pages have {}", chunk.compressed_size(), pages.stored)
        });
    }
    if u64::try_from(chunk.uncompressed_size()).is_ok_and(|size| size != pages.plain) {
        findings.add(&PLAIN_SIZE, place.clone(), || {
            format!("the footer says {}, the pages have {}", chunk.uncompressed_size(), pages.plain)
        });
    }
    if let Some(first) =
        pages.first_data.filter(|first| u64::try_from(chunk.data_page_offset()) != Ok(*first))
    {
        findings.add(&DATA_OFFSET, place.clone(), || {
            format!("the footer says byte {}, the first data page is at {first}", chunk.data_page_offset())
        });
    } else if let (Some(first), None | Some(0)) = (pages.first_dictionary, chunk.dictionary_page_offset()) {
        findings
            .add(&DATA_OFFSET, place.clone(), || format!("the dictionary page at byte {first} is not in it"));
    }
    check_stats(chunk, pages, place, findings);
}

fn check_stats(chunk: ColumnChunk<'_>, pages: &PageTotals, place: &ErrorLocation, findings: &mut Findings) {
    let Some(stats) = chunk.encoding_stats() else { return };
    let said = PageKinds::said(stats);
    if said != pages.kinds {
        findings.add(&STATS, place.clone(), || format!("the footer says {said}, there are {}", pages.kinds));
    }
}

/// Number of listed encodings in which each page is looked up: more than exist. A hostile footer lists millions.
const MOST_LISTED: usize = 100;
