//! The plan of `rewrite` for each column: copy its pages, or encode its values again.

use super::args::RewriteArgs;
use crate::args::Bloom;
use crate::failure::Failure;
use crate::rewrite::{
    AskedCodec, ColumnAction, ColumnLog, Edit, EncoderMemory, GeoConversion, Input, Name, OfColumn,
    OutputFile, Reencoder, Settings, codec_of, column_orders, has_order_of_bounds,
};
use marquetry::errors::Error;
use marquetry::file::metadata::ColumnChunk;
use marquetry::file::properties::{BloomFilterProperties, EnabledStatistics, WriterProperties};
use marquetry::internals::format::{ColumnOrder, KeyValue};
use marquetry::schema::Leaf;
use marquetry_core::schema::no_such_column;
use marquetry_core::write::copy::{CopySettings, drop_bounds};
use marquetry_core::write::{ColumnSettings, EncodedChunk, Encoding};

/// The plan for each column.
pub(super) struct Plan<'a> {
    args: &'a RewriteArgs,
    input: &'a Input,
    edit: &'a Edit,
    columns: Vec<InputOptions>,
    pub(super) orders: Option<Vec<ColumnOrder>>,
    /// Only set if row groups are to have other sizes.
    pub(super) row_group_rows: Option<u64>,
    /// Only set if another version of GeoParquet is asked for.
    pub(super) geo: Option<GeoConversion>,
}

/// The settings of one column.
struct InputOptions {
    compression: Option<AskedCodec>,
    encoding: Option<Encoding>,
    bloom: Option<BloomFilterProperties>,
}

impl<'a> Plan<'a> {
    pub(super) fn new(
        args: &'a RewriteArgs,
        input: &'a Input,
        edit: &'a Edit,
        geo: Option<GeoConversion>,
    ) -> Result<Self, Error> {
        let schema = input.metadata.schema();
        let leaves: Vec<&Leaf> = edit.leaves.iter().map(|leaf| schema.column(*leaf)).collect();
        let of_bloom =
            |bloom: &Bloom| OfColumn { column: Some(Name::new(&bloom.column)), value: bloom.properties() };
        let blooms: Vec<_> = args.bloom.iter().map(of_bloom).collect();
        let (compression, encoding) =
            (Settings::new(&args.compression, &leaves), Settings::new(&args.encoding, &leaves));
        let bloom = Settings::new(&blooms, &leaves);
        let unknown = compression.unknown(&leaves).or_else(|| encoding.unknown(&leaves));
        if let Some(name) = unknown.or_else(|| bloom.unknown(&leaves)) {
            return Err(no_such_column(&name.text, leaves.iter().map(|leaf| &**leaf.dotted())));
        }
        let wanted = |leaf: &&Leaf| InputOptions {
            compression: compression.of(leaf),
            encoding: encoding.of(leaf),
            bloom: bloom.of(leaf),
        };
        let columns = leaves.iter().map(wanted).collect();
        let rows = args.row_group_rows.map(|rows| rows.get() as u64);
        let row_group_rows = rows.filter(|rows| !has_groups_of(input, *rows));
        let orders = column_orders(std::slice::from_ref(input), std::slice::from_ref(&edit.leaves));
        let mut plan = Plan { args, input, edit, columns, orders, row_group_rows, geo };
        if plan.orders.is_none() && plan.encodes_something() {
            // Chunks that are encoded get bounds, and bounds without an order mean nothing.
            plan.orders = Some(vec![ColumnOrder::TypeOrder; edit.leaves.len()]);
        }
        // Errors must show before work begins.
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

    /// The reason why a chunk cannot be copied, if there is one.
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
            () if wanted.bloom.is_some() && chunk.bloom_filter_offset().is_none() => Some("a bloom filter"),
            () if self.args.add_index && lacks_index => Some("a column index"),
            () if self.args.statistics && !has_bounds => Some("statistics"),
            () if self.geo.as_ref().is_some_and(|geo| geo.needs_values(column, has_boxes())) => {
                Some("statistics of geometries")
            }
            () => None,
        }
    }

    /// The settings to encode a column again.
    fn settings(&self, column: usize, row_group: usize) -> Result<ColumnSettings, Error> {
        let wanted = &self.columns[column];
        // With the annotation of the new file.
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
        properties = match wanted.bloom {
            Some(filter) => properties.set_bloom_filter_properties(filter),
            None => properties.set_bloom_filter_enabled(had_bloom),
        };
        properties = properties
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

    /// Keeps the row groups.
    pub(super) fn keep_groups(&mut self, file: &mut OutputFile, log: &mut ColumnLog) -> Result<(), Failure> {
        let mut memory = file.encoder_memory();
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

    /// Writes all rows in new row groups of `rows` rows.
    pub(super) fn regroup(
        &mut self,
        rows: u64,
        file: &mut OutputFile,
        log: &mut ColumnLog,
    ) -> Result<(), Failure> {
        let metadata = &self.input.metadata;
        let groups: Vec<usize> = (0..metadata.num_row_groups()).collect();
        let verify = !self.args.no_verify;
        let new = |(column, leaf): (usize, &usize)| {
            self.annotated(Reencoder::new(&self.input.columns(), &groups, *leaf, verify), column)
        };
        let mut recoders: Vec<Reencoder> = self.edit.leaves.iter().enumerate().map(new).collect();
        let mut left = metadata.num_rows();
        let mut memory = file.encoder_memory();
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

    /// An encoder with the column's annotation in the new file, by which statistics are written.
    fn annotated(&self, recoder: Reencoder, column: usize) -> Reencoder {
        if self.geo.is_none() {
            return recoder;
        }
        let leaf = self.edit.schema.column(column).clone();
        let levels = (0..=leaf.max_def()).collect();
        recoder.into_column(leaf, levels)
    }

    /// Encodes the next `rows` rows. `(column, group)` is the chunk whose settings are used.
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

/// Whether all row groups have this number of rows, except for the last, which may have fewer.
fn has_groups_of(input: &Input, rows: u64) -> bool {
    let sizes: Vec<u64> = input.metadata.row_groups().map(|group| group.num_rows()).collect();
    match sizes.split_last() {
        Some((last, before)) => *last <= rows && before.iter().all(|size| *size == rows),
        None => true,
    }
}
