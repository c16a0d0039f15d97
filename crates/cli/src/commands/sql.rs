//! `sql`: hands over to `marquetry-sql`, as git does to commands of its own.

use crate::failure::Failure;
use clap::Args as ClapArgs;
use marquetry_base::SiblingProgram;
use std::ffi::OsString;

/// For the list of commands: what they are is up to the other program.
#[derive(Debug, ClapArgs)]
pub(crate) struct SqlArgs {
    /// The arguments of marquetry-sql: a statement and options, which `marquetry sql --help` lists
    #[arg(value_name = "ARGUMENTS", trailing_var_arg = true, allow_hyphen_values = true)]
    _arguments: Vec<OsString>,
}

pub(crate) const SQL_HELP: &str = "\
The program marquetry-sql must be beside this one or on the PATH:
  cargo install --path crates/sql --profile dist

Examples:
  marquetry sql \"select country, count(*) from 'wines.parquet' group by country\"
  marquetry sql";

/// The arguments behind `sql`, if that is the command: they all belong to the other program.
pub(crate) fn arguments(all: impl IntoIterator<Item = OsString>) -> Option<Vec<OsString>> {
    let mut all = all.into_iter().skip(1);
    (all.next()? == "sql").then(|| all.collect())
}

/// Replaces this process by `marquetry-sql`, or runs it.
pub(crate) fn run(arguments: &[OsString]) -> Result<u8, Failure> {
    let Some(program) = SiblingProgram::find(PROGRAM) else {
        return Err(Failure::Usage(format!(
            "`sql` is a program of its own, {PROGRAM}, which is neither beside this one nor on the PATH; install it with \
             `cargo install --path crates/sql --profile dist`; `marquetry help sql` tells more"
        )));
    };
    program.become_it(arguments.iter().cloned()).map_err(Failure::Usage)
}

const PROGRAM: &str = "marquetry-sql";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_behind_sql_is_not_ours() {
        let of = |all: &[&str]| arguments(all.iter().map(OsString::from));
        assert_eq!(of(&["marquetry", "sql", "--format", "csv"]), Some(vec!["--format".into(), "csv".into()]));
        assert_eq!(of(&["marquetry", "sql"]), Some(Vec::new()));
        assert_eq!(of(&["marquetry", "head", "sql"]), None);
        assert_eq!(of(&["marquetry"]), None);
    }
}
