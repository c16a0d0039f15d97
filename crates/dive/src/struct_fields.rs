//! The fields of a Thrift struct, one by one with their bytes; Enter goes into structs and lists.

use crate::screen::Screen;
use crate::text::hex;
use crate::thrift::{Cursor, Kind, Known, wire};
use bytes::Bytes;
use marquetry_inspect::ShownCount;

/// A struct, or the elements of a list.
pub(crate) struct StructFields {
    title: String,
    bytes: Bytes,
    /// Offset of the first byte in the file; `None` if the bytes were decrypted.
    place: Option<u64>,
    entries: Vec<Entry>,
}

/// An entry of a struct or a list.
struct Entry {
    name: Name,
    /// Offsets of its beginning, including a field's header, of its value, and of its end.
    start: usize,
    value: usize,
    end: usize,
    wire: u8,
    kind: Option<&'static Kind>,
}

enum Name {
    Field {
        of: &'static str,
        id: u64,
        name: Option<&'static str>,
        about: &'static str,
    },
    Element(usize),
    /// The byte after the last field.
    End(&'static str),
    /// Bytes that are not Thrift, or too many.
    Rest(&'static str),
}

impl StructFields {
    /// The struct at the beginning of `bytes`.
    pub(crate) fn new(
        title: impl Into<String>,
        bytes: Bytes,
        place: Option<u64>,
        known: &'static Known,
    ) -> Self {
        let entries = fields(&bytes, 0, known);
        StructFields { title: title.into(), bytes, place, entries }
    }

    fn entry(&self, index: usize) -> (&Entry, &[u8]) {
        let entry = &self.entries[index];
        (entry, &self.bytes[entry.start..entry.end])
    }

    fn value(&self, entry: &Entry) -> String {
        let mut cursor = Cursor::new(&self.bytes, entry.value);
        match (&entry.name, entry.wire) {
            (Name::End(_), _) => String::new(),
            (Name::Rest(_), _) => format!("{} bytes", ShownCount((entry.end - entry.start) as u64)),
            (_, wire::LIST | wire::SET) => match cursor.list() {
                Some((_, len)) => format!("{} elements", ShownCount(len)),
                None => String::new(),
            },
            (_, wire::STRUCT) => {
                let known = match entry.kind {
                    Some(Kind::Struct(known)) => Some(known),
                    _ => None,
                };
                known.and_then(|known| summary(cursor, known)).unwrap_or_else(|| "{..}".to_owned())
            }
            (_, written) => cursor.value(written, entry.kind).unwrap_or_default(),
        }
    }
}

/// The fields of the struct at `at`, as far as they can be read.
fn fields(bytes: &[u8], at: usize, known: &'static Known) -> Vec<Entry> {
    let mut cursor = Cursor::new(bytes, at);
    let (mut out, mut last) = (Vec::new(), 0);
    loop {
        let start = cursor.at;
        let Some(head) = cursor.head(last) else {
            out.push(rest(bytes, start, "What comes here is not a field of a Thrift struct."));
            return out;
        };
        let Some(head) = head else {
            let name = Name::End(known.name);
            out.push(Entry { name, start, value: start, end: cursor.at, wire: 0, kind: None });
            return out;
        };
        last = head.id;
        let value = cursor.at;
        if cursor.skip(head.wire).is_none() {
            out.push(rest(bytes, start, "This field has no end."));
            return out;
        }
        let field = known.fields.iter().find(|field| field.0 == head.id);
        let name = Name::Field {
            of: known.name,
            id: head.id,
            name: field.map(|field| field.1),
            about: field.map_or("No field that this version of the format has.", |field| field.3),
        };
        out.push(Entry {
            name,
            start,
            value,
            end: cursor.at,
            wire: head.wire,
            kind: field.map(|field| &field.2),
        });
    }
}

/// The elements of the list at `at`.
fn elements(bytes: &[u8], at: usize, kind: Option<&'static Kind>) -> Vec<Entry> {
    let mut cursor = Cursor::new(bytes, at);
    let mut out = Vec::new();
    let Some((wire, len)) = cursor.list() else {
        return vec![rest(bytes, at, "What comes here is not a list.")];
    };
    for i in 0..usize::try_from(len).unwrap_or(usize::MAX) {
        let start = cursor.at;
        if i == MOST {
            out.push(rest(bytes, start, "These are not shown."));
            break;
        }
        if cursor.skip(wire).is_none() {
            out.push(rest(bytes, start, "What comes here is not an element of the list."));
            break;
        }
        out.push(Entry { name: Name::Element(i), start, value: start, end: cursor.at, wire, kind });
    }
    out
}

fn rest(bytes: &[u8], at: usize, why: &'static str) -> Entry {
    let at = at.min(bytes.len());
    Entry { name: Name::Rest(why), start: at, value: at, end: bytes.len(), wire: 0, kind: None }
}

/// What distinguishes this struct from others of its type.
fn summary(mut cursor: Cursor<'_>, known: &'static Known) -> Option<String> {
    let (mut known, mut path) = (known, known.summary.iter());
    let mut wanted = path.next()?;
    let mut last = 0;
    loop {
        let head = cursor.head(last)??;
        last = head.id;
        if head.id != *wanted {
            cursor.skip(head.wire)?;
            continue;
        }
        let field = known.fields.iter().find(|field| field.0 == head.id)?;
        return match (&field.2, path.next()) {
            (Kind::Struct(inner), Some(next)) => {
                (known, wanted, last) = (inner, next, 0);
                continue;
            }
            (Kind::List(kind), _) => {
                let (wire, len) = cursor.list()?;
                let part = |_| cursor.value(wire, Some(kind));
                Some((0..len.min(20)).map_while(part).collect::<Vec<_>>().join("."))
            }
            (kind, _) => Some(format!("{} {}", field.1, cursor.value(head.wire, Some(kind))?)),
        };
    }
}

impl Screen for StructFields {
    fn title(&self) -> String {
        self.title.clone()
    }

    fn headings(&self) -> Vec<String> {
        [">at", "bytes", "field", "value"].map(str::to_owned).to_vec()
    }

    fn len(&self) -> (usize, bool) {
        (self.entries.len(), true)
    }

    fn row(&mut self, index: usize) -> Vec<String> {
        let (entry, bytes) = self.entry(index);
        let name = match &entry.name {
            Name::Field { name: Some(name), .. } => (*name).to_owned(),
            Name::Field { id, .. } => format!("field {id}"),
            Name::Element(i) => format!("[{i}]"),
            Name::End(of) => format!("end of {of}"),
            Name::Rest(_) => "?".to_owned(),
        };
        let at = match self.place {
            Some(place) => (place + entry.start as u64).to_string(),
            None => format!("+{}", entry.start),
        };
        vec![at, hex(bytes, 8), name, self.value(entry)]
    }

    fn about(&mut self, index: usize) -> String {
        let (entry, _) = self.entry(index);
        match &entry.name {
            Name::Field { of, id, about, .. } => {
                let written = match entry.wire {
                    wire::TRUE | wire::FALSE => "A boolean is in the type of its field.",
                    wire::BYTE => "One byte.",
                    wire::I16..=wire::I64 => "A zigzag number in groups of seven bits.",
                    wire::DOUBLE => "Eight bytes, the lowest first.",
                    wire::BINARY => "A length, then so many bytes.",
                    wire::LIST | wire::SET => "A byte with the length and the type of elements, then these.",
                    wire::STRUCT => "A struct: fields up to a byte of zeros.",
                    _ => "",
                };
                format!(
                    "{about} parquet.thrift, {of} field {id}. The first byte: how far the number of the field is from the one before, and its type. {written}"
                )
            }
            Name::Element(i) => format!("Element {i} of the list."),
            Name::End(_) => "A byte of zeros ends a struct of the Thrift compact protocol.".to_owned(),
            Name::Rest(why) => (*why).to_owned(),
        }
    }

    fn can_enter(&self, index: usize) -> bool {
        let entry = &self.entries[index];
        match entry.wire {
            wire::LIST | wire::SET => true,
            wire::STRUCT => matches!(entry.kind, Some(Kind::Struct(_))),
            _ => false,
        }
    }

    fn enter(&mut self, index: usize) -> Option<Box<dyn Screen>> {
        let title = self.row(index).swap_remove(2);
        let entry = &self.entries[index];
        let entries = match (entry.wire, entry.kind) {
            (wire::LIST | wire::SET, Some(Kind::List(kind))) => {
                elements(&self.bytes, entry.value, Some(kind))
            }
            (wire::LIST | wire::SET, _) => elements(&self.bytes, entry.value, None),
            (wire::STRUCT, Some(Kind::Struct(known))) => fields(&self.bytes, entry.value, known),
            _ => return None,
        };
        Some(Box::new(StructFields { title, bytes: self.bytes.clone(), place: self.place, entries }))
    }

    fn byte(&mut self, index: usize) -> Option<u64> {
        self.place.map(|place| place + self.entries[index].start as u64)
    }
}

/// Maximum number of list elements that are shown.
const MOST: usize = 1_000_000;
