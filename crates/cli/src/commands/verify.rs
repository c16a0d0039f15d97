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
    /// Look at metadata only: footer, indexes, headers of bloom filters
    #[arg(long, conflicts_with = "deep")]
    quick: bool,
    /// Decode everything, and hold all that is said of the values against them
    #[arg(long)]
    deep: bool,
    /// Check only this rule, or all whose id begins so, such as page; may be given again
    #[arg(long, value_name = "ID|PREFIX")]
    rule: Vec<String>,
    /// Leave out this rule, or all whose id begins so; may be given again
    #[arg(long, value_name = "ID|PREFIX")]
    ignore: Vec<String>,
    /// Show so many findings of each rule for each file; the others are counted
    #[arg(long, value_name = "N", default_value_t = 20)]
    most: usize,
    /// How many threads; by default one for each processor
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
}

pub(crate) const VERIFY_HELP: &str = "\
Without --quick and --deep every byte of every page is read and held against its checksum; page headers are held against
footer and indexes; levels are counted where they are not compressed, and in columns of lists. Nothing else is
decompressed, so that a page without a checksum may be damaged in its values: --deep finds that. `marquetry rules` lists
what is checked. --rule with a rule of a deeper level looks that deep; --quick refuses it.

Exit code: 1 if there is a finding that is invalid or corrupt, or a file cannot be read; 0 if there are only suspicious
ones or style, or none.
JSON: {file, pages, bytes, worst, findings: [{rule, severity, spec, row_group, column, page, offset, message}],
omitted: [{rule, count}]}; `worst` is a severity or null, `spec` the section of the format that the rule is from.
SARIF: one document of version 2.1.0 for all files; corrupt and invalid are errors, suspicious warnings, style notes. Files
that cannot be read are notifications of the invocation.

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
