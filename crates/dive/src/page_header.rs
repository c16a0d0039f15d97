//! A page header, field by field.
//!
//! This is a parser of its own: the reader of headers skips what it does not need, and records no offsets.

use crate::explained::Explained;
use crate::footer_structs::STATISTICS;
use crate::thrift::{Cursor, Field, Kind, Known, wire};

/// The fields of a header, as far as they can be read.
pub(crate) fn explain_header(bytes: &[u8]) -> Vec<Explained> {
    let mut walk = Walk { cursor: Cursor::new(bytes, 0), out: Vec::new() };
    if walk.fields(&PAGE_HEADER, 0).is_none() {
        let at = walk.cursor.at.min(bytes.len());
        let why = "What comes here is not a field of a Thrift struct.";
        walk.out.push(Explained::new(at, &bytes[at..], "?", "", why));
    }
    walk.out
}

struct Walk<'a> {
    cursor: Cursor<'a>,
    out: Vec<Explained>,
}

impl Walk<'_> {
    /// All fields of a struct; `None` if they do not end.
    fn fields(&mut self, known: &Known, depth: usize) -> Option<()> {
        let mut last = 0;
        loop {
            let start = self.cursor.at;
            let Some(head) = self.cursor.head(last)? else {
                let about = "A byte of zeros ends a struct of the Thrift compact protocol.";
                self.push(start, depth, format!("end of {}", known.name), String::new(), about.to_owned());
                return Some(());
            };
            last = head.id;
            let field = known.fields.iter().find(|field| field.0 == head.id);
            let name = field.map_or_else(|| format!("field {}", head.id), |field| field.1.to_owned());
            let meaning = field.map_or("No field that this version of the format has.", |field| field.3);
            let boolean = if matches!(head.wire, wire::TRUE | wire::FALSE) {
                " A boolean is in the type of its field."
            } else {
                ""
            };
            let about = format!("{meaning}{boolean} parquet.thrift, {} field {}.", known.name, head.id);
            match (head.wire, field.map(|field| &field.2)) {
                (wire::STRUCT, Some(Kind::Struct(inner))) => {
                    self.push(start, depth, name, "{".to_owned(), about);
                    self.fields(inner, depth + 1)?;
                }
                (written, kind) => {
                    let value = self.cursor.value(written, kind)?;
                    self.push(start, depth, name, value, about);
                }
            }
        }
    }

    fn push(&mut self, start: usize, depth: usize, name: String, value: String, about: String) {
        let name = format!("{}{name}", "  ".repeat(depth));
        let bytes = &self.cursor.bytes[start..self.cursor.at];
        self.out.push(Explained::new(start, bytes, name, value, about));
    }
}

static PAGE_HEADER: Known = Known {
    summary: &[],
    name: "PageHeader",
    fields: &[
        Field(1, "type", Kind::PageType, "What the page holds."),
        Field(
            2,
            "uncompressed_page_size",
            Kind::Number,
            "Bytes of the page when it is decompressed, without this header.",
        ),
        Field(
            3,
            "compressed_page_size",
            Kind::Number,
            "Bytes of the page in the file, without this header: the next header comes so many bytes after this one.",
        ),
        Field(
            4,
            "crc",
            Kind::Crc,
            "CRC-32 of the page's bytes in the file, by which damage is noticed. README.md, Checksumming;",
        ),
        Field(
            5,
            "data_page_header",
            Kind::Struct(&DATA_PAGE),
            "A data page of version 1: levels are compressed with the values.",
        ),
        Field(
            7,
            "dictionary_page_header",
            Kind::Struct(&DICTIONARY_PAGE),
            "Distinct values of the chunk, to which its data pages have indices.",
        ),
        Field(
            8,
            "data_page_header_v2",
            Kind::Struct(&DATA_PAGE_V2),
            "A data page of version 2: levels come before the values and are not compressed.",
        ),
    ],
};

static DATA_PAGE: Known = Known {
    summary: &[],
    name: "DataPageHeader",
    fields: &[
        Field(1, "num_values", Kind::Number, "Entries: values, nulls, and empty or absent lists."),
        Field(2, "encoding", Kind::Encoding, "How the values are encoded. Encodings.md;"),
        Field(
            3,
            "definition_level_encoding",
            Kind::Encoding,
            "How it is encoded which entries are null. Encodings.md;",
        ),
        Field(
            4,
            "repetition_level_encoding",
            Kind::Encoding,
            "How it is encoded where lists begin. Encodings.md;",
        ),
        Field(5, "statistics", Kind::Struct(&STATISTICS), "Bounds of the page's values."),
    ],
};

static DICTIONARY_PAGE: Known = Known {
    summary: &[],
    name: "DictionaryPageHeader",
    fields: &[
        Field(1, "num_values", Kind::Number, "Entries of the dictionary."),
        Field(
            2,
            "encoding",
            Kind::Encoding,
            "How they are encoded: PLAIN, which old files call PLAIN_DICTIONARY.",
        ),
        Field(3, "is_sorted", Kind::Bool, "Whether the entries are in order."),
    ],
};

static DATA_PAGE_V2: Known = Known {
    summary: &[],
    name: "DataPageHeaderV2",
    fields: &[
        Field(1, "num_values", Kind::Number, "Entries: values, nulls, and empty or absent lists."),
        Field(2, "num_nulls", Kind::Number, "Entries that are not values."),
        Field(3, "num_rows", Kind::Number, "Rows: a page of version 2 begins and ends with a row."),
        Field(4, "encoding", Kind::Encoding, "How the values are encoded. Encodings.md;"),
        Field(5, "definition_levels_byte_length", Kind::Number, "Bytes of the definition levels."),
        Field(6, "repetition_levels_byte_length", Kind::Number, "Bytes of the repetition levels."),
        Field(
            7,
            "is_compressed",
            Kind::Bool,
            "Whether the values are compressed; without this field they are.",
        ),
        Field(8, "statistics", Kind::Struct(&STATISTICS), "Bounds of the page's values."),
    ],
};
