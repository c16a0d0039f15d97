//! The codec of physical plans: serializes scans and sinks.

use super::envelope::{self, Kind, is_ours, seal, unreadable};
use super::scan_message::ScanMessage;
use super::sink_message::SinkMessage;
use crate::sink::MarquetrySink;
use crate::source::MarquetrySource;
use datafusion::datasource::physical_plan::FileScanConfig;
use datafusion::datasource::sink::DataSinkExec;
use datafusion::datasource::source::DataSourceExec;
use datafusion::error::Result;
use datafusion::execution::TaskContext;
use datafusion::logical_expr::{AggregateUDF, HigherOrderUDF, ScalarUDF, WindowUDF};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr_common::physical_expr::proto_decode::PhysicalExprDecodeCtx;
use datafusion::physical_expr_common::physical_expr::proto_encode::PhysicalExprEncodeCtx;
use datafusion::physical_plan::ExecutionPlan;
use datafusion_proto::physical_plan::{
    DefaultPhysicalExtensionCodec, PhysicalExtensionCodec, PhysicalProtoConverterExtension,
};
use std::sync::Arc;

/// Serializes and deserializes the scans and sinks of Marquetry in a physical plan, and leaves all else to another codec.
///
/// ```
/// use datafusion::prelude::SessionContext;
/// use datafusion_proto::bytes::{
///     physical_plan_from_bytes_with_extension_codec, physical_plan_to_bytes_with_extension_codec,
/// };
/// use marquetry_datafusion::MarquetryPhysicalCodec;
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/wines.parquet");
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// let ctx = SessionContext::new().enable_url_table();
/// marquetry_datafusion::register(&ctx)?;
/// let query = ctx.sql(&format!("select country from '{path}' where year > 2010")).await?;
/// let plan = query.create_physical_plan().await?;
///
/// let codec = MarquetryPhysicalCodec::default();
/// let bytes = physical_plan_to_bytes_with_extension_codec(plan, &codec)?;
/// let plan = physical_plan_from_bytes_with_extension_codec(&bytes, &ctx.task_ctx(), &codec)?;
/// let rows = datafusion::physical_plan::collect(plan, ctx.task_ctx()).await?;
/// # assert!(rows.iter().any(|batch| batch.num_rows() > 0));
/// # Ok::<(), datafusion::error::DataFusionError>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct MarquetryPhysicalCodec {
    other: Arc<dyn PhysicalExtensionCodec>,
}

impl MarquetryPhysicalCodec {
    /// Creates a codec; `other` takes all that is not Marquetry's.
    pub fn new(other: Arc<dyn PhysicalExtensionCodec>) -> Self {
        MarquetryPhysicalCodec { other }
    }
}

impl Default for MarquetryPhysicalCodec {
    fn default() -> Self {
        MarquetryPhysicalCodec::new(Arc::new(DefaultPhysicalExtensionCodec {}))
    }
}

impl PhysicalExtensionCodec for MarquetryPhysicalCodec {
    fn try_decode(
        &self,
        buf: &[u8],
        inputs: &[Arc<dyn ExecutionPlan>],
        ctx: &TaskContext,
        proto_converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        if !is_ours(buf) {
            return self.other.try_decode(buf, inputs, ctx, proto_converter);
        }
        match (envelope::kind(buf)?, inputs) {
            (Kind::Scan, []) => {
                envelope::open::<ScanMessage>(Kind::Scan, buf)?.plan(ctx, self, proto_converter)
            }
            (Kind::Sink, [input]) => {
                let message = envelope::open::<SinkMessage>(Kind::Sink, buf)?;
                message.plan(input.clone(), ctx, self, proto_converter)
            }
            (Kind::Scan | Kind::Sink, inputs) => {
                Err(unreadable(format!("it cannot have {} inputs", inputs.len())))
            }
            (Kind::Table | Kind::Format | Kind::Folder, _) => {
                Err(unreadable("it is a part of a logical plan"))
            }
        }
    }

    fn try_encode(
        &self,
        node: Arc<dyn ExecutionPlan>,
        buf: &mut Vec<u8>,
        proto_converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<()> {
        let scan = node.downcast_ref::<DataSourceExec>();
        let config = scan.and_then(|scan| scan.data_source().downcast_ref::<FileScanConfig>());
        if let Some(config) = config
            && let Some(source) = config.file_source().downcast_ref::<MarquetrySource>()
        {
            seal(Kind::Scan, &ScanMessage::new(config, source, self, proto_converter)?, buf);
            return Ok(());
        }
        if let Some(plan) = node.downcast_ref::<DataSinkExec>()
            && let Some(sink) = plan.sink().downcast_ref::<MarquetrySink>()
        {
            seal(Kind::Sink, &SinkMessage::new(plan, sink, self, proto_converter)?, buf);
            return Ok(());
        }
        self.other.try_encode(node, buf, proto_converter)
    }

    fn try_decode_udf(&self, name: &str, buf: &[u8]) -> Result<Arc<ScalarUDF>> {
        self.other.try_decode_udf(name, buf)
    }

    fn try_encode_udf(&self, node: &ScalarUDF, buf: &mut Vec<u8>) -> Result<()> {
        self.other.try_encode_udf(node, buf)
    }

    fn try_decode_higher_order_function(&self, name: &str, buf: &[u8]) -> Result<Arc<HigherOrderUDF>> {
        self.other.try_decode_higher_order_function(name, buf)
    }

    fn try_encode_higher_order_function(&self, node: &HigherOrderUDF, buf: &mut Vec<u8>) -> Result<()> {
        self.other.try_encode_higher_order_function(node, buf)
    }

    fn try_decode_expr(
        &self,
        buf: &[u8],
        inputs: &[Arc<dyn PhysicalExpr>],
        ctx: &PhysicalExprDecodeCtx<'_>,
    ) -> Result<Arc<dyn PhysicalExpr>> {
        self.other.try_decode_expr(buf, inputs, ctx)
    }

    fn try_encode_expr(
        &self,
        node: &Arc<dyn PhysicalExpr>,
        buf: &mut Vec<u8>,
        ctx: &PhysicalExprEncodeCtx<'_>,
    ) -> Result<()> {
        self.other.try_encode_expr(node, buf, ctx)
    }

    fn try_decode_udaf(&self, name: &str, buf: &[u8]) -> Result<Arc<AggregateUDF>> {
        self.other.try_decode_udaf(name, buf)
    }

    fn try_encode_udaf(&self, node: &AggregateUDF, buf: &mut Vec<u8>) -> Result<()> {
        self.other.try_encode_udaf(node, buf)
    }

    fn try_decode_udwf(&self, name: &str, buf: &[u8]) -> Result<Arc<WindowUDF>> {
        self.other.try_decode_udwf(name, buf)
    }

    fn try_encode_udwf(&self, node: &WindowUDF, buf: &mut Vec<u8>) -> Result<()> {
        self.other.try_encode_udwf(node, buf)
    }
}
