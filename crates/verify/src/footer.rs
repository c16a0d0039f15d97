//! Reads the footer and checks its magic, length, totals and column orders.

use crate::context::VerifyContext;
use crate::findings::Findings;
use crate::options::VerifyOptions;
use crate::report::Report;
use crate::rule::{Level, Rule, Severity, rule};
use crate::{encryption, schema, statistics};
use marquetry_base::{ErrorLocation, Limits, Result};
use marquetry_core::metadata::ParquetMetaData;
use marquetry_core::sort_order::SortOrder;
use marquetry_core::source::Source;
use marquetry_format::{ColumnOrder, FooterTail, PAR1, PARE, parse_metadata};
use std::sync::Arc;

const MAGIC: Rule = rule(
    "footer-magic",
    Severity::Corrupt,
    Level::Quick,
    "The file begins with PAR1 and ends with the footer's length and PAR1",
    "README.md, File format",
);
const UNREADABLE: Rule = rule(
    "footer-unreadable",
    Severity::Corrupt,
    Level::Quick,
    "The footer fits into the file and is a FileMetaData",
    "parquet.thrift, FileMetaData",
);
const ROWS: Rule = rule(
    "footer-rows",
    Severity::Invalid,
    Level::Quick,
    "The footer's number of rows is the sum of those of its row groups, none of which is negative",
    "parquet.thrift, FileMetaData.num_rows, RowGroup.num_rows",
);
const ORDERS: Rule = rule(
    "footer-column-orders",
    Severity::Invalid,
    Level::Quick,
    "There is one column order for each column, or none at all, and each is legal for its column",
    "parquet.thrift, FileMetaData.column_orders, ColumnOrder",
);
const VERSION: Rule = rule(
    "footer-version",
    Severity::Style,
    Level::Quick,
    "The version is 1 or 2",
    "parquet.thrift, FileMetaData.version",
);

pub(crate) const RULES: &[Rule] = &[MAGIC, UNREADABLE, ROWS, ORDERS, VERSION];

/// Reads the footer. Returns `None` if nothing behind it can be checked.
pub(crate) fn open(
    source: Arc<dyn Source>,
    options: &VerifyOptions,
    findings: &mut Findings,
    report: &mut Report,
) -> Result<Option<VerifyContext>> {
    let len = source.len();
    if len < MIN_FILE_BYTES {
        findings.add(&MAGIC, at(0), || format!("{len} bytes, the shortest file has {MIN_FILE_BYTES}"));
        return Ok(None);
    }
    let (first, last) = (source.read_at(0, 4)?, source.read_at(len - 8, 8)?);
    let Some(last) = last.first_chunk::<8>() else {
        return Ok(None);
    };
    let (metadata_len, is_encrypted) = match FooterTail::parse(last) {
        Ok(FooterTail::Plain { metadata_len }) => (u64::from(metadata_len), false),
        Ok(FooterTail::Encrypted { metadata_len }) => (u64::from(metadata_len), true),
        Err(error) => {
            findings.add_error(&MAGIC, at(len - 4), error);
            return Ok(None);
        }
    };
    if first[..] != PAR1 && first[..] != PARE {
        findings
            .add(&MAGIC, at(0), || format!("it begins with \"{}\", not with \"PAR1\"", first.escape_ascii()));
    }
    let Some(start) = (len - 8).checked_sub(metadata_len).filter(|start| *start >= 4) else {
        findings.add(&UNREADABLE, at(len - 8), || {
            format!(
                "the footer's length is {metadata_len} bytes, and there is room for {}",
                len - MIN_FILE_BYTES
            )
        });
        return Ok(None);
    };
    report.bytes += metadata_len + MIN_FILE_BYTES;
    let place = at(start);
    if is_encrypted || options.decryption.is_some() {
        let metadata = encryption::read_footer(&*source, place.clone(), options, findings)?;
        return Ok(metadata.map(|metadata| {
            schema::check_elements(&metadata.head().schema, findings);
            check(&metadata, &place, findings);
            VerifyContext::new(source, metadata, start, options)
        }));
    }
    let read = Limits::check("footer_bytes", metadata_len as usize, options.limits.footer_bytes)
        .and_then(|()| source.read_at(start, metadata_len as usize))
        .and_then(|bytes| {
            let thrift = parse_metadata(&bytes, &options.limits).map_err(|error| error.offset_by(start))?;
            Ok((bytes, thrift.schema))
        });
    let (bytes, elements) = match read {
        Ok(read) => read,
        Err(error) => {
            findings.add_error(&UNREADABLE, place, error);
            return Ok(None);
        }
    };
    schema::check_elements(&elements, findings);
    match ParquetMetaData::parse(bytes, &options.limits) {
        Ok(metadata) => {
            check(&metadata, &place, findings);
            Ok(Some(VerifyContext::new(source, metadata.with_data_end(start), start, options)))
        }
        Err(error) => {
            schema::unreadable(error, place, findings);
            Ok(None)
        }
    }
}

fn check(metadata: &ParquetMetaData, place: &ErrorLocation, findings: &mut Findings) {
    let head = metadata.head();
    for row_group in metadata.row_groups().filter(|row_group| row_group.head().num_rows < 0) {
        let place = ErrorLocation::default().with_row_group(row_group.index());
        findings.add(&ROWS, place, || format!("{} rows", row_group.head().num_rows));
    }
    let rows = metadata.num_rows();
    if u64::try_from(head.num_rows) != Ok(rows) {
        findings.add(&ROWS, place.clone(), || {
            format!("the footer says {} rows, its row groups have {rows}", head.num_rows)
        });
    }
    if !matches!(head.version, 1 | 2) {
        findings.add(&VERSION, place.clone(), || format!("version {}", head.version));
    }
    statistics::check_orders(metadata, place, findings);
    let columns = metadata.schema().columns();
    let Some(orders) = metadata.column_orders() else {
        return;
    };
    if orders.len() != columns.len() {
        findings
            .add(&ORDERS, place.clone(), || format!("{} orders, {} columns", orders.len(), columns.len()));
        return;
    }
    for (leaf, order) in columns.iter().zip(orders) {
        // SPEC: TYPE_ORDER is legal for all columns, even if the type has no order. Unknown orders may be legal.
        let is_legal = match order {
            ColumnOrder::TypeOrder | ColumnOrder::Unknown(_) => true,
            _ => SortOrder::for_reading(leaf, Some(order)).is_some(),
        };
        if !is_legal {
            let place = place.clone().with_column(leaf.dotted().clone());
            findings.add(&ORDERS, place, || format!("{order:?} for {}", leaf.physical()));
        }
    }
}

fn at(offset: u64) -> ErrorLocation {
    ErrorLocation::default().with_offset(offset)
}

/// Bytes of the opening magic, the footer length and the closing magic.
const MIN_FILE_BYTES: u64 = 12;
