//! Values as text, of all types: instants are shown in UTC.

use arrow_array::{Array, ArrayRef, make_array};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::DataType;
use marquetry_base::{Error, ErrorKind, Result};

/// The text of each value; `None` where there is none. Instants are in UTC. Fails for a type that has no text.
pub fn value_texts(array: &ArrayRef) -> Result<Vec<Option<String>>> {
    let wrong = |error| Error::caused_by(ErrorKind::Unsupported, "values as text", error);
    let (shown, behind) = match array.data_type() {
        // Names of time zones are not known to the formatter: what is stored is UTC, whatever the zone.
        DataType::Timestamp(unit, Some(_)) => {
            let plain = array.to_data().into_builder().data_type(DataType::Timestamp(*unit, None));
            (make_array(plain.build().map_err(wrong)?), "Z")
        }
        _ => (array.clone(), ""),
    };
    let options = FormatOptions::default();
    let formatter = ArrayFormatter::try_new(&shown, &options).map_err(wrong)?;
    // A value may be one that its type cannot show: a date after all years.
    let text = |row: usize| Some(format!("{}{behind}", formatter.value(row).try_to_string().ok()?));
    Ok((0..shown.len()).map(|row| if shown.is_valid(row) { text(row) } else { None }).collect())
}
