//! Builds an array of views of binary values, each of which is written at its final place.

use arrow_array::builder::make_view;
use arrow_array::{ArrayRef, BinaryViewArray};
use arrow_buffer::{Buffer, NullBuffer, NullBufferBuilder, ScalarBuffer};
use marquetry_base::{Error, Result};
use marquetry_variant::Variant;
use std::sync::Arc;

/// Builds an array of byte strings at ascending positions, with nulls between them.
#[derive(Debug)]
pub(super) struct ValueBytes {
    views: Vec<u128>,
    nulls: NullBufferBuilder,
    buffers: Vec<Buffer>,
    /// The buffer that is being filled.
    open: Vec<u8>,
}

impl ValueBytes {
    pub(super) fn new() -> Self {
        ValueBytes {
            views: Vec::new(),
            nulls: NullBufferBuilder::new(0),
            buffers: Vec::new(),
            open: Vec::new(),
        }
    }

    /// Appends a copy of `bytes` as the byte string at position `at`.
    pub(super) fn push(&mut self, at: usize, bytes: &[u8]) -> Result<()> {
        self.write(at, |open| {
            open.extend_from_slice(bytes);
            Ok(())
        })
    }

    /// Appends a variant's value as the byte string at position `at`, with the fields of its objects sorted by name.
    pub(super) fn push_sorted(&mut self, at: usize, variant: Variant<'_>) -> Result<()> {
        self.write(at, |open| {
            variant.write_sorted(open);
            Ok(())
        })
    }

    /// Appends the bytes that `write` writes as the byte string at position `at`.
    pub(super) fn write(&mut self, at: usize, write: impl FnOnce(&mut Vec<u8>) -> Result<()>) -> Result<()> {
        self.pad(at);
        let start = self.open.len();
        write(&mut self.open)?;
        let bytes = &self.open[start..];
        let (Ok(_), Ok(buffer), Ok(offset)) =
            (i32::try_from(bytes.len()), u32::try_from(self.buffers.len()), u32::try_from(start))
        else {
            return Err(Error::limit("values of a VARIANT that are more than 2 GiB"));
        };
        self.views.push(make_view(bytes, buffer, offset));
        self.nulls.append_non_null();
        if bytes.len() <= INLINE {
            self.open.truncate(start);
        } else if self.open.len() >= BUFFER {
            self.buffers.push(Buffer::from_vec(std::mem::take(&mut self.open)));
        }
        Ok(())
    }

    /// Appends nulls up to position `at`.
    fn pad(&mut self, at: usize) {
        self.nulls.append_n_nulls(at.saturating_sub(self.views.len()));
        self.views.resize(at.max(self.views.len()), 0);
    }

    /// Returns the array, of length `len`.
    pub(super) fn finish(mut self, len: usize) -> Result<ArrayRef> {
        self.pad(len);
        let nulls = self.nulls.finish();
        self.array(nulls)
    }

    /// Returns the array, of length `len`, with `fill` in place of nulls. `fill` has at most [`INLINE`] bytes.
    pub(super) fn finish_filled(mut self, len: usize, fill: &[u8]) -> Result<ArrayRef> {
        self.pad(len);
        if let Some(nulls) = self.nulls.finish() {
            let fill = make_view(fill, 0, 0);
            let views = self.views.iter_mut().zip(nulls.iter());
            views.filter(|(_, is_there)| !is_there).for_each(|(view, _)| *view = fill);
        }
        self.array(None)
    }

    fn array(mut self, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
        if !self.open.is_empty() {
            self.buffers.push(Buffer::from_vec(self.open));
        }
        let array = BinaryViewArray::try_new(ScalarBuffer::from(self.views), self.buffers, nulls);
        Ok(Arc::new(array.map_err(crate::arrow_error)?))
    }
}

/// How many bytes a view can hold inline.
const INLINE: usize = 12;
/// Size at which a buffer is closed, in bytes.
const BUFFER: usize = 1 << 20;
