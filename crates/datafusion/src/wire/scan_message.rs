//! The message of a scan.

use super::envelope::{required, unreadable, unsendable};
use super::options_message::OptionsMessage;
use crate::filter::Filter;
use crate::session::SessionParts;
use crate::source::MarquetrySource;
use datafusion::datasource::physical_plan::{FileGroup, FileScanConfig, FileScanConfigBuilder, FileSource};
use datafusion::datasource::source::DataSourceExec;
use datafusion::error::Result;
use datafusion::execution::TaskContext;
use datafusion::physical_plan::ExecutionPlan;
use datafusion_proto::physical_plan::from_proto::{
    parse_protobuf_file_scan_config, parse_table_schema_from_proto,
};
use datafusion_proto::physical_plan::to_proto::serialize_file_scan_config;
use datafusion_proto::physical_plan::{
    PhysicalExtensionCodec, PhysicalPlanDecodeContext, PhysicalProtoConverterExtension,
};
use datafusion_proto::protobuf::{FileScanExecConf, PhysicalExprNode};
use prost::Message;
use std::sync::Arc;

/// A scan of our source.
#[derive(Clone, PartialEq, Message)]
pub(super) struct ScanMessage {
    /// DataFusion's part of a scan: files, columns, order.
    #[prost(message, optional, tag = "1")]
    config: Option<FileScanExecConf>,
    #[prost(message, optional, tag = "2")]
    options: Option<OptionsMessage>,
    #[prost(message, repeated, tag = "3")]
    filters: Vec<FilterMessage>,
    #[prost(bool, tag = "4")]
    asks_rows: bool,
    /// DataFusion's own message has only 32 bits for it.
    #[prost(uint64, optional, tag = "5")]
    limit: Option<u64>,
    #[prost(bool, tag = "6")]
    preserve_order: bool,
    /// The versions of the files' contents, in the order of the files. DataFusion's own message has only the time of
    /// last change.
    #[prost(message, repeated, tag = "7")]
    versions: Vec<VersionMessage>,
}

#[derive(Clone, PartialEq, Message)]
struct FilterMessage {
    #[prost(message, optional, tag = "1")]
    expr: Option<PhysicalExprNode>,
    #[prost(bool, tag = "2")]
    is_ours: bool,
}

#[derive(Clone, PartialEq, Message)]
struct VersionMessage {
    #[prost(string, optional, tag = "1")]
    e_tag: Option<String>,
    #[prost(string, optional, tag = "2")]
    version: Option<String>,
}

impl ScanMessage {
    pub(super) fn new(
        config: &FileScanConfig,
        source: &MarquetrySource,
        codec: &dyn PhysicalExtensionCodec,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<Self> {
        let spec = source.spec();
        if config.expr_adapter_factory.is_some() {
            return Err(unsendable("its table adapts columns in a way of its own"));
        }
        if !spec.table_schema.virtual_columns().is_empty() {
            return Err(unsendable("it has virtual columns"));
        }
        let filters = spec.filters.iter().map(|filter| {
            let expr = Some(converter.physical_expr_to_proto(&filter.expr, codec)?);
            Ok(FilterMessage { expr, is_ours: filter.is_ours })
        });
        let files = config.file_groups.iter().flat_map(FileGroup::iter);
        let versions = files.map(|file| VersionMessage {
            e_tag: file.object_meta.e_tag.clone(),
            version: file.object_meta.version.clone(),
        });
        Ok(ScanMessage {
            config: Some(serialize_file_scan_config(config, codec, converter)?),
            options: Some(OptionsMessage::new(&spec.options)?),
            filters: filters.collect::<Result<_>>()?,
            asks_rows: spec.asks_rows,
            limit: config.limit.map(|limit| limit as u64),
            preserve_order: config.preserve_order,
            versions: versions.collect(),
        })
    }

    pub(super) fn plan(
        &self,
        context: &TaskContext,
        codec: &dyn PhysicalExtensionCodec,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let message = required(self.config.as_ref(), "files")?;
        let options = required(self.options.as_ref(), "options")?.options()?;
        let table_schema = parse_table_schema_from_proto(message)?;
        let decoding = PhysicalPlanDecodeContext::new(context, codec);
        let filters = self.filters.iter().map(|filter| {
            let expr = required(filter.expr.as_ref(), "condition of a filter")?;
            let expr = converter.proto_to_physical_expr(expr, table_schema.table_schema(), &decoding)?;
            Ok(Filter { expr, is_ours: filter.is_ours })
        });
        let filters = filters.collect::<Result<Vec<_>>>()?;
        let source = MarquetrySource::new(table_schema, Arc::new(options))
            .with_session(SessionParts::of(context.runtime_env().as_ref()))
            .with_filters(filters, self.asks_rows);
        let source: Arc<dyn FileSource> = Arc::new(source);
        let config = parse_protobuf_file_scan_config(message, &decoding, converter, source)?;
        let files = self.with_versions(&config.file_groups)?;
        let limit =
            self.limit.map(usize::try_from).transpose().map_err(|_| unreadable("its limit is too large"))?;
        let config = FileScanConfigBuilder::from(config)
            .with_file_groups(files)
            .with_limit(limit)
            .with_preserve_order(self.preserve_order);
        Ok(DataSourceExec::from_data_source(config.build()))
    }

    /// Restores the ETags, against which responses of a store are checked.
    fn with_versions(&self, groups: &[FileGroup]) -> Result<Vec<FileGroup>> {
        let count: usize = groups.iter().map(FileGroup::len).sum();
        if count != self.versions.len() {
            return Err(unreadable(format!("it has {count} files and versions of {}", self.versions.len())));
        }
        let mut versions = self.versions.iter();
        let groups = groups.iter().map(|group| {
            let files = group.iter().zip(&mut versions).map(|(file, version)| {
                let mut file = file.clone();
                file.object_meta.e_tag.clone_from(&version.e_tag);
                file.object_meta.version.clone_from(&version.version);
                file
            });
            FileGroup::new(files.collect())
        });
        Ok(groups.collect())
    }
}
