//! `rules`: what `verify` checks.

use crate::failure::Failure;
use crate::output::Output;
use crate::table::Table;
use clap::Args as ClapArgs;
use marquetry_core::verify::{RULES, Rule};
use serde_json::{Value, json};

#[derive(Debug, ClapArgs)]
pub(crate) struct RulesArgs {
    /// Only rules whose id begins so, such as page or page-checksum
    #[arg(value_name = "PREFIX")]
    prefix: Option<String>,
}

pub(crate) const RULES_HELP: &str = "\
Severities: corrupt (data cannot be read), invalid (the format forbids it: readers may refuse the file, or give wrong
answers), suspicious (readers cope, or it could not be checked), style (legal, but deprecated or unwise). Levels are those
of verify from which on a rule is checked.
JSON: one object a rule: {rule, severity, level, title, spec}.

Examples:
  marquetry rules
  marquetry rules statistics --format json";

pub(crate) fn run(args: &RulesArgs, output: &mut Output) -> Result<(), Failure> {
    let prefix = args.prefix.as_deref().unwrap_or_default();
    let rules: Vec<&Rule> = RULES.iter().filter(|rule| rule.id.starts_with(prefix)).collect();
    if rules.is_empty() {
        return Err(Failure::Usage(format!("no rule begins with {prefix}")));
    }
    if output.is_json() {
        return Ok(rules.into_iter().try_for_each(|rule| output.json(&object(rule)))?);
    }
    let mut table = Table::new(&["rule", "severity", "level", "holds where it is kept"]);
    for rule in rules {
        table.row([rule.id, rule.severity.name(), rule.level.name(), rule.title].map(str::to_owned));
    }
    Ok(table.print(output)?)
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
