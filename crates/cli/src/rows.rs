//! The values of Arrow arrays as text and as JSON: one form for each type, wherever it is shown.

mod column;
pub(crate) mod csv;
pub(crate) mod json;
mod json_text;
pub(crate) mod scalar;
pub(crate) mod table;
mod text;
pub(crate) mod time;
