//! `rules`: what `verify` checks.

use crate::failure::Failure;
use crate::hyperlinks;
use crate::output::Output;
use crate::text_table::TextTable;
use clap::Args as ClapArgs;
use marquetry_verify::{Rule, rules_named};
use serde_json::{Value, json};
use std::io::{self, Write};

#[derive(Debug, ClapArgs)]
pub(crate) struct RulesArgs {
    /// Only the rule with this id, such as page-checksum, with its section of the format; or all rules whose ids begin with it,
    /// such as page
    #[arg(value_name = "ID|PREFIX")]
    rule: Option<String>,
}

pub(crate) const RULES_HELP: &str = "\
Severities: corrupt (data cannot be read), invalid (the format forbids it; readers may refuse the file or give wrong
answers), suspicious (readers cope, or it could not be checked), style (legal, but deprecated or unwise). The level of
a rule is the least level of verify that checks it. Facts that levels decide (null counts, histograms, rows of pages)
are checked by default where levels are not compressed, and in columns of lists; elsewhere by --deep. Rules whose ids
begin with house are not rules of the format: they check the limits of a profile, see lint.

JSON: one object a rule: {rule, severity, level, title, spec}; `spec` is the section of the format.

Examples:
  marquetry rules
  marquetry rules page-checksum
  marquetry rules statistics --format json";

pub(crate) fn run(args: &RulesArgs, output: &mut Output) -> Result<(), Failure> {
    let rules = rules_named(args.rule.as_deref().unwrap_or_default())?;
    if output.is_json() {
        return Ok(rules.into_iter().try_for_each(|rule| output.json(&object(rule)))?);
    }
    if let ([rule], Some(_)) = (&rules[..], &args.rule) {
        return Ok(one(rule, output)?);
    }
    let mut table = TextTable::new(&["rule", "severity", "level", "holds where it is kept"]);
    for rule in rules {
        table.row([rule.id, rule.severity.name(), rule.level.name(), rule.title].map(str::to_owned));
    }
    Ok(table.print(output)?)
}

fn one(rule: &Rule, output: &mut Output) -> io::Result<()> {
    output.line(format!("{}: {}, from level {} on", rule.id, rule.severity.name(), rule.level.name()))?;
    output.line(format!("  {}", rule.title))?;
    output.write_all(b"  format: ")?;
    output.linked(rule.spec, hyperlinks::of_spec(rule.spec))?;
    output.line("")
}

fn object(rule: &Rule) -> Value {
    json!({
        "rule": rule.id,
        "severity": rule.severity.name(),
        "level": rule.level.name(),
        "title": rule.title,
        "spec": rule.spec,
    })
}
