//! Error messages about text that is no value of the wanted type.

use arrow_schema::ArrowError;

/// What an error of the arrow crate says, without the kind that it puts in front.
pub fn message(error: &ArrowError) -> String {
    match error {
        ArrowError::JsonError(text)
        | ArrowError::CsvError(text)
        | ArrowError::CastError(text)
        | ArrowError::ParseError(text)
        | ArrowError::SchemaError(text)
        | ArrowError::ComputeError(text)
        | ArrowError::ArithmeticOverflow(text)
        | ArrowError::InvalidArgumentError(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The beginning of a text in quotes.
pub fn shortened(text: &str) -> String {
    let mut short: String = text.chars().take(60).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    format!("{short:?}")
}
