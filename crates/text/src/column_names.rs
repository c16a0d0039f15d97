//! Names of columns that must be unique: in headers of CSV and objects of JSON.

use std::collections::HashSet;

/// Makes names unique: the second of `a, a` becomes `a_1`. Made-up names differ from all given ones.
pub(crate) fn unique_names<'a>(given: impl Iterator<Item = &'a str> + Clone) -> Vec<String> {
    let all: HashSet<&str> = given.clone().collect();
    let mut taken: HashSet<String> = HashSet::new();
    let name = |name: &str| {
        let numbered = (1_u64..).map(|n| format!("{name}_{n}"));
        let mut names = std::iter::once(name.to_owned())
            .chain(numbered.filter(|numbered| !all.contains(numbered.as_str())));
        let name = names.find(|name| !taken.contains(name)).unwrap_or_default();
        taken.insert(name.clone());
        name
    };
    given.map(name).collect()
}

/// Fills in empty names: a column without a name is called `C` and its number, counted from 0, as several readers do.
/// Made-up names differ from all given ones.
pub fn filled_names<'a>(given: impl Iterator<Item = &'a str> + Clone) -> Vec<String> {
    let all: HashSet<&str> = given.clone().collect();
    let filled = |(i, name): (usize, &str)| {
        if !name.is_empty() {
            return name.to_owned();
        }
        let mut name = format!("C{i}");
        while all.contains(name.as_str()) {
            name.push('_');
        }
        name
    };
    given.enumerate().map(filled).collect()
}

/// Fills in empty names as [`filled_names`] does, and makes them unique: the second of `a, a` becomes `a_1`.
pub fn unique_filled_names<'a>(given: impl Iterator<Item = &'a str> + Clone) -> Vec<String> {
    let filled = filled_names(given);
    unique_names(filled.iter().map(String::as_str))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_there_once() {
        let names = unique_filled_names(["a", "", "a", "a_1", "a", "C1"].into_iter());
        assert_eq!(names, ["a", "C1_", "a_2", "a_1", "a_3", "C1"]);
        assert_eq!(unique_filled_names(["", "C0"].into_iter()), ["C0_", "C0"]);
        assert_eq!(unique_names(["", "", "x"].into_iter()), ["", "_1", "x"]);
    }
}
