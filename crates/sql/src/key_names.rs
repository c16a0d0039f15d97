//! The names of the keys in `PARTITIONED BY`.
//!
//! QUIRK: DataFusion's parser has names that are in quotes with their quotes, so that no column has such a name.

use datafusion::sql::parser::Statement;

/// The statement, with the keys that it names as columns are named.
pub(crate) fn with_bare_keys(mut statement: Statement) -> Statement {
    let mut inner = &mut statement;
    while let Statement::Explain(explained) = inner {
        inner = &mut explained.statement;
    }
    let keys = match inner {
        Statement::CopyTo(copy) => &mut copy.partitioned_by,
        Statement::CreateExternalTable(create) => &mut create.table_partition_cols,
        _ => return statement,
    };
    keys.iter_mut().for_each(|key| *key = bare(key));
    statement
}

fn bare(key: &str) -> String {
    let quoted = |quote: char| Some((quote, key.strip_prefix(quote)?.strip_suffix(quote)?));
    match quoted('"').or_else(|| quoted('`')) {
        Some((quote, name)) => name.replace(&format!("{quote}{quote}"), &quote.to_string()),
        None => key.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_no_part_of_a_name() {
        for (key, name) in
            [("Year", "Year"), ("\"a b\"", "a b"), ("`c`", "c"), ("\"d\"\"e\"", "d\"e"), ("\"", "\"")]
        {
            assert_eq!(bare(key), name);
        }
    }
}
