//! The footer: magic, length, contents, and what it says of the file as a whole.

use super::context::VerifyContext;
use super::findings::Findings;
use super::options::VerifyOptions;
use super::report::Report;
use super::rule::{Level, Rule, Severity, UNCHECKED, rule};
use super::{schema, statistics};
use crate::metadata::ParquetMetaData;
use crate::sort_order::SortOrder;
use crate::source::Source;
use marquetry_base::{ErrorLocation, Limits, Result};
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

pub(super) const RULES: &[Rule] = &[MAGIC, UNREADABLE, ROWS, ORDERS, VERSION];

/// Reads the footer; `None` if nothing behind it can be checked.
pub(super) fn open(
    source: Arc<dyn Source>,
    options: &VerifyOptions,
    findings: &mut Findings<'_>,
    report: &mut Report,
) -> Result<Option<VerifyContext>> {
    let len = source.len();
    if len < SHORTEST {
        findings.add(&MAGIC, at(0), || format!("{len} bytes, the shortest file has {SHORTEST}"));
        return Ok(None);
    }
    let (first, last) = (source.read_at(0, 4)?, source.read_at(len - 8, 8)?);
    let Some(last) = last.first_chunk::<8>() else {
        return Ok(None);
    };
    let metadata_len = match FooterTail::parse(last) {
        Ok(FooterTail::Plain { metadata_len }) => u64::from(metadata_len),
        Ok(FooterTail::Encrypted { .. }) => {
            findings
                .add(&UNCHECKED, at(len - 4), || "the footer is encrypted, and no key was given".to_owned());
            return Ok(None);
        }
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
            format!("the footer is said to have {metadata_len} bytes, there is room for {}", len - SHORTEST)
        });
        return Ok(None);
    };
    report.bytes += metadata_len + SHORTEST;
    let place = at(start);
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

fn check(metadata: &ParquetMetaData, place: &ErrorLocation, findings: &mut Findings<'_>) {
    let head = metadata.head();
    for row_group in metadata.row_groups().filter(|row_group| row_group.head().num_rows < 0) {
        let place = ErrorLocation { row_group: Some(row_group.index()), ..ErrorLocation::default() };
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
        // SPEC: TYPE_ORDER is legal for all, even where the type has no order; of unknown ones nothing is known.
        let is_legal = match order {
            ColumnOrder::TypeOrder | ColumnOrder::Unknown(_) => true,
            _ => SortOrder::for_reading(leaf, Some(order)).is_some(),
        };
        if !is_legal {
            let place = ErrorLocation { column: Some(leaf.dotted().clone()), ..place.clone() };
            findings.add(&ORDERS, place, || format!("{order:?} for {}", leaf.physical()));
        }
    }
}

fn at(offset: u64) -> ErrorLocation {
    ErrorLocation { offset: Some(offset), ..ErrorLocation::default() }
}

/// Opening magic, an empty footer's length, closing magic.
const SHORTEST: u64 = 12;
