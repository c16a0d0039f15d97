//! Writes values whose field names are in existing metadata.

use crate::container::{Entry, put_header};
use crate::depth::check_depth;
use crate::primitive::write_primitive;
use crate::value::Value;
use marquetry_base::{Error, Result};

/// Writes values whose field names are in existing metadata. Fields are given by the ids of their names, in the order
/// of the names, and values that exist in binary are copied unchanged.
///
/// ```
/// use marquetry_variant::{Value, ValueWriter, Variant, json};
/// let (metadata, value) = json::parse(r#"{"a": {"b": 1}, "b": 2}"#)?;
/// let inner = Variant::new(&metadata, &value)?.get("a")?.unwrap();
/// let mut writer = ValueWriter::new();
/// writer.begin_object()?;
/// // The id of "a".
/// writer.field(0)?;
/// writer.write_bytes(inner.bytes())?;
/// writer.end()?;
/// assert_eq!(json::to_string(Variant::new(&metadata, writer.bytes()?)?)?, r#"{"a":{"b":1}}"#);
/// # Ok::<(), marquetry_variant::Error>(())
/// ```
#[derive(Debug, Default)]
#[must_use = "a value is whole when all of it is at its end"]
pub struct ValueWriter {
    bytes: Vec<u8>,
    open: Vec<Open>,
    /// The entries of all open objects and arrays, those of the innermost last.
    entries: Vec<Entry>,
}

/// An object or array that has not ended.
#[derive(Debug)]
struct Open {
    is_object: bool,
    /// The id of a field that has no value yet.
    field: Option<u32>,
    /// Where its first value begins in `bytes`.
    start: usize,
    /// Where its entries begin in `entries`.
    entries: usize,
}

impl ValueWriter {
    /// Creates a writer.
    pub fn new() -> Self {
        ValueWriter::default()
    }

    /// Begins an object, whose fields come next.
    ///
    /// # Errors
    ///
    /// If no value is due, or there are [`MAX_DEPTH`](crate::MAX_DEPTH) objects and arrays around it.
    pub fn begin_object(&mut self) -> Result<()> {
        self.begin(true)
    }

    /// Begins an array, whose elements come next.
    ///
    /// # Errors
    ///
    /// As [`begin_object`](Self::begin_object).
    pub fn begin_array(&mut self) -> Result<()> {
        self.begin(false)
    }

    fn begin(&mut self, is_object: bool) -> Result<()> {
        self.begin_value()?;
        check_depth(self.open.len() + 1)?;
        let (start, entries) = (self.bytes.len(), self.entries.len());
        self.open.push(Open { is_object, field: None, start, entries });
        Ok(())
    }

    /// Names the field whose value comes next, by the id of its name. Fields must come in the order of the names, each
    /// once; this is not checked.
    ///
    /// # Errors
    ///
    /// If no object is open, or the previous field has no value.
    #[inline]
    pub fn field(&mut self, id: u32) -> Result<()> {
        if !self.is_field_due() {
            return Err(Error::argument(format!("no field of a variant is due, that of id {id} was given")));
        }
        self.open.last_mut().into_iter().for_each(|open| open.field = Some(id));
        Ok(())
    }

    /// Whether an object is open, and each field so far has a value.
    #[inline]
    pub(crate) fn is_field_due(&self) -> bool {
        self.open.last().is_some_and(|open| open.is_object && open.field.is_none())
    }

    /// Writes a value that contains no others.
    ///
    /// # Errors
    ///
    /// If no value is due, if the value is an object or an array, or if it is a decimal of too many digits.
    #[inline]
    pub fn write(&mut self, value: &Value<'_>) -> Result<()> {
        self.begin_value()?;
        write_primitive(value, &mut self.bytes)
    }

    /// Copies a value in binary, whose names must be in the same metadata. The value is not checked.
    ///
    /// # Errors
    ///
    /// If no value is due.
    #[inline]
    pub fn write_bytes(&mut self, value: &[u8]) -> Result<()> {
        self.begin_value()?;
        self.bytes.extend_from_slice(value);
        Ok(())
    }

    /// Ends the innermost open object or array.
    ///
    /// # Errors
    ///
    /// If none is open, a field has no value, or the object or array is larger than 4 GiB.
    pub fn end(&mut self) -> Result<()> {
        self.end_with(|_| Ok(()))
    }

    /// Ends the innermost open object or array, after `sort` has sorted the fields of an object.
    pub(crate) fn end_with(&mut self, sort: impl FnOnce(&mut [Entry]) -> Result<()>) -> Result<()> {
        let Some(open) = self.open.pop() else {
            return Err(Error::argument("no object or array of a variant is open"));
        };
        if open.field.is_some() {
            return Err(Error::argument("a field of a variant has no value"));
        }
        let entries = &mut self.entries[open.entries..];
        if open.is_object {
            sort(entries)?;
        }
        // Moves the values behind the header, whose size is known only now.
        put_header(open.is_object, entries, open.start, &mut self.bytes)?;
        self.entries.truncate(open.entries);
        Ok(())
    }

    /// The id of the field that has no value yet.
    pub(crate) fn field_without_value(&self) -> Option<u32> {
        self.open.last()?.field
    }

    /// Records where the next value begins.
    #[inline]
    fn begin_value(&mut self) -> Result<()> {
        let (id, start) = match self.open.last_mut() {
            None if self.bytes.is_empty() => return Ok(()),
            None => return Err(not_due()),
            Some(open) => match (open.is_object, open.field.take()) {
                (true, None) => return Err(not_due()),
                (_, field) => (field.unwrap_or(0), open.start),
            },
        };
        self.entries.push(Entry { id, offset: self.bytes.len() - start });
        Ok(())
    }

    /// Returns the finished value.
    ///
    /// # Errors
    ///
    /// If nothing was written, or an object or array is still open.
    pub fn bytes(&self) -> Result<&[u8]> {
        match self.open.is_empty() && !self.bytes.is_empty() {
            true => Ok(&self.bytes),
            false => Err(Error::argument("a variant is finished before it has a value")),
        }
    }

    /// Discards everything written, and keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.open.clear();
        self.entries.clear();
    }
}

#[cold]
fn not_due() -> Error {
    Error::argument("no value of a variant is due")
}
