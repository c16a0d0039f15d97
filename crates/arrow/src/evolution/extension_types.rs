//! Extension types of one column in several files: what one file's type says of its values may not hold for another file's.

use crate::schema::{GEOPARQUET_KEY, StatedExtension, forget_extension, geoparquet_columns};
use arrow_schema::{Field, Schema};
use marquetry_base::{Error, Result};
use std::collections::HashMap;

/// Fails if a file's field has the wanted extension type with other parameters, such as another coordinate reference
/// system. If the file's field has no extension type, or one of another name, the wanted schema decides.
pub(super) fn check_parameters(file: &Field, wanted: &Field) -> Result<()> {
    let (Some(from), Some(to)) = (StatedExtension::of(file), StatedExtension::of(wanted)) else {
        return Ok(());
    };
    match from.name == to.name && from != to {
        true => Err(Error::argument(format!("the column is {from} in the file, which is not {to}"))),
        false => Ok(()),
    }
}

/// Fails if the GeoParquet metadata of a wanted column differs from the file's: the wanted schema brings its own metadata.
pub(super) fn check_geoparquet(file: &Schema, wanted: &Schema) -> Result<()> {
    let [file_text, wanted_text] = [file, wanted].map(|schema| schema.metadata().get(GEOPARQUET_KEY));
    let (Some(file_text), Some(wanted_text)) = (file_text, wanted_text) else { return Ok(()) };
    if file_text == wanted_text {
        return Ok(());
    }
    let (in_file, in_wanted) = (geoparquet_columns(file_text), geoparquet_columns(wanted_text));
    for name in wanted.fields().iter().map(|field| field.name()) {
        let (Some(from), Some(to)) = (in_file.get(name), in_wanted.get(name)) else { continue };
        if from != to {
            let message = format!("the column has coordinates of {from} in the file, which are not {to}");
            return Err(Error::argument(message).in_column(name.clone()));
        }
    }
    Ok(())
}

/// Returns the metadata of a field that holds the values of both: that of `a`, without its extension type unless both
/// have the same.
///
/// Fails if both are geometries with different reference systems or edges: as bytes they would lose their meaning, and
/// a file of such bytes could not restore it.
pub(super) fn shared_metadata(a: &Field, b: &Field) -> Result<HashMap<String, String>> {
    let mut metadata = a.metadata().clone();
    let (of_a, of_b) = (StatedExtension::of(a), StatedExtension::of(b));
    if of_a == of_b {
        return Ok(metadata);
    }
    if let (Some(of_a), Some(of_b)) = (of_a, of_b)
        && [&of_a, &of_b].iter().all(|extension| extension.name.starts_with("geoarrow."))
    {
        return Err(Error::argument(format!("the column is {of_b}, and {of_a} in files before it")));
    }
    forget_extension(&mut metadata);
    Ok(metadata)
}
