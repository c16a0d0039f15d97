//! `rewrite`: a Parquet file again, with what should be different, and all else as it was.

use crate::args::{GeoVersion, ShredArg, shred};
use crate::column_list::{ColumnList, all_columns, column_list};
use crate::convert::Before;
use crate::failure::{Failure, Outcome};
use crate::keys::EncryptArgs;
use crate::metrics::MetricsArgs;
use crate::output::Output;
use crate::overwrite::refuse_existing;
use crate::rewrite::{
    AskedCodec, ColumnAction, ColumnLog, Edit, EncoderMemory, Footer, GeoConversion, Input, Name, OfColumn,
    OutputFile, Reencoder, Reshredding, codec_of, column_orders, geo_of_input, has_order_of_bounds,
    last_fitting, of_column, print_report, print_report_of, rename, renamed_geo, report_failure,
};
use crate::shred_plan::ShredPlan;
use crate::unreferenced::unreferenced;
use clap::Args as ClapArgs;
use marquetry::arrow::ARROW_SCHEMA_META_KEY;
use marquetry::arrow::ProjectionMask;
use marquetry::errors::Error;
use marquetry::file::metadata::{ColumnChunk, ParquetMetaData};
use marquetry::file::properties::{EnabledStatistics, WriterProperties};
use marquetry::internals::format::{ColumnOrder, KeyValue};
use marquetry::metrics::WriteCounters;
use marquetry::schema::Leaf;
use marquetry_base::parse_byte_size;
use marquetry_core::write::copy::{CopySettings, drop_bounds};
use marquetry_core::write::{ColumnSettings, EncodedChunk, Encoding};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[derive(Debug, ClapArgs)]
pub(crate) struct RewriteArgs {
    /// The Parquet file
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// The file to write
    #[arg(value_name = "OUT", value_parser = crate::remote::local())]
    output: PathBuf,
    /// Replace OUT if it is there
    #[arg(long)]
    overwrite: bool,
    /// Only these columns, and all below them: dotted paths with commas between
    #[arg(long, short, value_name = "A,B.C", value_parser = column_list)]
    columns: Option<Vec<ColumnList>>,
    /// All but these columns, and all below them
    #[arg(long, value_name = "A,B.C", value_parser = column_list, conflicts_with = "columns")]
    drop: Option<Vec<ColumnList>>,
    /// Give a field, by its dotted path, another name
    #[arg(long, value_name = "PATH=NAME", value_parser = rename)]
    rename: Vec<(String, String)>,
    /// Codec and level: zstd:3, snappy, gzip:6, brotli, lz4_raw, uncompressed; of one column as COLUMN=zstd:9
    #[arg(long, value_name = "[COLUMN=]CODEC", value_parser = of_column::<AskedCodec>)]
    compression: Vec<OfColumn<AskedCodec>>,
    /// Encoding, or auto: PLAIN, DELTA_BINARY_PACKED, BYTE_STREAM_SPLIT, ..
    #[arg(long, value_name = "[COLUMN=]ENCODING", value_parser = of_column::<Encoding>)]
    encoding: Vec<OfColumn<Encoding>>,
    /// Bytes after which a data page ends, before compression
    #[arg(long, value_name = "BYTES", value_parser = parse_byte_size)]
    page_size: Option<usize>,
    /// Rows after which a data page ends
    #[arg(long, value_name = "ROWS")]
    page_rows: Option<NonZeroUsize>,
    /// Rows in each row group but the last
    #[arg(long, value_name = "ROWS")]
    row_group_rows: Option<NonZeroUsize>,
    /// Give pages without a checksum one, which is the default
    #[arg(long, overrides_with = "no_checksums")]
    add_checksums: bool,
    /// Leave pages without a checksum as they are
    #[arg(long)]
    no_checksums: bool,
    /// Add column indexes where they are missing; offset indexes are added anyway
    #[arg(long)]
    add_index: bool,
    /// Add statistics where they are missing
    #[arg(long)]
    statistics: bool,
    /// Add a bloom filter to a column where it is missing
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    bloom: Vec<String>,
    /// Put values of VARIANT into columns of their own: of this shape, or as most of the first rows have them if that pays
    /// (auto); none puts them together again. Of one column as COLUMN=SHAPE. All other columns are copied
    #[arg(long, value_name = "[COLUMN=]auto|none|SHAPE", value_parser = shred, conflicts_with_all = NOT_WITH_SHRED)]
    shred: Vec<ShredArg>,
    /// Have columns of geometries as this version of GeoParquet has them, with its metadata: 1.0 and 1.1 are well-known binary in
    /// columns of bytes, 2.0 GEOMETRY and GEOGRAPHY, whose statistics are made where they are missing. All other columns are copied
    #[arg(long, value_enum, value_name = "VERSION", conflicts_with_all = NOT_WITH_GEOPARQUET)]
    geoparquet: Option<GeoVersion>,
    /// Leave out all key-value metadata, the stored Arrow schema included
    #[arg(long)]
    strip_metadata: bool,
    /// Copy pages whose checksum is wrong, too; the checksum stays wrong
    #[arg(long)]
    no_verify: bool,
    #[command(flatten)]
    pub(crate) encrypt: EncryptArgs,
    #[command(flatten)]
    metrics: MetricsArgs,
}

/// What would change columns that --shred copies, or the metadata that it changes.
const NOT_WITH_SHRED: [&str; 13] = [
    "columns",
    "drop",
    "rename",
    "compression",
    "encoding",
    "page_size",
    "page_rows",
    "row_group_rows",
    "add_index",
    "statistics",
    "bloom",
    "geoparquet",
    "strip_metadata",
];

/// What would change the columns that the metadata of GeoParquet tells of, or leave it out.
const NOT_WITH_GEOPARQUET: [&str; 4] = ["columns", "drop", "rename", "strip_metadata"];

pub(crate) const REWRITE_HELP: &str = "\
Without options, pages without a checksum get one, chunks without an offset index get one, and bytes that nothing refers
to are left behind. Pages that need no change are copied byte for byte; another codec needs no decoding. What needs
values - encodings, page and row group sizes, column indexes, statistics, bloom filters - is encoded again, column by
column: the other columns are still copied, unless row groups change.

COLUMN is a dotted path such as producer.name and all below it, or a pattern: * stands for any characters of one name, **
for any number of names. What is said of a column wins over what is said of all.

OUT appears once it is complete: until then, and after a failure, what was there before stays. The writer of IN is kept
in the metadata as original.created.by. Encrypted columns are
decrypted with --key-file, and encrypted anew with --encrypt-file: so keys are changed. A symbolic link called OUT stays: the file that
it leads to is replaced.

With --geoparquet columns of geometries have other types and other metadata, and the same values. Columns of boxes are kept;
`marquetry convert --covering` adds them.

With --shred columns of VARIANT are read, and written with other columns; other options that change columns take a second
rewrite. Shapes, and what auto does, are told by `marquetry convert --help`.

The report has the bytes of each column before and after, and what was done. JSON: {file, rows, row_groups, size, before,
columns: [{column, values, before, after, uncompressed, ratio, codec, encodings: [{encoding, pages}], reason}], notes}.

Examples:
  marquetry rewrite old.parquet new.parquet
  marquetry rewrite old.parquet small.parquet --compression zstd:9
  marquetry rewrite old.parquet new.parquet --drop debug --rename usr=user --encoding 'user.*=DELTA_BYTE_ARRAY'
  marquetry rewrite old.parquet new.parquet --row-group-rows 1000000 --page-rows 20000 --bloom user.id
  marquetry rewrite old.parquet new.parquet --shred auto
  marquetry rewrite places.parquet new.parquet --geoparquet 2.0
  marquetry rewrite old.parquet new.parquet --shred 'event={kind: string, user: {id: bigint}}'";

pub(crate) fn run(args: &RewriteArgs, output: &mut Output, outcome: &mut Outcome) -> Result<(), Failure> {
    rewrite(args, output).or_else(|failure| report_failure(&args.input, failure, outcome))
}

fn rewrite(args: &RewriteArgs, output: &mut Output) -> Result<(), Failure> {
    refuse_existing(&args.output, [args.input.as_path()], args.overwrite)?;
    if !args.shred.is_empty() {
        return reshred(args, output);
    }
    let Some(written) = rewrite_if(args, |_| Ok(true))? else { return Ok(()) };
    let Written { input, metadata, size, before, log, counters } = written;
    print_report(&args.output, &metadata, size, &before, &log, output)?;
    args.metrics.tell_read(&args.input, &input.counters.snapshot(), output)?;
    args.metrics.tell_written(&args.output, &counters.snapshot(), output)
}

/// A file that was written.
pub(crate) struct Written {
    input: Input,
    pub(crate) metadata: ParquetMetaData,
    pub(crate) size: u64,
    before: Vec<u64>,
    pub(crate) log: ColumnLog,
    counters: Arc<WriteCounters>,
}

/// Writes the file, which gets its name if `is_wanted` says so of it; none else.
pub(crate) fn rewrite_if(
    args: &RewriteArgs,
    is_wanted: impl FnOnce(&Path) -> Result<bool, Failure>,
) -> Result<Option<Written>, Failure> {
    let input = [Input::open(&args.input)?];
    let encryption = args.encrypt.properties()?;
    let mut edit = Edit::new(&input[0].metadata, args.kept(&input[0])?, &args.rename)?;
    let geo = match args.geoparquet {
        Some(version) => {
            let arrow = crate::remote::open(&args.input)?.schema()?;
            Some(GeoConversion::new(version.version(), &input[0], &arrow, &mut edit)?)
        }
        None => None,
    };
    let mut log = ColumnLog::new(edit.leaves.len());
    let mut plan = Plan::new(args, &input[0], &edit, geo)?;
    let mut footer = footer(args, &input, &edit, &mut log);
    if let Some(geo) = &plan.geo {
        geo.change_footer(&mut footer);
    }
    let settings = footer.settings(plan.orders.clone(), encryption);
    let mut file = OutputFile::create(&args.output, edit.elements.clone(), settings)?;
    match plan.row_group_rows {
        Some(rows) => plan.regroup(rows, &mut file, &mut log)?,
        None => plan.keep_groups(&mut file, &mut log)?,
    }
    if let Some(geo) = plan.geo.take() {
        file.add_key_value(geo.finish(&edit.schema)?);
    }
    let counters = file.counters().clone();
    let Some((metadata, size)) = file.finish_if(is_wanted)? else { return Ok(None) };
    if let Some(bytes @ 1..) = unreferenced(&*input[0].source, &input[0].metadata) {
        log.note(&format!("left behind: {bytes} bytes that nothing referred to"));
    }
    let before: Vec<u64> = edit.leaves.iter().map(|leaf| input[0].compressed_size(*leaf)).collect();
    let [input] = input;
    Ok(Some(Written { input, metadata, size, before, log, counters }))
}

/// With other columns of variants.
fn reshred(args: &RewriteArgs, output: &mut Output) -> Result<(), Failure> {
    let input = Input::open(&args.input)?;
    let file = crate::remote::open(&args.input)?;
    let arrow = file.schema()?;
    let plan = ShredPlan::new(&args.shred, &arrow)?;
    let encryption = args.encrypt.properties()?;
    let (reshredding, told) = Reshredding::new(&input, file, &arrow, &plan)?;
    let mut log = ColumnLog::new(reshredding.schema.num_columns());
    told.iter().for_each(|told| log.note(told));
    let mut footer = Footer::union(std::slice::from_ref(&input), &mut log);
    reshredding.change_footer(&mut footer, &mut log);
    let settings = footer.settings(Some(reshredding.orders()), encryption);
    let mut file = OutputFile::create(&args.output, reshredding.elements.clone(), settings)?;
    let copy = CopySettings::default()
        .with_checksums(!args.no_checksums || args.add_checksums)
        .with_offset_index(true)
        .with_verify_checksums(!args.no_verify);
    reshredding.write(&copy, &mut file, &mut log)?;
    let counters = file.counters().clone();
    let (metadata, size) = file.finish()?;
    let before = Before::of_other_columns(&input.metadata, metadata.schema());
    print_report_of(&args.output, &metadata, size, before, &log, output)?;
    args.metrics.tell_read(&args.input, &input.counters.snapshot(), output)?;
    args.metrics.tell_written(&args.output, &counters.snapshot(), output)
}

impl RewriteArgs {
    /// Which columns are kept.
    fn kept(&self, input: &Input) -> Result<Vec<bool>, Error> {
        let schema = input.metadata.schema();
        let leaves = 0..schema.num_columns();
        let mask =
            |names: &[String]| ProjectionMask::existing_columns(schema, names.iter().map(String::as_str));
        Ok(match (all_columns(self.columns.as_ref()), all_columns(self.drop.as_ref())) {
            (Some(columns), _) => {
                let mask = mask(&columns)?;
                leaves.map(|leaf| mask.leaf_included(leaf)).collect()
            }
            (None, Some(dropped)) => {
                let mask = mask(&dropped)?;
                leaves.map(|leaf| !mask.leaf_included(leaf)).collect()
            }
            (None, None) => leaves.map(|_| true).collect(),
        })
    }
}

fn footer(args: &RewriteArgs, input: &[Input], edit: &Edit, log: &mut ColumnLog) -> Footer {
    let mut footer = Footer::union(input, log);
    if let Some(geo) = geo_of_input(&input[0]).filter(|_| edit.changes()) {
        let geo = renamed_geo(geo, input[0].metadata.schema(), edit);
        footer.set_geo(geo.map(|geo| geo.to_json()));
    }
    if args.strip_metadata {
        footer.key_values.clear();
    } else if edit.changes()
        && let Some(stored) = footer.value_of(ARROW_SCHEMA_META_KEY)
    {
        let arrow = marquetry::arrow::parse_stored_schema(stored)
            .and_then(|arrow| edit.arrow(input[0].metadata.schema(), &arrow));
        if arrow.is_none() {
            log.note("the stored Arrow schema does not fit the new columns: it is left out");
        }
        footer.set(ARROW_SCHEMA_META_KEY, arrow.map(|arrow| marquetry::arrow::print_stored_schema(&arrow)));
    }
    footer
}

/// What is to be done with each column.
struct Plan<'a> {
    args: &'a RewriteArgs,
    input: &'a Input,
    edit: &'a Edit,
    columns: Vec<InputOptions>,
    orders: Option<Vec<ColumnOrder>>,
    /// Only if row groups are to have other sizes than they have.
    row_group_rows: Option<u64>,
    /// Only if another version of GeoParquet is asked for.
    geo: Option<GeoConversion>,
}

/// What is wanted of one column.
struct InputOptions {
    compression: Option<AskedCodec>,
    encoding: Option<Encoding>,
    bloom: bool,
}

impl<'a> Plan<'a> {
    fn new(
        args: &'a RewriteArgs,
        input: &'a Input,
        edit: &'a Edit,
        geo: Option<GeoConversion>,
    ) -> Result<Self, Error> {
        let schema = input.metadata.schema();
        let leaves: Vec<&Leaf> = edit.leaves.iter().map(|leaf| schema.column(*leaf)).collect();
        let patterns =
            args.compression.iter().map(|of| &of.column).chain(args.encoding.iter().map(|of| &of.column));
        let blooms: Vec<Name> = args.bloom.iter().map(|name| Name::new(name)).collect();
        for name in patterns.flatten().chain(&blooms) {
            if !leaves.iter().any(|leaf| name.fits(leaf)) {
                return Err(Error::argument(format!("no column {}", name.text)));
            }
        }
        let wanted = |leaf: &&Leaf| InputOptions {
            compression: last_fitting(&args.compression, leaf),
            encoding: last_fitting(&args.encoding, leaf),
            bloom: blooms.iter().any(|name| name.fits(leaf)),
        };
        let columns = leaves.iter().map(wanted).collect();
        let rows = args.row_group_rows.map(|rows| rows.get() as u64);
        let row_group_rows = rows.filter(|rows| !has_groups_of(input, *rows));
        let orders = column_orders(std::slice::from_ref(input), std::slice::from_ref(&edit.leaves));
        let mut plan = Plan { args, input, edit, columns, orders, row_group_rows, geo };
        if plan.orders.is_none() && plan.encodes_something() {
            // What is encoded has bounds, and bounds without an order say nothing.
            plan.orders = Some(vec![ColumnOrder::TypeOrder; edit.leaves.len()]);
        }
        // A mistake is told before work begins.
        (0..edit.leaves.len()).try_for_each(|column| plan.settings(column, 0).map(drop))?;
        Ok(plan)
    }

    /// Whether any chunk is encoded again.
    fn encodes_something(&self) -> bool {
        let groups = 0..self.input.metadata.num_row_groups();
        self.row_group_rows.is_some()
            || groups.into_iter().any(|group| {
                (0..self.columns.len()).any(|column| {
                    self.chunk(group, column).is_ok_and(|chunk| self.needs_values(column, chunk).is_some())
                })
            })
    }

    fn chunk(&self, row_group: usize, column: usize) -> Result<ColumnChunk<'_>, Error> {
        self.input.metadata.row_group(row_group).column(self.edit.leaves[column])
    }

    /// Why a chunk cannot be copied, if so.
    fn needs_values(&self, column: usize, chunk: ColumnChunk<'_>) -> Option<&'static str> {
        let wanted = &self.columns[column];
        let has_bounds = chunk.statistics().is_some_and(|statistics| {
            statistics.min_value.is_some() || statistics.null_count == Some(chunk.num_values())
        });
        let has_boxes = || chunk.meta_data().is_ok_and(|chunk| chunk.geospatial_statistics.is_some());
        let lacks_index = chunk.column_index_range().is_none_or(|range| range.is_empty());
        match () {
            () if wanted.encoding.is_some() => Some("another encoding"),
            () if self.args.page_size.is_some() || self.args.page_rows.is_some() => Some("other page sizes"),
            () if wanted.bloom && chunk.bloom_filter_offset().is_none() => Some("a bloom filter"),
            () if self.args.add_index && lacks_index => Some("a column index"),
            () if self.args.statistics && !has_bounds => Some("statistics"),
            () if self.geo.as_ref().is_some_and(|geo| geo.needs_values(column, has_boxes())) => {
                Some("statistics of geometries")
            }
            () => None,
        }
    }

    /// How a column is encoded again.
    fn settings(&self, column: usize, row_group: usize) -> Result<ColumnSettings, Error> {
        let wanted = &self.columns[column];
        // With the annotation that it has in the new file.
        let leaf = self.edit.schema.column(column);
        let mut properties = WriterProperties::builder();
        if let Some(compression) = wanted.compression {
            properties = properties.set_compression(compression.compression);
        }
        if let Some(encoding) = wanted.encoding {
            properties = properties.set_encoding(encoding);
        }
        if let Some(bytes) = self.args.page_size {
            properties = properties.set_data_page_size_limit(bytes);
        }
        if let Some(rows) = self.args.page_rows {
            properties = properties.set_data_page_row_count_limit(rows.get());
        }
        let chunk = match row_group < self.input.metadata.num_row_groups() {
            true => Some(self.chunk(row_group, column)?),
            false => None,
        };
        let had_bloom = chunk.is_some_and(|chunk| chunk.bloom_filter_offset().is_some());
        properties = properties
            .set_bloom_filter_enabled(wanted.bloom || had_bloom)
            .set_statistics_enabled(EnabledStatistics::Page)
            .set_compat(self.input.compat)
            .set_page_checksums(!self.args.no_checksums || self.args.add_checksums);
        let is_total = self.orders.as_ref().and_then(|orders| orders.get(column))
            == Some(&ColumnOrder::Ieee754TotalOrder);
        let mut settings = properties.set_total_order(is_total).build().column_settings(leaf)?;
        if let (None, Some(chunk)) = (wanted.compression, chunk) {
            (settings.codec, settings.level) = (codec_of(chunk)?, None);
        }
        Ok(settings)
    }

    fn copy_settings(&self, column: usize) -> CopySettings {
        CopySettings::default()
            .with_codec(self.columns[column].compression.map(AskedCodec::parts))
            .with_checksums(!self.args.no_checksums || self.args.add_checksums)
            .with_offset_index(true)
            .with_verify_checksums(!self.args.no_verify)
    }

    /// The row groups stay.
    fn keep_groups(&mut self, file: &mut OutputFile, log: &mut ColumnLog) -> Result<(), Failure> {
        let mut memory = EncoderMemory::counted_by(file.counters());
        for group in self.input.metadata.row_groups() {
            let mut chunks = Vec::new();
            for column in 0..self.columns.len() {
                let chunk = group.column(self.edit.leaves[column])?;
                let mut encoded = match self.needs_values(column, chunk) {
                    Some(why) => {
                        let mut recoder = Reencoder::new(
                            &self.input.columns(),
                            &[group.index()],
                            self.edit.leaves[column],
                            !self.args.no_verify,
                        );
                        recoder = self.annotated(recoder, column);
                        let key_values = chunk.meta_data()?.key_value_metadata;
                        self.encode(
                            &mut recoder,
                            (column, group.index()),
                            group.num_rows(),
                            key_values,
                            &mut memory,
                        )
                        .inspect(|_| log.action(column, ColumnAction::Recoded(why.to_owned())))?
                    }
                    None => self.copied(column, group.index(), log)?,
                };
                encoded.metadata.path_in_schema = self.edit.schema.column(column).path_in_schema();
                if self.args.strip_metadata {
                    encoded.metadata.key_value_metadata = None;
                }
                if let Some(geo) = &mut self.geo {
                    geo.take(column, &mut encoded);
                }
                memory.keep(&mut encoded.bytes)?;
                chunks.push(encoded);
            }
            let sorting = self.edit.sorting(group.sorting_columns());
            file.write_row_group(group.num_rows(), chunks, Some(sorting))?;
            memory.clear();
        }
        Ok(())
    }

    fn copied(&self, column: usize, row_group: usize, log: &mut ColumnLog) -> Result<EncodedChunk, Failure> {
        let leaf = self.edit.leaves[column];
        let copied = self.input.copy(row_group, leaf, &self.copy_settings(column))?;
        log.copied(column, &copied);
        let mut chunk = copied.chunk;
        if self.input.metadata.column_orders().is_none() && self.orders.is_some() {
            drop_bounds(&mut chunk);
        }
        Ok(chunk)
    }

    /// All rows again, in row groups of `rows` rows.
    fn regroup(&mut self, rows: u64, file: &mut OutputFile, log: &mut ColumnLog) -> Result<(), Failure> {
        let metadata = &self.input.metadata;
        let groups: Vec<usize> = (0..metadata.num_row_groups()).collect();
        let verify = !self.args.no_verify;
        let new = |(column, leaf): (usize, &usize)| {
            self.annotated(Reencoder::new(&self.input.columns(), &groups, *leaf, verify), column)
        };
        let mut recoders: Vec<Reencoder> = self.edit.leaves.iter().enumerate().map(new).collect();
        let mut left = metadata.num_rows();
        let mut memory = EncoderMemory::counted_by(file.counters());
        if metadata.row_groups().any(|group| !group.sorting_columns().is_empty()) {
            log.note("the order of rows is not noted: it was one of the old row groups");
        }
        while left > 0 {
            let n = left.min(rows);
            left -= n;
            let mut chunks = Vec::new();
            for (column, recoder) in recoders.iter_mut().enumerate() {
                let mut chunk = self.encode(recoder, (column, 0), n, None, &mut memory)?;
                log.action(column, ColumnAction::Recoded("other row groups".to_owned()));
                chunk.metadata.path_in_schema = self.edit.schema.column(column).path_in_schema();
                if let Some(geo) = &mut self.geo {
                    geo.take(column, &mut chunk);
                }
                memory.keep(&mut chunk.bytes)?;
                chunks.push(chunk);
            }
            file.write_row_group(n, chunks, None)?;
            memory.clear();
        }
        Ok(())
    }

    /// What encodes a column again, with the annotation that it has in the new file: statistics go by that.
    fn annotated(&self, recoder: Reencoder, column: usize) -> Reencoder {
        if self.geo.is_none() {
            return recoder;
        }
        let leaf = self.edit.schema.column(column).clone();
        let levels = (0..=leaf.max_def()).collect();
        recoder.into_column(leaf, levels)
    }

    /// A chunk of the next `rows` rows. `(column, group)` are those that it is like.
    fn encode(
        &self,
        recoder: &mut Reencoder,
        (column, group): (usize, usize),
        rows: u64,
        key_values: Option<Vec<KeyValue>>,
        memory: &mut EncoderMemory,
    ) -> Result<EncodedChunk, Failure> {
        let settings = self.settings(column, group)?;
        let (mut chunk, _) = recoder.chunk(rows, &settings, memory)?;
        chunk.metadata.key_value_metadata = key_values;
        let order = self.orders.as_ref().and_then(|orders| orders.get(column));
        if !has_order_of_bounds(self.edit.schema.column(column).physical(), order) {
            drop_bounds(&mut chunk);
        }
        Ok(chunk)
    }
}

/// Whether all row groups but the last, which may have less, have so many rows.
fn has_groups_of(input: &Input, rows: u64) -> bool {
    let sizes: Vec<u64> = input.metadata.row_groups().map(|group| group.num_rows()).collect();
    match sizes.split_last() {
        Some((last, before)) => *last <= rows && before.iter().all(|size| *size == rows),
        None => true,
    }
}
