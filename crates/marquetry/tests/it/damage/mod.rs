//! Files with one fault each: tables, where their pages are, ways to spoil them, and what may be lost by that.
#![allow(dead_code, reason = "each test uses its part of this")]

use arrow_array::builder::{Int32Builder, ListBuilder, StringBuilder};
use arrow_array::{
    Array, ArrayRef, Date32Array, Decimal128Array, Float64Array, Int32Array, Int64Array, RecordBatch,
    StringArray, StructArray, UInt32Array,
};
use arrow_schema::{DataType, Field};
use bytes::Bytes;
use marquetry::arrow::ArrowWriter;
use marquetry::arrow::arrow_reader::{
    ArrowReaderOptions, LossReport, OnCorrupt, ParquetRecordBatchReaderBuilder,
};
use marquetry::errors::Error;
use marquetry::file::page::{ChecksumTrust, PageBuffers, PageOptions, PageReader};
use marquetry::file::properties::WriterProperties;
use marquetry::file::read_metadata;
use marquetry_core::page_index::read_offset_index;
use std::ops::Range;
use std::sync::Arc;

/// Numbers that look random (splitmix64).
#[derive(Debug, Clone)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ word >> 31
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.word() % n.max(1) as u64) as usize
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

/// A table of all shapes: flat, with nulls, with few values, lists, structs with a list in them.
pub(crate) fn table(rows: usize, random: &mut Random) -> RecordBatch {
    let ids = Int64Array::from_iter_values(0..rows as i64);
    let floats: Float64Array = (0..rows)
        .map(|i| (random.below(5) > 0).then_some(i as f64 * 0.37 + random.below(9) as f64))
        .collect();
    let few: StringArray = (0..rows).map(|_| Some(format!("city {}", random.below(17)))).collect();
    let many: StringArray =
        (0..rows).map(|i| (random.below(9) > 0).then(|| format!("{i} {:x}", random.word()))).collect();
    let mut lists = ListBuilder::new(Int32Builder::new());
    for _ in 0..rows {
        for _ in 0..random.below(5) {
            lists.values().append_option((random.below(6) > 0).then_some(random.below(1000) as i32));
        }
        lists.append(random.below(7) > 0);
    }
    let mut tags = ListBuilder::new(StringBuilder::new());
    for _ in 0..rows {
        for _ in 0..random.below(4) {
            tags.values().append_value(format!("tag {}", random.below(30)));
        }
        tags.append(true);
    }
    let (lists, tags) = (Arc::new(lists.finish()) as ArrayRef, Arc::new(tags.finish()) as ArrayRef);
    let numbers = Arc::new(Int32Array::from_iter_values((0..rows).map(|i| i as i32 / 3))) as ArrayRef;
    let fields = vec![
        Arc::new(Field::new("number", DataType::Int32, false)),
        Arc::new(Field::new("tags", tags.data_type().clone(), true)),
    ];
    let group = StructArray::new(fields.into(), vec![numbers, tags], None);
    RecordBatch::try_from_iter_with_nullable([
        ("id", Arc::new(ids) as ArrayRef, false),
        ("float", Arc::new(floats), true),
        ("few", Arc::new(few), true),
        ("many", Arc::new(many), true),
        ("list", lists, true),
        ("group", Arc::new(group), false),
    ])
    .unwrap()
}

/// A table like TPC-H's lineitem, of the same types and much the same values.
pub(crate) fn lineitem(rows: usize) -> RecordBatch {
    let mut random = Random(19);
    let money = |values: Vec<i128>| -> ArrayRef {
        Arc::new(Decimal128Array::from(values).with_precision_and_scale(15, 2).unwrap())
    };
    let mut numbers = |n: usize| -> Vec<i128> { (0..rows).map(|_| random.below(n) as i128).collect() };
    let (quantity, price) = (numbers(50), numbers(9_000_000));
    let (discount, tax) = (numbers(11), numbers(9));
    let mut ints = |n: usize| -> ArrayRef {
        Arc::new(Int64Array::from_iter_values((0..rows).map(|_| random.below(n) as i64)))
    };
    let (part, supplier) = (ints(20_000), ints(1_000));
    let mut dates = || -> ArrayRef {
        Arc::new(Date32Array::from_iter_values((0..rows).map(|_| 8_000 + random.below(2_500) as i32)))
    };
    let (ship, commit, receipt) = (dates(), dates(), dates());
    let mut texts = |from: &[&str]| -> ArrayRef {
        Arc::new(StringArray::from_iter_values((0..rows).map(|_| random.pick(from))))
    };
    let (returned, status) = (texts(&["A", "N", "R"]), texts(&["F", "O"]));
    let instruct = texts(&["COLLECT COD", "DELIVER IN PERSON", "NONE", "TAKE BACK RETURN"]);
    let mode = texts(&["AIR", "FOB", "MAIL", "RAIL", "REG AIR", "SHIP", "TRUCK"]);
    let words = ["carefully", "final", "deposits", "sleep", "furiously", "even", "packages", "the", "bold"];
    let comments = (0..rows).map(|_| {
        let count = 2 + random.below(4);
        (0..count).map(|_| random.pick(&words)).collect::<Vec<_>>().join(" ")
    });
    let comment = Arc::new(StringArray::from_iter_values(comments)) as ArrayRef;
    let order = Arc::new(Int64Array::from_iter_values((0..rows).map(|i| i as i64 / 4 + 1))) as ArrayRef;
    let line = Arc::new(Int32Array::from_iter_values((0..rows).map(|i| i as i32 % 4 + 1))) as ArrayRef;
    let columns = [
        ("l_orderkey", order),
        ("l_partkey", part),
        ("l_suppkey", supplier),
        ("l_linenumber", line),
        ("l_quantity", money(quantity.into_iter().map(|n| (n + 1) * 100).collect())),
        ("l_extendedprice", money(price)),
        ("l_discount", money(discount)),
        ("l_tax", money(tax)),
        ("l_returnflag", returned),
        ("l_linestatus", status),
        ("l_shipdate", ship),
        ("l_commitdate", commit),
        ("l_receiptdate", receipt),
        ("l_shipinstruct", instruct),
        ("l_shipmode", mode),
        ("l_comment", comment),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.map(|(name, array)| (name, array, false))).unwrap()
}

pub(crate) fn written(batch: &RecordBatch, properties: WriterProperties) -> Bytes {
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
    writer.write(batch).unwrap();
    writer.into_inner().unwrap().into()
}

/// A page of a good file.
#[derive(Debug, Clone)]
pub(crate) struct Page {
    pub(crate) row_group: usize,
    pub(crate) column: usize,
    /// The field of the root that the column is below.
    pub(crate) root: usize,
    pub(crate) index: usize,
    pub(crate) is_dictionary: bool,
    pub(crate) header: Range<usize>,
    pub(crate) body: Range<usize>,
    /// The rows of the file that it has.
    pub(crate) rows: Range<u64>,
    /// The rows of the file that its row group has.
    pub(crate) group_rows: Range<u64>,
    /// Whether it is in a list.
    pub(crate) is_nested: bool,
    /// Whether its entries may continue from page to page, as far as a reader knows.
    pub(crate) may_cut_rows: bool,
}

impl Page {
    /// Whether all of it was overwritten by a block that was copied from `from` to `to`. Its first bytes may not have
    /// been in the block, because headers begin alike.
    pub(crate) fn was_moved(&self, good: &Bytes, bad: &Bytes, from: usize, to: usize) -> bool {
        let page = &good[self.header.start..self.body.end];
        let start = (self.header.start + to).checked_sub(from);
        start.is_some_and(|start| bad.get(start..start + page.len()) == Some(page))
    }
}

/// All pages of a good file, in the order of the file. `indexed` is the same file with offset indexes.
pub(crate) fn pages(file: &Bytes, indexed: &Bytes) -> Vec<Page> {
    let limits = Arc::<marquetry_base::Limits>::default();
    let metadata = read_metadata(file, &limits).unwrap().metadata;
    let with_index = read_metadata(indexed, &limits).unwrap().metadata;
    let mut out = Vec::new();
    let mut first = 0;
    for (row_group, twin) in metadata.row_groups().zip(with_index.row_groups()) {
        let group_rows = first..first + row_group.num_rows();
        first = group_rows.end;
        for (column, leaf) in metadata.schema().columns().iter().enumerate() {
            let options =
                PageOptions::for_writer(None).with_limits(limits.clone()).with_trust(ChecksumTrust::Believed);
            let chunk = row_group.column(column).unwrap();
            let mut walk =
                PageReader::new(Arc::new(file.clone()), chunk, options, PageBuffers::default()).unwrap();
            let index = read_offset_index(indexed, twin.column(column).unwrap(), &limits).unwrap().unwrap();
            let starts = index.page_locations.iter().map(|location| location.first_row_index as u64);
            let mut ends: Vec<u64> = starts.chain([row_group.num_rows()]).collect();
            ends.reverse();
            while let Some(start) = walk.next_header().unwrap() {
                let mut rows = group_rows.start..group_rows.start;
                if start.is_data() {
                    let begin = ends.pop().unwrap();
                    rows = group_rows.start + begin..group_rows.start + ends.last().unwrap();
                }
                let range = start.range();
                out.push(Page {
                    row_group: row_group.index(),
                    column,
                    root: leaf.root(),
                    index: start.index,
                    is_dictionary: start.is_dictionary(),
                    header: start.offset as usize..start.body as usize,
                    body: start.body as usize..range.end as usize,
                    rows,
                    group_rows: group_rows.clone(),
                    is_nested: leaf.max_rep() > 0,
                    may_cut_rows: leaf.max_rep() > 0 && start.header.data_page_header_v2.is_none(),
                });
            }
        }
    }
    out
}

/// One fault.
#[derive(Debug, Clone)]
pub(crate) enum Fault {
    Bit(usize, u8),
    Zeros(Range<usize>),
    /// A block that was also written to the wrong place.
    Copied {
        from: usize,
        to: usize,
        len: usize,
    },
    /// A block that is doubled, so that everything behind it moves.
    Doubled(Range<usize>),
    Cut(usize),
}

impl Fault {
    /// A fault that begins somewhere in `area`.
    pub(crate) fn any(area: &Range<usize>, random: &mut Random) -> Fault {
        let len = BLOCK.min(area.len() / 2);
        let mut at = || area.start + random.below(area.len());
        let (first, second, third) = (at(), at(), at());
        let block = |at: usize| at.min(area.end - len);
        match random.below(5) {
            0 | 1 => Fault::Bit(first, 1 << random.below(8)),
            2 => Fault::Zeros(block(first)..block(first) + len),
            3 => Fault::Copied { from: block(second), to: block(third), len },
            _ => Fault::Cut(first),
        }
    }

    pub(crate) fn on(&self, good: &Bytes) -> Bytes {
        let mut bytes = good.to_vec();
        match self {
            Fault::Bit(at, mask) => bytes[*at] ^= mask,
            Fault::Zeros(range) => bytes[range.clone()].fill(0),
            Fault::Copied { from, to, len } => bytes.copy_within(*from..from + len, *to),
            Fault::Doubled(range) => {
                let block = bytes[range.clone()].to_vec();
                bytes.splice(range.end..range.end, block);
            }
            Fault::Cut(len) => bytes.truncate(*len),
        }
        bytes.into()
    }
}

/// Where two files of the same length differ.
pub(crate) fn changed(good: &Bytes, bad: &Bytes) -> Vec<usize> {
    (0..good.len()).filter(|&i| good[i] != bad[i]).collect()
}

/// Returns the rows of each root field that changes at these bytes may lose, and the pages of which one must be found
/// damaged: those whose bytes, not only headers, were changed.
pub(crate) fn consequences(
    pages: &[Page],
    changed: &[usize],
    roots: usize,
    has_index: bool,
) -> (Vec<Vec<Range<u64>>>, Vec<Page>) {
    let touches = |range: &Range<usize>| {
        let first = changed.partition_point(|&at| at < range.start);
        changed.get(first).is_some_and(|&at| at < range.end)
    };
    let mut may = vec![Vec::new(); roots];
    let mut must = Vec::new();
    for chunk in pages.chunk_by(|a, b| (a.row_group, a.column) == (b.row_group, b.column)) {
        let header = chunk.iter().any(|page| touches(&page.header));
        let touched: Vec<&Page> =
            chunk.iter().filter(|page| touches(&page.header) || touches(&page.body)).collect();
        must.extend(touched.iter().copied().filter(|page| touches(&page.body)).cloned());
        let may = &mut may[chunk[0].root];
        // Of a wrong number of entries in a list, not even the page need be known.
        let is_anywhere = header && (!has_index || chunk[0].is_nested);
        if touched.iter().any(|page| page.is_dictionary) || is_anywhere {
            may.push(chunk[0].group_rows.clone());
        } else if let (Some(first), Some(last)) = (touched.first(), touched.last()) {
            let cut = u64::from(chunk.iter().any(|page| page.may_cut_rows) && !has_index);
            match cut {
                0 => may.extend(touched.iter().map(|page| page.rows.clone())),
                _ => may.push(first.rows.start.saturating_sub(cut)..last.rows.end),
            }
        }
    }
    (may, must)
}

/// What a read gave.
pub(crate) struct Salvaged {
    pub(crate) rows: Vec<ArrayRef>,
    pub(crate) report: LossReport,
}

pub(crate) fn salvage(
    file: Bytes,
    on_corrupt: OnCorrupt,
    batch_size: usize,
    columns: usize,
) -> Result<Salvaged, Error> {
    let options = ArrowReaderOptions::new().with_on_corrupt(on_corrupt);
    let builder = ParquetRecordBatchReaderBuilder::try_new_with_options(file, options)?;
    let mut reader = builder.with_batch_size(batch_size).build()?;
    let mut batches = Vec::new();
    while let Some(batch) = reader.next_batch() {
        batches.push(batch?);
    }
    let report = reader.loss_report();
    let rows = (0..columns).map(|i| {
        let arrays: Vec<&dyn Array> = batches.iter().map(|batch| batch.column(i).as_ref()).collect();
        match arrays.is_empty() {
            true => arrow_array::new_empty_array(&DataType::Null),
            false => arrow_select::concat::concat(&arrays).unwrap(),
        }
    });
    Ok(Salvaged { rows: rows.collect(), report })
}

/// Which rows of the file a report names, for each field of the root.
pub(crate) fn reported(report: &LossReport, roots: &[&str], rows: usize) -> Vec<Vec<bool>> {
    let mut out = vec![vec![false; rows]; roots.len()];
    for loss in &report.losses {
        let name = loss.column.split('.').next().unwrap();
        let root = roots.iter().position(|root| *root == name).unwrap();
        out[root][loss.rows.start as usize..loss.rows.end as usize].fill(true);
    }
    out
}

/// Holds what was read against the table: it must be what the report says, and no row that may not be lost is missing.
pub(crate) fn check(
    table: &RecordBatch,
    salvaged: &Salvaged,
    on_corrupt: OnCorrupt,
    may: &[Vec<Range<u64>>],
) -> Result<(), String> {
    let schema = table.schema();
    let roots: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    let lost = reported(&salvaged.report, &roots, table.num_rows());
    if on_corrupt != OnCorrupt::SkipRowGroup {
        for (root, lost) in lost.iter().enumerate() {
            for (row, _) in lost.iter().enumerate().filter(|(_, lost)| **lost) {
                if !may[root].iter().any(|range| range.contains(&(row as u64))) {
                    return Err(format!("row {row} of {} is lost, and should not be", roots[root]));
                }
            }
        }
    }
    let in_all: Vec<u32> =
        (0..table.num_rows() as u32).filter(|&row| lost.iter().all(|lost| !lost[row as usize])).collect();
    if on_corrupt != OnCorrupt::NullPage {
        let left_out = (table.num_rows() - in_all.len()) as u64;
        if left_out != salvaged.report.rows_left_out {
            return Err(format!("{left_out} rows left out, not {}", salvaged.report.rows_left_out));
        }
    }
    for (root, found) in salvaged.rows.iter().enumerate() {
        let positions: UInt32Array = match on_corrupt {
            OnCorrupt::NullPage => {
                (0..table.num_rows() as u32).map(|row| (!lost[root][row as usize]).then_some(row)).collect()
            }
            _ => in_all.iter().map(|row| Some(*row)).collect(),
        };
        if positions.is_empty() && found.is_empty() {
            continue;
        }
        let expected = arrow_select::take::take(table.column(root), &positions, None).unwrap();
        if expected.len() != found.len() {
            return Err(format!("{} rows of {}, not {}", found.len(), roots[root], expected.len()));
        }
        if &expected != found {
            let row = (0..found.len()).find(|&row| expected.slice(row, 1) != found.slice(row, 1));
            return Err(format!("{}: row {row:?} of those that are left is another", roots[root]));
        }
    }
    Ok(())
}

const BLOCK: usize = 4096;
