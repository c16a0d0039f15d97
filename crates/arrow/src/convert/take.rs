//! Takes values by position.

use marquetry_encoding::{FixedLenBytes, StringViews, Values};

/// Returns the values at `positions`, which must be inside `values`. Long strings are shared, not copied.
pub(super) fn take(values: &Values, positions: &[u32]) -> Values {
    let at = || positions.iter().map(|&position| position as usize);
    match values {
        Values::Bit(bits) => Values::Bit(at().map(|i| bits.get(i)).collect()),
        Values::W32(values) => Values::W32(at().map(|i| values[i]).collect()),
        Values::W64(values) => Values::W64(at().map(|i| values[i]).collect()),
        Values::Fixed(values) => {
            let mut out = FixedLenBytes::new(values.width());
            out.push_with(positions.len(), |bytes| {
                at().for_each(|i| bytes.extend_from_slice(values.get(i)));
            });
            Values::Fixed(out)
        }
        Values::Bytes(views) => {
            let mut out = StringViews::new();
            // The buffers are the same, in the same order, so the views stay valid.
            out.push_views(views.buffers(), |out, _| out.extend(at().map(|i| views.views()[i])));
            Values::Bytes(out)
        }
        Values::Offsets(strings) => Values::Offsets(at().map(|i| strings.get(i)).collect()),
    }
}
