//! Writes Parquet files from Parquet files: chunks are copied where possible, and encoded again where necessary.
//!
//! ```text
//! inputs          the files that are read
//! schemas         whether schemas are the same, and what differs
//! edit            columns left out, columns renamed
//! column_setting  what is to be different, for which columns
//! footer          what of the inputs' footers goes into the new one
//! page_types      whether pages of several files mean the same in one
//! geo             what GeoParquet's metadata says of the new rows
//! geo_version     columns of geometries as another version of GeoParquet has them
//! reencode        what chunks that are encoded again keep
//! shred           columns of VARIANT in another shape
//! column_log      what was done to each column, and what was left behind
//! print_report    the report, or what went wrong
//! output_file     the file that is written
//! ```

mod column_log;
mod column_setting;
mod edit;
mod footer;
mod geo;
mod geo_version;
mod inputs;
mod output_file;
mod page_types;
mod print_report;
mod reencode;
mod schemas;
mod shred;

pub(crate) use column_log::{ColumnAction, ColumnLog};
pub(crate) use column_setting::{AskedCodec, Name, OfColumn, Settings, of_column, rename};
pub(crate) use edit::{Edit, is_known};
pub(crate) use footer::{Footer, column_orders, stored_with, without_geo};
pub(crate) use geo::{GeoPart, of_input as geo_of_input, renamed as renamed_geo};
pub(crate) use geo_version::GeoConversion;
pub(crate) use inputs::Input;
pub(crate) use marquetry_inspect::{EncoderMemory, Reencoder};
pub(crate) use output_file::OutputFile;
pub(crate) use page_types::check_appended;
pub(crate) use print_report::{print_report, print_report_of, report_failure};
pub(crate) use reencode::{codec_of, has_order_of_bounds, into_column};
pub(crate) use schemas::{Same, leaf_map, leaf_map_of_file, unified};
pub(crate) use shred::Reshredding;
