//! Unwraps the errors of a cluster.
//!
//! QUIRK: Ballista 55 reports the error of a task or of a planner as debug text, nested in the names of all errors
//! around it.

use std::borrow::Cow;

/// The innermost error in a message that may be a cluster's.
pub(crate) fn without_wrappers(message: &str) -> Cow<'_, str> {
    let Some(begin) = BEGINS.iter().find_map(|begin| Some(message.find(begin)? + begin.len())) else {
        return Cow::Borrowed(message);
    };
    let mut inner = message[begin..].trim();
    if let Some(job) = inner.strip_prefix("job ") {
        inner = job.split_once(": ").map_or(inner, |(_, error)| error);
    }
    while let Some(within) = WRAPPERS.iter().find_map(|name| within(inner, name)) {
        inner = within;
    }
    let told = TOLD.iter().find_map(|name| within(inner, name)).and_then(unquoted);
    told.map_or(Cow::Borrowed(inner), Cow::Owned)
}

/// The text between the parentheses behind a name.
fn within<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.strip_prefix(name)?.strip_prefix('(')?.strip_suffix(')')
}

/// Text without its quotes and escapes.
fn unquoted(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut characters = text.strip_prefix('"')?.strip_suffix('"')?.chars();
    while let Some(c) = characters.next() {
        match c {
            '\\' => match characters.next()? {
                'n' => out.push('\n'),
                't' => out.push('\t'),
                c @ ('"' | '\\' | '\'') => out.push(c),
                // Numeric escapes stay.
                c => out.extend(['\\', c]),
            },
            c => out.push(c),
        }
    }
    Some(out)
}

/// Texts before the error of a task, and of a planner.
const BEGINS: [&str; 3] =
    ["Task failed due to runtime execution error: ", "Error planning ", " failed: DataFusion error: "];

/// Names of errors that wrap another one.
const WRAPPERS: [&str; 3] = ["DataFusionError", "Shared", "External"];

/// Names of errors that contain a text.
const TOLD: [&str; 7] =
    ["Execution", "Configuration", "Plan", "ResourcesExhausted", "Internal", "NotImplemented", "General"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_went_wrong_is_told() {
        let task = "Execution error: Job 038 failed: Job failed due to stage 1 failed: Task failed due to runtime execution error: ";
        for (message, told) in [
            ("Execution error: no place".to_owned(), "Execution error: no place"),
            (
                format!(
                    "{task}DataFusionError(Shared(External(DataFusionError(External(corrupt: (x), in file a.parquet)))))\n"
                ),
                "corrupt: (x), in file a.parquet",
            ),
            (
                format!("{task}DataFusionError(Execution(\"the key \\\"k\\\" \\u{{1b}}\\n\"))"),
                "the key \"k\" \\u{1b}\n",
            ),
            (format!("{task}DataFusionError(ArrowError(DivideByZero))"), "ArrowError(DivideByZero)"),
            (format!("{task}something else"), "something else"),
            (
                "Execution error: Job 038 failed: DataFusion error: no such option\n".to_owned(),
                "no such option",
            ),
            (
                "Error planning job 038: DataFusionError(Configuration(\"no such option\"))".to_owned(),
                "no such option",
            ),
        ] {
            assert_eq!(without_wrappers(&message), told);
        }
    }
}
