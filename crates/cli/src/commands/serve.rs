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
    /// The port on 127.0.0.1; 0 for any free port
    #[arg(long, short, value_name = "PORT", default_value_t = 0)]
    port: u16,
    /// Do not show bounds as text in reports; rows are still shown
    #[arg(long)]
    no_values: bool,
}

/// Text after the options in `--help`.
pub(crate) const SERVE_HELP: &str = "\
Prints the address, and serves until Ctrl-C. The site lists the files of the folder and of folders below, searches
files and columns by name, and has for each file its `marquetry report` (?where=CONDITION shows what is skipped) and
its rows. It loads nothing from elsewhere.

Only this machine can connect, and because it may have other users, the address contains a secret. Requests with other
host names, and requests from pages of other sites, are refused. Nothing is written, no link is followed, hidden files
are not listed, and only Parquet files are served.

Programs can read files at the same address: /file/NAMES takes Range: bytes=0-99, /values/NAMES?columns=a,b takes
Range: rows=0-49 and answers with JSON.

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
