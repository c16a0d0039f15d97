//! `summary`: writes the footers of a directory into one file.

use crate::failure::{Failure, Outcome};
use crate::file_name;
use crate::output::Output;
use crate::overwrite::{create, refuse_existing};
use crate::rewrite::{ColumnLog, Footer, Input, Same, column_orders, leaf_map, report_failure};
use clap::Args as ClapArgs;
use marquetry::errors::Error;
use marquetry::file::AtomicFile;
use marquetry::internals::format::{FileMetaData, FooterTail, PAR1, RowGroup, Writer};
use marquetry_base::counted;
use marquetry_core::io::DirectoryChain;
use serde_json::json;
use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

#[derive(Debug, ClapArgs)]
pub(crate) struct SummaryArgs {
    /// The directory
    #[arg(value_name = "DIR", value_parser = crate::remote::local())]
    directory: PathBuf,
    /// Replace existing _metadata and _common_metadata
    #[arg(long)]
    overwrite: bool,
}

pub(crate) const SUMMARY_HELP: &str = "\
_metadata has the row groups of all .parquet files in DIR and below, with the path of each row group's file from DIR,
so that readers need not open every file for its footer. _common_metadata has the schema alone. Files and directories
whose names begin with _ or . are skipped. All schemas must be the same; row groups are in the order of the paths.

Write them again when files are added, removed or rewritten: readers cannot tell that they are outdated.

JSON: {directory, files, row_groups, rows, notes}.

Examples:
  marquetry summary warehouse/wines
  marquetry summary warehouse/wines --overwrite";

pub(crate) fn run(args: &SummaryArgs, output: &mut Output, outcome: &mut Outcome) -> Result<(), Failure> {
    summary(args, output).or_else(|failure| report_failure(&args.directory, failure, outcome))
}

fn summary(args: &SummaryArgs, output: &mut Output) -> Result<(), Failure> {
    let [all, common] = ["_metadata", "_common_metadata"].map(|name| args.directory.join(name));
    for path in [&all, &common] {
        refuse_existing(path, [], args.overwrite)?;
    }
    let mut paths = Vec::new();
    list(&args.directory, "", &mut DirectoryChain::default(), &mut paths)?;
    paths.sort_unstable();
    if paths.is_empty() {
        return Err(Failure::Check("no .parquet file is in it".to_owned()));
    }
    let open = |path: &String| Input::open(&args.directory.join(path));
    let inputs = paths.iter().map(open).collect::<Result<Vec<_>, Error>>()?;
    let mut log = ColumnLog::new(0);
    let (summary, common_summary) = footers(&inputs, &paths, &mut log)?;
    // Both files are on disk before either gets its name.
    let files = [(all, &summary), (common, &common_summary)];
    let written = files
        .iter()
        .map(|(path, footer)| write(path, args.overwrite, footer))
        .collect::<Result<Vec<_>, Failure>>()?;
    for file in written {
        file.finish()?;
    }
    let (rows, row_groups) = (summary.num_rows, summary.row_groups.len());
    if output.is_json() {
        let directory = file_name::shown(&args.directory);
        return Ok(output.json(&json!({
            "directory": directory, "files": inputs.len(), "row_groups": row_groups, "rows": rows,
            "notes": log.json(),
        }))?);
    }
    let (files, row_groups) = (counted(inputs.len(), "file"), counted(row_groups, "row group"));
    output.line(format!("{files}, {row_groups}, {}", counted(rows, "row")))?;
    log.print(output)
}

/// Lists the paths of Parquet files below the directory, relative to it, with `/` as separator.
fn list(
    directory: &Path,
    prefix: &str,
    above: &mut DirectoryChain,
    out: &mut Vec<String>,
) -> Result<(), Failure> {
    let unread = |error| Failure::Check(format!("{}: {error}", directory.display()));
    if !above.enter(directory).map_err(unread)? {
        return Ok(());
    }
    for entry in fs::read_dir(directory).map_err(unread)? {
        let path = entry.map_err(unread)?.path();
        let Some(name) = path.file_name().and_then(OsStr::to_str) else {
            return Err(Failure::Check(format!("{} is not UTF-8, as paths in a footer are", path.display())));
        };
        if name.starts_with(['_', '.']) {
            continue;
        }
        let relative = format!("{prefix}{name}");
        if path.is_dir() {
            list(&path, &format!("{relative}/"), above, out)?;
        } else if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("parquet")) {
            out.push(relative);
        }
    }
    above.leave();
    Ok(())
}

/// The footers of `_metadata` and `_common_metadata`.
fn footers(
    inputs: &[Input],
    paths: &[String],
    log: &mut ColumnLog,
) -> Result<(FileMetaData, FileMetaData), Failure> {
    let schema = inputs[0].metadata.schema();
    let maps = inputs
        .iter()
        .map(|input| {
            leaf_map(schema, input.metadata.schema(), Same::Exactly)
                .map_err(|error| error.in_file(input.name()))
        })
        .collect::<Result<Vec<_>, Error>>()?;
    let orders = column_orders(inputs, &maps);
    let mut row_groups = Vec::new();
    for (input, path) in inputs.iter().zip(paths) {
        if input.metadata.encryption().is_some() {
            let error = Error::unsupported("has encrypted columns, which a summary cannot describe");
            return Err(error.in_file(input.name()).into());
        }
        let keeps_bounds = input.metadata.column_orders() == orders.as_deref();
        if !keeps_bounds {
            log.note("bounds of files that order columns in another way than the first are left out");
        }
        row_groups.extend(groups(input, path, keeps_bounds)?);
    }
    let rows = inputs
        .iter()
        .try_fold(0i64, |rows, input| rows.checked_add(i64::try_from(input.metadata.num_rows()).ok()?));
    let num_rows = rows.ok_or_else(|| Error::argument("the files have more than 2^63 - 1 rows"))?;
    let footer = Footer::union(inputs, log)?;
    let created_by = Some(footer.created_by().into());
    let summary = FileMetaData {
        version: 1,
        schema: inputs[0].metadata.head().schema.clone(),
        num_rows,
        row_groups,
        key_value_metadata: Some(footer.key_values).filter(|pairs| !pairs.is_empty()),
        created_by,
        column_orders: orders,
        ..FileMetaData::default()
    };
    let common = FileMetaData { num_rows: 0, row_groups: Vec::new(), ..summary.clone() };
    Ok((summary, common))
}

/// The row groups of a file, with its path set.
fn groups(input: &Input, path: &str, keeps_bounds: bool) -> Result<Vec<RowGroup>, Error> {
    let mut groups = Vec::new();
    for group in input.metadata.row_groups() {
        let mut columns = Vec::new();
        // In the order of the schema, whatever the order in the file.
        for chunk in group.columns() {
            let chunk = chunk.map_err(|error| error.in_file(input.name()))?;
            if chunk.file_path().is_some_and(|other| !other.is_empty() && other != path) {
                let error = Error::unsupported("is itself a summary: its pages are in other files");
                return Err(error.in_file(input.name()));
            }
            let mut column = chunk.to_thrift()?;
            column.file_path = Some(path.into());
            if !keeps_bounds {
                (column.column_index_offset, column.column_index_length) = (None, None);
                if let Some(statistics) = column.meta_data.as_mut().and_then(|meta| meta.statistics.as_mut())
                {
                    (statistics.min_value, statistics.max_value) = (None, None);
                }
            }
            columns.push(column);
        }
        groups.push(RowGroup { columns, ..group.head().clone() });
    }
    Ok(groups)
}

/// Writes a file that has only a footer, not yet under its name.
fn write(path: &Path, overwrite: bool, footer: &FileMetaData) -> Result<AtomicFile, Failure> {
    let mut writer = Writer::new();
    footer.write(&mut writer);
    let bytes = writer.finish();
    let metadata_len = u32::try_from(bytes.len())
        .map_err(|_| Failure::Check("the footer would have more than 4 GiB".to_owned()))?;
    let mut file = create(path, overwrite)?;
    file.write_all(&PAR1)?;
    file.write_all(&bytes)?;
    file.write_all(&FooterTail::Plain { metadata_len }.to_bytes())?;
    Ok(file)
}
