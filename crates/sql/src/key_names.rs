//! The names of the keys in `PARTITIONED BY`.
//!
//! QUIRK: DataFusion's parser keeps the quotes around names, so that no column has such a name. A key with a type that
//! is also among the columns becomes a column twice.

use datafusion::sql::parser::Statement;
use datafusion::sql::sqlparser::ast::{ColumnDef, Ident};

/// The statement, with keys named as columns are.
pub(crate) fn with_bare_keys(mut statement: Statement) -> Statement {
    let mut inner = &mut statement;
    while let Statement::Explain(explained) = inner {
        inner = &mut explained.statement;
    }
    let keys = match inner {
        Statement::CopyTo(copy) => &mut copy.partitioned_by,
        Statement::CreateExternalTable(create) => {
            declare_once(&mut create.columns, create.table_partition_cols.len());
            &mut create.table_partition_cols
        }
        _ => return statement,
    };
    keys.iter_mut().for_each(|key| *key = bare(key));
    statement
}

/// Removes those of the last `last` columns that repeat one before them.
fn declare_once(columns: &mut Vec<ColumnDef>, last: usize) {
    let is_same =
        |a: &ColumnDef, b: &ColumnDef| column(&a.name) == column(&b.name) && a.data_type == b.data_type;
    for at in (columns.len().saturating_sub(last)..columns.len()).rev() {
        if columns[..at].iter().any(|before| is_same(before, &columns[at])) {
            columns.remove(at);
        }
    }
}

/// The name of the column that an identifier refers to.
fn column(name: &Ident) -> String {
    if name.quote_style.is_some() { name.value.clone() } else { name.value.to_lowercase() }
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
