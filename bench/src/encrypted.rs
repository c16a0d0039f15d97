//! `encrypted`: lineitem with Snappy, in the open and encrypted with a key of 128 bits, read and written on one thread.
//!
//! The files are ours, with all defaults: one plain, one by AES-GCM, and one whose pages are by AES-CTR, which the peer does not have.
//! What encryption costs is the difference between rows of one run. `encrypted.py` has pyarrow read and write the same beside them.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow60_array::RecordBatch as RecordBatch60;
use bytes::Bytes;
use clap::Args;
use marquetry::arrow::ArrowWriter;
use marquetry::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use marquetry::basic::Compression;
use marquetry::file::encryption::{FileDecryptionProperties, FileEncryptionProperties, ParquetCipher};
use marquetry::file::properties::WriterProperties;
use parquet::arrow::arrow_reader::{
    ArrowReaderOptions as PeerReaderOptions, ParquetRecordBatchReaderBuilder as PeerReaderBuilder,
};
use parquet::encryption::decrypt::FileDecryptionProperties as PeerDecryption;
use parquet::encryption::encrypt::FileEncryptionProperties as PeerEncryption;

use crate::common::Common;
use crate::compare_readers::count;
use crate::error::Result;
use crate::row::{BATCH_SIZE, Row};
use crate::sink::{Counting, Sink};
use crate::timing::in_turn;
use crate::write::{Input, lineitem};
use crate::{parquet_write, same_values};

#[derive(Args)]
pub(crate) struct Options {
    #[command(flatten)]
    pub(crate) common: Common,
    /// TPC-H scale factor of lineitem: 1 is 6 million rows, some 2 GB of memory
    #[arg(long, default_value_t = 1.0)]
    pub(crate) sf: f64,
    /// Write the files to this directory, too
    #[arg(long, value_name = "DIR")]
    pub(crate) write_to: Option<PathBuf>,
}

/// How a file is encrypted.
#[derive(Clone, Copy, PartialEq)]
enum How {
    Plain,
    Gcm,
    Ctr,
}

const WAYS: [(How, &str); 3] = [(How::Plain, "plain"), (How::Gcm, "gcm"), (How::Ctr, "ctr")];
const KEY: &[u8] = b"0123456789012345";

/// Measures everything that the filter lets through.
pub(crate) fn run(options: &Options) -> Result<Vec<Row>> {
    let input = lineitem(options.sf)?;
    let mut rows = Vec::new();
    for (how, name) in WAYS {
        let mut file = Vec::new();
        write_ours(&input, how, &mut file)?;
        let file = Bytes::from(file);
        if let Some(folder) = &options.write_to {
            fs::write(folder.join(format!("lineitem-{name}.parquet")), &file)?;
        }
        check(&file, &input, how)?;
        let wanted = |kind: &str| format!("lineitem_snappy_{name}_{kind}").contains(&options.common.filter);
        let title = format!("lineitem SF{}, snappy, {name}", options.sf);
        if wanted("read") {
            rows.push(read(
                &format!("lineitem_snappy_{name}_read"),
                &title,
                &file,
                how,
                options.common.rounds,
            )?);
        }
        if wanted("write") {
            rows.push(written(
                &format!("lineitem_snappy_{name}_write"),
                &title,
                &input,
                how,
                options.common.rounds,
            )?);
        }
    }
    Ok(rows)
}

/// Both must read what was written.
fn check(file: &Bytes, input: &Input, how: How) -> Result<()> {
    same_values::compare(open_ours(file, how)?, input.peer.iter().cloned().map(Ok))?;
    match how {
        How::Ctr => Ok(()),
        _ => same_values::compare(input.ours.iter().cloned().map(Ok), open_peer(file, how)?),
    }
}

fn open_ours(file: &Bytes, how: How) -> Result<impl Iterator<Item = Result<RecordBatch>> + use<>> {
    let options = match how {
        How::Plain => ArrowReaderOptions::new(),
        _ => ArrowReaderOptions::new()
            .with_file_decryption_properties(FileDecryptionProperties::builder(KEY.to_vec()).build()?),
    };
    let builder = ParquetRecordBatchReaderBuilder::try_new_with_options(file.clone(), options)?;
    let reader = builder.with_batch_size(BATCH_SIZE).with_threads(1).build()?;
    Ok(reader.map(|batch| Ok(batch?)))
}

fn open_peer(file: &Bytes, how: How) -> Result<impl Iterator<Item = Result<RecordBatch60>> + use<>> {
    let options = match how {
        How::Plain => PeerReaderOptions::new(),
        _ => PeerReaderOptions::new()
            .with_file_decryption_properties(PeerDecryption::builder(KEY.to_vec()).build()?),
    };
    let builder = PeerReaderBuilder::try_new_with_options(file.clone(), options)?;
    Ok(builder.with_batch_size(BATCH_SIZE).build()?.map(|batch| Ok(batch?)))
}

fn read(name: &str, title: &str, file: &Bytes, how: How, rounds: u32) -> Result<Row> {
    let rows = count(open_ours(file, how)?, RecordBatch::num_rows)?;
    let mut ours = || count(open_ours(file, how)?, RecordBatch::num_rows).map(drop);
    let mut peer = || count(open_peer(file, how)?, RecordBatch60::num_rows).map(drop);
    let [ours, peer] =
        in_turn(rounds, [Some(&mut ours), if how == How::Ctr { None } else { Some(&mut peer) }])?;
    let (name, title) = (name.to_owned(), format!("{title}, {} MB", file.len() / 1_000_000));
    Ok(Row { name, title, rows, ours, peer, memcpy: None, codec: None, alone: None, sizes: None })
}

fn written(name: &str, title: &str, input: &Input, how: How, rounds: u32) -> Result<Row> {
    let (mut our_file, mut peer_file) = (Counting::default(), Counting::default());
    let mut ours = || {
        our_file = Counting::default();
        write_ours(input, how, &mut our_file)
    };
    let mut peer = || {
        peer_file = Counting::default();
        write_peer(input, how, &mut peer_file)
    };
    let [ours, peer] =
        in_turn(rounds, [Some(&mut ours), if how == How::Ctr { None } else { Some(&mut peer) }])?;
    let (name, title) = (name.to_owned(), title.to_owned());
    let rows = input.ours.iter().map(RecordBatch::num_rows).sum();
    let sizes = Some((our_file.0, peer_file.0));
    Ok(Row { name, title, rows, ours, peer, memcpy: None, codec: None, alone: None, sizes })
}

fn write_ours(input: &Input, how: How, sink: &mut dyn Sink) -> Result<()> {
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY);
    let cipher = if how == How::Ctr { ParquetCipher::AesGcmCtrV1 } else { ParquetCipher::AesGcmV1 };
    let properties = match how {
        How::Plain => properties,
        _ => properties.with_file_encryption_properties(
            FileEncryptionProperties::builder(KEY.to_vec()).with_cipher(cipher).build()?,
        ),
    };
    let schema = input.ours.first().ok_or("no rows")?.schema();
    let mut writer = ArrowWriter::try_new(sink, schema, Some(properties.build()))?;
    for batch in &input.ours {
        writer.write(batch)?;
    }
    writer.close()?;
    Ok(())
}

fn write_peer(input: &Input, how: How, sink: &mut dyn Sink) -> Result<()> {
    let properties = parquet_write::defaults("snappy")?;
    let properties = match how {
        How::Plain => properties,
        _ => properties
            .into_builder()
            .with_file_encryption_properties(PeerEncryption::builder(KEY.to_vec()).build()?)
            .build(),
    };
    parquet_write::write(&input.peer, &Arc::clone(&input.schema), &properties, 1, sink)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_table() {
        let common = Common { json: false, markdown: false, filter: String::new(), rounds: 1 };
        let rows = run(&Options { common, sf: 0.002, write_to: None }).unwrap();
        assert_eq!(rows.len(), 6);
        assert!(rows.iter().all(|row| row.ours.is_some()));
        assert_eq!(rows.iter().filter(|row| row.peer.is_none()).count(), 2, "the peer has no CTR");
    }
}
