//! The column chunks that a command looks at, and their pages.

use crate::column_list::{ColumnList, all_columns, column_list};
use clap::Args as ClapArgs;
use marquetry::OpenFile;
use marquetry::arrow::ProjectionMask;
use marquetry::arrow::arrow_reader::ChunkReader;
use marquetry::errors::Error;
use marquetry::file::metadata::{ColumnChunk, ParquetMetaData};
use marquetry::file::page::{PageBuffers, PageOptions, PageReader};
use std::ops::Range;

/// Which column chunks a command looks at.
#[derive(Debug, ClapArgs)]
pub(crate) struct ChunkArgs {
    /// Only this row group, counted from 0
    #[arg(long, short = 'g', value_name = "N")]
    row_group: Option<usize>,
    /// Only these columns with all their children: dotted paths separated by commas
    #[arg(long, short, alias = "column", value_name = "A,B.C", value_parser = column_list)]
    columns: Option<Vec<ColumnList>>,
}

impl ChunkArgs {
    /// Fails if there is no such row group or column.
    pub(super) fn chunks(&self, metadata: &ParquetMetaData) -> Result<Chunks, Error> {
        Chunks::new(metadata, self.row_group, all_columns(self.columns.as_ref()).as_deref())
    }
}

/// The column chunks that a command reads.
pub(super) struct Chunks {
    pub(super) row_groups: Range<usize>,
    pub(super) mask: ProjectionMask,
}

impl Chunks {
    /// The chunks of one row group and some columns, or all. Fails if there is no such row group or column.
    pub(super) fn new(
        metadata: &ParquetMetaData,
        row_group: Option<usize>,
        columns: Option<&[String]>,
    ) -> Result<Self, Error> {
        let count = metadata.num_row_groups();
        let row_groups = match row_group {
            Some(row_group) if row_group < count => row_group..row_group + 1,
            Some(row_group) => {
                return Err(Error::argument(format!("no row group {row_group}, there are {count}")));
            }
            None => 0..count,
        };
        let mask = match columns {
            Some(columns) => {
                ProjectionMask::existing_columns(metadata.schema(), columns.iter().map(String::as_str))?
            }
            None => ProjectionMask::all(),
        };
        Ok(Chunks { row_groups, mask })
    }

    /// The row group and column of each chunk.
    pub(super) fn iter(&self, metadata: &ParquetMetaData) -> impl Iterator<Item = (usize, usize)> {
        let columns = metadata.schema().num_columns();
        let all =
            self.row_groups.clone().flat_map(move |row_group| (0..columns).map(move |i| (row_group, i)));
        all.filter(|(_, column)| self.mask.leaf_included(*column))
    }
}

/// The pages of a chunk.
pub(super) fn page_reader(
    file: &OpenFile,
    chunk: ColumnChunk<'_>,
    verify_checksums: bool,
) -> Result<PageReader, Error> {
    let options =
        PageOptions::for_writer(file.metadata().created_by()).with_checksum_verification(verify_checksums);
    PageReader::new(file.clone().into_source()?, chunk, options, PageBuffers::default())
}
