//! Options that are for Parquet output only.

use crate::args::WriteArgs;
use crate::keys::EncryptArgs;

/// The first given option that only Parquet supports: an output that was to be encrypted must not be plaintext.
pub(crate) fn only_for_parquet(writing: &WriteArgs, encrypt: &EncryptArgs) -> Option<&'static str> {
    let given = [
        (
            encrypt.encrypt_file.is_some() || encrypt.encrypt_env.is_some(),
            "--encrypt-file and --encrypt-env are",
        ),
        (writing.geoparquet.is_some() || writing.covering, "--geoparquet and --covering are"),
        (!writing.compression.is_empty(), "--compression is"),
        (!writing.encoding.is_empty(), "--encoding is"),
        (!writing.dictionary.is_empty(), "--dictionary is"),
        (!writing.bloom.is_empty(), "--bloom is"),
        (!writing.statistics.is_empty(), "--statistics is"),
        (!writing.shred.is_empty(), "--shred is"),
        (!writing.metadata.is_empty(), "--metadata is"),
        (writing.created_by.is_some(), "--created-by is"),
        (writing.checkpoint_every.is_some(), "--checkpoint-every is"),
        (writing.content_defined_chunking.is_some(), "--content-defined-chunking is"),
        (writing.compat.is_some(), "--compat is"),
        (writing.row_group_rows.is_some(), "--row-group-rows is"),
        (writing.row_group_bytes.is_some(), "--row-group-bytes is"),
        (writing.page_size.is_some(), "--page-size is"),
        (writing.page_rows.is_some(), "--page-rows is"),
        (writing.page_version.is_some(), "--page-version is"),
        (writing.no_checksums, "--no-checksums is"),
        (writing.no_arrow_schema, "--no-arrow-schema is"),
    ];
    given.into_iter().find(|(is_given, _)| *is_given).map(|(_, options)| options)
}
