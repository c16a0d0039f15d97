//! Objects: fields by name.
//!
//! Spec: VariantEncoding.md, "Value Data for Object". Ids are ordered by the bytes of their names; values may be in any order.
//!
//! QUIRK: DuckDB 2.0 writes ids in the order in which it met the names. Such objects can be read, by name and in the
//! order of the names; only [`Variant::validate`] rejects them.

use crate::container::Container;
use crate::field_order::sort_fields;
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
    /// Whether both are read from the same bytes. [`Variant::is_same`] compares their contents.
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

    /// Returns the field of that name. Tries a binary search first, and then compares every name.
    ///
    /// # Errors
    ///
    /// If the bytes of a compared name, or of the field, are out of bounds.
    pub fn get(&self, name: &str) -> Result<Option<Variant<'a>>> {
        if let Some(at) = self.search(name)? {
            return self.variant(at).map(Some);
        }
        // If the fields are out of order, it may be anywhere.
        for i in 0..self.fields.len {
            if self.name_bytes(i)? == name.as_bytes() {
                return self.variant(i).map(Some);
            }
        }
        Ok(None)
    }

    /// Finds the position of the field of that name by binary search. Fields that are out of order may not be found.
    pub(crate) fn search(&self, name: &str) -> Result<Option<usize>> {
        let (mut low, mut high) = (0, self.fields.len);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.name_bytes(middle)?.cmp(name.as_bytes()) {
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
                Ordering::Equal => return Ok(Some(middle)),
            }
        }
        Ok(None)
    }

    /// Returns the id of the name of the field at a position.
    ///
    /// # Errors
    ///
    /// If the field does not exist.
    pub fn id(&self, at: usize) -> Result<usize> {
        self.fields.id(at)
    }

    /// Iterates over names and values, in the order of the names.
    ///
    /// An item is an error if two fields have the same name, if values overlap, or if the field is damaged.
    pub fn iter(&self) -> impl Iterator<Item = Result<(&'a str, Variant<'a>)>> + use<'a> {
        self.entries().map(|entry| entry.map(|(_, name, field)| (name, field)))
    }

    /// Like [`iter`](Self::iter), with the position at which each field is stored.
    pub fn entries(&self) -> impl Iterator<Item = Result<(usize, &'a str, Variant<'a>)>> + use<'a> {
        let (object, order) = (*self, self.order());
        let (mut before, mut bytes) = (None, 0);
        (0..self.fields.len).map(move |i| {
            let at = order.as_ref().map_or(i, |order| order[i]);
            let (name, field) = (object.metadata.name(object.fields.id(at)?)?, object.variant(at)?);
            if before.is_some_and(|before| before >= name) {
                return Err(Error::corrupt(format!("variant: two fields of an object are named {name}")));
            }
            before = Some(name);
            bytes += field.bytes().len();
            object.fields.check_room(bytes)?;
            Ok((at, name, field))
        })
    }

    /// Returns the positions of the fields in the order of their names; `None` if they are stored in this order, or if
    /// a name is out of bounds.
    fn order(&self) -> Option<Vec<usize>> {
        let mut before: Option<&[u8]> = None;
        let is_ordered = (0..self.fields.len).all(|i| {
            let Ok(name) = self.name_bytes(i) else { return false };
            before.replace(name).is_none_or(|before| before < name)
        });
        if is_ordered {
            return None;
        }
        let names = (0..self.fields.len).map(|i| Some((self.name_bytes(i).ok()?, i)));
        let mut names = names.collect::<Option<Vec<_>>>()?;
        names.sort_unstable();
        Some(names.into_iter().map(|(_, i)| i).collect())
    }

    /// Appends an object with some of these fields, in binary and for the same metadata. `at` has their positions, in
    /// the order of their names, see [`entries`](Self::entries). The fields of nested objects are sorted by name, too.
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
    /// If a field does not exist, or its bytes are out of bounds. Bytes appended before the error stay.
    pub fn write_some(&self, at: &[usize], out: &mut Vec<u8>) -> Result<()> {
        let start = out.len();
        self.fields.write_some(at, out)?;
        sort_fields(self.metadata, &mut out[start..]);
        Ok(())
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
