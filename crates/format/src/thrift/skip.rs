//! Skips Thrift values without reading them.

use super::reader::{FIELD_WIRES, List, Reader, bad_type};
use super::wire::Wire;
use marquetry_base::{Error, Result};
use std::ops::Range;

/// Observes which bits decided how a value was parsed.
pub(super) trait SkipObserver {
    /// Reports that parsing depended on `bits` of each of `bytes`. Positions count from the start of the input.
    fn mark(&mut self, bytes: Range<usize>, bits: u8);

    /// Reports that the bytes `len` are the length of a byte string that ends before byte `end`.
    fn string(&mut self, len: Range<usize>, end: usize);
}

/// Observes nothing.
impl SkipObserver for () {
    #[inline]
    fn mark(&mut self, _: Range<usize>, _: u8) {}

    #[inline]
    fn string(&mut self, _: Range<usize>, _: usize) {}
}

impl<'a> Reader<'a> {
    /// Skips a value.
    #[inline]
    pub fn skip(&mut self, wire: Wire) -> Result<()> {
        self.out_of_line(|r| r.skip_observed(wire, &mut ()))
    }

    pub(super) fn skip_observed<M: SkipObserver>(&mut self, wire: Wire, marks: &mut M) -> Result<()> {
        match wire {
            Wire::True | Wire::False => Ok(()),
            Wire::I16 | Wire::I32 | Wire::I64 => self.skip_varint_observed(marks),
            Wire::Binary => self.skip_string_observed(marks),
            Wire::I8 => self.cursor.skip(1),
            Wire::Double => self.cursor.skip(8),
            Wire::Uuid => self.cursor.skip(16),
            Wire::Struct => self.skip_struct_observed(marks),
            Wire::List | Wire::Set => self.skip_list_observed(marks),
            Wire::Map => self.skip_map_observed(marks),
        }
    }

    #[inline]
    fn skip_varint_observed<M: SkipObserver>(&mut self, marks: &mut M) -> Result<()> {
        let start = self.position();
        self.cursor.skip_uleb128()?;
        let end = self.position();
        marks.mark(start..end, 0x80);
        if end - start == MAX_VARINT_BYTES {
            // Only one bit of the last byte may be set.
            marks.mark(end - 1..end, 0xff);
        }
        Ok(())
    }

    #[inline]
    fn skip_string_observed<M: SkipObserver>(&mut self, marks: &mut M) -> Result<()> {
        let start = self.position();
        let len = self.cursor.uleb128()?;
        let end = self.position();
        self.cursor.skip(usize::try_from(len).unwrap_or(usize::MAX))?;
        marks.string(start..end, self.position());
        Ok(())
    }

    fn skip_struct_observed<M: SkipObserver>(&mut self, marks: &mut M) -> Result<()> {
        let mut r = self.clone();
        r.enter()?;
        loop {
            let start = r.position();
            let byte = r.cursor.u8()?;
            if byte & 0x0f == 0 {
                marks.mark(start..start + 1, 0xff);
                break;
            }
            let Some(wire) = FIELD_WIRES[usize::from(byte & 0x0f)] else {
                return Err(bad_type(byte & 0x0f, r.position()));
            };
            if byte >> 4 == 0 {
                r.zigzag_as::<i16>()?;
            }
            marks.mark(start..r.position(), 0xff);
            match wire {
                Wire::INT => r.skip_varint_observed(marks)?,
                Wire::Binary => r.skip_string_observed(marks)?,
                Wire::True | Wire::False => {}
                other => r.out_of_line(|r| r.skip_observed(other, marks))?,
            }
        }
        r.depth += 1;
        *self = r;
        Ok(())
    }

    fn skip_list_observed<M: SkipObserver>(&mut self, marks: &mut M) -> Result<()> {
        self.enter()?;
        let start = self.position();
        let List { len, wire } = self.list_header()?;
        marks.mark(start..self.position(), 0xff);
        // PERF: separate loops for the most frequent types of elements.
        match wire {
            Wire::I16 | Wire::I32 | Wire::I64 => {
                (0..len).try_for_each(|_| self.skip_varint_observed(marks))?
            }
            Wire::Binary => (0..len).try_for_each(|_| self.skip_string_observed(marks))?,
            Wire::Struct => (0..len).try_for_each(|_| self.skip_struct_observed(marks))?,
            other => (0..len).try_for_each(|_| self.skip_element_observed(other, marks))?,
        }
        self.depth += 1;
        Ok(())
    }

    fn skip_map_observed<M: SkipObserver>(&mut self, marks: &mut M) -> Result<()> {
        self.enter()?;
        let start = self.position();
        let len = self.cursor.uleb128()?;
        marks.mark(start..self.position(), 0xff);
        if len > self.cursor.remaining() as u64 {
            return Err(Error::truncated(format!("a map of {len} entries")).at(self.position() as u64));
        }
        if len > 0 {
            let start = self.position();
            let types = self.cursor.u8()?;
            marks.mark(start..start + 1, 0xff);
            let key = Wire::from_code(types >> 4).ok_or_else(|| bad_type(types >> 4, self.position()))?;
            let value =
                Wire::from_code(types & 0x0f).ok_or_else(|| bad_type(types & 0x0f, self.position()))?;
            for _ in 0..len {
                self.skip_element_observed(key, marks)?;
                self.skip_element_observed(value, marks)?;
            }
        }
        self.depth += 1;
        Ok(())
    }

    /// Skips an element of a list whose type was not expected.
    pub(super) fn skip_element(&mut self, wire: Wire) -> Result<()> {
        self.skip_element_observed(wire, &mut ())
    }

    /// Skips an element of a list or map, in which a bool is a byte.
    fn skip_element_observed<M: SkipObserver>(&mut self, wire: Wire, marks: &mut M) -> Result<()> {
        match wire {
            Wire::True | Wire::False => self.cursor.skip(1),
            other => self.skip_observed(other, marks),
        }
    }
}

/// Maximum length of a varint of 64 bits, in bytes.
const MAX_VARINT_BYTES: usize = 10;
