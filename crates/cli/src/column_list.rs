//! Lists of columns in arguments: names with commas between them.

/// The columns of a list. A comma in parentheses or brackets, as in `payload:price::decimal(9, 2)`, or in double quotes, is part of a
/// name.
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
    if in_quotes || depth > 0 {
        // Names may have any of these: then each comma is one between columns.
        return Ok(ColumnList(text.split(',').map(str::to_owned).collect()));
    }
    columns.push(text[start..].to_owned());
    Ok(ColumnList(columns))
}

/// The columns of one argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ColumnList(pub(crate) Vec<String>);

/// The columns of an argument that may be given more than once.
pub(crate) fn all_columns(lists: Option<&Vec<ColumnList>>) -> Option<Vec<String>> {
    Some(lists?.iter().flat_map(|list| list.0.iter().cloned()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_in_types_and_quotes_are_parts_of_names() {
        for (text, names) in [
            ("a,b.c", &["a", "b.c"][..]),
            ("v:x::decimal(9,2),b", &["v:x::decimal(9,2)", "b"]),
            ("v:x::timestamp(us, UTC)", &["v:x::timestamp(us, UTC)"]),
            (r#"v:"a,b",c"#, &[r#"v:"a,b""#, "c"]),
            ("v:a[*],b", &["v:a[*]", "b"]),
            ("odd(,name", &["odd(", "name"]),
            ("odd),name", &["odd)", "name"]),
            (r#"5",6""#, &[r#"5",6""#]),
            (r#"5",6"#, &["5\"", "6"]),
        ] {
            assert_eq!(column_list(text).unwrap().0, names, "{text}");
        }
    }
}
