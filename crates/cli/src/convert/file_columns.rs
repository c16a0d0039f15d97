//! Columns of paths that become FILE columns: the files are read, and their bytes or references to them are written.

use crate::column_list::place_of;
use crate::failure::Failure;
use arrow_array::cast::AsArray;
use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_cast::cast;
use arrow_schema::{DataType, Schema, SchemaRef};
use marquetry::errors::Error;
use marquetry_file_refs::{Algorithm, FileRefBuilder, Stored};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// The argument of `--file`.
#[derive(Debug, Clone)]
pub(crate) struct FileWish {
    column: String,
    stored: Stored,
}

/// Parses `COLUMN`, `COLUMN=inline` or `COLUMN=reference`.
pub(crate) fn file_wish(text: &str) -> Result<FileWish, String> {
    let (column, stored) = match text.rsplit_once('=') {
        None => (text, Stored::Inline),
        Some((column, "inline")) => (column, Stored::Inline),
        Some((column, "reference")) => (column, Stored::ByReference),
        Some(_) => return Err("say COLUMN, COLUMN=inline or COLUMN=reference".to_owned()),
    };
    match column {
        "" => Err("say which column".to_owned()),
        column => Ok(FileWish { column: column.to_owned(), stored }),
    }
}

/// The columns of a table that become FILE.
pub(crate) struct FileColumns {
    pub(crate) schema: SchemaRef,
    columns: Vec<(usize, Stored)>,
    /// The directory that paths are relative to, and must stay in; without symbolic links.
    root: PathBuf,
    /// The directory of the output, if that is a file: references to files below it are relative.
    beside: Option<PathBuf>,
}

impl FileColumns {
    /// Fails if a column does not exist, if several have its name, or if it is not text.
    pub(crate) fn new(
        wishes: &[FileWish],
        root: &Path,
        output: &Path,
        schema: &SchemaRef,
    ) -> Result<Self, Failure> {
        let mut fields = schema.fields().to_vec();
        let mut columns = Vec::new();
        for wish in wishes {
            let place = place_of(&wish.column, schema, "--file")?;
            if !is_text(schema.field(place).data_type()) {
                let message = format!("--file: the column {} has no paths: they are text", wish.column);
                return Err(Failure::Usage(message));
            }
            let field = FileRefBuilder::field(schema.field(place).name());
            fields[place] = Arc::new(field.with_nullable(schema.field(place).is_nullable()));
            columns.push((place, wish.stored));
        }
        let canonical = |path: &Path| match path.as_os_str().is_empty() {
            true => Path::new(".").canonicalize(),
            false => path.canonicalize(),
        };
        let root = match columns.is_empty() {
            true => PathBuf::new(),
            false => canonical(root)
                .map_err(|error| Failure::Usage(format!("--file: {}: {error}", root.display())))?,
        };
        let beside = output.parent().and_then(|parent| canonical(parent).ok());
        let schema = Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()));
        Ok(FileColumns { schema, columns, root, beside })
    }

    /// The batch with FILE columns in place of paths.
    ///
    /// Fails if a path leads to no regular file below the root; the error names the column.
    pub(crate) fn apply(&self, batch: RecordBatch) -> Result<RecordBatch, Failure> {
        if self.columns.is_empty() {
            return Ok(batch);
        }
        let mut columns = batch.columns().to_vec();
        for (place, stored) in &self.columns {
            let paths = cast(&columns[*place], &DataType::Utf8View)?;
            let mut files = FileRefBuilder::new(Algorithm::Crc32c);
            let mut bytes = 0_u64;
            for path in paths.as_string_view() {
                let Some(path) = path else {
                    files.append_null();
                    continue;
                };
                let added = self.add(path, *stored, &mut files, &mut bytes);
                added.map_err(|error| error.in_column(self.schema.field(*place).name().as_str()))?;
            }
            columns[*place] = Arc::new(files.finish());
        }
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        Ok(RecordBatch::try_new_with_options(self.schema.clone(), columns, &options)?)
    }

    fn add(
        &self,
        path: &str,
        stored: Stored,
        files: &mut FileRefBuilder,
        bytes: &mut u64,
    ) -> Result<(), Error> {
        let found = self.root.join(path).canonicalize();
        let found = found.map_err(|error| Error::io("a file for FILE", error).in_file(path))?;
        if !found.starts_with(&self.root) {
            let message = format!("it is not below {}: see --file-root", self.root.display());
            return Err(Error::argument(message).in_file(path));
        }
        if stored == Stored::Inline {
            *bytes += found.metadata().map_or(0, |metadata| metadata.len());
            // Offsets have 32 bits.
            if *bytes > MOST_BYTES {
                return Err(Error::limit(
                    "more than a gibibyte of files in one batch: a smaller --batch-size, or =reference",
                ));
            }
        }
        files.append_file(&found, &self.uri(&found)?, None, stored)
    }

    /// The reference to a file: relative to the output if it is below its directory.
    fn uri(&self, path: &Path) -> Result<String, Error> {
        let relative = self.beside.as_ref().and_then(|beside| path.strip_prefix(beside).ok());
        let mut uri = String::new();
        for part in relative.unwrap_or(path).components() {
            if let Component::Normal(name) = part {
                let name = name.to_str();
                let name = name.ok_or_else(|| Error::argument(format!("{}: no text", path.display())))?;
                if relative.is_none() || !uri.is_empty() {
                    uri.push('/');
                }
                name.chars().for_each(|sign| match sign {
                    // They have a meaning in references.
                    '%' | '?' | '#' | ':' => uri.push_str(&format!("%{:02X}", u32::from(sign))),
                    sign => uri.push(sign),
                });
            }
        }
        Ok(uri)
    }
}

fn is_text(data_type: &DataType) -> bool {
    match data_type {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Dictionary(_, values) => is_text(values),
        _ => false,
    }
}

/// Maximum bytes of the files of a batch.
const MOST_BYTES: u64 = 1 << 30;
