//! Tab completion: what the word before the cursor may become.

use datafusion::prelude::SessionContext;
use rustyline::completion::{Completer, Pair};
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::validate::Validator;
use rustyline::{Context, Helper};
use std::collections::BTreeSet;
use std::path::{MAIN_SEPARATOR, Path};

/// Completes keywords, names of tables and columns, commands, and file names within quotes.
#[derive(Debug, Default)]
pub(crate) struct Completion {
    names: BTreeSet<String>,
}

impl Completion {
    /// With the current tables of a session, and their columns.
    pub(crate) async fn of(ctx: &SessionContext) -> Self {
        let mut names = BTreeSet::new();
        for catalog in ctx.catalog_names().iter().filter_map(|name| ctx.catalog(name)) {
            let schemas = catalog.schema_names();
            for schema in schemas.iter().filter(|name| *name != "information_schema") {
                let Some(schema) = catalog.schema(schema) else { continue };
                for table in schema.table_names() {
                    // A table whose files are gone has no columns to name.
                    if let Ok(Some(found)) = schema.table(&table).await {
                        names.extend(found.schema().fields().iter().map(|field| written(field.name())));
                    }
                    names.insert(written(&table));
                }
            }
        }
        Completion { names }
    }

    /// Where the word at the end of `text` begins, and its completions.
    fn candidates(&self, text: &str) -> (usize, Vec<String>) {
        if text.starts_with('\\') {
            let known = COMMANDS.iter().filter(|command| command.starts_with(text));
            return (0, known.map(|command| (*command).to_owned()).collect());
        }
        if let Some(start) = open_quote(text) {
            return (start, files(&text[start..]));
        }
        let is_of_word = |c: char| c.is_alphanumeric() || c == '_' || c == '"';
        let start =
            text.len() - text.chars().rev().take_while(|c| is_of_word(*c)).map(char::len_utf8).sum::<usize>();
        let word = &text[start..];
        if word.is_empty() {
            return (start, Vec::new());
        }
        let begins = |name: &str| {
            name.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word))
                || name.strip_prefix('"').is_some_and(|name| name.starts_with(word))
        };
        let is_upper = word.chars().all(|c| !c.is_lowercase());
        let keywords = KEYWORDS.iter().filter(|keyword| begins(keyword)).map(|keyword| match is_upper {
            true => keyword.to_uppercase(),
            false => (*keyword).to_owned(),
        });
        let names = self.names.iter().filter(|name| begins(name)).cloned();
        (start, names.chain(keywords).collect())
    }
}

impl Completer for Completion {
    type Candidate = Pair;

    fn complete(
        &self,
        line: &str,
        position: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<Pair>)> {
        let (start, found) = self.candidates(&line[..position]);
        let pair = |text: String| Pair { display: text.clone(), replacement: text };
        Ok((start, found.into_iter().map(pair).collect()))
    }
}

impl Helper for Completion {}
impl Hinter for Completion {
    type Hint = String;
}
impl Highlighter for Completion {}
impl Validator for Completion {}

/// A name as a statement writes it.
fn written(name: &str) -> String {
    let is_plain = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    match is_plain && !name.starts_with(|c: char| c.is_ascii_digit()) && !name.is_empty() {
        true => name.to_owned(),
        false => format!("\"{}\"", name.replace('"', "\"\"")),
    }
}

/// Where the quoted text begins, if the last quote is open.
fn open_quote(text: &str) -> Option<usize> {
    let is_open = text.bytes().filter(|byte| *byte == b'\'').count() % 2 == 1;
    if is_open { text.rfind('\'').map(|at| at + 1) } else { None }
}

/// Files and folders whose path begins with `typed`; folders end with a separator.
fn files(typed: &str) -> Vec<String> {
    let (folder, begun) = match typed.rfind(['/', MAIN_SEPARATOR]) {
        Some(at) => typed.split_at(at + 1),
        None => ("", typed),
    };
    let listed = Path::new(if folder.is_empty() { "." } else { folder }).read_dir();
    let mut found: Vec<String> = listed
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let is_wanted = name.starts_with(begun) && (!name.starts_with('.') || begun.starts_with('.'));
            let end = if entry.path().is_dir() { "/" } else { "" };
            is_wanted.then(|| format!("{folder}{name}{end}"))
        })
        .collect();
    found.sort();
    found
}

const COMMANDS: [&str; 4] = ["\\d", "\\timing", "\\?", "\\q"];

const KEYWORDS: [&str; 64] = [
    "all",
    "and",
    "as",
    "asc",
    "avg",
    "between",
    "by",
    "case",
    "cast",
    "copy",
    "count",
    "create",
    "cross",
    "date",
    "desc",
    "describe",
    "distinct",
    "drop",
    "else",
    "end",
    "except",
    "exists",
    "explain",
    "external",
    "false",
    "first",
    "from",
    "full",
    "group",
    "having",
    "in",
    "inner",
    "insert",
    "intersect",
    "interval",
    "into",
    "is",
    "join",
    "last",
    "left",
    "like",
    "limit",
    "location",
    "max",
    "min",
    "not",
    "null",
    "nulls",
    "offset",
    "on",
    "options",
    "or",
    "order",
    "over",
    "parquet",
    "partitioned",
    "right",
    "select",
    "set",
    "show",
    "stored",
    "sum",
    "table",
    "union",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> (usize, Vec<String>) {
        let names = ["wines", "year", "\"Two words\""].map(str::to_owned);
        Completion { names: names.into() }.candidates(text)
    }

    #[test]
    fn words_are_completed() {
        assert_eq!(found("sel"), (0, vec!["select".to_owned()]));
        assert_eq!(found("SELECT y"), (7, vec!["year".to_owned()]));
        assert_eq!(found("select * FR"), (9, vec!["FROM".to_owned()]));
        assert_eq!(found("select Two"), (7, vec!["\"Two words\"".to_owned()]));
        assert_eq!(found("select (wi"), (8, vec!["wines".to_owned()]));
        assert_eq!(found("\\t"), (0, vec!["\\timing".to_owned()]));
        assert!(found("select ").1.is_empty() && found("ж").1.is_empty());
    }

    #[test]
    fn files_are_completed_between_quotes() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.parquet", "b.parquet", ".hidden"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        std::fs::create_dir(folder.path().join("year=1")).unwrap();
        let at = |name: &str| format!("{}/{name}", folder.path().display());
        let text = format!("select 'x' from '{}", at(""));
        assert_eq!(found(&text), (17, vec![at("a.parquet"), at("b.parquet"), at("year=1/")]));
        assert_eq!(found(&format!("select * from '{}", at("b"))).1, [at("b.parquet")]);
        assert!(found(&format!("select * from '{}' where b", at("b"))).1.contains(&"between".to_owned()));
    }

    #[tokio::test]
    async fn names_are_those_of_the_session() {
        let ctx = SessionContext::new();
        ctx.sql("create table \"T\" as select 1 as one, 2 as \"Two\"")
            .await
            .unwrap()
            .collect()
            .await
            .unwrap();
        let names = Completion::of(&ctx).await.names;
        assert_eq!(names.into_iter().collect::<Vec<_>>(), ["\"T\"", "\"Two\"", "one"]);
    }
}
