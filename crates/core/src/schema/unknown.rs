//! The error for a column that does not exist: it names similar ones.

use super::Schema;
use marquetry_base::Error;

/// The error for a column that is not in `schema`: it names similar ones, or the first ones if none is.
#[cold]
pub fn unknown_column(schema: &Schema, name: &str) -> Error {
    let nested = schema.leaves.iter().filter(|leaf| leaf.path().len() > 1).map(|leaf| &**leaf.dotted());
    no_such_column(name, schema.fields.iter().map(|field| field.name()).chain(nested))
}

/// The error for a column that is not among `known`.
///
/// ```
/// let error = marquetry_core::schema::no_such_column("pirce", ["name", "price"]);
/// assert_eq!(error.message(), "no column pirce; did you mean price?");
/// ```
#[cold]
pub fn no_such_column<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Error {
    let known: Vec<&str> = known.into_iter().collect();
    let similar: Vec<&str> = known.iter().copied().filter(|known| are_similar(known, name)).take(5).collect();
    let hint = match (similar.is_empty(), known.is_empty()) {
        (false, _) => format!("did you mean {}?", similar.join(", ")),
        (true, false) => format!("there are {}", known.into_iter().take(10).collect::<Vec<_>>().join(", ")),
        (true, true) => "there are none".to_owned(),
    };
    Error::argument(format!("no column {name}; {hint}"))
}

/// Whether one is part of the other but for case, or a slip of the keyboard away from it.
fn are_similar(known: &str, name: &str) -> bool {
    let (known, name) = (known.to_lowercase(), name.to_lowercase());
    if known.is_empty() || name.is_empty() {
        return false;
    }
    let slips = (name.chars().count() + 1) / 3;
    known.contains(&name) || name.contains(&known) || distance(&known, &name) <= slips
}

/// How many characters have to be put in, taken out or replaced to get from one to the other.
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, b) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints() {
        let known = ["id", "Country", "producer.name", "producer.founded"];
        let hint = |name| no_such_column(name, known).message().to_owned();
        assert_eq!(hint("country"), "no column country; did you mean Country?");
        assert_eq!(hint("contry"), "no column contry; did you mean Country?");
        assert_eq!(hint("producer"), "no column producer; did you mean producer.name, producer.founded?");
        assert_eq!(hint("xyz"), "no column xyz; there are id, Country, producer.name, producer.founded");
        assert_eq!(no_such_column("a", []).message(), "no column a; there are none");
        assert_eq!((distance("", "abc"), distance("abc", "axc"), distance("abcd", "bcd")), (3, 1, 1));
    }
}
