//! `verify`: checks files by the rules of the format.

mod check_files;
mod github;
mod places;
mod sarif;

pub(super) use check_files::{Job, check_files};

use crate::args::Files;
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use clap::Args as ClapArgs;
use marquetry_verify::{Judgement, Level, Rule, VerifyOptions, rules_named};

#[derive(Debug, ClapArgs)]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    files: Files,
    /// Check metadata only: footer, indexes, headers of bloom filters
    #[arg(long, conflicts_with = "deep")]
    quick: bool,
    /// Also decode all values, and compare statistics and indexes with them
    #[arg(long)]
    deep: bool,
    /// Check only this rule, or all whose ids begin with it, such as page. May be repeated
    #[arg(long, value_name = "ID|PREFIX")]
    rule: Vec<String>,
    /// Skip this rule, or all whose ids begin with it. May be repeated
    #[arg(long, value_name = "ID|PREFIX")]
    ignore: Vec<String>,
    /// Show this many findings of each rule and file, and count the others
    #[arg(long, value_name = "N", default_value_t = 20)]
    most: usize,
    /// Number of threads. Default: the number of processors
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
}

pub(crate) const VERIFY_HELP: &str = "\
By default every page is read and compared with its checksum, and page headers with the footer and indexes. Levels are
counted where they are not compressed, and in columns of lists; nothing else is decompressed. So the values of a page
without a checksum may be damaged: --deep finds that. `marquetry rules` lists the rules. --rule with a rule of a
deeper level checks at that level; --quick refuses it.

The exit code is 1 if there is a corrupt or invalid finding, or a file cannot be read. It is 0 if there are only
suspicious or style findings, or none.

JSON: {file, pages, bytes, worst, findings: [{rule, severity, spec, row_group, column, page, offset, message}],
omitted: [{rule, count}]}; `worst` is a severity or null, `spec` the section of the format that has the rule. SARIF:
one document of version 2.1.0 for all files. corrupt and invalid are errors, suspicious is a warning, style a note;
files that cannot be read are notifications of the invocation.

Examples:
  marquetry verify wines.parquet
  marquetry verify --deep 'data/*.parquet' --ignore list-legacy
  marquetry verify --rule statistics --rule bloom wines.parquet
  marquetry verify --quick data/*.parquet --format sarif > findings.sarif";

pub(crate) fn run(args: &VerifyArgs, output: &mut Output, outcome: &mut Outcome) -> Result<(), Failure> {
    let judgement = Judgement::default();
    let job =
        Job { files: &args.files, threads: args.threads, options: args.options()?, judgement: &judgement };
    check_files(&job, output, outcome)
}

impl VerifyArgs {
    fn options(&self) -> Result<VerifyOptions, Failure> {
        let asked = self.rule.iter().map(|text| rules_named(text)).collect::<Result<Vec<_>, _>>()?;
        let ignored =
            self.ignore.iter().map(|text| rules_named(text)).collect::<Result<Vec<_>, _>>()?.concat();
        // A rule that is not checked at this level would seem to find nothing.
        for (text, rules) in self.rule.iter().zip(&asked).filter(|_| self.quick) {
            if let Some(least) =
                rules.iter().map(|rule| rule.level).min().filter(|least| *least > Level::Quick)
            {
                return Err(Failure::Usage(format!(
                    "{text} is checked from the level {} on: leave out --quick",
                    least.name()
                )));
            }
        }
        let asked = asked.concat();
        let level = match (self.quick, self.deep) {
            (true, _) => Level::Quick,
            (_, true) => Level::Deep,
            // A rule that is asked for is checked.
            _ => asked.iter().map(|rule| rule.level).fold(Level::Default, Ord::max),
        };
        let ids = |rules: Vec<&Rule>| rules.into_iter().map(|rule| rule.id.to_owned()).collect::<Vec<_>>();
        Ok(VerifyOptions::default()
            .with_level(level)
            .with_rules((!self.rule.is_empty()).then(|| ids(asked)))
            .with_ignore(ids(ignored))
            .with_findings_per_rule(self.most)
            .with_decryption(crate::keys::given()))
    }
}
