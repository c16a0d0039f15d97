//! Locations of findings as text.

use marquetry::errors::ErrorLocation;

/// `, in column a, row group 3`; empty for the file as a whole.
pub(super) fn places(place: &ErrorLocation) -> String {
    let place = place.to_string();
    if place.is_empty() { place } else { format!(", in {place}") }
}
