//! Reads the compact protocol from a slice, without trusting any length in it.

use super::thrift_string::ThriftString;
use super::wire::Wire;
use marquetry_base::{ByteCursor, Error, Limits, Result};
use std::marker::PhantomData;

/// Reads Thrift values front to back.
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    pub(super) cursor: ByteCursor<'a>,
    /// The remaining nesting depth: how many structs and lists may still be entered.
    pub(super) depth: usize,
}

/// The header of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// The id in `parquet.thrift`.
    pub id: i16,
    /// The type of the value that follows.
    pub wire: Wire,
}

/// The header of a list.
pub(super) struct List {
    /// The number of elements that the list claims to have.
    pub(super) len: usize,
    /// The type of the elements.
    pub(super) wire: Wire,
}

impl<'a> Reader<'a> {
    /// Creates a reader at the start of `bytes`, with the default limits.
    pub fn new(bytes: &'a [u8]) -> Self {
        Reader::with_limits(bytes, &Limits::default())
    }

    /// Creates a reader at the start of `bytes`.
    pub fn with_limits(bytes: &'a [u8], limits: &Limits) -> Self {
        Reader { cursor: ByteCursor::new(bytes), depth: limits.thrift_depth }
    }

    /// The remaining nesting depth: how many structs and lists may still be entered.
    pub(crate) fn depth(&self) -> usize {
        self.depth
    }

    /// The number of bytes read so far.
    #[inline]
    pub fn position(&self) -> usize {
        self.cursor.position()
    }

    /// The current position, to read from later.
    #[inline]
    pub fn bookmark(&self) -> Bookmark<'a> {
        Bookmark { rest: self.cursor.rest(), position: self.position(), depth: self.depth }
    }

    /// Skips bytes whose contents are known.
    #[inline]
    pub(crate) fn pass_bytes(&mut self, len: usize) -> Result<()> {
        self.cursor.skip(len)
    }

    /// Reads the fields of a struct. Calls `read` for each field, which must read or skip the value. Integers of 16, 32
    /// and 64 bits are all [`Wire::INT`].
    #[inline]
    pub fn fields(&mut self, mut read: impl FnMut(&mut Self, Field) -> Result<()>) -> Result<()> {
        // PERF: a copy to which nothing else refers stays in registers.
        let mut r = self.clone();
        r.enter()?;
        let mut id = 0i16;
        loop {
            let byte = r.cursor.u8()?;
            if byte & 0x0f == 0 {
                break;
            }
            let Some(wire) = FIELD_WIRES[usize::from(byte & 0x0f)] else {
                return Err(bad_type(byte & 0x0f, r.position()));
            };
            id = match byte >> 4 {
                0 => r.zigzag_as()?,
                delta => id.wrapping_add(i16::from(delta)),
            };
            read(&mut r, Field { id, wire })?;
        }
        r.depth += 1;
        *self = r;
        Ok(())
    }

    /// Reads with a function that should not be inlined here. PERF: it gets a copy of the reader, so that the original stays in registers.
    #[inline]
    pub(crate) fn out_of_line<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let mut r = self.clone();
        let out = read(&mut r)?;
        *self = r;
        Ok(out)
    }

    /// Reads a list, whose elements must have the type `element`, with `read`. Skips a list of another type, as forks
    /// of the format have them, and returns `None`. Does not reserve memory for more elements than there are bytes.
    #[inline]
    pub fn list<T>(
        &mut self,
        element: Wire,
        mut read: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<Option<Vec<T>>> {
        let Some(len) = self.list_of(element)? else { return Ok(None) };
        let mut out = Vec::with_capacity(len.min(self.cursor.remaining()).min(MAX_RESERVED));
        for _ in 0..len {
            out.push(read(self)?);
        }
        self.depth += 1;
        Ok(Some(out))
    }

    /// Reads a list like [`list`](Self::list), but keeps only its position: the elements are read again when they are needed.
    #[inline]
    pub fn elements<T: Element<'a>>(&mut self) -> Result<Option<Elements<'a, T>>> {
        let Some(len) = self.list_of(T::WIRE)? else { return Ok(None) };
        let elements = Elements { first: self.bookmark(), len, of: PhantomData };
        for _ in 0..len {
            T::skip_element_observed(self)?;
        }
        self.depth += 1;
        Ok(Some(elements))
    }

    /// Enters a list and returns the number of its elements. Skips a list of another type as a whole.
    #[inline]
    fn list_of(&mut self, element: Wire) -> Result<Option<usize>> {
        self.enter()?;
        let List { len, wire } = self.list_header()?;
        if len > 0 && !wire.reads_as(element) {
            self.out_of_line(|r| (0..len).try_for_each(|_| r.skip_element(wire)))?;
            self.depth += 1;
            return Ok(None);
        }
        Ok(Some(len))
    }

    #[inline]
    pub(super) fn list_header(&mut self) -> Result<List> {
        let byte = self.cursor.u8()?;
        let len = match byte >> 4 {
            15 => self.cursor.uleb128()?,
            len => u64::from(len),
        };
        // Every element takes at least a byte, so a list cannot have more elements than bytes are left.
        if len > self.cursor.remaining() as u64 {
            return Err(long_list(len, self.cursor.remaining(), self.position()));
        }
        if len == 0 {
            // QUIRK: some writers give an empty list no type.
            return Ok(List { len: 0, wire: Wire::from_code(byte & 0x0f).unwrap_or(Wire::I8) });
        }
        let wire = Wire::from_code(byte & 0x0f).ok_or_else(|| bad_type(byte & 0x0f, self.position()))?;
        Ok(List { len: len as usize, wire })
    }

    /// Reads a bool field, whose type is its value.
    #[inline]
    pub fn bool(&mut self, wire: Wire) -> bool {
        wire == Wire::True
    }

    /// Reads a bool in a list, which is a byte. 1 is true; 2 and, by some writers, 0 are false.
    #[inline]
    pub fn bool_element(&mut self) -> Result<bool> {
        Ok(self.cursor.u8()? == 1)
    }

    /// Reads a byte.
    #[inline]
    pub fn i8(&mut self) -> Result<i8> {
        Ok(self.cursor.u8()? as i8)
    }

    /// Reads a 16-bit integer.
    #[inline]
    pub fn i16(&mut self) -> Result<i16> {
        self.zigzag_as()
    }

    /// Reads a 32-bit integer.
    #[inline]
    pub fn i32(&mut self) -> Result<i32> {
        self.zigzag_as()
    }

    /// Reads the 32 bits of a checksum. QUIRK: some writers store it unsigned, which may not fit in a signed 32-bit integer.
    #[inline]
    pub fn crc(&mut self) -> Result<i32> {
        Ok(self.cursor.zigzag()? as i32)
    }

    /// Reads a 64-bit integer.
    #[inline]
    pub fn i64(&mut self) -> Result<i64> {
        self.cursor.zigzag()
    }

    /// Reads a double.
    #[inline]
    pub fn double(&mut self) -> Result<f64> {
        Ok(f64::from_bits(self.cursor.u64_le()?))
    }

    /// Reads bytes, borrowed from the input.
    #[inline]
    pub fn binary(&mut self) -> Result<&'a [u8]> {
        let len = self.cursor.uleb128()?;
        self.cursor.take(usize::try_from(len).unwrap_or(usize::MAX))
    }

    /// Reads a string. Bytes that are not UTF-8 are kept: a bad byte in a name must neither make a file unreadable nor be lost.
    pub fn string(&mut self) -> Result<ThriftString> {
        self.binary().map(ThriftString::from_bytes)
    }

    /// Creates the error for a required field that is missing, or present but unusable.
    #[cold]
    pub fn missing(&self, field: &str) -> Error {
        missing(field, self.position())
    }

    #[inline]
    pub(super) fn zigzag_as<T: TryFrom<i64>>(&mut self) -> Result<T> {
        let value = self.cursor.zigzag()?;
        T::try_from(value).map_err(|_| out_of_range(value, size_of::<T>(), self.position()))
    }

    #[inline]
    pub(super) fn enter(&mut self) -> Result<()> {
        match self.depth.checked_sub(1) {
            Some(depth) => {
                self.depth = depth;
                Ok(())
            }
            None => Err(too_deep(self.position())),
        }
    }
}

/// See [`Reader::missing`].
#[cold]
#[inline(never)]
pub(crate) fn missing(field: &str, position: usize) -> Error {
    Error::corrupt(format!("{field} is missing")).at(position as u64)
}

#[cold]
#[inline(never)]
pub(super) fn bad_type(code: u8, position: usize) -> Error {
    Error::corrupt(format!("Thrift type {code}")).at(position as u64)
}

#[cold]
#[inline(never)]
fn long_list(len: u64, left: usize, position: usize) -> Error {
    Error::truncated(format!("a list of {len} elements in {left} bytes")).at(position as u64)
}

#[cold]
#[inline(never)]
fn out_of_range(value: i64, bytes: usize, position: usize) -> Error {
    Error::corrupt(format!("{value} in a field of {bytes} bytes")).at(position as u64)
}

#[cold]
#[inline(never)]
fn too_deep(position: usize) -> Error {
    Error::limit("Thrift values are nested deeper than allowed; raise Limits::thrift_depth to read it")
        .at(position as u64)
}

/// Elements of lists that can be read one by one.
pub trait Element<'a>: Sized {
    /// The wire type of an element.
    const WIRE: Wire;

    /// Reads an element.
    fn read_element(r: &mut Reader<'a>) -> Result<Self>;

    /// Skips an element. Fails if [`read_element`](Self::read_element) would.
    #[inline]
    fn skip_element_observed(r: &mut Reader<'a>) -> Result<()> {
        Self::read_element(r).map(|_| ())
    }
}

impl<'a> Element<'a> for &'a [u8] {
    const WIRE: Wire = Wire::Binary;

    #[inline]
    fn read_element(r: &mut Reader<'a>) -> Result<Self> {
        r.binary()
    }
}

/// A position in the input, to read from later.
#[derive(Debug, Clone, Copy)]
pub struct Bookmark<'a> {
    rest: &'a [u8],
    position: usize,
    depth: usize,
}

impl<'a> Bookmark<'a> {
    /// A position in an empty input.
    pub(crate) const NOWHERE: Bookmark<'static> = Bookmark { rest: &[], position: 0, depth: 0 };

    /// Returns the position of byte `position` of `bytes`, with the remaining nesting `depth`.
    #[inline]
    pub(crate) fn inside(bytes: &'a [u8], position: usize, depth: usize) -> Self {
        Bookmark { rest: &bytes[position..], position, depth }
    }

    /// The input from this position on.
    #[inline]
    pub(crate) fn rest(self) -> &'a [u8] {
        self.rest
    }

    /// The number of bytes before this position.
    #[inline]
    pub(crate) fn position(self) -> usize {
        self.position
    }

    /// The remaining nesting depth: how many structs and lists may still be entered.
    #[inline]
    pub(crate) fn depth(self) -> usize {
        self.depth
    }

    /// Returns the position `at` bytes after this one, with the remaining nesting `depth`.
    #[inline]
    pub(crate) fn behind(self, at: usize, depth: usize) -> Self {
        Bookmark { rest: &self.rest[at..], position: self.position + at, depth }
    }

    /// Creates a reader at this position.
    #[inline]
    pub fn reader(self) -> Reader<'a> {
        Reader { cursor: ByteCursor::with_base(self.position, self.rest), depth: self.depth }
    }
}

/// The elements of a list. The list was read once already, so reading an element cannot fail.
#[derive(Debug, Clone, Copy)]
pub struct Elements<'a, T> {
    first: Bookmark<'a>,
    len: usize,
    of: PhantomData<T>,
}

impl<'a, T: Element<'a>> Elements<'a, T> {
    /// Returns a list without elements.
    #[inline]
    pub fn none() -> Self {
        Elements { first: Bookmark::NOWHERE, len: 0, of: PhantomData }
    }

    /// Returns the `len` elements from `first` on, which must have been read once.
    #[inline]
    pub(crate) fn at(first: Bookmark<'a>, len: usize) -> Self {
        Elements { first, len, of: PhantomData }
    }

    /// The position of the first element, and the number of elements.
    #[inline]
    pub(crate) fn parts(self) -> (Bookmark<'a>, usize) {
        (self.first, self.len)
    }

    /// The number of elements.
    #[inline]
    pub fn len(self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.len == 0
    }

    /// Whether `element` is one of them.
    pub fn contains(self, element: T) -> bool
    where
        T: PartialEq,
    {
        self.iter().any(|other| other == element)
    }

    /// Iterates over the elements.
    #[inline]
    pub fn iter(self) -> ElementsIter<'a, T> {
        ElementsIter { reader: self.first.reader(), left: self.len, of: PhantomData }
    }
}

impl<'a, T: Element<'a>> IntoIterator for Elements<'a, T> {
    type Item = T;
    type IntoIter = ElementsIter<'a, T>;

    #[inline]
    fn into_iter(self) -> ElementsIter<'a, T> {
        self.iter()
    }
}

/// Reads [`Elements`] one by one.
#[derive(Debug, Clone)]
pub struct ElementsIter<'a, T> {
    reader: Reader<'a>,
    left: usize,
    of: PhantomData<T>,
}

impl<'a, T: Element<'a>> Iterator for ElementsIter<'a, T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        self.left = self.left.checked_sub(1)?;
        T::read_element(&mut self.reader).ok()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<'a, T: Element<'a>> ExactSizeIterator for ElementsIter<'a, T> {}

/// The types in field headers by their codes. Integers of all widths are one type.
pub(super) const FIELD_WIRES: [Option<Wire>; 16] = {
    let mut wires = [None; 16];
    let mut code = 0;
    while code < 16 {
        wires[code as usize] = match Wire::from_code(code) {
            Some(Wire::I16 | Wire::I32 | Wire::I64) => Some(Wire::INT),
            other => other,
        };
        code += 1;
    }
    wires
};

/// Maximum number of elements to reserve memory for at once: a short input with large elements must not cost much more than its size.
const MAX_RESERVED: usize = 1 << 12;
