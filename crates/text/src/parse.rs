//! Parses text into Arrow arrays: cells of CSV and members of JSON, with given or inferred types.
//!
//! No value silently becomes another one: a column that looked like integers fails at a later `00123` or `1.5`.
//!
//! ```text
//! texts          columns of texts, wherever they are
//! words          finds bytes among eight at a time
//! csv_records    where records and cells of CSV end
//! csv_delimiter  what stands between cells, where nobody said
//! csv_column     cells become values
//! json_reader    where names and values of JSON end
//! json_members   the members of objects that stand on a line each
//! json_form      JSON as its decoder takes it: nothing twice, nothing of another kind
//! json_column    members become values
//! infer_number   what numbers in text are: the narrowest type that keeps them
//! infer_text     what the texts of a column are: numbers, dates, ..
//! infer_json     what the values of JSON objects are
//! parse_values   texts become values, none of them another one
//! nested variants   the same inside of lists, structs and maps, and as VARIANT
//! time           dates and times in text
//! decimal number   decimals in text, and short numbers of any kind
//! error_text     what errors say of values that are none
//! ```

pub mod csv_column;
pub mod csv_delimiter;
pub mod csv_records;
mod decimal;
pub mod error_text;
pub mod infer_json;
pub mod infer_number;
pub mod infer_text;
pub mod json_column;
pub mod json_form;
pub mod json_members;
mod json_reader;
pub mod nested;
mod number;
pub mod parse_values;
pub mod texts;
mod time;
mod variants;
mod words;
