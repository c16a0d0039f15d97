//! Column lists in arguments: names with commas between them.

use arrow_schema::Schema;
use marquetry::errors::Error;
use marquetry_base::{quote_name, unquote};
use marquetry_core::schema::no_such_column;

/// Splits a list into columns. A comma in parentheses or brackets, as in `payload:price::decimal(9, 2)`, or in double
/// quotes, is part of a name.
pub(crate) fn column_list(text: &str) -> Result<ColumnList, String> {
    let (mut columns, mut start, mut depth, mut in_quotes) = (Vec::new(), 0, 0_usize, false);
    for (at, char) in text.char_indices() {
        match char {
            '"' => in_quotes = !in_quotes,
            _ if in_quotes => {}
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                columns.push(text[start..at].to_owned());
                start = at + 1;
            }
            _ => {}
        }
    }
    columns.push(text[start..].to_owned());
    if in_quotes || depth > 0 {
        // Names may contain any of these: then each comma separates two columns.
        columns = text.split(',').map(str::to_owned).collect();
    }
    Ok(ColumnList(without_blanks(columns)))
}

/// Trims blanks around commas: `a, b`. A name with a blank beside a comma needs quotes.
fn without_blanks(columns: Vec<String>) -> Vec<String> {
    let last = columns.len().saturating_sub(1);
    let trim = |(at, name): (usize, String)| {
        let name = if at > 0 { name.trim_start() } else { &name };
        let name = if at < last { name.trim_end() } else { name };
        name.to_owned()
    };
    columns.into_iter().enumerate().map(trim).collect()
}

/// The columns of one argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ColumnList(pub(crate) Vec<String>);

/// The columns of an argument that may be given more than once.
pub(crate) fn all_columns(lists: Option<&Vec<ColumnList>>) -> Option<Vec<String>> {
    Some(lists?.iter().flat_map(|list| list.0.iter().cloned()).collect())
}

/// The index of the column that an option names; the name may stand in double quotes.
///
/// Fails if no column has this name, or if several do, as any choice may be wrong.
pub(crate) fn place_of(name: &str, schema: &Schema, option: &str) -> Result<usize, Error> {
    let places = |name: &str| {
        let fields = schema.fields().iter().enumerate();
        fields.filter(|(_, field)| field.name() == name).map(|(at, _)| at).collect::<Vec<_>>()
    };
    let mut found = places(name);
    if found.is_empty()
        && let Some((inside, "")) = unquote(name, '"')
    {
        found = places(&inside);
    }
    match found[..] {
        [] => Err(no_such_column(name, schema.fields().iter().map(|field| field.name().as_str()))
            .with_context(option)),
        [place] => Ok(place),
        [_, ..] => Err(several_columns(name).with_context(option)),
    }
}

/// The error for a name that several columns have where one is needed.
#[cold]
pub(crate) fn several_columns(name: &str) -> Error {
    Error::argument(format!(
        "several columns are called {}, so the name is ambiguous; whoever writes the file can rename them",
        quote_name(name)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_schema::{DataType, Field};

    #[test]
    fn commas_in_types_and_quotes_are_parts_of_names() {
        for (text, names) in [
            ("a,b.c", &["a", "b.c"][..]),
            ("v:x::decimal(9,2),b", &["v:x::decimal(9,2)", "b"]),
            ("v:x::timestamp(us, UTC)", &["v:x::timestamp(us, UTC)"]),
            (r#"v:"a,b",c"#, &[r#"v:"a,b""#, "c"]),
            ("v:a[*],b", &["v:a[*]", "b"]),
            ("odd(,name", &["odd(", "name"]),
            (" a , b ", &[" a", "b "]),
            (r#"a," b""#, &["a", r#"" b""#]),
            ("odd),name", &["odd)", "name"]),
            (r#"5",6""#, &[r#"5",6""#]),
            (r#"5",6"#, &["5\"", "6"]),
        ] {
            assert_eq!(column_list(text).unwrap().0, names, "{text}");
        }
    }

    #[test]
    fn a_name_of_several_columns_means_none() {
        let fields = ["a", "b", "a", "", "\"b\"", "c\"d"].map(|name| Field::new(name, DataType::Int32, true));
        let schema = Schema::new(fields.to_vec());
        let place = |name: &str| place_of(name, &schema, "--change-type").map_err(|error| error.to_string());
        for (name, at) in
            [("b", 1), ("", 3), ("\"\"", 3), ("\"b\"", 4), ("\"\"\"b\"\"\"", 4), ("\"c\"\"d\"", 5)]
        {
            assert_eq!(place(name), Ok(at), "{name}");
        }
        for name in ["a", "\"a\""] {
            assert!(place(name).unwrap_err().contains("--change-type: several columns are called"), "{name}");
        }
        assert!(place("B").unwrap_err().contains("--change-type: no column B; did you mean b"));
    }
}
