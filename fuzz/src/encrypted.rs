//! Encrypted files with their keys, changed in places: whatever is changed, reading fails or gives the values that were written.

use crate::memory::earned;
use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow_select::concat::concat_batches;
use bytes::Bytes;
use marquetry::OpenFile;
use marquetry::arrow::ArrowWriter;
use marquetry::arrow::arrow_reader::ArrowReaderOptions;
use marquetry::errors::Result;
use marquetry::file::encryption::{FileDecryptionProperties, FileEncryptionProperties, ParquetCipher};
use marquetry::file::properties::WriterProperties;
use std::sync::{Arc, OnceLock};

/// The first byte chooses a file; of the rest, three bytes each say where it is changed and how, or where it is cut.
pub fn encrypted(data: &[u8]) {
    let Some((choice, changes)) = data.split_first() else { return };
    static FILES: OnceLock<Vec<Bytes>> = OnceLock::new();
    let files = FILES.get_or_init(|| (0..4).map(written).collect());
    let mut file = files[usize::from(choice % 4)].to_vec();
    for change in changes.as_chunks::<3>().0 {
        let at = usize::from(u16::from_le_bytes([change[0], change[1]]));
        match change[2] {
            // Cut off: then it has no footer, unless one is found before.
            0 => file.truncate(at.max(file.len() / 2)),
            // Repeated cuts may leave nothing of a file.
            bits if !file.is_empty() => {
                let at = at % file.len();
                file[at] ^= bits;
            }
            _ => {}
        }
    }
    earned(96 << 20, || {
        if let Ok(read) = rows(file.into()) {
            assert!(read == table(), "other values");
        }
    });
}

const FOOTER: &[u8] = b"0123456789012345";
const NAME: &[u8] = b"01234567890123456789012345678901";

fn table() -> RecordBatch {
    let number: ArrayRef = Arc::new(Int64Array::from_iter((0..60).map(|i| (i % 9 > 0).then_some(i * 77))));
    let name: ArrayRef = Arc::new(StringArray::from_iter_values((0..60).map(|i| format!("name {}", i % 7))));
    RecordBatch::try_from_iter_with_nullable([("number", number, true), ("name", name, true)])
        .expect("columns")
}

fn written(choice: u8) -> Bytes {
    let cipher = if choice & 1 == 0 { ParquetCipher::AesGcmV1 } else { ParquetCipher::AesGcmCtrV1 };
    let encryption = FileEncryptionProperties::builder(FOOTER.to_vec())
        .with_cipher(cipher)
        .with_plaintext_footer(choice & 2 != 0)
        .with_column_key("name", NAME.to_vec())
        .with_complete_columns(true)
        .build()
        .expect("keys");
    let properties = WriterProperties::builder()
        .set_max_row_group_row_count(Some(40))
        .set_data_page_row_count_limit(16)
        .set_write_batch_size(16)
        .with_file_encryption_properties(encryption)
        .build();
    let mut writer = ArrowWriter::try_new(Vec::new(), table().schema(), Some(properties)).expect("a writer");
    writer.write(&table()).expect("rows");
    writer.into_inner().expect("a file").into()
}

fn rows(file: Bytes) -> Result<RecordBatch> {
    let keys =
        FileDecryptionProperties::builder(FOOTER.to_vec()).with_column_key("name", NAME.to_vec()).build()?;
    let options = ArrowReaderOptions::new()
        .with_file_decryption_properties(keys)
        .with_text(marquetry::arrow::StringLayout::Utf8);
    let mut reader = OpenFile::new(Arc::new(file), options)?.batches()?;
    let batches = std::iter::from_fn(|| reader.next_batch()).collect::<Result<Vec<_>>>()?;
    Ok(concat_batches(&table().schema(), &batches).expect("one schema"))
}
