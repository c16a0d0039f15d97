//! Findings as SARIF 2.1.0, which code scanning services read.

use marquetry_core::verify::{Finding, RULES, Report, Severity};
use serde_json::{Value, json};
use std::path::Path;

/// A document of one run over all files.
pub(super) struct Document {
    results: Vec<Value>,
    is_successful: bool,
}

impl Document {
    pub(super) fn new() -> Self {
        Document { results: Vec::new(), is_successful: true }
    }

    /// A file could not be read.
    pub(super) fn add_failure(&mut self) {
        self.is_successful = false;
    }

    pub(super) fn add(&mut self, file: &Path, report: &Report) {
        let uri = uri(file);
        for Finding { rule, place, message } in &report.findings {
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
            self.results.push(json!({
                "ruleId": rule.id,
                "ruleIndex": RULES.iter().position(|other| other.id == rule.id),
                "level": level(rule.severity),
                "message": {"text": message},
                "locations": [location],
            }));
        }
        for (rule, more) in &report.omitted {
            self.results.push(json!({
                "ruleId": rule.id,
                "ruleIndex": RULES.iter().position(|other| other.id == rule.id),
                "level": level(rule.severity),
                "message": {"text": format!("{more} more findings of this rule")},
                "locations": [{"physicalLocation": {"artifactLocation": {"uri": uri}}}],
            }));
        }
    }

    pub(super) fn finish(self) -> Value {
        let rules = RULES.iter().map(|rule| {
            json!({
                "id": rule.id,
                "shortDescription": {"text": rule.title},
                "help": {"text": format!("Spec: {}", rule.spec)},
                "defaultConfiguration": {"level": level(rule.severity)},
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
                "invocations": [{"executionSuccessful": self.is_successful}],
                "results": self.results,
            }],
        })
    }
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Corrupt | Severity::Invalid => "error",
        Severity::Suspicious => "warning",
        Severity::Style => "note",
    }
}

/// The path as a relative reference of RFC 3986, or with the scheme of files where it is absolute.
fn uri(file: &Path) -> String {
    let text = file.display().to_string().replace('\\', "/");
    let mut out = String::new();
    if file.is_absolute() {
        out.push_str(if text.starts_with('/') { "file://" } else { "file:///" });
    }
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                out.push(byte as char)
            }
            // A drive letter's colon; elsewhere it would end a scheme.
            b':' if file.is_absolute() => out.push(':'),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}
