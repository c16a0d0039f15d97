//! Values from front to back.

use crate::container::header;
use crate::depth::{MAX_DEPTH, check_depth};
use crate::metadata::Names;
use crate::primitive::write_primitive;
use crate::value::Value;
use crate::variant::Variant;
use marquetry_base::{Error, Result};

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
    bytes: Vec<u8>,
    open: Vec<Open>,
}

/// An object or array that is not at its end.
#[derive(Debug)]
struct Open {
    is_object: bool,
    /// Where its first value begins in the bytes.
    start: usize,
    /// Where each value begins.
    offsets: Vec<usize>,
    /// The id of each field's name.
    ids: Vec<u32>,
}

impl Writer {
    /// Nothing was written yet.
    pub fn new() -> Self {
        Writer::default()
    }

    /// Begins an object, whose fields come next.
    ///
    /// # Errors
    ///
    /// If no value is due, or there are [`MAX_DEPTH`] objects and arrays around it.
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
        self.open.push(Open { is_object, start: self.bytes.len(), offsets: Vec::new(), ids: Vec::new() });
        Ok(())
    }

    /// Says which field the next value is.
    ///
    /// # Errors
    ///
    /// If no object is open, or the field before has no value. A name that comes twice is an error of [`end`](Self::end).
    pub fn field(&mut self, name: &str) -> Result<()> {
        let Some(open) =
            self.open.last_mut().filter(|open| open.is_object && open.ids.len() == open.offsets.len())
        else {
            return Err(Error::argument(format!("no field of a variant is due, {name} was given")));
        };
        open.ids.push(self.names.id(name)?);
        Ok(())
    }

    /// Writes a value that holds no others.
    ///
    /// # Errors
    ///
    /// If no value is due, if it is an object or an array, or a decimal of too many digits.
    pub fn write(&mut self, value: &Value<'_>) -> Result<()> {
        self.begin_value()?;
        write_primitive(value, &mut self.bytes)
    }

    /// Writes a value that is there already, whatever it is, with the names that it needs.
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

    /// Ends the object or array that was begun last.
    ///
    /// # Errors
    ///
    /// If none is open, a field has no value, two fields have the same name, or it has more than 4 GiB.
    pub fn end(&mut self) -> Result<()> {
        let Some(mut open) = self.open.pop() else {
            return Err(Error::argument("no object or array of a variant is open"));
        };
        if open.is_object {
            self.sort_fields(&mut open)?;
        }
        let before = header(open.is_object, &open.ids, &open.offsets, self.bytes.len() - open.start)?;
        // Its values move behind what is only known now.
        self.bytes.splice(open.start..open.start, before);
        Ok(())
    }

    /// Brings fields into the order of their names. The values stay where they are.
    fn sort_fields(&self, open: &mut Open) -> Result<()> {
        if open.ids.len() > open.offsets.len() {
            let name = open.ids.last().map_or("", |id| self.names.name(*id));
            return Err(Error::argument(format!("the field {name} of a variant has no value")));
        }
        let mut fields: Vec<(u32, usize)> =
            open.ids.iter().copied().zip(open.offsets.iter().copied()).collect();
        fields.sort_unstable_by(|(a, _), (b, _)| self.names.name(*a).cmp(self.names.name(*b)));
        if let Some(pair) = fields.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            let name = self.names.name(pair[0].0);
            return Err(Error::argument(format!("an object of a variant has the field {name} twice")));
        }
        (open.ids, open.offsets) = fields.into_iter().unzip();
        Ok(())
    }

    /// Notes where the next value begins.
    fn begin_value(&mut self) -> Result<()> {
        let is_due = match self.open.last_mut() {
            None => self.bytes.is_empty(),
            Some(open) => {
                let is_due = !open.is_object || open.ids.len() == open.offsets.len() + 1;
                if is_due {
                    open.offsets.push(self.bytes.len() - open.start);
                }
                is_due
            }
        };
        if is_due { Ok(()) } else { Err(Error::argument("no value of a variant is due")) }
    }

    /// Forgets what was written: after an error the writer is as new.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.open.clear();
        self.names.clear();
    }

    /// The metadata and the value. The writer is as new afterwards, whether this fails or not.
    ///
    /// # Errors
    ///
    /// If nothing was written, or an object or array is still open.
    pub fn finish(&mut self) -> Result<(Vec<u8>, Vec<u8>)> {
        let (bytes, open) = (std::mem::take(&mut self.bytes), std::mem::take(&mut self.open));
        let metadata = self.names.finish()?;
        if !open.is_empty() || bytes.is_empty() {
            return Err(Error::argument("a variant is finished before it has a value"));
        }
        Ok((metadata, bytes))
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
