//! Builds columns of FILE from local files.

use crate::checksum::{Algorithm, Hasher};
use crate::column::FILE_EXTENSION;
use arrow_array::builder::{BinaryBuilder, Int64Builder, StringBuilder};
use arrow_array::{ArrayRef, StructArray};
use arrow_buffer::NullBufferBuilder;
use arrow_schema::{DataType, Field, Fields};
use marquetry_base::{Error, Result};
use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

/// How a value stores the bytes of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Stored {
    /// Inline, in the value.
    Inline,
    /// Not at all: the value only refers to the file.
    ByReference,
}

/// Builds a column of FILE, row by row.
///
/// ```
/// use marquetry_file_refs::{Algorithm, FileRefBuilder, FileRefColumn, Stored};
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("a.txt");
/// std::fs::write(&path, "some bytes")?;
/// let mut files = FileRefBuilder::new(Algorithm::Crc32);
/// files.append_file(&path, "a.txt", Some("text/plain"), Stored::Inline)?;
/// files.append_null();
/// let array = files.finish();
/// let first = FileRefColumn::try_new(&array)?.get(0).unwrap();
/// assert_eq!((first.inline, first.size, first.checksum), (Some(&b"some bytes"[..]), Some(10), Some("CRC32:9f597f55")));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[must_use = "`finish` gives the column"]
pub struct FileRefBuilder {
    algorithm: Algorithm,
    uri: StringBuilder,
    size: Int64Builder,
    content_type: StringBuilder,
    checksum: StringBuilder,
    inline: BinaryBuilder,
    present: NullBufferBuilder,
    /// Maximum bytes of all inline values together: offsets have 32 bits.
    most_inline: usize,
}

impl FileRefBuilder {
    /// Creates a builder whose values get checksums of this algorithm. With [`Algorithm::ETag`], which only stores can
    /// compute, they get none.
    pub fn new(algorithm: Algorithm) -> Self {
        FileRefBuilder {
            algorithm,
            uri: StringBuilder::new(),
            size: Int64Builder::new(),
            content_type: StringBuilder::new(),
            checksum: StringBuilder::new(),
            inline: BinaryBuilder::new(),
            present: NullBufferBuilder::new(0),
            most_inline: i32::MAX as usize,
        }
    }

    /// Returns the field of such a column, which is written as FILE.
    pub fn field(name: &str) -> Field {
        let metadata = HashMap::from([("ARROW:extension:name".to_owned(), FILE_EXTENSION.to_owned())]);
        Field::new(name, DataType::Struct(fields()), true).with_metadata(metadata)
    }

    /// Reads a file to its end and appends it. The value stores `uri` as the location of the file.
    ///
    /// # Errors
    ///
    /// If it is not a regular file, cannot be read, or has more bytes than are left of the 2 GiB that the inline values
    /// of a column can have.
    pub fn append_file(
        &mut self,
        path: &Path,
        uri: &str,
        content_type: Option<&str>,
        stored: Stored,
    ) -> Result<()> {
        let place =
            |error: std::io::Error| Error::io("a file for FILE", error).in_file(path.display().to_string());
        let mut file = File::open(path).map_err(place)?;
        if !file.metadata().map_err(place)?.is_file() {
            return Err(Error::argument("no plain file").in_file(path.display().to_string()));
        }
        let mut hasher = Hasher::new(self.algorithm);
        let (mut bytes, mut size, mut part) = (Vec::new(), 0_u64, vec![0; 64 << 10]);
        loop {
            let len = file.read(&mut part).map_err(place)?;
            if len == 0 {
                break;
            }
            size += len as u64;
            if let Some(hasher) = &mut hasher {
                hasher.update(&part[..len]);
            }
            if stored == Stored::Inline {
                if self.inline.values_slice().len() + bytes.len() + len > self.most_inline {
                    let message = "the files of a column have more than 2 GiB: store references, or take fewer rows at a time";
                    return Err(Error::limit(message).in_file(path.display().to_string()));
                }
                bytes.extend_from_slice(&part[..len]);
            }
        }
        self.uri.append_value(uri);
        self.size.append_value(i64::try_from(size).unwrap_or(i64::MAX));
        self.content_type.append_option(content_type);
        let name = self.algorithm.name();
        self.checksum.append_option(hasher.map(|hasher| format!("{name}:{}", hasher.finish())));
        self.inline.append_option((stored == Stored::Inline).then_some(bytes));
        self.present.append_non_null();
        Ok(())
    }

    /// Appends a null.
    pub fn append_null(&mut self) {
        self.uri.append_null();
        self.size.append_null();
        self.content_type.append_null();
        self.checksum.append_null();
        self.inline.append_null();
        self.present.append_null();
    }

    /// Returns the column.
    pub fn finish(mut self) -> StructArray {
        let columns: Vec<ArrayRef> = vec![
            Arc::new(self.uri.finish()),
            Arc::new(self.size.finish()),
            Arc::new(self.content_type.finish()),
            Arc::new(self.checksum.finish()),
            Arc::new(self.inline.finish()),
        ];
        StructArray::new(fields(), columns, self.present.finish())
    }
}

fn fields() -> Fields {
    let field = |name: &str, of: DataType| Field::new(name, of, true);
    vec![
        field("uri", DataType::Utf8),
        field("size", DataType::Int64),
        field("content_type", DataType::Utf8),
        field("checksum", DataType::Utf8),
        field("inline", DataType::Binary),
    ]
    .into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::column::FileRefColumn;

    #[test]
    fn values_have_no_more_bytes_than_offsets_reach() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, "seven b").unwrap();
        let mut files = FileRefBuilder::new(Algorithm::Crc32);
        files.most_inline = 15;
        for _ in 0..2 {
            files.append_file(&path, "a", None, Stored::Inline).unwrap();
        }
        let error = files.append_file(&path, "a", None, Stored::Inline).unwrap_err();
        assert_eq!(error.kind(), marquetry_base::ErrorKind::Limit);
        // It has left no part of a row.
        files.append_file(&path, "a", None, Stored::ByReference).unwrap();
        let array = files.finish();
        let column = FileRefColumn::try_new(&array).unwrap();
        assert_eq!((column.len(), column.get(2).unwrap().inline), (3, None));
    }
}
