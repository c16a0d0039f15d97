//! Prints advice as text and as JSON.

use super::Advised;
use super::command::{can_be_given, choice, command, line, merging};
use super::setting_names::SettingNames;
use crate::failure::Failure;
use crate::file_name;
use crate::output::Output;
use crate::printable::printable;
use crate::text_table::{TextTable, shortened, terminal_width};
use marquetry::errors::Error;
use marquetry_base::counted;
use marquetry_inspect::{BeforeAfter, Change, ColumnAdvice, Confidence, Finding};
use serde_json::{Value, json};

impl Advised<'_> {
    pub(super) fn print(&self, output: &mut Output) -> Result<(), Failure> {
        let advice = self.advice;
        let findings = self.findings()?;
        if output.is_json() {
            return Ok(output.json(&self.as_json(&findings))?);
        }
        let width = terminal_width().unwrap_or(WIDTH).max(NARROWEST);
        if let Some((files, bytes)) = self.files {
            let name = file_name::shown(&self.input.path);
            let files = counted(files, "file");
            output.line(format!("{files} of {bytes} bytes; the largest is {name}:"))?;
        }
        let mut table =
            TextTable::new(&["column", ">bytes", ">predicted", ">+-", ">measured", "write it with"]);
        for column in &advice.columns {
            table.row([
                shortened(&column.column, width.saturating_sub(NUMBERS_WIDTH).max(12)),
                column.bytes.to_string(),
                column.predicted.to_string(),
                share(column.error),
                share(column.measured),
                choice(column),
            ]);
        }
        table.print(output)?;
        output.line(format!("file: {} bytes, predicted: {}", advice.file_bytes, self.applied.predicted))?;
        for (number, (finding, command)) in (1..).zip(&findings) {
            output.line("")?;
            let figures = figures(finding);
            output.line(format!("{number}. {}{figures}", finding.kind))?;
            wrapped(&printable(&finding.what), width - INDENT)
                .into_iter()
                .try_for_each(|line| output.line(format!("   {line}")))?;
            output.line(format!("   {}", command.as_deref().unwrap_or(BY_THE_WRITER)))?;
        }
        if findings.is_empty() {
            output.line("nothing to do: leave the file as it is")?;
        } else {
            output.line("")?;
            output.line(self.all_at_once())?;
        }
        for what in &advice.not_measured {
            wrapped(&printable(&format!("not measured: {what}")), width)
                .into_iter()
                .try_for_each(|line| output.line(line))?;
        }
        Ok(())
    }

    /// All findings, with the commands that apply them.
    fn findings(&self) -> Result<Vec<(&Finding, Option<String>)>, Error> {
        let names = SettingNames::new(self.input.metadata.schema());
        let mut findings = Vec::new();
        if let Some((parent, finding)) = &self.merging
            && let Change::Merge(names) = &finding.change
        {
            findings.push((finding, Some(merging(parent, self.input, names)?)));
        }
        for finding in &self.advice.findings {
            findings.push((finding, command(self.input, self.advice, finding, &names)?));
        }
        Ok(findings)
    }

    /// The command that applies all findings that keep rows and types.
    fn all_at_once(&self) -> String {
        let name = file_name::shown(&self.input.path);
        line("optimize", [name.as_str()], "optimized.parquet", &self.wanted.words())
    }

    fn as_json(&self, findings: &[(&Finding, Option<String>)]) -> Value {
        let advice = self.advice;
        let column = |column: &ColumnAdvice| {
            json!({
                "column": column.column, "bytes": column.bytes, "predicted": column.predicted, "error": column.error,
                "measured": column.measured, "encoding": column.choice.map(|choice| choice.encoding.to_string()),
                "compression": column.choice.map(|choice| choice.compression.to_string()),
            })
        };
        let finding = |(finding, command): &(&Finding, Option<String>)| {
            json!({
                "kind": finding.kind.name(), "columns": finding.columns, "what": finding.what,
                "bytes": pair(finding.bytes), "decode": pair(finding.decode), "skipped": pair(finding.skipped),
                "confidence": finding.confidence.share(), "command": command,
            })
        };
        let path = file_name::shown(&self.input.path);
        let options = self.applied.attempts.first().map(|options| {
            options.iter().filter(|option| can_be_given(option)).cloned().collect::<Vec<String>>()
        });
        let options = options.filter(|options| !options.is_empty());
        let command = options.map(|options| line("rewrite", [path.as_str()], "optimized.parquet", &options));
        let mut object = json!({
            "file": path, "size": advice.file_bytes, "predicted": self.applied.predicted,
            "columns": advice.columns.iter().map(column).collect::<Vec<_>>(), "command": command,
            "findings": findings.iter().map(finding).collect::<Vec<_>>(), "not_measured": advice.not_measured,
        });
        if let Some((files, bytes)) = self.files {
            object["directory"] = json!({"path": file_name::shown(self.path), "files": files, "size": bytes});
        }
        object
    }
}

fn pair<T: serde::Serialize>(figures: Option<BeforeAfter<T>>) -> Value {
    figures.map_or(Value::Null, |it| json!({"before": it.before, "after": it.after}))
}

/// `: -12.3 % bytes, decoded in 45 % of the time, from a sample of 5.0 % of the rows`.
fn figures(finding: &Finding) -> String {
    let change = |before: f64, after: f64| (after / before.max(f64::MIN_POSITIVE) - 1.0) * 100.0;
    let mut parts = Vec::new();
    if let Some(bytes) = finding.bytes.filter(|bytes| bytes.before > 0) {
        let saved = finding.saved_bytes();
        let word = if saved < 0 { "more" } else { "fewer" };
        let percent = change(bytes.before as f64, bytes.after as f64);
        parts.push(format!("{} bytes {word} ({percent:+.1} %)", saved.unsigned_abs()));
    }
    if let Some(decode) = finding.decode.filter(|decode| decode.before > 0.0) {
        parts.push(format!("decoding {:+.0} % time", change(decode.before, decode.after)));
    }
    if let Some(skipped) = finding.skipped {
        parts.push(format!("skipped {:.0} % -> {:.0} %", skipped.before * 100.0, skipped.after * 100.0));
    }
    parts.push(match finding.confidence {
        Confidence::Sample(share) => format!("from {:.1} % of the rows", share * 100.0),
        _ => "certain".to_owned(),
    });
    format!(": {}", parts.join(", "))
}

/// Lines of at most `width` characters, except for longer words.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

fn share(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

const BY_THE_WRITER: &str = "(for whoever writes the rows: no command does it)";
/// Width if output is not a terminal.
const WIDTH: usize = 100;
const NARROWEST: usize = 40;
const INDENT: usize = 3;
/// Width of the numbers behind the names of columns.
const NUMBERS_WIDTH: usize = 68;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_between_words() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("longest of all", 4), ["longest", "of", "all"]);
    }
}
