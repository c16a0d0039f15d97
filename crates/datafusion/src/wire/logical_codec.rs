//! The codec of logical plans: serializes tables and formats.

use super::envelope::{Kind, is_ours, kind, open, seal};
use super::folder_message::FolderMessage;
use super::format_message::FormatMessage;
use super::table::MarquetryTable;
use super::table_message::TableMessage;
use crate::factory::MarquetryFormatFactory;
use crate::folder_table::FolderTable;
use arrow_schema::SchemaRef;
use datafusion::catalog::TableProvider;
use datafusion::common::TableReference;
use datafusion::datasource::file_format::FileFormatFactory;
use datafusion::error::Result;
use datafusion::execution::TaskContext;
use datafusion::logical_expr::{AggregateUDF, Extension, HigherOrderUDF, LogicalPlan, ScalarUDF, WindowUDF};
use datafusion_proto::logical_plan::{DefaultLogicalExtensionCodec, LogicalExtensionCodec};
use std::sync::Arc;

/// Serializes and deserializes the tables and formats of Marquetry in a logical plan, and leaves all else to another codec.
///
/// A plan has to go through [`serialisable`](crate::serialisable) first: DataFusion serializes listing tables without
/// asking a codec.
#[derive(Debug)]
pub struct MarquetryLogicalCodec {
    other: Arc<dyn LogicalExtensionCodec>,
    has_orders: bool,
}

impl MarquetryLogicalCodec {
    /// Creates a codec; `other` takes all that is not Marquetry's.
    pub fn new(other: Arc<dyn LogicalExtensionCodec>) -> Self {
        MarquetryLogicalCodec { other, has_orders: true }
    }

    /// Has deserialized tables declare no order of the rows in their files: for engines whose exchanges between
    /// machines do not keep one. Rows are still written in the declared order.
    #[must_use]
    pub fn without_orders(self) -> Self {
        MarquetryLogicalCodec { has_orders: false, ..self }
    }
}

impl Default for MarquetryLogicalCodec {
    fn default() -> Self {
        MarquetryLogicalCodec::new(Arc::new(DefaultLogicalExtensionCodec {}))
    }
}

impl LogicalExtensionCodec for MarquetryLogicalCodec {
    fn try_decode(&self, buf: &[u8], inputs: &[LogicalPlan], ctx: &TaskContext) -> Result<Extension> {
        self.other.try_decode(buf, inputs, ctx)
    }

    fn try_encode(&self, node: &Extension, buf: &mut Vec<u8>) -> Result<()> {
        self.other.try_encode(node, buf)
    }

    fn try_decode_table_provider(
        &self,
        buf: &[u8],
        table_ref: &TableReference,
        schema: SchemaRef,
        ctx: &TaskContext,
    ) -> Result<Arc<dyn TableProvider>> {
        if !is_ours(buf) {
            return self.other.try_decode_table_provider(buf, table_ref, schema, ctx);
        }
        Ok(match kind(buf)? {
            Kind::Folder => Arc::new(open::<FolderMessage>(Kind::Folder, buf)?.table()?),
            _ => {
                let message = open::<TableMessage>(Kind::Table, buf)?;
                Arc::new(message.table(table_ref, ctx, self, self.has_orders)?)
            }
        })
    }

    fn try_encode_table_provider(
        &self,
        table_ref: &TableReference,
        node: Arc<dyn TableProvider>,
        buf: &mut Vec<u8>,
    ) -> Result<()> {
        if let Some(folder) = node.downcast_ref::<FolderTable>() {
            seal(Kind::Folder, &FolderMessage::new(folder)?, buf);
            return Ok(());
        }
        let Some(table) = node.downcast_ref::<MarquetryTable>() else {
            return self.other.try_encode_table_provider(table_ref, node, buf);
        };
        seal(Kind::Table, &TableMessage::new(table, self)?, buf);
        Ok(())
    }

    fn try_decode_file_format(&self, buf: &[u8], ctx: &TaskContext) -> Result<Arc<dyn FileFormatFactory>> {
        match is_ours(buf) {
            true => Ok(Arc::new(open::<FormatMessage>(Kind::Format, buf)?.factory())),
            false => self.other.try_decode_file_format(buf, ctx),
        }
    }

    fn try_encode_file_format(&self, buf: &mut Vec<u8>, node: Arc<dyn FileFormatFactory>) -> Result<()> {
        let Some(factory) = node.downcast_ref::<MarquetryFormatFactory>() else {
            return self.other.try_encode_file_format(buf, node);
        };
        seal(Kind::Format, &FormatMessage::new(factory), buf);
        Ok(())
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
