//! The message of a table of files.

use super::envelope::{required, unreadable, unsendable};
use super::options_message::OptionsMessage;
use super::partition_column::{partition_columns, partition_types};
use super::table::MarquetryTable;
use crate::declared_table::DeclaredTable;
use crate::format::MarquetryFormat;
use crate::output_options::OutputOptions;
use arrow_schema::Schema;
use datafusion::catalog::TableProvider;
use datafusion::common::{Constraints, TableReference};
use datafusion::datasource::listing::{ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl};
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::TaskContext;
use datafusion_proto::logical_plan::LogicalExtensionCodec;
use datafusion_proto::logical_plan::from_proto::{parse_expr, parse_sorts};
use datafusion_proto::logical_plan::to_proto::{serialize_expr, serialize_sorts};
use datafusion_proto::protobuf::{LogicalExprNode, PartitionColumn, SortExprNodeCollection};
use datafusion_proto_common as proto;
use prost::Message;
use std::collections::HashMap;
use std::sync::Arc;

/// A table of our format. Files are listed where the query is planned.
#[derive(Clone, PartialEq, Message)]
pub(super) struct TableMessage {
    #[prost(message, optional, tag = "1")]
    options: Option<OptionsMessage>,
    #[prost(message, repeated, tag = "2")]
    paths: Vec<PathMessage>,
    #[prost(string, tag = "3")]
    file_extension: String,
    /// Without partition columns.
    #[prost(message, optional, tag = "4")]
    file_schema: Option<proto::Schema>,
    #[prost(message, repeated, tag = "5")]
    partition_columns: Vec<PartitionColumn>,
    #[prost(message, repeated, tag = "6")]
    orders: Vec<SortExprNodeCollection>,
    #[prost(message, optional, tag = "7")]
    constraints: Option<proto::Constraints>,
    #[prost(message, repeated, tag = "8")]
    defaults: Vec<DefaultMessage>,
    #[prost(string, optional, tag = "9")]
    definition: Option<String>,
    /// Whether written files also contain the partition columns, if the table says so.
    #[prost(bool, optional, tag = "10")]
    keeps_keys: Option<bool>,
    /// Set for a table that a statement declares.
    #[prost(message, optional, tag = "11")]
    declaration: Option<DeclarationMessage>,
}

#[derive(Clone, PartialEq, Message)]
struct DeclarationMessage {
    #[prost(string, repeated, tag = "1")]
    required_keys: Vec<String>,
}

#[derive(Clone, PartialEq, Message)]
struct PathMessage {
    #[prost(string, tag = "1")]
    url: String,
    #[prost(string, optional, tag = "2")]
    glob: Option<String>,
}

/// The value of a column that an `INSERT` does not name.
#[derive(Clone, PartialEq, Message)]
struct DefaultMessage {
    #[prost(string, tag = "1")]
    column: String,
    #[prost(message, optional, tag = "2")]
    expr: Option<LogicalExprNode>,
}

impl TableMessage {
    pub(super) fn new(table: &MarquetryTable, codec: &dyn LogicalExtensionCodec) -> Result<Self> {
        let listing = table.listing();
        let options = listing.options();
        let format = options.format.downcast_ref::<MarquetryFormat>();
        let format = format.ok_or_else(|| unsendable("its table is of another format"))?;
        if options.output_partitioning.is_some() {
            return Err(unsendable("its table declares how it is partitioned"));
        }
        let schema = listing.schema();
        let partitions = &options.table_partition_cols;
        let columns: Vec<usize> = (0..schema.fields().len().saturating_sub(partitions.len())).collect();
        let orders = options
            .file_sort_order
            .iter()
            .map(|order| Ok(SortExprNodeCollection { sort_expr_nodes: serialize_sorts(order, codec)? }));
        let defaults = schema.fields().iter().filter_map(|field| {
            let default = listing.get_column_default(field.name())?;
            Some((field.name().clone(), default))
        });
        let defaults = defaults
            .map(|(column, expr)| Ok(DefaultMessage { column, expr: Some(serialize_expr(expr, codec)?) }));
        let paths = listing.table_paths().iter().map(|path| PathMessage {
            url: path.as_str().to_owned(),
            glob: path.get_glob().as_ref().map(|glob| glob.as_str().to_owned()),
        });
        Ok(TableMessage {
            options: Some(OptionsMessage::new(format.options())?),
            paths: paths.collect(),
            file_extension: options.file_extension.clone(),
            file_schema: Some((&schema.project(&columns)?).try_into()?),
            partition_columns: partition_columns(partitions.iter().map(|(name, of)| (name, of)))?,
            orders: orders.collect::<Result<_>>()?,
            constraints: listing.constraints().cloned().map(proto::Constraints::from),
            defaults: defaults.collect::<Result<_>>()?,
            definition: listing.get_table_definition().map(str::to_owned),
            keeps_keys: format.output().keeps_keys(),
            declaration: table
                .declared()
                .map(|declared| DeclarationMessage { required_keys: declared.required_keys().to_vec() }),
        })
    }

    /// The table; for reading it declares no order unless `has_order`.
    pub(super) fn table(
        &self,
        name: &TableReference,
        context: &TaskContext,
        codec: &dyn LogicalExtensionCodec,
        has_order: bool,
    ) -> Result<MarquetryTable> {
        let listing = self.listing(name, context, codec, true)?;
        let read = if has_order { None } else { Some(self.listing(name, context, codec, false)?) };
        let Some(DeclarationMessage { required_keys }) = &self.declaration else {
            let table = MarquetryTable::new(listing);
            return Ok(read.into_iter().fold(table, MarquetryTable::read_as));
        };
        let runtime = context.runtime_env();
        let declared =
            |listing| DeclaredTable::try_new(listing, required_keys.clone(), &runtime.cache_manager);
        let table = declared(&listing)?;
        Ok(MarquetryTable::of_declared(match read {
            Some(read) => table.read_as(declared(&read)?),
            None => table,
        }))
    }

    fn listing(
        &self,
        name: &TableReference,
        context: &TaskContext,
        codec: &dyn LogicalExtensionCodec,
        has_order: bool,
    ) -> Result<ListingTable> {
        let mut options = required(self.options.as_ref(), "options")?.options()?;
        options.ignore_sorting_columns |= !has_order;
        let schema: Schema = required(self.file_schema.as_ref(), "columns")?.try_into()?;
        let orders = self.orders.iter().filter(|_| has_order);
        let orders = orders.map(|order| Ok(parse_sorts(&order.sort_expr_nodes, context, codec)?));
        let paths = self.paths.iter().map(|path| {
            let url = ListingTableUrl::parse(&path.url)?.with_table_ref(name.clone());
            path.glob.as_ref().map_or_else(|| Ok(url.clone()), |glob| url.clone().with_glob(glob))
        });
        let paths = paths.collect::<Result<Vec<_>>>()?;
        if paths.is_empty() {
            return Err(unreadable("its table has no path"));
        }
        let defaults = self.defaults.iter().map(|default| {
            let expr = required(default.expr.as_ref(), "default of a column")?;
            Ok((default.column.clone(), parse_expr(expr, context, codec)?))
        });
        let format = MarquetryFormat::new(options).with_output(OutputOptions::of_table(self.keeps_keys));
        let listing = ListingOptions::new(Arc::new(format))
            .with_file_extension(self.file_extension.clone())
            .with_table_partition_cols(partition_types(&self.partition_columns)?)
            .with_file_sort_order(orders.collect::<Result<_, DataFusionError>>()?);
        let config = ListingTableConfig::new_with_multi_paths(paths)
            .with_listing_options(listing)
            .with_schema(Arc::new(schema));
        let mut table = ListingTable::try_new(config)?
            .with_cache(context.runtime_env().cache_manager.get_file_statistic_cache())
            .with_column_defaults(defaults.collect::<Result<HashMap<_, _>>>()?)
            .with_definition(self.definition.clone());
        if let Some(constraints) = &self.constraints {
            table = table.with_constraints(Constraints::try_from(constraints)?);
        }
        Ok(table)
    }
}
