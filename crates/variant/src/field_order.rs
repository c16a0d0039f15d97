//! Sorts the fields of objects by name.
//!
//! Spec: VariantEncoding.md, "Value Data for Object": ids are ordered by the bytes of their names; values may be in any
//! order. So only ids and offsets change their places, and no value becomes longer.
//!
//! QUIRK: DuckDB 2.0 writes ids in the order in which it met the names.

use crate::container::Container;
use crate::depth::check_depth;
use crate::header::{ARRAY, Layout, OBJECT};
use crate::metadata::Metadata;
use crate::number::set_number;
use crate::variant::Variant;
use marquetry_base::Result;
use std::ops::Range;

impl Variant<'_> {
    /// Returns whether the fields of all objects in the value are ordered by their names. Returns true for a damaged
    /// value, which has no order; [`validate`](Self::validate) finds the damage.
    pub fn is_sorted(&self) -> bool {
        is_sorted(self.metadata(), self.bytes(), 0).unwrap_or(true)
    }

    /// Appends the value in binary, for the same metadata, with the fields of all objects ordered by their names, as
    /// the format requires. A damaged value stays damaged.
    ///
    /// ```
    /// use marquetry_variant::{Variant, json};
    /// let (metadata, mut value) = json::parse(r#"{"a": 1, "b": 2}"#)?;
    /// // Two ids, and two offsets.
    /// value.swap(2, 3);
    /// value.swap(4, 5);
    /// let variant = Variant::new(&metadata, &value)?;
    /// assert!(variant.validate().is_err());
    /// let mut sorted = Vec::new();
    /// variant.write_sorted(&mut sorted);
    /// Variant::new(&metadata, &sorted)?.validate()?;
    /// # Ok::<(), marquetry_variant::Error>(())
    /// ```
    pub fn write_sorted(&self, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(self.bytes());
        sort_fields(self.metadata(), &mut out[start..]);
    }
}

/// Sorts the fields of all objects in a value by their names. Damaged parts stay as they are.
pub(crate) fn sort_fields(metadata: Metadata<'_>, value: &mut [u8]) {
    if is_sorted(metadata, value, 0).is_ok_and(|is_sorted| !is_sorted) {
        let _: Result<()> = sort(metadata, value, 0);
    }
}

/// Whether the fields of a value and of those inside it are sorted.
fn is_sorted(metadata: Metadata<'_>, value: &[u8], depth: usize) -> Result<bool> {
    let Some((container, is_object)) = container(value)? else { return Ok(true) };
    check_depth(depth)?;
    let (mut before, mut bytes) = (None, 0);
    for i in 0..container.len {
        if is_object {
            let name = metadata.bytes(container.id(i)?)?;
            if before.replace(name).is_some_and(|before| before > name) {
                return Ok(false);
            }
        }
        let value = container.value(i)?;
        bytes += value.len();
        container.check_room(bytes)?;
        if !is_sorted(metadata, value, depth + 1)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Sorts the fields of a value and of those inside it. After an error, some are sorted and others are not.
fn sort(metadata: Metadata<'_>, value: &mut [u8], depth: usize) -> Result<()> {
    let Some((container, is_object)) = container(value)? else { return Ok(()) };
    check_depth(depth)?;
    let len = container.len;
    let values = (0..len).map(|i| container.value_range(i)).collect::<Result<Vec<Range<usize>>>>()?;
    container.check_room(values.iter().map(Range::len).sum())?;
    let ids = (0..len).filter(|_| is_object).map(|i| container.id(i)).collect::<Result<Vec<usize>>>()?;
    let first = value.len() - container.num_value_bytes();
    for range in &values {
        sort(metadata, &mut value[first + range.start..first + range.end], depth + 1)?;
    }
    if !is_object {
        return Ok(());
    }
    let names = ids.iter().map(|id| metadata.bytes(*id)).collect::<Result<Vec<_>>>()?;
    let mut order: Vec<usize> = (0..len).collect();
    // Fields of the same name stay as they are: they are damage, not a matter of order.
    order.sort_by_key(|i| names[*i]);
    let Layout { len_size, id_size, offset_size } = Layout::of_object(value[0] >> 2);
    let (to_ids, to_offsets) = value[1 + len_size..first].split_at_mut(len * id_size);
    for (to, from) in to_ids.chunks_exact_mut(id_size).zip(&order) {
        set_number(to, ids[*from]);
    }
    // The last offset, the end of all values, stays.
    for (to, from) in to_offsets.chunks_exact_mut(offset_size).zip(&order) {
        set_number(to, values[*from].start);
    }
    Ok(())
}

/// Returns the container of an object or array, and whether it is an object; `None` for other values.
fn container(value: &[u8]) -> Result<Option<(Container<'_>, bool)>> {
    match value.first().map(|first| first & 3) {
        Some(OBJECT) => Ok(Container::of_object(value)?.map(|fields| (fields, true))),
        Some(ARRAY) => Ok(Container::of_array(value)?.map(|elements| (elements, false))),
        _ => Ok(None),
    }
}
