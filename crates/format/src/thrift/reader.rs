//! Reading the compact protocol from a slice, without trusting a length in it.

use super::Wire;
use marquetry_base::{Cursor, Error, Limits, Result};

/// Reads Thrift values front to back.
#[derive(Debug)]
pub struct Reader<'a> {
    cursor: Cursor<'a>,
    /// How many structs and lists may still be entered.
    depth: usize,
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
struct List {
    /// How many elements the list claims to have.
    len: usize,
    /// The type of its elements.
    wire: Wire,
}

impl<'a> Reader<'a> {
    /// A reader at the first of `bytes`, with the default limits.
    pub fn new(bytes: &'a [u8]) -> Self {
        Reader::with_limits(bytes, &Limits::default())
    }

    /// A reader at the first of `bytes`.
    pub fn with_limits(bytes: &'a [u8], limits: &Limits) -> Self {
        Reader { cursor: Cursor::new(bytes), depth: limits.thrift_depth }
    }

    /// How many bytes were read.
    pub fn position(&self) -> usize {
        self.cursor.position()
    }

    /// Reads the fields of a struct: calls `read` for each, which must read its value or skip it. Integers of 16, 32
    /// and 64 bits are all [`Wire::INT`].
    #[inline]
    pub fn fields(&mut self, mut read: impl FnMut(&mut Self, Field) -> Result<()>) -> Result<()> {
        self.enter()?;
        let mut id = 0i16;
        loop {
            let byte = self.cursor.u8()?;
            if byte & 0x0f == 0 {
                break;
            }
            let wire = Wire::from_code(byte & 0x0f).ok_or_else(|| self.bad_type(byte & 0x0f))?;
            let wire = if wire.reads_as(Wire::INT) { Wire::INT } else { wire };
            id = match byte >> 4 {
                0 => self.zigzag_as()?,
                delta => id.wrapping_add(i16::from(delta)),
            };
            read(self, Field { id, wire })?;
        }
        self.depth += 1;
        Ok(())
    }

    /// Reads a list of elements of a type with `read`. A list of another type, as forks of the format have them, is
    /// passed over: `None`. The result has room for no more elements than there are bytes.
    #[inline]
    pub fn list<T>(
        &mut self,
        element: Wire,
        mut read: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<Option<Vec<T>>> {
        self.enter()?;
        let List { len, wire } = self.list_header()?;
        if len > 0 && !wire.reads_as(element) {
            (0..len).try_for_each(|_| self.skip_element(wire))?;
            self.depth += 1;
            return Ok(None);
        }
        let mut out = Vec::with_capacity(len.min(self.cursor.remaining()).min(MAX_RESERVED));
        for _ in 0..len {
            out.push(read(self)?);
        }
        self.depth += 1;
        Ok(Some(out))
    }

    fn list_header(&mut self) -> Result<List> {
        let byte = self.cursor.u8()?;
        let len = match byte >> 4 {
            15 => self.cursor.uleb128()?,
            len => u64::from(len),
        };
        // Every element takes a byte, except none: so a list cannot be longer than what is left.
        if len > self.cursor.remaining() as u64 {
            let message = format!("a list of {len} elements in {} bytes", self.cursor.remaining());
            return Err(Error::truncated(message).at(self.position() as u64));
        }
        if len == 0 {
            // QUIRK: some writers give an empty list no type.
            return Ok(List { len: 0, wire: Wire::from_code(byte & 0x0f).unwrap_or(Wire::I8) });
        }
        let wire = Wire::from_code(byte & 0x0f).ok_or_else(|| self.bad_type(byte & 0x0f))?;
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

    /// Text. What is not UTF-8 is replaced: a bad byte in a name must not make a file unreadable.
    pub fn string(&mut self) -> Result<String> {
        let bytes = self.binary()?;
        Ok(match str::from_utf8(bytes) {
            Ok(text) => text.to_owned(),
            Err(_) => String::from_utf8_lossy(bytes).into_owned(),
        })
    }

    /// Passes over a value.
    pub fn skip(&mut self, wire: Wire) -> Result<()> {
        match wire {
            Wire::True | Wire::False => Ok(()),
            Wire::I8 => self.cursor.skip(1),
            Wire::I16 | Wire::I32 | Wire::I64 => self.cursor.uleb128().map(|_| ()),
            Wire::Double => self.cursor.skip(8),
            Wire::Uuid => self.cursor.skip(16),
            Wire::Binary => self.binary().map(|_| ()),
            Wire::Struct => self.fields(|reader, field| reader.skip(field.wire)),
            Wire::List | Wire::Set => {
                self.enter()?;
                let List { len, wire } = self.list_header()?;
                (0..len).try_for_each(|_| self.skip_element(wire))?;
                self.depth += 1;
                Ok(())
            }
            Wire::Map => self.skip_map(),
        }
    }

    fn skip_map(&mut self) -> Result<()> {
        self.enter()?;
        let len = self.cursor.uleb128()?;
        if len > self.cursor.remaining() as u64 {
            return Err(Error::truncated(format!("a map of {len} entries")).at(self.position() as u64));
        }
        if len > 0 {
            let types = self.cursor.u8()?;
            let key = Wire::from_code(types >> 4).ok_or_else(|| self.bad_type(types >> 4))?;
            let value = Wire::from_code(types & 0x0f).ok_or_else(|| self.bad_type(types & 0x0f))?;
            for _ in 0..len {
                self.skip_element(key)?;
                self.skip_element(value)?;
            }
        }
        self.depth += 1;
        Ok(())
    }

    /// In lists and maps a bool is a byte.
    fn skip_element(&mut self, wire: Wire) -> Result<()> {
        match wire {
            Wire::True | Wire::False => self.cursor.skip(1),
            other => self.skip(other),
        }
    }

    /// Adds a field that is missing, or present but of no use, to an error.
    #[cold]
    pub fn missing(&self, field: &str) -> Error {
        Error::corrupt(format!("{field} is missing")).at(self.position() as u64)
    }

    #[inline]
    fn zigzag_as<T: TryFrom<i64>>(&mut self) -> Result<T> {
        let value = self.cursor.zigzag()?;
        T::try_from(value).map_err(|_| {
            Error::corrupt(format!("{value} in a field of {} bytes", size_of::<T>()))
                .at(self.position() as u64)
        })
    }

    #[inline]
    fn enter(&mut self) -> Result<()> {
        match self.depth.checked_sub(1) {
            Some(depth) => {
                self.depth = depth;
                Ok(())
            }
            None => Err(Error::limit(
                "Thrift values are nested deeper than allowed; raise Limits::thrift_depth to read it",
            )
            .at(self.position() as u64)),
        }
    }

    #[cold]
    fn bad_type(&self, code: u8) -> Error {
        Error::corrupt(format!("Thrift type {code}")).at(self.position() as u64)
    }
}

/// Elements reserved at once: large elements must not make a short input cost much more than its size.
const MAX_RESERVED: usize = 1 << 12;
