//! The values of a dictionary, and their lookup by index.

use crate::entry_offsets::EntryOffsets;
use crate::values::{Values, wrong_shape};
use marquetry_base::{Error, PaddedBytes, Result};
use marquetry_kernels as kernels;
use std::sync::OnceLock;

/// The values of a dictionary page.
#[derive(Debug, Clone)]
pub struct Dictionary {
    values: Values,
    /// The PLAIN page that the values were decoded from, if known.
    page: Option<PaddedBytes>,
    /// The positions of byte strings in the page, computed at the first lookup into the offset layout.
    strings: OnceLock<EntryOffsets>,
    had_lengths: bool,
}

impl PartialEq for Dictionary {
    fn eq(&self, other: &Self) -> bool {
        self.values == other.values
    }
}

impl Dictionary {
    /// Creates a dictionary of `values`.
    pub fn new(values: Values) -> Self {
        Dictionary { values, page: None, strings: OnceLock::new(), had_lengths: false }
    }

    /// Whether the page had a length before each value although the values are of fixed width: a quirk of arrow-rs.
    pub fn had_lengths(&self) -> bool {
        self.had_lengths
    }

    /// Sets whether the page had a length before each value.
    pub(super) fn with_lengths(self, had_lengths: bool) -> Self {
        Dictionary { had_lengths, ..self }
    }

    /// Creates a dictionary of `values` that were decoded from `page`, a PLAIN dictionary page.
    pub(super) fn with_page(values: Values, page: PaddedBytes) -> Self {
        let page = matches!(values, Values::Bytes(_)).then_some(page);
        Dictionary { page, ..Dictionary::new(values) }
    }

    /// The values, to append to.
    pub(super) fn values_mut(&mut self) -> &mut Values {
        &mut self.values
    }

    /// The values, owned.
    pub(super) fn into_values(self) -> Values {
        self.values
    }

    /// The values, by index.
    pub fn values(&self) -> &Values {
        &self.values
    }

    /// Returns the values at `indices`. An empty dictionary gives default values, because only slots of nulls can refer to it.
    pub fn values_at(&self, indices: &[u32]) -> Result<Values> {
        let mut out = Values::empty(self.values.shape());
        match self.values.is_empty() {
            true => out.push_nulls(indices.len()),
            false => self.look_up(indices, &mut out)?,
        }
        Ok(out)
    }

    /// Appends the values at `indices` to `out`, which must be of the same shape.
    ///
    /// Fails if an index is out of range, for BOOLEAN, which has no dictionaries, and if the shapes differ.
    pub fn look_up(&self, indices: &[u32], out: &mut Values) -> Result<()> {
        let (Values::Bytes(views), Values::Offsets(out)) = (&self.values, &mut *out) else {
            return look_up(&self.values, indices, out);
        };
        let strings = match self.strings.get() {
            Some(strings) => strings,
            None => {
                let strings = EntryOffsets::new(views, self.page.as_ref())?;
                self.strings.get_or_init(|| strings)
            }
        };
        let room = match strings.entries.longest() * indices.len() {
            // PERF: summing up the lengths of short strings takes half as long as copying them.
            most if most <= FEW_BYTES && out.has_room(most) => {
                check_indices(indices, views.len())?;
                most
            }
            _ => {
                let total = kernels::bytes_of_entries(&strings.entries, indices);
                usize::try_from(total.map_err(|max| outside(max, views.len()))?).unwrap_or(usize::MAX)
            }
        };
        out.push_entries(strings, indices, room)
    }

    /// Appends the value at `index` `n` times.
    pub(super) fn repeat(&self, index: u32, n: usize, out: &mut Values) -> Result<()> {
        let (at, len) = (index as usize, self.values.len());
        if at >= len {
            return Err(outside(index, len));
        }
        match (&self.values, out) {
            (Values::W32(dictionary), Values::W32(out)) => out.resize(out.len() + n, dictionary[at]),
            (Values::W64(dictionary), Values::W64(out)) => out.resize(out.len() + n, dictionary[at]),
            (Values::Fixed(dictionary), Values::Fixed(out)) if dictionary.width() == out.width() => {
                out.push_with(n, |out| {
                    (0..n).for_each(|_| out.extend_from_slice(dictionary.get(at)));
                });
            }
            (Values::Bytes(dictionary), Values::Bytes(out)) => {
                out.push_views(dictionary.buffers(), |views, base| {
                    let mut view = [dictionary.views()[at]];
                    kernels::rebase_views(&mut view, base);
                    views.resize(views.len() + n, view[0]);
                });
            }
            (Values::Bytes(dictionary), Values::Offsets(out)) => out.push_repeated(dictionary.get(at), n)?,
            (dictionary, out) => return Err(wrong_shape(dictionary.shape(), out)),
        }
        Ok(())
    }
}

/// Appends the values of `dictionary` at `indices` to `out`, which must be of the same shape.
///
/// Fails if an index is out of range, for BOOLEAN, which has no dictionaries, and if the shapes differ.
pub fn look_up(dictionary: &Values, indices: &[u32], out: &mut Values) -> Result<()> {
    let looked_up = match (dictionary, out) {
        (Values::W32(dictionary), Values::W32(out)) => kernels::gather_u32(dictionary, indices, out),
        (Values::W64(dictionary), Values::W64(out)) => kernels::gather(dictionary, indices, out),
        (Values::Fixed(dictionary), Values::Fixed(out)) if dictionary.width() == out.width() => {
            check_indices(indices, dictionary.len())?;
            out.push_with(indices.len(), |out| {
                kernels::gather_fixed(&dictionary.as_bytes(), dictionary.width(), indices, out);
            });
            Ok(())
        }
        (Values::Bytes(dictionary), Values::Bytes(out)) => out
            .push_views(dictionary.buffers(), |views, base| {
                kernels::gather_views(dictionary.views(), indices, base, views)
            }),
        (dictionary, out) => return Err(wrong_shape(dictionary.shape(), out)),
    };
    looked_up.map_err(|max| outside(max, dictionary.len()))
}

/// Fails if one of `indices` is out of range for a dictionary of `len` values.
pub fn check_indices(indices: &[u32], len: usize) -> Result<()> {
    let max = kernels::max_u32(indices);
    match max as usize >= len && !indices.is_empty() {
        true => Err(outside(max, len)),
        false => Ok(()),
    }
}

/// Upper bound of the bytes of a block's strings up to which the exact number is not computed.
const FEW_BYTES: usize = 64 << 10;

#[cold]
fn outside(index: u32, len: usize) -> Error {
    Error::corrupt(format!("dictionary index {index} in a dictionary of {len} values"))
}
