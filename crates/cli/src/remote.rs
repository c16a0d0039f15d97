//! Files to read: by path, by the URL of a file in a store, or `-` for standard input.

use crate::file_name;
use crate::keys;
use crate::standard_input;
use clap::builder::{PathBufValueParser, TypedValueParser};
use marquetry::OpenFile;
use marquetry::arrow::arrow_reader::ArrowReaderOptions;
use marquetry::errors::Result;
use marquetry::file::{LocalFile, Source};
use std::io::{self, Read, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Opens the Parquet file at `path`.
pub(crate) fn open(path: &Path) -> Result<OpenFile> {
    open_with_options(path, keys::reader_options())
}

/// As [`open`], with options.
pub(crate) fn open_with_options(path: &Path, options: ArrowReaderOptions) -> Result<OpenFile> {
    match is_url(path) || standard_input::is_meant(path) {
        true => {
            let open = source(path).and_then(|source| OpenFile::new(source, options));
            open.map_err(|error| error.in_file(file_name::shown(path)))
        }
        false => marquetry::open_with_options(path, options),
    }
}

/// The bytes of the file at `path`.
pub(crate) fn source(path: &Path) -> Result<Arc<dyn Source>> {
    match url(path) {
        Some(url) => store::open(url),
        None if standard_input::is_meant(path) => standard_input::source(),
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

/// Whether `path` is a URL with a pattern. In URLs of web servers a question mark is not a wildcard.
pub(crate) fn is_pattern(path: &Path) -> bool {
    url(path).is_some_and(|url| url.contains('*') || !url.starts_with("http") && url.contains(['?', '[']))
}

/// The URLs of the files that a URL refers to: itself, those that match its pattern, or those below it.
pub(crate) fn files(path: &Path) -> Result<Vec<PathBuf>> {
    let urls = store::files(url(path).unwrap_or_default())?;
    Ok(urls.into_iter().map(PathBuf::from).collect())
}

/// A parser of paths of files that are written.
pub(crate) fn local() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| if is_url(&path) { Err(ONLY_READ) } else { Ok(path) })
}

/// Fails if the path is neither local nor in a store that can be written.
pub(crate) fn check_writable(path: &Path) -> std::result::Result<(), &'static str> {
    match url(path).is_some_and(|url| url.starts_with("http")) {
        true => Err("web servers are only read: write a file of this machine, or of a store"),
        false => Ok(()),
    }
}

/// A new file in a store, which appears once it is finished.
pub(crate) trait NewObject: Write + Send {
    fn finish(self: Box<Self>) -> Result<()>;
}

/// Creates a file in a store. Fails if it exists, unless it may be replaced.
pub(crate) fn create(path: &Path, overwrite: bool) -> Result<Box<dyn NewObject>> {
    store::create(url(path).unwrap_or_default(), overwrite)
}

pub(crate) const ONLY_READ: &str = "files in stores are only read: write a file of this machine, and copy it";

fn url(path: &Path) -> Option<&str> {
    path.to_str().filter(|text| {
        let scheme = text.split_once("://").map(|(scheme, _)| scheme);
        scheme.is_some_and(|scheme| SCHEMES.contains(&scheme))
    })
}

/// URL schemes, which a build without the feature `remote` knows, too, to report that.
const SCHEMES: [&str; 9] = ["s3", "s3a", "gs", "az", "azure", "abfs", "abfss", "http", "https"];

#[cfg(feature = "remote")]
mod store {
    use super::{Arc, NewObject, Result, Source};
    use marquetry_object_store::{BlockingObjectWriter, StoreRegistry};
    use std::sync::OnceLock;

    pub(super) fn open(url: &str) -> Result<Arc<dyn Source>> {
        Ok(Arc::new(stores()?.open(url)?))
    }

    pub(super) fn files(url: &str) -> Result<Vec<String>> {
        stores()?.files(url)
    }

    pub(super) fn create(url: &str, overwrite: bool) -> Result<Box<dyn NewObject>> {
        Ok(Box::new(stores()?.create(url, overwrite)?))
    }

    impl NewObject for BlockingObjectWriter {
        fn finish(self: Box<Self>) -> Result<()> {
            BlockingObjectWriter::finish(*self)
        }
    }

    /// One registry for the process, so that connections are reused from file to file.
    fn stores() -> Result<&'static StoreRegistry> {
        static STORES: OnceLock<StoreRegistry> = OnceLock::new();
        if STORES.get().is_none() {
            let _ = STORES.set(StoreRegistry::new()?);
        }
        STORES.get().ok_or_else(|| marquetry::errors::Error::argument("no stores"))
    }
}

#[cfg(not(feature = "remote"))]
mod store {
    use super::{Arc, NewObject, Result, Source};
    use marquetry::errors::Error;

    pub(super) fn open(url: &str) -> Result<Arc<dyn Source>> {
        Err(unsupported().in_file(url))
    }

    pub(super) fn files(url: &str) -> Result<Vec<String>> {
        Err(unsupported().in_file(url))
    }

    pub(super) fn create(url: &str, _: bool) -> Result<Box<dyn NewObject>> {
        Err(unsupported().in_file(url))
    }

    fn unsupported() -> Error {
        Error::unsupported(
            "this build knows no URLs; one that does: `cargo install marquetry-cli --features remote`, or in a checkout \
             `cargo install --path crates/cli --features remote`",
        )
    }
}

/// Reads a source from front to back.
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

/// Bytes that are read at a time: two requests of an object store.
const WINDOW: u64 = 16 << 20;
