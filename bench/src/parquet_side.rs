//! The peer: the `parquet` crate on Arrow 60, with its default features. It also writes every file that is read.

use arrow60_array::{ArrayRef, RecordBatch};
use arrow60_schema::SchemaRef;
use bytes::Bytes;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::basic::{Encoding, PageType};
use parquet::file::metadata::{ColumnChunkMetaData, RowGroupMetaData};
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::reader::ChunkReader;

use crate::columns::DICTIONARY_LIMIT;
use crate::error::Result;

/// The peer's name and version, as it signs its files.
pub(crate) const NAME: &str = parquet::file::properties::DEFAULT_CREATED_BY;

/// Opens the file for a full read of every column, in batches of `batch_size` rows. As `schema`, or as the peer reads it when
/// it is not told.
pub(crate) fn open<T: ChunkReader + 'static>(
    file: T,
    schema: Option<&SchemaRef>,
    batch_size: usize,
) -> Result<impl Iterator<Item = Result<RecordBatch>> + use<T>> {
    let options = match schema {
        Some(schema) => ArrowReaderOptions::new().with_schema(SchemaRef::clone(schema)),
        None => ArrowReaderOptions::new(),
    };
    let reader = ParquetRecordBatchReaderBuilder::try_new_with_options(file, options)?
        .with_batch_size(batch_size)
        .build()?;
    Ok(reader.map(|batch| Ok(batch?)))
}

/// The schema that the peer infers.
pub(crate) fn schema(file: &Bytes) -> Result<SchemaRef> {
    let metadata = ArrowReaderMetadata::load(file, ArrowReaderOptions::new())?;
    Ok(SchemaRef::clone(metadata.schema()))
}

/// Writes one column without compression in V2 pages, and checks that each page has the encoding asked for.
/// Everything else is the writer's default, but for the size of a dictionary: pages end at 1 MiB or 20,000 rows, row groups at
/// 1,048,576 rows.
pub(crate) fn write_column(schema: SchemaRef, column: ArrayRef, encoding: Encoding) -> Result<Bytes> {
    let properties = WriterProperties::builder().set_writer_version(WriterVersion::PARQUET_2_0);
    let properties = match encoding {
        Encoding::RLE_DICTIONARY => {
            properties.set_dictionary_enabled(true).set_dictionary_page_size_limit(DICTIONARY_LIMIT)
        }
        plain => properties.set_dictionary_enabled(false).set_encoding(plain),
    };
    let batch = RecordBatch::try_new(SchemaRef::clone(&schema), vec![column])?;
    let mut writer = ArrowWriter::try_new(Vec::new(), schema, Some(properties.build()))?;
    writer.write(&batch)?;
    let file = Bytes::from(writer.into_inner()?);
    check_encoding(&file, encoding, PageType::DATA_PAGE_V2)?;
    Ok(file)
}

/// Every data page must be of that type and have that encoding: a dictionary that fell back would measure something
/// else.
pub(crate) fn check_encoding(file: &Bytes, encoding: Encoding, page: PageType) -> Result<()> {
    let options = ArrowReaderOptions::new().with_encoding_stats_as_mask(false);
    let metadata = ArrowReaderMetadata::load(file, options)?;
    for chunk in metadata.metadata().row_groups().iter().flat_map(RowGroupMetaData::columns) {
        if !has_only(chunk, encoding, page) {
            let stats = chunk.page_encoding_stats();
            return Err(
                format!("meant to write {encoding} in {page} pages, the footer says {stats:?}").into()
            );
        }
    }
    Ok(())
}

fn has_only(chunk: &ColumnChunkMetaData, encoding: Encoding, page: PageType) -> bool {
    chunk.page_encoding_stats().is_some_and(|stats| {
        let mut data = stats.iter().filter(|stats| stats.page_type != PageType::DICTIONARY_PAGE).peekable();
        data.peek().is_some() && data.all(|stats| stats.page_type == page && stats.encoding == encoding)
    })
}
