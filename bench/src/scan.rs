//! `scan`: every column of a file, from memory.
//!
//! The files are TPC-H lineitem without a codec and with two, and with Snappy a table like ClickBench's hits, one of nested
//! columns, one of embeddings and one of 1,200 columns, all as the peer writes them by default. Or any files: `foreign.py` makes
//! some with other writers.
//!
//! Besides the peer, it is compared with the unavoidable: decompressing the pages, and copying the output once.

use std::fs;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use clap::Args;

use crate::common::Common;
use crate::compare_readers::ReadComparison;
use crate::error::Result;
use crate::row::Row;
use crate::tables;

#[derive(Args)]
pub(crate) struct Options {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(flatten)]
    pub(crate) data: Data,
    /// Read these files instead, as the peer reads them when it is not told
    #[arg(long, value_name = "PATH", num_args = 1..)]
    pub(crate) files: Vec<PathBuf>,
    /// Threads of our reader, beside the same on one; the peer has one, as it has no threads for the columns of a row group
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: u16,
}

/// The generated files.
#[derive(Args, Clone)]
pub(crate) struct Data {
    /// TPC-H scale factor: 1 is 6 million rows of lineitem, 1 million of hits, 500,000 nested ones, 40,000 embeddings, and
    /// 10,000 rows of 1,200 columns
    #[arg(long, default_value_t = 1.0)]
    pub(crate) sf: f64,
    /// Where the generated files are kept for the next run
    #[arg(long, value_name = "DIR", default_value = "target/bench-data")]
    pub(crate) data_dir: PathBuf,
}

/// A file that is generated: its table and its codec.
pub(crate) struct Generated {
    pub(crate) name: &'static str,
    table: &'static str,
    codec: &'static str,
    /// What the table is, without its size.
    what: &'static str,
}

const fn generated(
    name: &'static str,
    table: &'static str,
    codec: &'static str,
    what: &'static str,
) -> Generated {
    Generated { name, table, codec, what }
}

/// Every file, in the order of the table.
pub(crate) const GENERATED: [Generated; 7] = [
    generated("lineitem_uncompressed", "lineitem", "uncompressed", "TPC-H lineitem"),
    generated("lineitem_snappy", "lineitem", "snappy", "TPC-H lineitem"),
    generated("lineitem_zstd", "lineitem", "zstd", "TPC-H lineitem"),
    generated("hits", "hits", "snappy", "hits-like, 105 columns"),
    generated("nested", "nested", "snappy", "nested lists, structs and maps"),
    generated("embedding", "embedding", "snappy", "embeddings of 512 and 384 floats"),
    generated("wide", "wide", "snappy", "1,200 columns"),
];

impl Generated {
    /// The path of the file, which is written if it is not there yet.
    pub(crate) fn path(&self, data: &Data) -> Result<PathBuf> {
        tables::parquet(&data.data_dir, self.table, data.sf, self.codec)
    }

    /// What it is, in words.
    pub(crate) fn title(&self, sf: f64) -> String {
        format!("{} SF{sf}, {}", self.what, self.codec)
    }
}

/// Measures each file whose name matches the filter.
pub(crate) fn run(options: &Options) -> Result<Vec<Row>> {
    let wanted = |name: &str| name.contains(&options.common.filter);
    if !options.files.is_empty() {
        let names = options.files.iter().map(|path| (name_of(path), path));
        return names
            .filter(|(name, _)| wanted(name))
            .map(|(name, path)| measure(options, &name, "", path))
            .collect();
    }
    let chosen = GENERATED.iter().filter(|file| wanted(&with_threads(file.name, options.threads)));
    chosen
        .map(|file| measure(options, file.name, &file.title(options.data.sf), &file.path(&options.data)?))
        .collect()
}

fn measure(options: &Options, name: &str, title: &str, path: &Path) -> Result<Row> {
    let file = Bytes::from(fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?);
    let size = format!("{} MB", file.len() / 1_000_000);
    ReadComparison {
        name: &with_threads(name, options.threads),
        title: &if title.is_empty() { size } else { format!("{title}, {size}") },
        file: &file,
        schema: None,
        threads: options.threads.into(),
        with_codec: true,
        rounds: options.common.rounds,
    }
    .race()
}

/// The name of a row.
fn with_threads(name: &str, threads: u16) -> String {
    if threads > 1 { format!("{name}_{threads}t") } else { name.to_owned() }
}

/// The file name without its extension.
fn name_of(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every table is written, and both sides read the same from it.
    #[test]
    fn small_tables() {
        let dir = tempfile::tempdir().unwrap();
        let common = Common { json: false, markdown: false, filter: String::new(), rounds: 1 };
        let data = Data { sf: 0.002, data_dir: dir.path().to_owned() };
        let mut options = Options { common, data, files: Vec::new(), threads: 1 };
        let rows = run(&options).unwrap();
        assert_eq!(rows.len(), GENERATED.len());
        for row in &rows {
            assert!(row.ours.is_some() && row.peer.is_some() && row.over().is_some(), "{}", row.name);
        }

        // On two threads, beside one.
        (options.threads, options.common.filter) = (2, "hits".to_owned());
        let rows = run(&options).unwrap();
        assert_eq!(rows[0].name, "hits_2t");
        assert!(rows[0].ratio().is_some() && rows[0].speedup().is_some());
        (options.threads, options.common.filter) = (1, String::new());

        // The same by its path; and what is not a Parquet file is said, and is not ours being faster.
        let broken = dir.path().join("broken.parquet");
        fs::write(&broken, b"PAR1 but not for long PAR1").unwrap();
        options.files = vec![dir.path().join("hits-sf0.002-snappy.parquet"), broken];
        let rows = run(&options).unwrap();
        assert_eq!(rows[0].name, "hits-sf0.002-snappy");
        assert!(rows[0].ratio().is_some());
        assert!(rows[1].ours.is_none() && rows[1].peer.is_none() && rows[1].ratio().is_none());
    }
}
