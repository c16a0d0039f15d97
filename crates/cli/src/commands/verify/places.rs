//! Locations of findings as text.

use marquetry::errors::ErrorLocation;

/// `, in column a, row group 3`; nothing of the file as a whole.
pub(super) fn places(place: &ErrorLocation) -> String {
    let place = place.to_string();
    if place.is_empty() { place } else { format!(", in {place}") }
}
