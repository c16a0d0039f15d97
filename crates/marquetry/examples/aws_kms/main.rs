//! Writes and reads a file whose keys AWS KMS has wrapped. Arguments: the master keys of the footer and of the column, ids or aliases.
//!
//! ```text
//! AWS_REGION=.. AWS_ACCESS_KEY_ID=.. AWS_SECRET_ACCESS_KEY=.. cargo run -p marquetry --example aws_kms -- alias/footer alias/salaries
//! ```
//!
//! `AWS_ENDPOINT_URL_KMS` names a server that imitates AWS. AWS rotates master keys by itself. Keys of newly written
//! files, and those that `rotate_key_material` wraps, are wrapped with the newest version.

mod aws;
mod sigv4;

use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use aws::AwsKms;
use bytes::Bytes;
use marquetry::OpenFile;
use marquetry::arrow::ArrowWriter;
use marquetry::arrow::arrow_reader::ArrowReaderOptions;
use marquetry::file::encryption::{FileDecryptionProperties, KeyManagement, KmsKeyRetriever};
use marquetry::file::properties::WriterProperties;
use std::error::Error;
use std::sync::Arc;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(footer), Some(salaries)) = (arguments.next(), arguments.next()) else {
        return Err("the master keys of the footer and of the column, please".into());
    };
    let kms = Arc::new(AwsKms::from_env()?);
    for double_wrapping in [false, true] {
        // Each file gets new data keys, which it stores wrapped.
        let keys = KeyManagement::new(kms.clone()).with_double_wrapping(double_wrapping);
        let encryption = keys.encryption(&footer, &[(&salaries, "salary")])?.build()?;
        let properties = WriterProperties::builder().with_file_encryption_properties(encryption).build();
        let salary: ArrayRef = Arc::new(Int64Array::from_iter_values(40_000..40_100));
        let batch = RecordBatch::try_from_iter([("salary", salary)])?;
        let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties))?;
        writer.write(&batch)?;
        let file = Bytes::from(writer.into_inner()?);

        let retriever = Arc::new(KmsKeyRetriever::new(kms.clone()));
        let decryption = FileDecryptionProperties::with_key_retriever(retriever).build()?;
        let options = ArrowReaderOptions::new().with_file_decryption_properties(decryption);
        let mut reader = OpenFile::new(Arc::new(file), options)?.batches()?;
        let rows = reader.next_batch().ok_or("no rows")??;
        if rows.columns() != batch.columns() {
            return Err("other values".into());
        }
        println!("{} rows, double wrapping: {double_wrapping}", rows.num_rows());
    }
    Ok(())
}
