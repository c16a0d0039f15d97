//! Decoded values: one buffer for each shape, in the layout of Arrow arrays.

use crate::fixed_len_bytes::FixedLenBytes;
use crate::offset_strings::OffsetStrings;
use crate::shape::Shape;
use crate::string_views::StringViews;
use marquetry_base::{Error, Result, reserve_if_available};
use marquetry_kernels::{self as kernels, Bitmap};
use std::ops::Range;

/// Values of one [`Shape`]: the output of decoders, the input of encoders, and the buffers of arrays.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// BOOLEAN.
    Bit(Bitmap),
    /// INT32, FLOAT: the bits of the value.
    W32(Vec<u32>),
    /// INT64, DOUBLE: the bits of the value.
    W64(Vec<u64>),
    /// INT96, FIXED_LEN_BYTE_ARRAY.
    Fixed(FixedLenBytes),
    /// BYTE_ARRAY.
    Bytes(StringViews),
    /// BYTE_ARRAY in the offset layout, if the reader requested it. Encoders do not accept it.
    Offsets(OffsetStrings),
}

impl Shape {
    /// Creates an empty buffer for values of this shape.
    pub fn empty(self) -> Values {
        Values::empty(self)
    }
}

impl Values {
    /// Creates an empty buffer for values of `shape`.
    pub fn empty(shape: Shape) -> Values {
        match shape {
            Shape::Bit => Values::Bit(Bitmap::new()),
            Shape::W32 => Values::W32(Vec::new()),
            Shape::W64 => Values::W64(Vec::new()),
            Shape::Fixed(width) => Values::Fixed(FixedLenBytes::new(width)),
            Shape::Bytes => Values::Bytes(StringViews::new()),
        }
    }

    /// The shape of the values.
    pub fn shape(&self) -> Shape {
        match self {
            Values::Bit(_) => Shape::Bit,
            Values::W32(_) => Shape::W32,
            Values::W64(_) => Shape::W64,
            Values::Fixed(values) => Shape::Fixed(values.width()),
            Values::Bytes(_) | Values::Offsets(_) => Shape::Bytes,
        }
    }

    /// The number of values.
    pub fn len(&self) -> usize {
        match self {
            Values::Bit(bits) => bits.len(),
            Values::W32(values) => values.len(),
            Values::W64(values) => values.len(),
            Values::Fixed(values) => values.len(),
            Values::Bytes(views) => views.len(),
            Values::Offsets(strings) => strings.len(),
        }
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Removes all values and keeps the memory.
    pub fn clear(&mut self) {
        match self {
            Values::Bit(bits) => bits.clear(),
            Values::W32(values) => values.clear(),
            Values::W64(values) => values.clear(),
            Values::Fixed(values) => values.clear(),
            Values::Bytes(views) => views.clear(),
            Values::Offsets(strings) => strings.clear(),
        }
    }

    /// Reserves memory for `n` more values. `n` must be backed by input; it must never be a number that a file merely claims.
    pub fn reserve(&mut self, n: usize) {
        match self {
            Values::Bit(bits) => bits.reserve(n),
            Values::W32(values) => reserve_if_available(values, n),
            Values::W64(values) => reserve_if_available(values, n),
            Values::Fixed(values) => values.reserve(n),
            Values::Bytes(views) => views.reserve(n),
            Values::Offsets(strings) => strings.reserve(n),
        }
    }

    /// Appends `n` default values for the slots of nulls.
    pub fn push_nulls(&mut self, n: usize) {
        match self {
            Values::Bit(bits) => bits.push_run(false, n),
            Values::W32(values) => values.resize(values.len() + n, 0),
            Values::W64(values) => values.resize(values.len() + n, 0),
            Values::Fixed(values) => values.push_nulls(n),
            Values::Bytes(views) => views.push_nulls(n),
            Values::Offsets(strings) => strings.push_nulls(n),
        }
    }

    /// Runs `decode` with the cleared `scratch`, which must have the same layout. Meanwhile `scratch` owns the buffers
    /// of this value, so that byte strings decoded into it can then be expanded into this value.
    pub fn with_scratch<R>(&mut self, scratch: &mut Values, decode: impl FnOnce(&mut Values) -> R) -> R {
        scratch.clear();
        self.swap_buffers(scratch);
        let result = decode(scratch);
        self.swap_buffers(scratch);
        result
    }

    fn swap_buffers(&mut self, scratch: &mut Values) {
        match (self, scratch) {
            (Values::Bytes(out), Values::Bytes(lent)) => out.swap_buffers(lent),
            (Values::Offsets(out), Values::Offsets(lent)) => out.swap_bytes(lent),
            _ => {}
        }
    }

    /// Appends one slot for each of the `n` bits of `validity` from bit `first` on: the next value of `dense` for a 1,
    /// the default value for a 0. `dense` must be of the same shape, have one value for each 1, and, for byte strings,
    /// share this value's buffers (see [`with_scratch`](Values::with_scratch)).
    pub fn push_spaced(&mut self, dense: &Values, validity: &Bitmap, first: usize, n: usize) {
        match (self, dense) {
            (Values::Bit(out), Values::Bit(dense)) => kernels::expand_bits(dense, validity, first, n, out),
            (Values::W32(out), Values::W32(dense)) => kernels::expand_u32(dense, validity, first, n, out),
            (Values::W64(out), Values::W64(dense)) => kernels::expand_u64(dense, validity, first, n, out),
            (Values::Fixed(out), Values::Fixed(dense)) => {
                out.push_spaced(&dense.as_bytes(), validity, first, n);
            }
            (Values::Bytes(out), Values::Bytes(dense)) => out.push_spaced(dense, validity, first, n),
            (Values::Offsets(out), Values::Offsets(dense)) => out.push_spaced(dense, validity, first, n),
            (out, dense) => unreachable!("{:?} expanded into {:?}", dense.shape(), out.shape()),
        }
    }

    /// Appends those of `values` whose bit in `keep` is 1; bit `first` belongs to the first value. `values` must have the same
    /// layout. Views share the buffers of long strings. Fails if there are more bytes than offsets can address.
    ///
    /// # Panics
    /// If the layouts differ or there are too few bits.
    pub fn push_filtered(&mut self, values: &Values, keep: &Bitmap, first: usize) -> Result<()> {
        let bits = keep.as_bytes();
        match (self, values) {
            (Values::Bit(out), Values::Bit(values)) => {
                kernels::filter_bits(values.as_bytes(), 0, bits, first, values.len(), out);
            }
            (Values::W32(out), Values::W32(values)) => kernels::filter_u32(values, bits, first, out),
            (Values::W64(out), Values::W64(values)) => kernels::filter_u64(values, bits, first, out),
            (Values::Fixed(out), Values::Fixed(values)) if out.width() == values.width() => {
                out.push_filtered(values, keep, first);
            }
            (Values::Bytes(out), Values::Bytes(values)) => out.push_filtered(values, bits, first),
            (Values::Offsets(out), Values::Offsets(values)) => {
                return out.push_filtered(values, bits, first);
            }
            (out, values) => unreachable!("{:?} appended to {:?}", values.shape(), out.shape()),
        }
        Ok(())
    }

    /// Appends the values in `range` of `other`, which must have the same layout. Fails if there is not enough memory.
    ///
    /// # Panics
    /// If the layouts differ or the range is not inside `other`.
    pub fn push_range(&mut self, other: &Values, range: Range<usize>) -> Result<()> {
        match (self, other) {
            (Values::Bit(out), Values::Bit(bits)) => {
                out.push_packed(bits.as_bytes(), range.start, range.len());
            }
            (Values::W32(out), Values::W32(values)) => out.extend_from_slice(&values[range]),
            (Values::W64(out), Values::W64(values)) => out.extend_from_slice(&values[range]),
            (Values::Fixed(out), Values::Fixed(values)) if out.width() == values.width() => {
                out.try_make_room(range.len())?;
                out.push_range(values, range)
            }
            (Values::Bytes(out), Values::Bytes(views)) => return out.push_copied(views, range),
            (Values::Offsets(out), Values::Offsets(strings)) => out.push_range(strings, range),
            (out, other) => unreachable!("{:?} appended to {:?}", other.shape(), out.shape()),
        }
        Ok(())
    }

    /// The size in bytes of the values in `range`: the total length of byte strings, or the fixed width of each other value.
    ///
    /// # Panics
    /// If the range is not inside; checked for byte strings only.
    pub fn data_bytes(&self, range: Range<usize>) -> usize {
        match self {
            Values::Bit(_) => range.len().div_ceil(8),
            Values::W32(_) => range.len() * 4,
            Values::W64(_) => range.len() * 8,
            Values::Fixed(values) => range.len() * values.width(),
            Values::Bytes(views) => views.data_bytes(range),
            Values::Offsets(strings) => strings.data_bytes(range),
        }
    }

    /// Returns the index of the first byte string in `range` that is not UTF-8. Always `None` for other shapes.
    pub fn first_not_utf8(&self, range: Range<usize>) -> Option<usize> {
        match self {
            Values::Bytes(views) => views.first_not_utf8(range),
            Values::Offsets(strings) => strings.first_not_utf8(range),
            _ => None,
        }
    }

    /// The bits, for decoders of BOOLEAN. Fails for any other shape.
    pub fn as_bits(&mut self) -> Result<&mut Bitmap> {
        match self {
            Values::Bit(bits) => Ok(bits),
            other => Err(wrong_shape(Shape::Bit, other)),
        }
    }

    /// The 32-bit words. Fails for any other shape.
    pub fn as_w32(&mut self) -> Result<&mut Vec<u32>> {
        match self {
            Values::W32(values) => Ok(values),
            other => Err(wrong_shape(Shape::W32, other)),
        }
    }

    /// The 64-bit words. Fails for any other shape.
    pub fn as_w64(&mut self) -> Result<&mut Vec<u64>> {
        match self {
            Values::W64(values) => Ok(values),
            other => Err(wrong_shape(Shape::W64, other)),
        }
    }

    /// The fixed-width values. Fails for any other shape or width.
    pub fn as_fixed(&mut self, width: usize) -> Result<&mut FixedLenBytes> {
        match self {
            Values::Fixed(values) => match values.width() == width {
                true => Ok(values),
                false => Err(Error::argument(format!(
                    "values of {width} bytes wanted, of {} given",
                    values.width()
                ))),
            },
            other => Err(wrong_shape(Shape::Fixed(width), other)),
        }
    }

    /// The views. Fails for any other shape, and for the offset layout.
    pub fn as_bytes(&mut self) -> Result<&mut StringViews> {
        match self {
            Values::Bytes(views) => Ok(views),
            other => Err(wrong_shape(Shape::Bytes, other)),
        }
    }
}

#[cold]
pub(crate) fn wrong_shape(wanted: Shape, actual: &Values) -> Error {
    Error::argument(format!("{wanted:?} values wanted, {:?} given", actual.shape()))
}
