//! The files that a command reads, followed by the one that it writes. Options may stand anywhere among them.

use clap::builder::PathBufValueParser;
use clap::error::{Error, ErrorKind};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use std::path::PathBuf;

/// IN, IN, .. OUT.
#[derive(Debug, Clone)]
pub(crate) struct Paths {
    /// At least one file.
    pub(crate) inputs: Vec<PathBuf>,
    pub(crate) output: PathBuf,
}

// One argument with many values: of two, clap would take what stands before an option for the last value of the second.
impl Args for Paths {
    fn augment_args(command: Command) -> Command {
        let paths = Arg::new(ID).value_name("IN").action(ArgAction::Append).num_args(1..).required(true);
        command.arg(paths.value_parser(PathBufValueParser::new()))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Paths::augment_args(command)
    }
}

impl FromArgMatches for Paths {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let paths = matches.get_many::<PathBuf>(ID).unwrap_or_default();
        let mut inputs: Vec<PathBuf> = paths.cloned().collect();
        match inputs.pop() {
            Some(output) if !inputs.is_empty() => Ok(Paths { inputs, output }),
            last => {
                let read = last.unwrap_or_default();
                let message = format!("OUT is missing, the file to write behind {}", read.display());
                Err(Error::raw(ErrorKind::MissingRequiredArgument, message))
            }
        }
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Paths::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The argument's id, by which a command sets its help: `#[command(mut_arg(paths::ID, ..))]`.
pub(crate) const ID: &str = "paths";

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &[&str]) -> Result<Paths, Error> {
        let command = Paths::augment_args(Command::new("m")).arg(Arg::new("to").long("to"));
        let command = command.arg(Arg::new("quick").long("quick").action(ArgAction::SetTrue));
        Paths::from_arg_matches(&command.try_get_matches_from(["m"].iter().chain(words))?)
    }

    #[test]
    fn options_stand_anywhere() {
        for words in [
            &["a", "b", "c", "--to", "x", "--quick"][..],
            &["a", "b", "--to", "x", "c"],
            &["--quick", "a", "--to=x", "b", "c"],
            &["a", "--to", "x", "--", "b", "c"],
        ] {
            let paths = parsed(words).unwrap();
            assert_eq!(paths.inputs, [PathBuf::from("a"), PathBuf::from("b")], "{words:?}");
            assert_eq!(paths.output, PathBuf::from("c"), "{words:?}");
        }
        assert_eq!(parsed(&[]).unwrap_err().kind(), ErrorKind::MissingRequiredArgument);
        let error = parsed(&["a", "--quick"]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::MissingRequiredArgument);
        assert!(error.to_string().contains("OUT is missing, the file to write behind a"));
    }
}
