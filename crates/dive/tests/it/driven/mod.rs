//! A file that is driven by keys, as a person would.
#![allow(dead_code)] // Each test target includes this module and uses a part of it.

use bytes::Bytes;
use marquetry_arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use marquetry_base::Limits;
use marquetry_core::source::Source;
use marquetry_dive::{Dive, Input, Key, OpenedFile};
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) struct Driven(pub(crate) Dive);

/// A file of `examples`.
pub(crate) fn example(name: &str) -> Driven {
    Driven::open(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name)).unwrap()
}

/// The folder with the files of other projects; `None` if the test is to be skipped.
pub(crate) fn corpus() -> Option<PathBuf> {
    let root = match std::env::var_os("MARQUETRY_CORPUS") {
        Some(path) => PathBuf::from(path),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
    };
    if root.join("parquet-testing/data").is_dir() {
        return Some(root);
    }
    assert!(std::env::var_os("CI").is_none(), "no corpus at {}", root.display());
    println!("skipped: no corpus at {}", root.display());
    None
}

impl Driven {
    /// `None` if the file or its footer cannot be read.
    pub(crate) fn open(path: &Path) -> Option<Driven> {
        let name = path.file_name()?.to_string_lossy().into_owned();
        Driven::of_bytes(&name, std::fs::read(path).ok()?.into())
    }

    pub(crate) fn of_bytes(name: &str, bytes: Bytes) -> Option<Driven> {
        Driven::with_options(name, bytes, ArrowReaderOptions::new())
    }

    /// With the keys of an encrypted file, for one.
    pub(crate) fn with_options(name: &str, bytes: Bytes, options: ArrowReaderOptions) -> Option<Driven> {
        let source: Arc<dyn Source> = Arc::new(bytes);
        let opened = ArrowReaderMetadata::load(source.clone(), options).ok()?;
        Some(Driven(Dive::new(OpenedFile::new(name, source, opened, Limits::default()))))
    }

    /// Presses keys: `⏎` is Enter, `⎋` Escape, `⌫` Backspace, the arrows are arrows, all others are themselves.
    pub(crate) fn press(&mut self, keys: &str) {
        for key in keys.chars() {
            self.0.input(Input::Key(match key {
                '⏎' => Key::Enter,
                '⎋' => Key::Escape,
                '⌫' => Key::Backspace,
                '→' => Key::Right,
                '←' => Key::Left,
                '⇟' => Key::PageDown,
                '⇞' => Key::PageUp,
                other => Key::Char(other),
            }));
        }
    }

    pub(crate) fn text(&mut self, width: u16, height: u16) -> String {
        self.0.text(width, height)
    }
}
