//! The error for a column that does not exist: it names similar ones.

use super::Schema;
use marquetry_base::Error;

/// Returns the error for a column that is not in `schema`: it names similar ones, or the first ones if none is.
#[cold]
pub fn unknown_column(schema: &Schema, name: &str) -> Error {
    let nested = schema.leaves.iter().filter(|leaf| leaf.path().len() > 1).map(|leaf| &**leaf.dotted());
    no_such_column(name, schema.fields.iter().map(|field| field.name()).chain(nested))
}

/// Returns the error for a column that is not among `known`.
///
/// ```
/// let error = marquetry_core::schema::no_such_column("pirce", ["name", "price"]);
/// assert_eq!(error.message(), "no column pirce; did you mean price?");
/// ```
#[cold]
pub fn no_such_column<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Error {
    let known: Vec<&str> = known.into_iter().collect();
    let near = near_names(name, known.iter().copied());
    let more = match known.len().saturating_sub(MOST_LISTED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let hint = match (near.is_empty(), known.is_empty()) {
        (false, _) => format!("did you mean {}?", near.join(", ")),
        (true, false) => format!("there are {}{more}", known[..known.len().min(MOST_LISTED)].join(", ")),
        (true, true) => "there are none".to_owned(),
    };
    Error::argument(format!("no column {name}; {hint}"))
}

/// Returns the known names that somebody may have meant by `name`: at most three, the nearest first.
///
/// A name is near if few single-character edits lead to it: one for every three characters, and at least one. An edit
/// inserts, deletes or replaces a character, or swaps two neighbours; case does not count. A name is also near if it
/// begins with `name`, where that has at least three characters, or if one of the two is the other with more parts at
/// one end, separated by dots or hyphens.
///
/// ```
/// use marquetry_core::schema::near_names;
/// assert_eq!(near_names("pirce", ["name", "Price"]), ["Price"]);
/// assert_eq!(near_names("name", ["producer.name", "surname", "nation"]), ["producer.name"]);
/// ```
pub fn near_names<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let lower = name.to_lowercase();
    let mut near: Vec<(usize, &str)> = known
        .into_iter()
        .filter_map(|known| Some((difference(&lower, &known.to_lowercase())?, known)))
        .collect();
    // The sort is stable: of equally near names, the first ones are returned.
    near.sort_by_key(|(difference, _)| *difference);
    near.truncate(MOST_NEAR);
    near.into_iter().map(|(_, known)| known).collect()
}

/// Returns the distance between two lowercase names; `None` if nobody would take one for the other.
fn difference(name: &str, known: &str) -> Option<usize> {
    if name.is_empty() || known.is_empty() {
        return None;
    }
    let (characters, others) = (name.chars().count(), known.chars().count());
    let most = (characters / 3).max(1);
    let is_comparable = characters.max(others) <= LONGEST && characters.abs_diff(others) <= most;
    let slips = is_comparable.then(|| distance(name, known));
    // Names without a common character are not near, however short they are.
    let is_near = |slips: &usize| *slips <= most && *slips < characters.max(others);
    let slips = slips.filter(is_near).or_else(|| (name == known).then_some(0));
    // A known name that contains `name` is more likely meant than one that `name` contains, which may be the only
    // correct part of it.
    let begins = || (characters >= 3 && known.starts_with(name)).then_some(others.saturating_sub(characters));
    let longer = slips.or_else(|| is_part(name, known).then_some(1)).or_else(begins);
    longer.or_else(|| is_part(known, name).then_some(most + 1))
}

/// Whether `whole` begins or ends with `part`, separated from the rest by a dot or a hyphen.
fn is_part(part: &str, whole: &str) -> bool {
    let begins = whole.strip_prefix(part).is_some_and(|rest| rest.starts_with(['.', '-']));
    begins || whole.strip_suffix(part).is_some_and(|rest| rest.ends_with(['.', '-']))
}

/// Returns the edit distance of two names. An edit inserts, deletes or replaces a character, or swaps two neighbours;
/// no character is edited twice.
fn distance(from: &str, to: &str) -> usize {
    let (from, to): (Vec<char>, Vec<char>) = (from.chars().collect(), to.chars().collect());
    let mut before_last = vec![0; to.len() + 1];
    let mut last: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.iter().enumerate() {
        let mut row = vec![i + 1; to.len() + 1];
        for (j, b) in to.iter().enumerate() {
            row[j + 1] = (last[j] + usize::from(a != b)).min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *a == to[j - 1] && from[i - 1] == *b {
                row[j + 1] = row[j + 1].min(before_last[j - 1] + 1);
            }
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[to.len()]
}

/// Number of names that are listed if none is near.
const MOST_LISTED: usize = 10;
const MOST_NEAR: usize = 3;
/// Characters up to which names are compared by edit distance, which takes quadratic time.
const LONGEST: usize = 256;

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
        let many: Vec<String> = (0..12).map(|i| format!("column {i}")).collect();
        let told = no_such_column("a", many.iter().map(String::as_str));
        assert!(told.message().ends_with("column 8, column 9 and 2 more"), "{told}");
        assert_eq!((distance("", "abc"), distance("abc", "axc"), distance("abcd", "bcd")), (3, 1, 1));
        assert_eq!((distance("abcd", "abdc"), distance("ca", "abc")), (1, 3));
    }

    #[test]
    fn only_near_names_are_near() {
        let known = ["id", "name", "surname", "names", "price", "a", "b", "at", "header-rows", "infer-rows"];
        let near = |name| near_names(name, known);
        assert_eq!(near("nam"), ["name", "names"]);
        assert_eq!(near("pri"), ["price"]);
        assert_eq!(near("pr"), [""; 0]);
        assert_eq!(near("naem"), ["name"]);
        assert_eq!(near("NAMES"), ["names", "name"]);
        // It is not enough that one name contains the other, or that a name of one letter has another one.
        assert_eq!(near("username"), ["surname"]);
        assert_eq!(near("x"), [""; 0]);
        assert_eq!(near("filename_of_price"), [""; 0]);
        assert_eq!(near("header"), ["header-rows"]);
        assert_eq!(near("header-row"), ["header-rows"]);
        assert_eq!(near_names("c10", ["c1", "c100", "c11", "c12", "c0"]), ["c1", "c100", "c11"]);
        assert_eq!(
            near_names("tags.list.elem", ["tags", "tags.list.element"]),
            ["tags.list.element", "tags"]
        );
        let long = "x".repeat(1_000_000);
        assert_eq!(near_names(&long, [&*long.to_uppercase(), "x"]).len(), 1);
    }
}
