//! A profile: the demands of a house on its files, as TOML.

use crate::house_limits::HouseLimits;
use crate::judgement::Judgement;
use crate::options::VerifyOptions;
use crate::rule::{Level, Severity};
use crate::rules::rules_named;
use marquetry_base::{Error, parse_byte_size};
use std::collections::BTreeMap;
use std::str::FromStr;
use toml::de::DeTable;
use toml::{Table, Value};

/// The demands of a house on its files, as `.marquetry.toml` states them. `marquetry lint --help` lists all possible
/// entries.
///
/// ```
/// use marquetry_verify::{Severity, LintProfile, verify};
/// let profile: LintProfile = "[severity]\nfooter = 'off'\n[limits]\ncolumns = { max = 5 }".parse()?;
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/wines.parquet");
/// let report = verify(std::sync::Arc::new(bytes::Bytes::from(std::fs::read(path)?)), &profile.options())?;
/// assert!(profile.judgement.fails(&report));
/// assert_eq!(report.findings[0].rule.id, "house-columns");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LintProfile {
    /// How much is read and checked. Default: [`Level::Default`].
    pub level: Level,
    /// Ids of rules that are not checked. Default: none.
    pub off: Vec<String>,
    /// How bad findings are. Default: the severities of the rules, and any finding makes a file fail.
    pub judgement: Judgement,
    /// Limits for the files. Default: none.
    pub limits: HouseLimits,
}

impl Default for LintProfile {
    fn default() -> Self {
        LintProfile {
            level: Level::Default,
            off: Vec::new(),
            judgement: Judgement { severities: BTreeMap::new(), fails_from: Severity::Style },
            limits: HouseLimits::default(),
        }
    }
}

impl FromStr for LintProfile {
    type Err = Error;

    /// Fails, with the line, if the text is not TOML, or has an entry that profiles do not have.
    fn from_str(text: &str) -> Result<Self, Error> {
        parse(text).map_err(Error::argument)
    }
}

fn parse(text: &str) -> Result<LintProfile, String> {
    let table: Table = text.parse().map_err(|error: toml::de::Error| {
        let at =
            error.span().map_or_else(String::new, |span| format!("line {}: ", line_of(text, span.start)));
        format!("{at}no TOML: {}", error.message().replace('\n', ", "))
    })?;
    let mut profile = LintProfile::default();
    for (key, value) in &table {
        profile.set(key, value).map_err(|why| match place_of_mistake(text, key, value) {
            Some(at) => format!("line {}: {why}", line_of(text, at)),
            None => why,
        })?;
    }
    Ok(profile)
}

/// Returns the offset of the invalid entry: one below this key, or the key itself. Values have no positions, so each
/// entry is tried by itself.
fn place_of_mistake(text: &str, key: &str, value: &Value) -> Option<usize> {
    let parsed = DeTable::parse(text).ok()?;
    let (place, below) = parsed.get_ref().get_key_value(key)?;
    let is_wrong = |(name, value): &(&String, &Value)| {
        let alone = Table::from_iter([((*name).clone(), (*value).clone())]);
        LintProfile::default().set(key, &Value::Table(alone)).is_err()
    };
    let entry = value.as_table().and_then(|table| table.iter().find(is_wrong));
    let entry = entry
        .zip(below.get_ref().as_table())
        .and_then(|((name, _), below)| below.get_key_value(name.as_str()).map(|(name, _)| name.span().start));
    Some(entry.unwrap_or(place.span().start))
}

/// Returns the line number of a byte, counted from 1.
fn line_of(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}

impl LintProfile {
    /// Returns the options for checking files by this profile.
    #[must_use]
    pub fn options(&self) -> VerifyOptions {
        VerifyOptions::default()
            .with_level(self.level)
            .with_ignore(self.off.clone())
            .with_house_limits(self.limits.clone())
    }

    /// Sets one entry of the profile.
    fn set(&mut self, key: &str, value: &Value) -> Result<(), String> {
        match key {
            "level" => self.level = one_of(key, value, LEVELS)?,
            "fail" => self.judgement.fails_from = one_of(key, value, SEVERITIES)?,
            "severity" => self.set_severities(subtable(key, value)?)?,
            "limits" => self.limits = limits(subtable(key, value)?)?,
            _ => return Err(unknown(key, &["level", "fail", "severity", "limits"])),
        }
        Ok(())
    }

    /// An entry for one rule takes precedence over an entry for all rules whose ids begin with its name.
    fn set_severities(&mut self, table: &Table) -> Result<(), String> {
        let mut said: Vec<_> = table.iter().collect();
        said.sort_by_key(|(name, _)| name.len());
        for (name, value) in said {
            let rules = rules_named(name).map_err(|error| error.message().to_owned())?;
            let is_off = value.as_str() == Some("off");
            let severity = if is_off { Severity::Style } else { one_of(name, value, SEVERITIES)? };
            for rule in rules {
                self.off.retain(|off| off != rule.id);
                self.judgement.severities.insert(rule.id, severity);
                if is_off {
                    self.off.push(rule.id.to_owned());
                }
            }
        }
        Ok(())
    }
}

const LEVELS: &[(&str, Level)] =
    &[("quick", Level::Quick), ("default", Level::Default), ("deep", Level::Deep)];
const SEVERITIES: &[(&str, Severity)] = &[
    ("style", Severity::Style),
    ("suspicious", Severity::Suspicious),
    ("invalid", Severity::Invalid),
    ("corrupt", Severity::Corrupt),
];

fn limits(table: &Table) -> Result<HouseLimits, String> {
    let mut limits = HouseLimits::default();
    for (key, value) in table {
        let most = || match range(key, value)? {
            (None, most) => Ok(most),
            (Some(_), _) => Err(format!("{key} has no min")),
        };
        match key.as_str() {
            "row-group-rows" => limits.row_group_rows = range(key, value)?,
            "row-group-bytes" => limits.row_group_bytes = most()?,
            "file-bytes" => limits.file_bytes = range(key, value)?,
            "footer-bytes" => limits.footer_bytes = most()?,
            "columns" => limits.columns = most()?,
            "codecs" => limits.codecs = Some(texts(key, value)?),
            "statistics" => limits.statistics = truth(key, value)?,
            "page-index" => limits.page_index = truth(key, value)?,
            "bloom-filters" => limits.bloom_filters = texts(key, value)?,
            "sorted-by" => limits.sorted_by = texts(key, value)?,
            _ => return Err(unknown(key, &LIMITS)),
        }
    }
    Ok(limits)
}

const LIMITS: [&str; 10] = [
    "row-group-rows",
    "row-group-bytes",
    "file-bytes",
    "footer-bytes",
    "columns",
    "codecs",
    "statistics",
    "page-index",
    "bloom-filters",
    "sorted-by",
];

/// Reads a range such as `{ min = 1, max = "2MiB" }`.
fn range(key: &str, value: &Value) -> Result<(Option<u64>, Option<u64>), String> {
    let table = subtable(key, value)?;
    if let Some(name) = table.keys().find(|name| *name != "min" && *name != "max") {
        return Err(unknown(&format!("{key}.{name}"), &["min", "max"]));
    }
    let bound = |name: &str| table.get(name).map(|value| number(&format!("{key}.{name}"), value)).transpose();
    match (bound("min")?, bound("max")?) {
        (Some(least), Some(most)) if least > most => Err(format!("{key}.min is greater than {key}.max")),
        bounds => Ok(bounds),
    }
}

fn number(key: &str, value: &Value) -> Result<u64, String> {
    let number = match value {
        Value::Integer(number) => u64::try_from(*number).ok(),
        Value::String(text) => {
            return parse_byte_size(text).map(|bytes| bytes as u64).map_err(|why| format!("{key} {why}"));
        }
        _ => None,
    };
    number
        .ok_or_else(|| format!("{key} is not a number that is not negative, and no size such as \"256MiB\""))
}

fn subtable<'a>(key: &str, value: &'a Value) -> Result<&'a Table, String> {
    value.as_table().ok_or_else(|| format!("{key} is not a table"))
}

fn truth(key: &str, value: &Value) -> Result<bool, String> {
    value.as_bool().ok_or_else(|| format!("{key} is neither true nor false"))
}

fn texts(key: &str, value: &Value) -> Result<Vec<String>, String> {
    let list = value.as_array().and_then(|list| {
        list.iter().map(|text| text.as_str().map(str::to_owned)).collect::<Option<Vec<_>>>()
    });
    list.ok_or_else(|| format!("{key} is not a list of texts"))
}

fn one_of<T: Copy>(key: &str, value: &Value, values: &[(&str, T)]) -> Result<T, String> {
    let found = values.iter().find(|(name, _)| value.as_str() == Some(name));
    let names = || values.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    found.map(|(_, value)| *value).ok_or_else(|| format!("{key} is none of {}", names()))
}

fn unknown(key: &str, known: &[&str]) -> String {
    format!("{key} is nothing that a profile says: known are {}", known.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_outweighs_its_family() {
        let text = "[severity]\npage-checksum = 'invalid'\npage = 'off'\n";
        let profile: LintProfile = text.parse().unwrap();
        assert!(profile.off.iter().any(|id| id == "page-header"), "{:?}", profile.off);
        assert!(!profile.off.iter().any(|id| id == "page-checksum"));
        assert_eq!(profile.judgement.severities["page-checksum"], Severity::Invalid);
    }

    #[test]
    fn limits_of_all_kinds() {
        let text = "fail = 'invalid'\nlevel = 'deep'\n[limits]\nrow-group-rows = { min = 10, max = 20 }\n\
                    file-bytes = { max = '1KiB' }\ncodecs = ['zstd']\nstatistics = true\nsorted-by = ['a', 'b.c']\n";
        let profile: LintProfile = text.parse().unwrap();
        let limits = HouseLimits::default()
            .with_row_group_rows(Some(10), Some(20))
            .with_file_bytes(None, Some(1024))
            .with_codecs(Some(vec!["zstd".to_owned()]))
            .with_statistics(true)
            .with_sorted_by(vec!["a".to_owned(), "b.c".to_owned()]);
        assert_eq!(profile.limits, limits);
        assert_eq!((profile.level, profile.judgement.fails_from), (Level::Deep, Severity::Invalid));
    }

    #[test]
    fn mistakes_are_named() {
        for (text, named) in [
            ("levl = 'deep'", "levl"),
            ("level = 'deepest'", "quick, default, deep"),
            ("fail = 1", "fail"),
            ("[severity]\nfooter-colour = 'off'", "footer-colour"),
            ("[severity]\nfooter-rows = 'bad'", "footer-rows"),
            ("[limits]\nrows = 1", "rows"),
            ("[limits]\nrow-group-rows = 1", "row-group-rows"),
            ("[limits]\nrow-group-rows = { least = 1 }", "row-group-rows.least"),
            ("[limits]\nrow-group-rows = { min = 2, max = 1 }", "row-group-rows.min"),
            ("[limits]\nfooter-bytes = { min = 2 }", "footer-bytes"),
            ("[limits]\nfile-bytes = { max = 'much' }", "file-bytes.max"),
            ("[limits]\ncodecs = 'zstd'", "codecs"),
            ("[limits]\nstatistics = 'yes'", "statistics"),
            ("level = ", "TOML"),
        ] {
            let error = text.parse::<LintProfile>().unwrap_err().to_string();
            assert!(error.contains(named), "{text}: {error}");
        }
    }

    #[test]
    fn mistakes_have_their_line() {
        for (text, said) in [
            ("level = 'deep'\nfail = = 1", "line 2: no TOML: "),
            ("# ours\nlevl = 'deep'", "line 2: levl is nothing"),
            (
                "level = 'deep'\n\n[limits]\nstatistics = true\ncodecs = 'zstd'",
                "line 5: codecs is not a list",
            ),
            ("[limits]\ncolumns = {\n  max = 'x' }", "line 2: columns.max"),
            ("[severity]\npage = 'off'\nno-rule = 'off'", "line 3: "),
            ("severity = 1", "line 1: severity is not a table"),
            ("level = 'deep'\nlimits.rows = 1", "line 2: rows is nothing"),
        ] {
            let error = text.parse::<LintProfile>().unwrap_err();
            assert!(error.message().starts_with(said), "{text}: {error}");
            assert!(!error.message().contains('\n'), "{error}");
        }
    }
}
