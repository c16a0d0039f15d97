//! Error messages about text that is not a value of the wanted type.

use arrow_schema::ArrowError;

/// Returns the message of an Arrow error, without the kind that Arrow puts in front.
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

/// Returns the beginning of a text, in quotes.
pub fn shortened(text: &str) -> String {
    let mut short: String = text.chars().take(60).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    format!("{short:?}")
}
