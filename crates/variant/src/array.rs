//! Arrays: elements by position.
//!
//! Spec: VariantEncoding.md, "Value Data for Array".

use crate::container::Container;
use crate::metadata::Metadata;
use crate::variant::Variant;
use marquetry_base::Result;

/// The elements of an array.
#[derive(Debug, Clone, Copy)]
pub struct Array<'a> {
    metadata: Metadata<'a>,
    elements: Container<'a>,
}

impl PartialEq for Array<'_> {
    /// Whether both are read from the same bytes. [`Variant::is_same`] compares their contents.
    fn eq(&self, other: &Self) -> bool {
        self.elements.is_at(&other.elements)
    }
}

impl<'a> Array<'a> {
    pub(crate) fn new(metadata: Metadata<'a>, elements: Container<'a>) -> Self {
        Array { metadata, elements }
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.elements.len
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.elements.len == 0
    }

    /// Returns the element at a position, counted from 0; `None` after the last one.
    ///
    /// # Errors
    ///
    /// If its bytes are out of bounds.
    pub fn get(&self, at: usize) -> Result<Option<Variant<'a>>> {
        if at >= self.elements.len {
            return Ok(None);
        }
        Ok(Some(Variant::inside(self.metadata, self.elements.value(at)?)))
    }

    /// Iterates over all elements in order. An item is an error if elements overlap, or if the element is damaged.
    pub fn iter(&self) -> impl Iterator<Item = Result<Variant<'a>>> + use<'a> {
        let array = *self;
        let mut bytes = 0;
        (0..self.elements.len).map(move |i| {
            let element = Variant::inside(array.metadata, array.elements.value(i)?);
            bytes += element.bytes().len();
            array.elements.check_room(bytes)?;
            Ok(element)
        })
    }
}
