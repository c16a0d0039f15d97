//! Serialization of plans, for engines that run in several processes.

mod envelope;
mod folder_message;
mod format_message;
mod logical_codec;
mod options_message;
mod partition_column;
mod physical_codec;
mod scan_message;
mod serialisable;
mod sink_message;
mod table;
mod table_message;

pub use logical_codec::MarquetryLogicalCodec;
pub use physical_codec::MarquetryPhysicalCodec;
pub use serialisable::{SerialisableTables, serialisable};
pub use table::MarquetryTable;
