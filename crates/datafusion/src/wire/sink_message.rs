//! The message of a sink.

use super::envelope::required;
use super::options_message::OptionsMessage;
use crate::sink::MarquetrySink;
use datafusion::arrow::compute::SortOptions;
use datafusion::datasource::physical_plan::{FileSink, FileSinkConfig};
use datafusion::datasource::sink::DataSinkExec;
use datafusion::error::Result;
use datafusion::execution::TaskContext;
use datafusion::physical_expr::{LexRequirement, PhysicalSortRequirement};
use datafusion::physical_plan::ExecutionPlan;
use datafusion_proto::physical_plan::{
    PhysicalExtensionCodec, PhysicalPlanDecodeContext, PhysicalProtoConverterExtension,
};
use datafusion_proto::protobuf::{self, PhysicalExprNode};
use prost::Message;
use std::sync::Arc;

/// A sink of ours, without its input plan.
#[derive(Clone, PartialEq, Message)]
pub(super) struct SinkMessage {
    #[prost(message, optional, tag = "1")]
    config: Option<protobuf::FileSinkConfig>,
    /// DataFusion's own message leaves it out.
    #[prost(string, tag = "2")]
    original_url: String,
    #[prost(message, optional, tag = "3")]
    options: Option<OptionsMessage>,
    /// Empty if no order is required.
    #[prost(message, repeated, tag = "4")]
    order: Vec<OrderMessage>,
}

#[derive(Clone, PartialEq, Message)]
struct OrderMessage {
    #[prost(message, optional, tag = "1")]
    expr: Option<PhysicalExprNode>,
    #[prost(message, optional, tag = "2")]
    direction: Option<DirectionMessage>,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct DirectionMessage {
    #[prost(bool, tag = "1")]
    descending: bool,
    #[prost(bool, tag = "2")]
    nulls_first: bool,
}

impl SinkMessage {
    pub(super) fn new(
        plan: &DataSinkExec,
        sink: &MarquetrySink,
        codec: &dyn PhysicalExtensionCodec,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<Self> {
        let order = plan.sort_order().iter().flat_map(|order| order.iter()).map(|key| {
            let direction = key.options.map(|options| DirectionMessage {
                descending: options.descending,
                nulls_first: options.nulls_first,
            });
            Ok(OrderMessage { expr: Some(converter.physical_expr_to_proto(&key.expr, codec)?), direction })
        });
        Ok(SinkMessage {
            config: Some(sink.config().try_into()?),
            original_url: sink.config().original_url.clone(),
            options: Some(OptionsMessage::new(sink.options())?),
            order: order.collect::<Result<_>>()?,
        })
    }

    pub(super) fn plan(
        &self,
        input: Arc<dyn ExecutionPlan>,
        context: &TaskContext,
        codec: &dyn PhysicalExtensionCodec,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let config: FileSinkConfig = required(self.config.as_ref(), "files")?.try_into()?;
        let config = FileSinkConfig { original_url: self.original_url.clone(), ..config };
        let options = required(self.options.as_ref(), "options")?.options()?;
        let decoding = PhysicalPlanDecodeContext::new(context, codec);
        let schema = input.schema();
        let keys = self.order.iter().map(|key| {
            let expr = required(key.expr.as_ref(), "key of an order")?;
            let options = key.direction.map(|direction| SortOptions {
                descending: direction.descending,
                nulls_first: direction.nulls_first,
            });
            let expr = converter.proto_to_physical_expr(expr, &schema, &decoding)?;
            Ok(PhysicalSortRequirement::new(expr, options))
        });
        let order = LexRequirement::new(keys.collect::<Result<Vec<_>>>()?);
        let sink = MarquetrySink::new(config, Arc::new(options), order.as_ref())?;
        Ok(Arc::new(DataSinkExec::new(input, Arc::new(sink), order)))
    }
}
