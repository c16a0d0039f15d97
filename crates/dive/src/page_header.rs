//! A page header, field by field.
//!
//! Read here once more, and not by the reader of headers: that one passes over what it does not need, and tells no places.

use crate::explained::{Explained, unzigzag, varint};
use crate::text::shown;
use marquetry_format::{Encoding, PageType};

/// The fields of a header, as far as they can be read.
pub(crate) fn explain_header(bytes: &[u8]) -> Vec<Explained> {
    let mut walk = Walk { bytes, at: 0, out: Vec::new() };
    if walk.fields(&PAGE_HEADER, 0).is_none() {
        let rest = &bytes[walk.at.min(bytes.len())..];
        walk.out.push(Explained::new(
            walk.at,
            rest,
            "?",
            "",
            "What comes here is no field of a Thrift struct.",
        ));
    }
    walk.out
}

/// A struct of `parquet.thrift`.
struct Known {
    name: &'static str,
    fields: &'static [Field],
}

/// The number of a field, its name, what its value is, and what it means.
struct Field(u64, &'static str, Kind, &'static str);

enum Kind {
    Number,
    PageType,
    Encoding,
    Crc,
    Bytes,
    Struct(&'static Known),
}

struct Walk<'a> {
    bytes: &'a [u8],
    at: usize,
    out: Vec<Explained>,
}

impl Walk<'_> {
    fn take(&mut self, n: usize) -> Option<()> {
        (n <= self.bytes.len().checked_sub(self.at)?).then(|| self.at += n)
    }

    fn number(&mut self) -> Option<u64> {
        let (value, len) = varint(self.bytes.get(self.at..)?)?;
        self.at += len;
        Some(value)
    }

    /// All fields of a struct; `None` if they have no end.
    fn fields(&mut self, known: &Known, depth: usize) -> Option<()> {
        let mut id = 0u64;
        loop {
            let start = self.at;
            let head = *self.bytes.get(start)?;
            self.at += 1;
            if head == 0 {
                let about = "A byte of zeros ends a struct of the Thrift compact protocol.";
                self.push(start, depth, format!("end of {}", known.name), String::new(), about.to_owned());
                return Some(());
            }
            id = match head >> 4 {
                0 => unzigzag(self.number()?) as u64,
                delta => id.wrapping_add(u64::from(delta)),
            };
            let wire = head & 15;
            let field = known.fields.iter().find(|field| field.0 == id);
            let name = field.map_or_else(|| format!("field {id}"), |field| field.1.to_owned());
            let about = |text: &str| {
                format!("{text} parquet.thrift, {} field {id}.", known.name).trim_start().to_owned()
            };
            let meaning = field.map_or("No field that this version of the format has.", |field| field.3);
            match (wire, field.map(|field| &field.2)) {
                (12, Some(Kind::Struct(inner))) => {
                    self.push(start, depth, name, "{".to_owned(), about(meaning));
                    self.fields(inner, depth + 1)?;
                }
                (1 | 2, _) => {
                    let value = if wire == 1 { "true" } else { "false" };
                    let meaning = format!("{meaning} A boolean is in the type of its field.");
                    self.push(start, depth, name, value.to_owned(), about(meaning.trim()));
                }
                (4..=6, kind) => {
                    let value = unzigzag(self.number()?);
                    let value = match kind {
                        Some(Kind::PageType) => format!("{value}: {}", PageType(value as i32)),
                        Some(Kind::Encoding) => format!("{value}: {}", Encoding(value as i32)),
                        Some(Kind::Crc) => format!("{:08x}", value as u32),
                        _ => value.to_string(),
                    };
                    self.push(start, depth, name, value, about(meaning));
                }
                (8, _) => {
                    let len = usize::try_from(self.number()?).ok()?;
                    let text = self.bytes.get(self.at..self.at.checked_add(len)?)?;
                    let value =
                        format!("{len} bytes: {}", shown(&text[..len.min(60)].escape_ascii().to_string()));
                    self.take(len)?;
                    self.push(start, depth, name, value, about(meaning));
                }
                _ => {
                    self.skip(wire, 0)?;
                    self.push(start, depth, name, "..".to_owned(), about(meaning));
                }
            }
        }
    }

    fn skip(&mut self, wire: u8, depth: usize) -> Option<()> {
        match wire {
            _ if depth > 16 => None,
            1 | 2 => Some(()),
            3 => self.take(1),
            4..=6 => self.number().map(|_| ()),
            7 => self.take(8),
            8 => {
                let len = usize::try_from(self.number()?).ok()?;
                self.take(len)
            }
            9 | 10 => {
                let head = *self.bytes.get(self.at)?;
                self.at += 1;
                let len = if head >> 4 == 15 { self.number()? } else { u64::from(head >> 4) };
                // A boolean is a byte in a list.
                let element = if matches!(head & 15, 1 | 2) { 3 } else { head & 15 };
                (0..len).try_for_each(|_| self.skip(element, depth + 1))
            }
            12 => loop {
                let head = *self.bytes.get(self.at)?;
                self.at += 1;
                if head == 0 {
                    return Some(());
                }
                if head >> 4 == 0 {
                    self.number()?;
                }
                self.skip(head & 15, depth + 1)?;
            },
            13 => self.take(16),
            _ => None,
        }
    }

    fn push(&mut self, start: usize, depth: usize, name: String, value: String, about: String) {
        let name = format!("{}{name}", "  ".repeat(depth));
        self.out.push(Explained::new(start, &self.bytes[start..self.at], name, value, about));
    }
}

static PAGE_HEADER: Known = Known {
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
    name: "DictionaryPageHeader",
    fields: &[
        Field(1, "num_values", Kind::Number, "Entries of the dictionary."),
        Field(
            2,
            "encoding",
            Kind::Encoding,
            "How they are encoded: PLAIN, which old files call PLAIN_DICTIONARY.",
        ),
        Field(3, "is_sorted", Kind::Number, "Whether the entries are in order."),
    ],
};

static DATA_PAGE_V2: Known = Known {
    name: "DataPageHeaderV2",
    fields: &[
        Field(1, "num_values", Kind::Number, "Entries: values, nulls, and empty or absent lists."),
        Field(2, "num_nulls", Kind::Number, "Entries that are no values."),
        Field(3, "num_rows", Kind::Number, "Rows: a page of version 2 begins and ends with a row."),
        Field(4, "encoding", Kind::Encoding, "How the values are encoded. Encodings.md;"),
        Field(5, "definition_levels_byte_length", Kind::Number, "Bytes of the definition levels."),
        Field(6, "repetition_levels_byte_length", Kind::Number, "Bytes of the repetition levels."),
        Field(
            7,
            "is_compressed",
            Kind::Number,
            "Whether the values are compressed; they are, if it is not said.",
        ),
        Field(8, "statistics", Kind::Struct(&STATISTICS), "Bounds of the page's values."),
    ],
};

static STATISTICS: Known = Known {
    name: "Statistics",
    fields: &[
        Field(1, "max", Kind::Bytes, "An older upper bound, whose order was not agreed on."),
        Field(2, "min", Kind::Bytes, "An older lower bound, whose order was not agreed on."),
        Field(3, "null_count", Kind::Number, "Nulls."),
        Field(4, "distinct_count", Kind::Number, "Distinct values."),
        Field(5, "max_value", Kind::Bytes, "No value is greater."),
        Field(6, "min_value", Kind::Bytes, "No value is less."),
        Field(7, "is_max_value_exact", Kind::Number, "Whether the upper bound is a value."),
        Field(8, "is_min_value_exact", Kind::Number, "Whether the lower bound is a value."),
    ],
};
