//! Writes values from front to back, and the metadata with their field names.

use crate::container::Entry;
use crate::depth::MAX_DEPTH;
use crate::names::Names;
use crate::value::Value;
use crate::value_writer::ValueWriter;
use crate::variant::Variant;
use marquetry_base::{Error, Result};
use std::cmp::Ordering;

/// Writes variants, one after the other.
///
/// ```
/// use marquetry_variant::{Value, Variant, Writer, json};
///
/// let mut writer = Writer::new();
/// writer.begin_object()?;
/// writer.field("name")?;
/// writer.write(&Value::String("Ada"))?;
/// writer.field("years")?;
/// writer.begin_array()?;
/// writer.write(&Value::Int16(1815))?;
/// writer.write(&Value::Int16(1852))?;
/// writer.end()?;
/// writer.end()?;
/// let (metadata, value) = writer.finish()?;
/// assert_eq!(json::to_string(Variant::new(&metadata, &value)?)?, r#"{"name":"Ada","years":[1815,1852]}"#);
/// # Ok::<(), marquetry_variant::Error>(())
/// ```
#[derive(Debug, Default)]
#[must_use = "a value is whole when it is finished"]
pub struct Writer {
    names: Names,
    values: ValueWriter,
}

impl Writer {
    /// Creates a writer.
    pub fn new() -> Self {
        Writer::default()
    }

    /// Begins an object, whose fields come next.
    ///
    /// # Errors
    ///
    /// If no value is due, or there are [`MAX_DEPTH`] objects and arrays around it.
    pub fn begin_object(&mut self) -> Result<()> {
        self.values.begin_object()
    }

    /// Begins an array, whose elements come next.
    ///
    /// # Errors
    ///
    /// As [`begin_object`](Self::begin_object).
    pub fn begin_array(&mut self) -> Result<()> {
        self.values.begin_array()
    }

    /// Names the field whose value comes next.
    ///
    /// # Errors
    ///
    /// If no object is open, or the previous field has no value. If a name comes twice, [`end`](Self::end) fails.
    #[inline]
    pub fn field(&mut self, name: &str) -> Result<()> {
        if !self.values.is_field_due() {
            return Err(Error::argument(format!("no field of a variant is due, {name} was given")));
        }
        self.values.field(self.names.id(name)?)
    }

    /// Writes a value that contains no others.
    ///
    /// # Errors
    ///
    /// If no value is due, if the value is an object or an array, or if it is a decimal of too many digits.
    pub fn write(&mut self, value: &Value<'_>) -> Result<()> {
        self.values.write(value)
    }

    /// Copies an existing variant of any type, and adds the names that it needs.
    ///
    /// # Errors
    ///
    /// If no value is due, or `variant` is damaged.
    pub fn copy(&mut self, variant: Variant<'_>) -> Result<()> {
        match variant.value()? {
            Value::Object(object) => {
                self.begin_object()?;
                for field in object.iter() {
                    let (name, value) = field?;
                    self.field(name)?;
                    self.copy(value)?;
                }
                self.end()
            }
            Value::Array(array) => {
                self.begin_array()?;
                array.iter().try_for_each(|element| self.copy(element?))?;
                self.end()
            }
            value => self.write(&value),
        }
    }

    /// Ends the innermost open object or array.
    ///
    /// # Errors
    ///
    /// If none is open, a field has no value, two fields have the same name, or the object or array is larger than 4 GiB.
    pub fn end(&mut self) -> Result<()> {
        if let Some(id) = self.values.field_without_value() {
            return Err(Error::argument(format!(
                "the field {} of a variant has no value",
                self.names.name(id)
            )));
        }
        let names = &self.names;
        self.values.end_with(|fields| sort_fields(names, fields))
    }

    /// Discards everything written. After an error, this makes the writer usable again.
    pub fn clear(&mut self) {
        self.values.clear();
        self.names.begin();
    }

    /// Returns the metadata and the value. Afterwards the writer is empty, whether this fails or not.
    ///
    /// # Errors
    ///
    /// If nothing was written, or an object or array is still open.
    pub fn finish(&mut self) -> Result<(Vec<u8>, Vec<u8>)> {
        self.finish_with(|metadata, value| (metadata.to_vec(), value.to_vec()))
    }

    /// Passes the metadata and the value to `take`. Afterwards the writer is empty, whether this fails or not, and keeps its memory.
    ///
    /// # Errors
    ///
    /// As [`finish`](Self::finish).
    pub fn finish_with<T>(&mut self, take: impl FnOnce(&[u8], &[u8]) -> T) -> Result<T> {
        let taken = self.values.bytes().and_then(|value| Ok(take(self.names.metadata()?, value)));
        self.clear();
        taken
    }
}

/// Sorts fields by name. The values stay where they are.
fn sort_fields(names: &Names, fields: &mut [Entry]) -> Result<()> {
    let is_sorted = fields.windows(2).all(|pair| names.compare(pair[0].id, pair[1].id) == Ordering::Less);
    if is_sorted {
        return Ok(());
    }
    fields.sort_unstable_by(|a, b| names.compare(a.id, b.id));
    match fields.windows(2).find(|pair| pair[0].id == pair[1].id) {
        None => Ok(()),
        Some(pair) => {
            let name = names.name(pair[0].id);
            Err(Error::argument(format!("an object of a variant has the field {name} twice")))
        }
    }
}

const _: () = assert!(MAX_DEPTH < 1000, "each level takes a part of the stack");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_in_the_order_of_their_names_and_values_as_they_came() {
        let mut writer = Writer::new();
        writer.begin_object().unwrap();
        for (name, number) in [("c", 3), ("b", 2), ("a", 1)] {
            writer.field(name).unwrap();
            writer.write(&Value::Int8(number)).unwrap();
        }
        writer.end().unwrap();
        let (metadata, value) = writer.finish().unwrap();
        assert_eq!(
            metadata,
            [
                0b0000_0001, // offsets of 1 byte, not sorted, version 1
                3,           // names
                0,
                1,
                2,
                3, // offsets
                b'c',
                b'b',
                b'a',
            ]
        );
        assert_eq!(
            value,
            [
                0b0000_0010, // object, ids and offsets of 1 byte
                3,           // fields
                2,
                1,
                0, // ids of a, b, c
                4,
                2,
                0,
                6, // offsets
                3 << 2,
                3, // c: int8
                3 << 2,
                2, // b
                3 << 2,
                1, // a
            ]
        );
    }

    #[test]
    fn more_than_255_elements_are_large() {
        let mut writer = Writer::new();
        writer.begin_array().unwrap();
        (0..256).for_each(|_| writer.write(&Value::Null).unwrap());
        writer.end().unwrap();
        let (_, value) = writer.finish().unwrap();
        assert_eq!(value[..5], [0b0001_0111, 0, 1, 0, 0]);
        assert_eq!(value.len(), 1 + 4 + 257 * 2 + 256);
    }

    #[test]
    fn what_is_not_due_is_refused() {
        let mut writer = Writer::new();
        assert!(writer.field("a").is_err());
        assert!(writer.end().is_err());
        assert!(writer.finish().is_err());
        writer.begin_object().unwrap();
        assert!(writer.write(&Value::Null).is_err());
        writer.field("a").unwrap();
        assert!(writer.field("b").is_err());
        assert!(writer.end().is_err());
        assert!(writer.finish().is_err());
        writer.write(&Value::Null).unwrap();
        assert!(writer.write(&Value::Null).is_err());
    }

    #[test]
    fn a_name_that_comes_twice() {
        let mut writer = Writer::new();
        writer.begin_object().unwrap();
        for _ in 0..2 {
            writer.field("a").unwrap();
            writer.write(&Value::Null).unwrap();
        }
        assert_eq!(writer.end().unwrap_err().message(), "an object of a variant has the field a twice");
    }

    #[test]
    fn depth_has_an_end() {
        let mut writer = Writer::new();
        (0..MAX_DEPTH).for_each(|_| writer.begin_array().unwrap());
        assert!(writer.begin_array().is_err());
    }
}
