//! Files to read: by path, or by the URL of a file in a store.

use crate::file_name;
use clap::builder::{PathBufValueParser, TypedValueParser};
use marquetry::OpenFile;
use marquetry::arrow::arrow_reader::ArrowReaderOptions;
use marquetry::errors::Result;
use marquetry::file::{LocalFile, Source};
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Opens the Parquet file at `path`.
pub(crate) fn open(path: &Path) -> Result<OpenFile> {
    open_with_options(path, ArrowReaderOptions::new())
}

/// The same, with options.
pub(crate) fn open_with_options(path: &Path, options: ArrowReaderOptions) -> Result<OpenFile> {
    match is_url(path) {
        true => {
            let open = OpenFile::new(source(path)?, options);
            open.map_err(|error| error.in_file(file_name::shown(path)))
        }
        false => marquetry::open_with_options(path, options),
    }
}

/// The bytes of the file at `path`.
pub(crate) fn source(path: &Path) -> Result<Arc<dyn Source>> {
    match url(path) {
        Some(url) => store::open(url),
        None => Ok(Arc::new(LocalFile::open(path)?)),
    }
}

/// Whether `path` is the URL of a file in a store.
pub(crate) fn is_url(path: &Path) -> bool {
    url(path).is_some()
}

/// The name of a file without its extension; of a URL without the query, which may be its secret.
pub(crate) fn file_stem(path: &Path) -> String {
    let name = match url(path) {
        Some(url) if url.starts_with("http") => Path::new(url.split(['?', '#']).next().unwrap_or_default()),
        _ => path,
    };
    name.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// Whether `path` is a URL with a pattern; in those of web servers a question mark is none.
pub(crate) fn is_pattern(path: &Path) -> bool {
    url(path).is_some_and(|url| url.contains('*') || !url.starts_with("http") && url.contains(['?', '[']))
}

/// The URLs of the files that a URL means: itself, those that fit its pattern, or those below it.
pub(crate) fn files(path: &Path) -> Result<Vec<PathBuf>> {
    let urls = store::files(url(path).unwrap_or_default())?;
    Ok(urls.into_iter().map(PathBuf::from).collect())
}

/// Parses the path of a file that is written.
pub(crate) fn local() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| if is_url(&path) { Err(ONLY_READ) } else { Ok(path) })
}

pub(crate) const ONLY_READ: &str = "files in stores are only read: write a file of this machine, and copy it";

fn url(path: &Path) -> Option<&str> {
    path.to_str().filter(|text| {
        let scheme = text.split_once("://").map(|(scheme, _)| scheme);
        scheme.is_some_and(|scheme| SCHEMES.contains(&scheme))
    })
}

/// Those that a build without remote files knows too, to say so.
const SCHEMES: [&str; 9] = ["s3", "s3a", "gs", "az", "azure", "abfs", "abfss", "http", "https"];

#[cfg(feature = "remote")]
mod store {
    use super::{Arc, Result, Source};
    use marquetry_object_store::Stores;
    use std::sync::OnceLock;

    pub(super) fn open(url: &str) -> Result<Arc<dyn Source>> {
        Ok(Arc::new(stores()?.open(url)?))
    }

    pub(super) fn files(url: &str) -> Result<Vec<String>> {
        stores()?.files(url)
    }

    /// One set for the process: connections are used again from file to file.
    fn stores() -> Result<&'static Stores> {
        static STORES: OnceLock<Stores> = OnceLock::new();
        if STORES.get().is_none() {
            let _ = STORES.set(Stores::new()?);
        }
        STORES.get().ok_or_else(|| marquetry::errors::Error::argument("no stores"))
    }
}

#[cfg(not(feature = "remote"))]
mod store {
    use super::{Arc, Result, Source};
    use marquetry::errors::Error;

    pub(super) fn open(url: &str) -> Result<Arc<dyn Source>> {
        Err(unsupported().in_file(url))
    }

    pub(super) fn files(url: &str) -> Result<Vec<String>> {
        Err(unsupported().in_file(url))
    }

    fn unsupported() -> Error {
        Error::unsupported("this build reads no URLs: build it with the feature `remote`")
    }
}

/// The bytes of a source from front to back.
pub(crate) struct FrontToBack {
    source: Arc<dyn Source>,
    at: u64,
    window: bytes::Bytes,
}

impl FrontToBack {
    pub(crate) fn new(source: Arc<dyn Source>) -> Self {
        FrontToBack { source, at: 0, window: bytes::Bytes::new() }
    }
}

impl Read for FrontToBack {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.window.is_empty() {
            let wanted: Range<u64> = self.at..self.source.len().min(self.at + WINDOW);
            self.window = self
                .source
                .read_at(wanted.start, (wanted.end - wanted.start) as usize)
                .map_err(io::Error::other)?;
            self.at = wanted.end;
        }
        let n = out.len().min(self.window.len());
        out[..n].copy_from_slice(&self.window.split_to(n));
        Ok(n)
    }
}

/// Read at a time: two requests of an object store.
const WINDOW: u64 = 16 << 20;
