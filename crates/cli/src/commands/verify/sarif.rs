//! Findings as SARIF 2.1.0, which code scanning services read.

use crate::failure::Failure;
use crate::file_name;
use crate::percent::encoded;
use crate::remote::is_url;
use marquetry_base::text_without_secrets;
use marquetry_verify::{Finding, HOUSE_RULES, Judgement, RULES, Report, Rule, Severity};
use serde_json::{Value, json};
use std::path::Path;

/// A document of one run on all files.
pub(super) struct Document {
    judgement: Judgement,
    results: Vec<Value>,
    /// Files that could not be read.
    failures: Vec<Value>,
}

impl Document {
    pub(super) fn new(judgement: Judgement) -> Self {
        Document { judgement, results: Vec::new(), failures: Vec::new() }
    }

    /// Adds a file that could not be read: that is not a result, as no rule was checked.
    pub(super) fn add_failure(&mut self, file: &Path, failure: &Failure) {
        self.failures.push(json!({
            "level": "error",
            "message": {"text": text_without_secrets(&failure.to_string())},
            "locations": [{"physicalLocation": {"artifactLocation": {"uri": uri(file)}}}],
        }));
    }

    pub(super) fn add(&mut self, file: &Path, report: &Report) {
        let uri = uri(file);
        for Finding { rule, place, message, .. } in &report.findings {
            let mut location = json!({"physicalLocation": {"artifactLocation": {"uri": uri}}});
            if let Some(offset) = place.offset {
                location["physicalLocation"]["region"] = json!({"byteOffset": offset});
            }
            let mut parts = Vec::new();
            parts.extend(place.row_group.map(|row_group| format!("row group {row_group}")));
            parts.extend(place.column.as_ref().map(|column| format!("column {column}")));
            parts.extend(place.page.map(|page| format!("page {page}")));
            if !parts.is_empty() {
                location["logicalLocations"] = json!([{"fullyQualifiedName": parts.join(", ")}]);
            }
            let severity = self.judgement.severity(rule);
            self.results.push(result(rule, severity, message, location));
        }
        for (rule, more) in &report.omitted {
            let location = json!({"physicalLocation": {"artifactLocation": {"uri": uri}}});
            let severity = self.judgement.severity(rule);
            self.results.push(result(
                rule,
                severity,
                &format!("{more} more findings of this rule"),
                location,
            ));
        }
    }

    pub(super) fn finish(self) -> Value {
        let rules = all_rules().map(|rule| {
            json!({
                "id": rule.id,
                "shortDescription": {"text": rule.title},
                "help": {"text": format!("Spec: {}", rule.spec)},
                "defaultConfiguration": {"level": level(self.judgement.severity(rule))},
                "properties": {"severity": rule.severity.name(), "level": rule.level.name()},
            })
        });
        json!({
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
            "version": "2.1.0",
            "runs": [{
                "tool": {"driver": {
                    "name": "marquetry",
                    "version": env!("CARGO_PKG_VERSION"),
                    "rules": rules.collect::<Vec<_>>(),
                }},
                "invocations": [{
                    "executionSuccessful": self.failures.is_empty(),
                    "toolExecutionNotifications": self.failures,
                }],
                "results": self.results,
            }],
        })
    }
}

/// The rules of the format, and those of house profiles.
fn all_rules() -> impl Iterator<Item = &'static Rule> {
    RULES.iter().chain(HOUSE_RULES)
}

fn result(rule: &Rule, severity: Severity, message: &str, location: Value) -> Value {
    json!({
        "ruleId": rule.id,
        "ruleIndex": all_rules().position(|other| other.id == rule.id),
        "level": level(severity),
        "message": {"text": message},
        "locations": [location],
    })
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Corrupt | Severity::Invalid => "error",
        Severity::Suspicious => "warning",
        Severity::Style => "note",
    }
}

/// The path as a relative reference of RFC 3986, or with the `file` scheme if it is absolute; a URL as it is, except
/// for characters that are invalid in a URI.
fn uri(file: &Path) -> String {
    if is_url(file) {
        return encoded(file_name::shown(file).as_bytes(), b":/?#[]@!$&'()*+,;=%");
    }
    let text = file_name::shown(file).replace('\\', "/");
    let mut out = String::new();
    if file.is_absolute() {
        out.push_str(if text.starts_with('/') { "file://" } else { "file:///" });
    }
    // The colon of a drive letter; elsewhere it would end a scheme.
    out + &encoded(text.as_bytes(), if file.is_absolute() { b"/:" } else { b"/" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_urls_become_uris() {
        let cases = [
            ("a b/c:d.parquet", "a%20b/c%3Ad.parquet"),
            ("/a/100%.parquet", "file:///a/100%25.parquet"),
            (
                "http://me:pass@127.0.0.1:8931/a%20b.parquet?x=1&y",
                "http://***@127.0.0.1:8931/a%20b.parquet?***",
            ),
            ("s3://bucket/a b/\u{fc}.parquet", "s3://bucket/a%20b/%C3%BC.parquet"),
        ];
        for (path, expected) in cases {
            assert_eq!(uri(Path::new(path)), expected);
        }
    }
}
