//! The error for a column that a schema does not have.

use super::Schema;
use marquetry_base::Error;

/// The error for a column that is not in `schema`: it names similar ones, or the first ones if none is.
#[cold]
pub fn unknown_column(schema: &Schema, name: &str) -> Error {
    let mut known: Vec<&str> = schema.fields().iter().map(|field| field.name()).collect();
    let nested = schema.columns().iter().filter(|leaf| leaf.path().len() > 1);
    known.extend(nested.map(|leaf| &**leaf.dotted()));
    let lower = name.to_lowercase();
    let similar = known.iter().filter(|known| {
        let known = known.to_lowercase();
        known.contains(&lower) || lower.contains(&known)
    });
    let similar: Vec<_> = similar.copied().take(5).collect();
    let hint = match similar.is_empty() {
        false => format!("did you mean {}?", similar.join(", ")),
        true => format!("there are {}", known.into_iter().take(10).collect::<Vec<_>>().join(", ")),
    };
    Error::argument(format!("no column {name}; {hint}"))
}
