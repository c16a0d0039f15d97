//! Resolves FILE columns to the bytes that they refer to, within what `--allow` permits.

use crate::file_name;
use crate::remote;
use arrow_array::builder::BinaryBuilder;
use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{DataType, Field, FieldRef, Schema, SchemaRef};
use clap::Args as ClapArgs;
use marquetry::errors::{Error, Result};
use marquetry_base::parse_byte_size;
use marquetry_file_refs::{FileAccess, FileRefColumn, is_file_ref};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How columns of FILE are shown.
#[derive(Debug, Clone, ClapArgs)]
pub(crate) struct ResolveArgs {
    /// Show values of FILE as the bytes that they refer to: those in the value, of the file itself, and what --allow names;
    /// checksums are compared
    #[arg(long)]
    resolve: bool,
    /// With --resolve: a directory whose files values of FILE may refer to, or the beginning of such URLs; may be given more than
    /// once
    #[arg(long, value_name = "DIR|URL", requires = "resolve")]
    allow: Vec<String>,
    /// With --resolve: most bytes of a value; more are an error
    #[arg(long, value_name = "BYTES", value_parser = parse_byte_size, requires = "resolve", default_value = "16MiB")]
    resolve_limit: usize,
}

/// Replaces references by the bytes that they refer to.
pub(crate) struct Resolver {
    /// Access that any file gets.
    allowed: FileAccess,
    /// The file of the rows, and its access.
    own: Option<(PathBuf, FileAccess)>,
    most: u64,
    /// The number of the first row of the next batch.
    row: usize,
}

impl ResolveArgs {
    /// Creates a resolver; `None` unless it is asked for.
    pub(crate) fn resolver(&self) -> Result<Option<Resolver>> {
        if !self.resolve {
            return Ok(None);
        }
        let mut access = FileAccess::none();
        for allowed in &self.allow {
            access = match remote::is_url(Path::new(allowed)) {
                true => access.with_urls(allowed, |url| remote::source(Path::new(url)))?,
                false => access.with_directory(allowed)?,
            };
        }
        Ok(Some(Resolver { allowed: access, own: None, most: self.resolve_limit as u64, row: 0 }))
    }
}

impl Resolver {
    /// The schema of resolved batches.
    pub(crate) fn schema(&self, schema: &SchemaRef) -> SchemaRef {
        let fields: Vec<FieldRef> = schema.fields().iter().map(resolved_field).collect();
        Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
    }

    /// Resolves a batch of this file. Fails at the first value whose bytes cannot be read; the error has its row among
    /// all rows so far.
    pub(crate) fn resolve(&mut self, batch: &RecordBatch, file: &Path) -> Result<RecordBatch> {
        let resolved = self.of_file(file).and_then(|access| self.bytes(batch, &access));
        self.row += batch.num_rows();
        resolved.map_err(|error| error.in_file(file_name::shown(file)))
    }

    /// The access of a file: it may also refer to ranges of itself, and paths are relative to its directory.
    fn of_file(&mut self, file: &Path) -> Result<FileAccess> {
        if let Some((of, access)) = &self.own
            && of == file
        {
            return Ok(access.clone());
        }
        let mut access = self.allowed.clone().with_own_file(remote::source(file)?);
        if !remote::is_url(file) {
            access = access.with_base(file.parent().unwrap_or(Path::new("")));
        }
        self.own = Some((file.to_owned(), access.clone()));
        Ok(access)
    }

    fn bytes(&self, batch: &RecordBatch, access: &FileAccess) -> Result<RecordBatch> {
        let schema = self.schema(batch.schema_ref());
        let columns =
            batch.schema_ref().fields().iter().zip(batch.columns()).map(|(field, column)| match is_file_ref(
                field,
            ) {
                true => self.bytes_of(column, access).map_err(|error| error.in_column(field.name().as_str())),
                false => Ok(column.clone()),
            });
        let columns = columns.collect::<Result<Vec<_>>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        let batch = RecordBatch::try_new_with_options(schema, columns, &options);
        batch.map_err(|error| Error::argument(error.to_string()))
    }

    fn bytes_of(&self, column: &ArrayRef, access: &FileAccess) -> Result<ArrayRef> {
        let references = FileRefColumn::try_new(column)?;
        let mut out = BinaryBuilder::new();
        for (row, reference) in references.iter().enumerate() {
            let bytes = reference.map(|reference| access.open(&reference)?.read_all(self.most));
            let bytes = bytes.transpose();
            let bytes = bytes.map_err(|error| {
                let is_refused = error.message().ends_with("not allowed");
                let error = error.with_help(&format!("in row {}", self.row + row));
                if is_refused { error.with_help("--allow names what may be read") } else { error }
            })?;
            // Offsets have 32 bits.
            let len = bytes.as_ref().map_or(0, Vec::len);
            if out.values_slice().len().saturating_add(len) > MOST_BYTES {
                let message =
                    "more than a gibibyte of FILE in a block of rows: take fewer, with --limit and --offset";
                return Err(Error::limit(message));
            }
            out.append_option(bytes);
        }
        Ok(Arc::new(out.finish()))
    }
}

fn resolved_field(field: &FieldRef) -> FieldRef {
    match is_file_ref(field) {
        true => Arc::new(Field::new(field.name(), DataType::Binary, true)),
        false => field.clone(),
    }
}

/// Largest size of the bytes of a batch.
const MOST_BYTES: usize = 1 << 30;
