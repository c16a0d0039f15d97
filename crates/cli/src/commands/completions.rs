//! `completions`: a script for a shell.

use crate::failure::Failure;
use crate::output::Output;
use clap::Args as ClapArgs;
use clap_complete::Shell;
use std::io::Write;

/// The arguments of `completions`.
#[derive(Debug, ClapArgs)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}

/// Prints the script for `command`, the whole command line.
pub(crate) fn run(
    args: &CompletionsArgs,
    mut command: clap::Command,
    output: &mut Output,
) -> Result<(), Failure> {
    // The generator panics if it cannot write, so it writes to memory first.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "marquetry", &mut script);
    Ok(output.write_all(&script)?)
}

/// Text after the options in `--help`.
pub(crate) const COMPLETIONS_HELP: &str = "\
Examples:
  marquetry completions bash > ~/.local/share/bash-completion/completions/marquetry
  marquetry completions zsh > ~/.zfunc/_marquetry";
