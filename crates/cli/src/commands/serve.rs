//! `serve`: shows a folder as a web site on this machine.

use super::report::reported;
use crate::failure::Failure;
use crate::file_name;
use crate::output::Output;
use crate::remote;
use crate::serve::{Folder, Site, serve};
use clap::Args as ClapArgs;
use marquetry::OpenFile;
use marquetry::predicate::Predicate;
use marquetry_base::to_hex;
use marquetry_report::{ReportOptions, write_report};
use marquetry_verify::Level;
use serde_json::json;
use std::io::Write;
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;

/// The arguments of `serve`.
#[derive(Debug, ClapArgs)]
pub(crate) struct ServeArgs {
    /// A folder of Parquet files, or one file
    #[arg(value_name = "DIR|FILE", value_parser = remote::local())]
    path: PathBuf,
    /// Where to listen on 127.0.0.1; 0 for any port that is free
    #[arg(long, short, value_name = "PORT", default_value_t = 0)]
    port: u16,
    /// Show no bounds as text in reports; rows are values all the same
    #[arg(long)]
    no_values: bool,
}

/// Text after the options in `--help`.
pub(crate) const SERVE_HELP: &str = "\
The address is printed, and answered until Ctrl-C. It shows the files of the folder and of those below it, finds files and columns by
name, and has for each file the page of `marquetry report` (?where=CONDITION shows what is skipped) and its rows, some at a time. Nothing
is loaded from elsewhere.

Only this machine is listened to, and the address has a secret in it, as other users of the machine can connect, too. Other names of the
host, and requests that pages of other sites make, are refused. Nothing is written. No link is followed, hidden files are not there, and
only Parquet files are given away.

Programs can read files by the same address: /file/NAMES answers Range: bytes=0-99, /values/NAMES?columns=a,b answers
Range: rows=0-49 with JSON.

JSON: {url}.

Examples:
  marquetry serve warehouse
  marquetry serve wines.parquet --port 8080";

pub(crate) fn run(args: &ServeArgs, output: &mut Output) -> Result<(), Failure> {
    let folder = Folder::open(&args.path).map_err(|error| {
        Failure::Check(format!("{}: cannot be opened: {error}", file_name::shown(&args.path)))
    })?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, args.port))
        .map_err(|error| Failure::Usage(format!("cannot listen at port {}: {error}", args.port)))?;
    let secret = secret()?;
    let options = ReportOptions::default().with_values(!args.no_values);
    let report =
        move |name: &str, file: OpenFile, condition: Option<&Predicate>, links: Vec<(String, String)>| {
            let file = reported(name.to_owned(), file, condition, Some(Level::Quick))?;
            let mut page = Vec::new();
            write_report(&[file], &options.clone().with_links(links), &mut page)?;
            Ok(page)
        };
    let threads = marquetry_base::available_threads();
    let site = Site::new(folder, &secret, threads, Box::new(report));
    let url = format!("http://{}/{secret}/", listener.local_addr()?);
    match output.is_json() {
        true => output.json(&json!({ "url": url }))?,
        false => {
            output.linked(&url, Some(url.clone()))?;
            output.line("")?;
        }
    }
    output.flush()?;
    Ok(serve(&listener, site)?)
}

/// A secret that nobody can guess.
fn secret() -> Result<String, Failure> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)
        .map_err(|error| Failure::Check(format!("the system has no random bytes: {error}")))?;
    Ok(to_hex(&bytes))
}
