//! Parquet files out of Parquet files: chunks are copied where they can be, and encoded again where they must.
//!
//! ```text
//! inputs    the files that are read
//! schemas   whether schemas are the same, and what differs
//! edit      columns left out, columns renamed
//! footer    what of the inputs' footers goes into the new one
//! recode    columns decoded and encoded again
//! tally     what was done to each column, and what was left behind
//! tell      the report, or what went wrong
//! new_file  the file that is written: not over an input, nor over anything unasked
//! ```

mod edit;
mod footer;
mod inputs;
mod new_file;
mod recode;
mod schemas;
mod tally;
mod tell;

pub(crate) use edit::Edit;
pub(crate) use footer::{Footer, column_orders};
pub(crate) use inputs::Input;
pub(crate) use new_file::{NewFile, is_there, refuse, refuse_existing, same_place};
pub(crate) use recode::{Recoder, Room, codec_of};
pub(crate) use schemas::{Same, leaf_map};
pub(crate) use tally::{Deed, Tally};
pub(crate) use tell::{print_report, report_failure};
