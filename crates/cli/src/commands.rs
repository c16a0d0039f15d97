//! One file for each command.

pub(crate) mod append;
pub(crate) mod cat;
mod changed;
pub(crate) mod completions;
pub(crate) mod convert;
pub(crate) mod count;
pub(crate) mod dictionary;
pub(crate) mod drop_row_group;
pub(crate) mod explain;
pub(crate) mod head;
pub(crate) mod index;
pub(crate) mod merge;
pub(crate) mod meta;
pub(crate) mod meta_edit;
pub(crate) mod pages;
pub(crate) mod recover;
pub(crate) mod rewrite;
pub(crate) mod rules;
pub(crate) mod schema;
pub(crate) mod size;
pub(crate) mod split;
pub(crate) mod summary;
pub(crate) mod verify;

use crate::failure::Failure;
use crate::output::Output;
use crate::table::printable;
use marquetry::OpenFile;
use marquetry::arrow::ProjectionMask;
use marquetry::arrow::arrow_reader::ChunkReader;
use marquetry::errors::Error;
use marquetry::file::metadata::{ColumnChunk, ParquetMetaData};
use marquetry::file::page::{ChecksumTrust, PageMemory, PageOptions, PageReader};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// The line over what is said of one of several files.
fn title(path: &Path, output: &mut Output) -> Result<(), Failure> {
    Ok(output.line(format!("==> {} <==", printable(&path.display().to_string())))?)
}

/// The column chunks that a command is to look at.
struct Chunks {
    row_groups: Range<usize>,
    mask: ProjectionMask,
}

impl Chunks {
    /// Those of one row group and one column, or of all. Fails if there is no such row group or column.
    fn new(
        metadata: &ParquetMetaData,
        row_group: Option<usize>,
        column: Option<&str>,
    ) -> Result<Self, Error> {
        let count = metadata.num_row_groups();
        let row_groups = match row_group {
            Some(row_group) if row_group < count => row_group..row_group + 1,
            Some(row_group) => {
                return Err(Error::argument(format!("no row group {row_group}, there are {count}")));
            }
            None => 0..count,
        };
        let mask = match column {
            Some(column) => ProjectionMask::existing_columns(metadata.schema(), [column])?,
            None => ProjectionMask::all(),
        };
        Ok(Chunks { row_groups, mask })
    }

    /// Row group and column of each.
    fn iter(&self, metadata: &ParquetMetaData) -> impl Iterator<Item = (usize, usize)> {
        let columns = metadata.schema().num_columns();
        let all =
            self.row_groups.clone().flat_map(move |row_group| (0..columns).map(move |i| (row_group, i)));
        all.filter(|(_, column)| self.mask.leaf_included(*column))
    }
}

/// The pages of a chunk.
fn page_reader(file: &OpenFile, chunk: ColumnChunk<'_>, verify_checksums: bool) -> Result<PageReader, Error> {
    let options = PageOptions {
        limits: Arc::default(),
        verify_checksums,
        trust: ChecksumTrust::of_writer(file.metadata().created_by()),
    };
    PageReader::new(file.clone().into_source()?, chunk, options, PageMemory::default())
}
