//! Objects: fields by name.
//!
//! Spec: VariantEncoding.md, "Value Data for Object". Ids are in the order of the names' bytes; values are in any.

use crate::container::Container;
use crate::metadata::Metadata;
use crate::variant::Variant;
use marquetry_base::{Error, Result};
use std::cmp::Ordering;

/// The fields of an object.
#[derive(Debug, Clone, Copy)]
pub struct Object<'a> {
    metadata: Metadata<'a>,
    fields: Container<'a>,
}

impl PartialEq for Object<'_> {
    /// Whether both are read from the same bytes; [`Variant::is_same`] compares what they hold.
    fn eq(&self, other: &Self) -> bool {
        self.fields.is_at(&other.fields)
    }
}

impl<'a> Object<'a> {
    pub(crate) fn new(metadata: Metadata<'a>, fields: Container<'a>) -> Self {
        Object { metadata, fields }
    }

    /// The number of fields.
    pub fn len(&self) -> usize {
        self.fields.len
    }

    /// Whether there are no fields.
    pub fn is_empty(&self) -> bool {
        self.fields.len == 0
    }

    /// The field of that name, by binary search.
    ///
    /// # Errors
    ///
    /// If the names that are looked at are not in order, or the field's bytes are not there.
    pub fn get(&self, name: &str) -> Result<Option<Variant<'a>>> {
        let (mut low, mut high) = (0, self.fields.len);
        // The names that are next to the open range: a name between that is not between them is out of order.
        let (mut below, mut above): (Option<&[u8]>, Option<&[u8]>) = (None, None);
        while low < high {
            let middle = low + (high - low) / 2;
            let there = self.name_bytes(middle)?;
            if below.is_some_and(|below| below >= there) || above.is_some_and(|above| there >= above) {
                return Err(out_of_order(middle));
            }
            match there.cmp(name.as_bytes()) {
                Ordering::Less => (low, below) = (middle + 1, Some(there)),
                Ordering::Greater => (high, above) = (middle, Some(there)),
                Ordering::Equal => return Ok(Some(self.variant(middle)?)),
            }
        }
        Ok(None)
    }

    /// The ids of the fields' names, in the order of the names.
    pub fn ids(&self) -> impl Iterator<Item = Result<usize>> + use<'a> {
        let fields = self.fields;
        (0..fields.len).map(move |i| fields.id(i))
    }

    /// Names and values, in the order of the names.
    ///
    /// An item is an error if a name is not behind the one before, if values overlap, or if the field is damaged.
    pub fn iter(&self) -> impl Iterator<Item = Result<(&'a str, Variant<'a>)>> + use<'a> {
        let object = *self;
        let (mut before, mut bytes) = (None, 0);
        (0..self.fields.len).map(move |i| {
            let (name, field) = (object.metadata.name(object.fields.id(i)?)?, object.variant(i)?);
            if before.is_some_and(|before| before >= name) {
                return Err(out_of_order(i));
            }
            before = Some(name);
            bytes += field.bytes().len();
            object.fields.check_room(bytes)?;
            Ok((name, field))
        })
    }

    /// Appends an object of some of these fields, in binary, of the same metadata. `at` are their positions among the fields, in
    /// ascending order.
    ///
    /// ```
    /// use marquetry_variant::{Value, Variant, json};
    /// let (metadata, value) = json::parse(r#"{"a": 1, "b": [2], "c": 3}"#)?;
    /// let Value::Object(object) = Variant::new(&metadata, &value)?.value()? else { unreachable!() };
    /// let mut some = Vec::new();
    /// object.write_some(&[0, 1], &mut some)?;
    /// assert_eq!(json::to_string(Variant::new(&metadata, &some)?)?, r#"{"a":1,"b":[2]}"#);
    /// # Ok::<(), marquetry_variant::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If there is no such field, or its bytes are not there. What was appended before stays.
    pub fn write_some(&self, at: &[usize], out: &mut Vec<u8>) -> Result<()> {
        self.fields.write_some(at, out)
    }

    fn name_bytes(&self, i: usize) -> Result<&'a [u8]> {
        self.metadata.bytes(self.fields.id(i)?)
    }

    fn variant(&self, i: usize) -> Result<Variant<'a>> {
        Ok(Variant::inside(self.metadata, self.fields.value(i)?))
    }
}

#[cold]
pub(crate) fn out_of_order(i: usize) -> Error {
    Error::corrupt(format!("variant: the name of field {i} is not behind the one before"))
}
