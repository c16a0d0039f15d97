//! The values of Arrow arrays as text and as JSON: one form for each type, wherever it is shown.

pub(crate) mod column;
pub(crate) mod csv;
pub(crate) mod geojson;
pub(crate) mod json;
pub(crate) mod json_text;
pub(crate) mod row_table;
pub(crate) mod scalar;
mod text;
pub(crate) mod text_size;
pub(crate) mod time;
mod variants;
