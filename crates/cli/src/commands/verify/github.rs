//! Findings as annotations of GitHub's workflows: lines that a runner reads from the output of a step.

use super::places::places;
use crate::file_name;
use crate::output::Output;
use marquetry_verify::{Finding, Judgement, Report, Severity};
use std::io;
use std::path::Path;

/// Writes a line for each finding.
pub(super) fn annotate(
    file: &Path,
    report: &Report,
    judgement: &Judgement,
    output: &mut Output,
) -> io::Result<()> {
    let name = escaped(&file_name::shown(file), true);
    for Finding { rule, place, message, .. } in &report.findings {
        let (kind, message) =
            (kind(judgement.severity(rule)), escaped(&format!("{message}{}", places(place)), false));
        output.line(format!("::{kind} file={name},title={}::{message}", rule.id))?;
    }
    for (rule, more) in &report.omitted {
        let kind = kind(judgement.severity(rule));
        output.line(format!("::{kind} file={name},title={}::{more} more findings of this rule", rule.id))?;
    }
    Ok(())
}

fn kind(severity: Severity) -> &'static str {
    match severity {
        Severity::Corrupt | Severity::Invalid => "error",
        Severity::Suspicious => "warning",
        Severity::Style => "notice",
    }
}

/// Escapes characters that would end a line, or a property, for the runner.
fn escaped(text: &str, is_property: bool) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '%' => out.push_str("%25"),
            '\r' => out.push_str("%0D"),
            '\n' => out.push_str("%0A"),
            ':' if is_property => out.push_str("%3A"),
            ',' if is_property => out.push_str("%2C"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn nothing_ends_a_line_or_a_property() {
        assert_eq!(escaped("a,b:c%\n", true), "a%2Cb%3Ac%25%0A");
        assert_eq!(escaped("a,b:c%\n", false), "a,b:c%25%0A");
    }
}
