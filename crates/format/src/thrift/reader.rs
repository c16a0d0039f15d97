//! Reading the compact protocol from a slice, without trusting a length in it.

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

/// A field's header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// The id in `parquet.thrift`.
    pub id: i16,
    /// The type of the value that follows.
    pub wire: Wire,
}

/// A list's header.
pub(super) struct List {
    /// How many elements the list claims to have.
    pub(super) len: usize,
    /// The type of its elements.
    pub(super) wire: Wire,
}

impl<'a> Reader<'a> {
    /// A reader at the first of `bytes`, with the default limits.
    pub fn new(bytes: &'a [u8]) -> Self {
        Reader::with_limits(bytes, &Limits::default())
    }

    /// A reader at the first of `bytes`.
    pub fn with_limits(bytes: &'a [u8], limits: &Limits) -> Self {
        Reader { cursor: ByteCursor::new(bytes), depth: limits.thrift_depth }
    }

    /// The remaining nesting depth: how many structs and lists may still be entered.
    pub(crate) fn depth(&self) -> usize {
        self.depth
    }

    /// How many bytes were read.
    #[inline]
    pub fn position(&self) -> usize {
        self.cursor.position()
    }

    /// The place where the reader is.
    #[inline]
    pub fn bookmark(&self) -> Bookmark<'a> {
        Bookmark { rest: self.cursor.rest(), position: self.position(), depth: self.depth }
    }

    /// Skips bytes whose content is known.
    #[inline]
    pub(crate) fn pass_bytes(&mut self, len: usize) -> Result<()> {
        self.cursor.skip(len)
    }

    /// Reads the fields of a struct: calls `read` for each, which must read its value or skip it. Integers of 16, 32
    /// and 64 bits are all [`Wire::INT`].
    #[inline]
    pub fn fields(&mut self, mut read: impl FnMut(&mut Self, Field) -> Result<()>) -> Result<()> {
        // PERF: a copy that nothing else refers to stays in registers.
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

    /// Reads with a function that is not to be inlined where it is called.
    #[inline]
    pub(crate) fn out_of_line<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let mut r = self.clone();
        let out = read(&mut r)?;
        *self = r;
        Ok(out)
    }

    /// Reads a list of elements of a type with `read`. A list of another type, as forks of the format have them, is
    /// passed over: `None`. The result has room for no more elements than there are bytes.
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

    /// Reads a list as [`list`](Self::list) does, but keeps no more of it than where it is: the elements are read again
    /// by who wants them.
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

    /// Enters a list, and returns the number of elements; a list of another type is skipped as a whole.
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
        // Every element takes a byte, except none: so a list cannot be longer than what is left.
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

    /// A bool field: its type is its value.
    #[inline]
    pub fn bool(&mut self, wire: Wire) -> bool {
        wire == Wire::True
    }

    /// A bool in a list: a byte. 1 is true; 2 and, by some writers, 0 are false.
    #[inline]
    pub fn bool_element(&mut self) -> Result<bool> {
        Ok(self.cursor.u8()? == 1)
    }

    /// A byte.
    #[inline]
    pub fn i8(&mut self) -> Result<i8> {
        Ok(self.cursor.u8()? as i8)
    }

    /// A 16-bit integer.
    #[inline]
    pub fn i16(&mut self) -> Result<i16> {
        self.zigzag_as()
    }

    /// A 32-bit integer.
    #[inline]
    pub fn i32(&mut self) -> Result<i32> {
        self.zigzag_as()
    }

    /// The 32 bits of a checksum. QUIRK: some writers store it unsigned, as a number that a signed one cannot hold.
    #[inline]
    pub fn crc(&mut self) -> Result<i32> {
        Ok(self.cursor.zigzag()? as i32)
    }

    /// A 64-bit integer.
    #[inline]
    pub fn i64(&mut self) -> Result<i64> {
        self.cursor.zigzag()
    }

    /// A double.
    #[inline]
    pub fn double(&mut self) -> Result<f64> {
        Ok(f64::from_bits(self.cursor.u64_le()?))
    }

    /// Bytes, borrowed from the input.
    #[inline]
    pub fn binary(&mut self) -> Result<&'a [u8]> {
        let len = self.cursor.uleb128()?;
        self.cursor.take(usize::try_from(len).unwrap_or(usize::MAX))
    }

    /// A string. What is not UTF-8 is kept: a bad byte in a name must not make a file unreadable, nor be lost.
    pub fn string(&mut self) -> Result<ThriftString> {
        self.binary().map(ThriftString::from_bytes)
    }

    /// Adds a field that is missing, or present but of no use, to an error.
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

/// What lists have as elements that are read one by one.
pub trait Element<'a>: Sized {
    /// The type on the wire.
    const WIRE: Wire;

    /// Reads one.
    fn read_element(r: &mut Reader<'a>) -> Result<Self>;

    /// Skips one; fails if [`read_element`](Self::read_element) does.
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

/// A place in the input, to read from later.
#[derive(Debug, Clone, Copy)]
pub struct Bookmark<'a> {
    rest: &'a [u8],
    position: usize,
    depth: usize,
}

impl<'a> Bookmark<'a> {
    /// Where nothing is.
    pub(crate) const NOWHERE: Bookmark<'static> = Bookmark { rest: &[], position: 0, depth: 0 };

    /// Byte `position` of `bytes`, with the remaining nesting `depth`.
    #[inline]
    pub(crate) fn inside(bytes: &'a [u8], position: usize, depth: usize) -> Self {
        Bookmark { rest: &bytes[position..], position, depth }
    }

    /// What is left of the input.
    #[inline]
    pub(crate) fn rest(self) -> &'a [u8] {
        self.rest
    }

    /// How many bytes are before it.
    #[inline]
    pub(crate) fn position(self) -> usize {
        self.position
    }

    /// The remaining nesting depth: how many structs and lists may still be entered.
    #[inline]
    pub(crate) fn depth(self) -> usize {
        self.depth
    }

    /// The position `at` bytes after this one, with the remaining nesting `depth`.
    #[inline]
    pub(crate) fn behind(self, at: usize, depth: usize) -> Self {
        Bookmark { rest: &self.rest[at..], position: self.position + at, depth }
    }

    /// A reader at this place.
    #[inline]
    pub fn reader(self) -> Reader<'a> {
        Reader { cursor: ByteCursor::with_base(self.position, self.rest), depth: self.depth }
    }
}

/// The elements of a list that was read once already, so that none can fail.
#[derive(Debug, Clone, Copy)]
pub struct Elements<'a, T> {
    first: Bookmark<'a>,
    len: usize,
    of: PhantomData<T>,
}

impl<'a, T: Element<'a>> Elements<'a, T> {
    /// No elements.
    #[inline]
    pub fn none() -> Self {
        Elements { first: Bookmark::NOWHERE, len: 0, of: PhantomData }
    }

    /// Those `len` that begin at `first`, which were read once.
    #[inline]
    pub(crate) fn at(first: Bookmark<'a>, len: usize) -> Self {
        Elements { first, len, of: PhantomData }
    }

    /// Where the first one is, and how many there are.
    #[inline]
    pub(crate) fn parts(self) -> (Bookmark<'a>, usize) {
        (self.first, self.len)
    }

    /// How many there are.
    #[inline]
    pub fn len(self) -> usize {
        self.len
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.len == 0
    }

    /// Whether one of them is this one.
    pub fn contains(self, element: T) -> bool
    where
        T: PartialEq,
    {
        self.iter().any(|other| other == element)
    }

    /// Reads them one by one.
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

/// The types in field headers by their codes, integers of all widths as one.
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

/// Elements reserved at once: large elements must not make a short input cost much more than its size.
const MAX_RESERVED: usize = 1 << 12;
