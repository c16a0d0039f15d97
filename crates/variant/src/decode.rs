//! Decodes a value: its header, and the bytes after it.

use crate::array::Array;
use crate::container::Container;
use crate::header::{ARRAY, Layout, OBJECT, SHORT_STRING};
use crate::object::Object;
use crate::primitive::{read_primitive, text};
use crate::value::Value;
use crate::variant::Variant;
use marquetry_base::{Error, Result};

impl<'a> Variant<'a> {
    /// Decodes the value.
    ///
    /// # Errors
    ///
    /// If its type is unknown, its bytes end too early, or its text is not UTF-8.
    #[inline]
    pub fn value(&self) -> Result<Value<'a>> {
        let (&first, rest) =
            self.bytes().split_first().ok_or_else(|| Error::truncated("a variant value of no bytes"))?;
        let header = first >> 2;
        match first & 3 {
            SHORT_STRING => Ok(Value::String(text(rest)?)),
            OBJECT => {
                let fields = Container::new(rest, Layout::of_object(header))?;
                Ok(Value::Object(Object::new(self.metadata(), fields)))
            }
            ARRAY => {
                let elements = Container::new(rest, Layout::of_array(header))?;
                Ok(Value::Array(Array::new(self.metadata(), elements)))
            }
            _ => read_primitive(header, rest),
        }
    }
}
