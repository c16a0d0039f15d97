//! The metadata of a file, and its parts: footer, row groups, column chunks, pages.

#[cfg(feature = "fs")]
pub use marquetry_core::io::{
    AtomicFile, Edited, FileEdit, LocalFile, UnfinishedFilesRemoved, remove_unfinished_files,
};
pub use marquetry_core::io::{
    DecodeResult, FileCacheKey, FileRegion, FooterRead, ParquetMetaDataPushDecoder, RegionKind, file_regions,
    read_encrypted_metadata, read_metadata, unreferenced_bytes,
};
pub use marquetry_core::source::Source;
pub use marquetry_core::write::Durable;

/// Footers inside a file: checkpoints, and footers from before it grew.
pub mod checkpoint {
    pub use marquetry_core::checkpoint::{
        CheckpointFound, Evidence, find_last_checkpoint, find_last_encrypted_checkpoint, find_last_footer,
    };
}

/// Encrypted files: keys, and how they are found.
///
/// ```
/// use marquetry::arrow::arrow_reader::ArrowReaderOptions;
/// use marquetry::file::encryption::FileDecryptionProperties;
/// let keys = FileDecryptionProperties::builder(b"0123456789012345".to_vec())
///     .with_column_key("double_field", b"1234567890123450".to_vec())
///     .build()?;
/// let options = ArrowReaderOptions::new().with_file_decryption_properties(keys);
/// // marquetry::open_with_options("data.parquet.encrypted", options)
/// # Ok::<(), marquetry::errors::Error>(())
/// ```
pub mod encryption {
    pub use marquetry_core::encryption::FileEncryption;
    #[cfg(all(feature = "encryption", feature = "fs"))]
    pub use marquetry_core::io::{
        key_material_path, read_key_material, rotate_key_material, write_key_material,
    };
    pub use marquetry_core::write::encrypted_alike;
    pub use marquetry_crypto::{
        ColumnEncryption, DecryptionPropertiesBuilder, EncryptionDialect, EncryptionKey,
        EncryptionPropertiesBuilder, FileDecryptionProperties, FileEncryptionProperties, KeyRetriever,
        ParquetCipher, SecretKey, shown_metadata,
    };
    #[cfg(feature = "encryption")]
    pub use marquetry_crypto::{
        ExternalKeyMaterial, KeyManagement, KeyProperties, KmsClient, KmsKeyRetriever, LocalKms, MasterKeys,
        MaterialOrigin,
    };
}

/// The footer's contents, through accessors.
pub mod metadata {
    pub use marquetry_core::metadata::{ColumnChunk, ParquetMetaData, RowGroup};
    pub use marquetry_core::write::{KeyValue, SortingColumn};
    pub use marquetry_format::{
        ColumnOrder, CompressionCodec, PageEncodingStats, SizeStatistics, Statistics, ThriftString,
    };
}

/// Page indexes and bloom filters, which are stored apart from the pages.
pub mod page_index {
    pub use marquetry_core::page_index::{
        PageIndex, PageLocations, read_bloom_filter, read_bloom_filter_bytes, read_bloom_filter_header,
        read_column_index, read_offset_index,
    };
    pub use marquetry_core::statistics::BloomFilter;
    pub use marquetry_format::{BoundaryOrder, ColumnIndex, OffsetIndex, PageLocation};
}

/// The pages of a column chunk: headers, checksums, contents.
pub mod page {
    pub use marquetry_core::page::{
        Checksum, ChecksumTrust, DataPage, DictionaryPage, LocatedHeader, PageBufferPool, PageBuffers,
        PageOptions, PageReader,
    };
}

/// Writer properties.
pub mod properties {
    pub use marquetry_core::write::{
        BloomFilterPosition, BloomFilterProperties, BloomFilterPropertiesBuilder, CdcOptions, CheckpointCost,
        CheckpointEvery, Compat, DEFAULT_BLOOM_FILTER_FPP, DEFAULT_COLUMN_INDEX_TRUNCATE_LENGTH,
        DEFAULT_COMPRESSION, DEFAULT_DATA_PAGE_ROW_COUNT_LIMIT, DEFAULT_DICTIONARY_PAGE_SIZE_LIMIT,
        DEFAULT_MAX_ROW_GROUP_ROW_COUNT, DEFAULT_PAGE_SIZE, DEFAULT_STATISTICS_TRUNCATE_LENGTH,
        DEFAULT_WRITE_BATCH_SIZE, EnabledStatistics, StoredForms, WriterProperties, WriterPropertiesBuilder,
        WriterPropertiesPtr, WriterVersion,
    };
}
