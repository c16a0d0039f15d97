//! JSON both ways.
//!
//! | JSON | variant |
//! |---|---|
//! | `null`, `true`, `"text"`, `[..]`, `{..}` | null, boolean, string, array, object; a name that comes twice is an error |
//! | integers | int8, int16, int32 or int64, the narrowest that holds it; decimal16 up to 38 digits |
//! | `1.10`, up to 38 digits | decimal4, decimal8 or decimal16, with as many digits behind the point |
//! | numbers with an exponent, longer ones, `-0`, `-0.0` | double, if its shortest text is the same number; else decimal16 if that holds it, else an error |
//!
//! | variant | JSON |
//! |---|---|
//! | null, boolean, string, array, object | the same; fields in the order of their names |
//! | integers, decimals | all digits |
//! | float, double | the shortest digits that give it back; `"NaN"`, `"Infinity"` and `"-Infinity"` as text |
//! | date, time, timestamp | text of ISO 8601: `"2025-04-16"`, `"12:34:56.5"`, `"2025-04-16T12:34:56.5Z"`, without the Z if it is of no zone |
//! | binary | text of base64 |
//! | uuid | text: `"f24f9b64-81fa-49d1-b74e-8c09a6e31c56"` |
//!
//! So JSON comes back unchanged, except for the order of fields, blanks, escapes and exponents. For a variant, types
//! that JSON lacks come back as text, and a float or double without an exponent comes back as a decimal.

mod number;
mod read;
mod signs;
mod write;

pub use read::{parse, parse_into};
pub use write::{to_string, write_text_to, write_to, write_value_to};
