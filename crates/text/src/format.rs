//! Formats Arrow arrays as text and JSON: one form for each type, wherever it is shown.
//!
//! ```text
//! column      a column of a batch, its type looked up once: what csv, json and geojson are made of
//! csv json geojson   the rows of a batch in one format each
//! text_size   how much text rows become, known before it is made
//! scalar      values that are not nested
//! time        dates and times in ISO 8601
//! text        columns of UTF-8 text, whichever of Arrow's three layouts they have
//! json_text   text in the quotes and escapes of JSON
//! variants    VARIANT values as JSON
//! ```

pub mod column;
pub mod csv;
pub mod geojson;
pub mod json;
pub mod json_text;
pub mod scalar;
mod text;
pub mod text_size;
pub mod time;
mod variants;
