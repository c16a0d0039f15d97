//! The message of a partition column: its name and its type.

use super::envelope::required;
use arrow_schema::DataType;
use datafusion::error::Result;
use datafusion_proto::protobuf::PartitionColumn;
use datafusion_proto_common as proto;

pub(super) fn partition_columns<'a>(
    keys: impl Iterator<Item = (&'a String, &'a DataType)>,
) -> Result<Vec<PartitionColumn>> {
    let message = |(name, data_type): (&String, &DataType)| {
        let data_type: proto::ArrowType = data_type.try_into()?;
        Ok(PartitionColumn { name: name.clone(), arrow_type: Some(data_type) })
    };
    keys.map(message).collect()
}

pub(super) fn partition_types(columns: &[PartitionColumn]) -> Result<Vec<(String, DataType)>> {
    let key = |column: &PartitionColumn| {
        let data_type = required(column.arrow_type.as_ref(), "type of a partition column")?;
        Ok((column.name.clone(), DataType::try_from(data_type)?))
    };
    columns.iter().map(key).collect()
}
