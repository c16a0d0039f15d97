//! `completions`: a script for a shell.

use crate::args::{Args, CompletionsArgs};
use crate::failure::Failure;
use crate::output::Output;
use clap::CommandFactory;
use std::io::Write;

pub(crate) fn run(args: &CompletionsArgs, output: &mut Output) -> Result<(), Failure> {
    // By way of memory: the generator panics where it cannot write.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "marquetry", &mut script);
    Ok(output.write_all(&script)?)
}
