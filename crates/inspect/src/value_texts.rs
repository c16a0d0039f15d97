//! Values as text, of all types: instants are shown in UTC.

use arrow_array::{Array, ArrayRef, make_array};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::DataType;
use marquetry_base::{Error, ErrorKind, Result};

/// Formats each value as text, or `None` if it is null or cannot be shown. Instants are in UTC. Fails for a type that
/// has no text.
pub fn value_texts(array: &ArrayRef) -> Result<Vec<Option<String>>> {
    let wrong = |error| Error::caused_by(ErrorKind::Unsupported, "values as text", error);
    let (shown, behind) = match array.data_type() {
        // The formatter does not know time zone names. The stored value is in UTC, whatever the zone.
        DataType::Timestamp(unit, Some(_)) => {
            let plain = array.to_data().into_builder().data_type(DataType::Timestamp(*unit, None));
            (make_array(plain.build().map_err(wrong)?), "Z")
        }
        _ => (array.clone(), ""),
    };
    let options = FormatOptions::default();
    let formatter = ArrayFormatter::try_new(&shown, &options).map_err(wrong)?;
    // A type may be unable to show a value, such as a date after all years.
    let text = |row: usize| Some(format!("{}{behind}", formatter.value(row).try_to_string().ok()?));
    Ok((0..shown.len()).map(|row| if shown.is_valid(row) { text(row) } else { None }).collect())
}
