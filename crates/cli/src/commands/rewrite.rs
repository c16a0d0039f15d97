//! `rewrite`: writes a Parquet file anew with some settings changed, and everything else as it was.

mod args;
mod plan;

pub(crate) use args::{REWRITE_HELP, RewriteArgs};

use crate::column_list::all_columns;
use crate::convert::Before;
use crate::failure::{Failure, Outcome};
use crate::inputs::wide_schema;
use crate::output::Output;
use crate::overwrite::refuse_existing;
use crate::rewrite::{
    ColumnLog, Edit, Footer, GeoConversion, Input, OutputFile, Reshredding, geo_of_input, print_report,
    print_report_of, renamed_geo, report_failure,
};
use crate::shred_plan::ShredPlan;
use crate::unreferenced::unreferenced;
use marquetry::arrow::ARROW_SCHEMA_META_KEY;
use marquetry::arrow::ProjectionMask;
use marquetry::errors::Error;
use marquetry::file::encryption::{EncryptionDialect, FileEncryptionProperties};
use marquetry::file::metadata::ParquetMetaData;
use marquetry::metrics::WriteCounters;
use marquetry_core::write::copy::CopySettings;
use plan::Plan;
use std::path::Path;
use std::sync::Arc;

pub(crate) fn run(args: &RewriteArgs, output: &mut Output, outcome: &mut Outcome) -> Result<(), Failure> {
    rewrite(args, output).or_else(|failure| report_failure(&args.input, failure, outcome))
}

fn rewrite(args: &RewriteArgs, output: &mut Output) -> Result<(), Failure> {
    refuse_existing(&args.output, [args.input.as_path()], args.overwrite)?;
    if !args.shred.is_empty() {
        return reshred(args, output);
    }
    let Some(written) = rewrite_if(args, |_| Ok(true))? else { return Ok(()) };
    let Written { input, metadata, size, before, log, counters } = written;
    print_report(&args.output, &metadata, size, &before, &log, output)?;
    args.metrics.tell_read(&args.input, &input.counters.snapshot(), output)?;
    args.metrics.tell_written(&args.output, &counters.snapshot(), output)
}

/// A file that was written.
pub(crate) struct Written {
    input: Input,
    pub(crate) metadata: ParquetMetaData,
    pub(crate) size: u64,
    before: Vec<u64>,
    pub(crate) log: ColumnLog,
    counters: Arc<WriteCounters>,
}

/// Writes the file, and gives it its name if `is_wanted` returns true for it.
pub(crate) fn rewrite_if(
    args: &RewriteArgs,
    is_wanted: impl FnOnce(&Path) -> Result<bool, Failure>,
) -> Result<Option<Written>, Failure> {
    let input = [Input::open(&args.input)?];
    let encryption = args.encrypt.properties()?;
    args.check_filters(encryption.as_deref())?;
    let mut edit = Edit::new(&input[0].metadata, args.kept(&input[0])?, &args.rename)?;
    let geo = match args.geoparquet {
        Some(version) => {
            let arrow = crate::remote::open(&args.input)?.schema()?;
            Some(GeoConversion::new(version.version(), &input[0], &arrow, &mut edit)?)
        }
        None => None,
    };
    let mut log = ColumnLog::new(edit.leaves.len());
    let mut plan = Plan::new(args, &input[0], &edit, geo)?;
    let mut footer = footer(args, &input, &edit, &mut log);
    if plan.row_group_rows.is_some() {
        widen_keys(&mut footer);
    }
    if let Some(geo) = &plan.geo {
        geo.change_footer(&mut footer);
    }
    log.note_filters(&input, encryption.as_ref().map(|of| of.dialect()));
    let settings = footer.settings(plan.orders.clone(), encryption);
    let mut file = OutputFile::create(&args.output, args.overwrite, edit.elements.clone(), settings)?;
    match plan.row_group_rows {
        Some(rows) => plan.regroup(rows, &mut file, &mut log)?,
        None => plan.keep_groups(&mut file, &mut log)?,
    }
    if let Some(geo) = plan.geo.take() {
        file.add_key_value(geo.finish(&edit.schema)?);
    }
    let counters = file.counters().clone();
    let Some((metadata, size)) = file.finish_if(is_wanted)? else { return Ok(None) };
    if let Some(bytes @ 1..) = unreferenced(&*input[0].source, &input[0].metadata) {
        log.note(&format!("left behind: {bytes} bytes that nothing referred to"));
    }
    let before: Vec<u64> = edit.leaves.iter().map(|leaf| input[0].compressed_size(*leaf)).collect();
    let [input] = input;
    Ok(Some(Written { input, metadata, size, before, log, counters }))
}

/// Rewrites the file with its VARIANT columns shredded differently.
fn reshred(args: &RewriteArgs, output: &mut Output) -> Result<(), Failure> {
    let input = Input::open(&args.input)?;
    let file = crate::remote::open(&args.input)?;
    let arrow = file.schema()?;
    let plan = ShredPlan::new(&args.shred, &arrow)?;
    let encryption = args.encrypt.properties()?;
    let (reshredding, told) = Reshredding::new(&input, file, &arrow, &plan)?;
    let mut log = ColumnLog::new(reshredding.schema.num_columns());
    told.iter().for_each(|told| log.note(told));
    let mut footer = Footer::of(&input, &mut log);
    reshredding.change_footer(&mut footer, &mut log);
    log.note_filters([&input], encryption.as_ref().map(|of| of.dialect()));
    let settings = footer.settings(Some(reshredding.orders()), encryption);
    let mut file = OutputFile::create(&args.output, args.overwrite, reshredding.elements.clone(), settings)?;
    let copy = CopySettings::default()
        .with_checksums(!args.no_checksums || args.add_checksums)
        .with_offset_index(true)
        .with_verify_checksums(!args.no_verify);
    reshredding.write(&copy, &mut file, &mut log)?;
    let counters = file.counters().clone();
    let (metadata, size) = file.finish()?;
    let before = Before::of_other_columns(&input.metadata, metadata.schema());
    print_report_of(&args.output, &metadata, size, before, &log, output)?;
    args.metrics.tell_read(&args.input, &input.counters.snapshot(), output)?;
    args.metrics.tell_written(&args.output, &counters.snapshot(), output)
}

impl RewriteArgs {
    /// Fails if bloom filters are asked for that the file cannot have. Those that come from our own advice are dropped.
    fn check_filters(&self, encryption: Option<&FileEncryptionProperties>) -> Result<(), Failure> {
        let is_for_duckdb = encryption.is_some_and(|of| of.dialect() == EncryptionDialect::DuckDb);
        match is_for_duckdb && !self.bloom.is_empty() && self.encrypt.decided.is_none() {
            true => Err(Failure::Usage(
                "--bloom: DuckDB cannot read files in its dialect of encryption that have bloom filters"
                    .to_owned(),
            )),
            false => Ok(()),
        }
    }

    /// Which leaf columns are kept.
    fn kept(&self, input: &Input) -> Result<Vec<bool>, Error> {
        let schema = input.metadata.schema();
        let leaves = 0..schema.num_columns();
        let mask =
            |names: &[String]| ProjectionMask::existing_columns(schema, names.iter().map(String::as_str));
        Ok(match (all_columns(self.columns.as_ref()), all_columns(self.drop.as_ref())) {
            (Some(columns), _) => {
                let mask = mask(&columns)?;
                leaves.map(|leaf| mask.leaf_included(leaf)).collect()
            }
            (None, Some(dropped)) => {
                let mask = mask(&dropped)?;
                leaves.map(|leaf| !mask.leaf_included(leaf)).collect()
            }
            (None, None) => leaves.map(|_| true).collect(),
        })
    }
}

/// Dictionaries of several row groups are combined when they are read, and readers use the key type of the stored Arrow
/// schema.
fn widen_keys(footer: &mut Footer) {
    let Some(stored) = footer.value_of(ARROW_SCHEMA_META_KEY).and_then(marquetry::arrow::parse_stored_schema)
    else {
        return;
    };
    let wide = wide_schema(&stored);
    if wide != stored {
        footer.set(ARROW_SCHEMA_META_KEY, Some(marquetry::arrow::print_stored_schema(&wide)));
    }
}

fn footer(args: &RewriteArgs, input: &[Input], edit: &Edit, log: &mut ColumnLog) -> Footer {
    let mut footer = Footer::of(&input[0], log);
    if let Some(geo) = geo_of_input(&input[0]).filter(|_| edit.changes()) {
        let geo = renamed_geo(geo, input[0].metadata.schema(), edit);
        footer.set_geo(geo.map(|geo| geo.to_json()));
    }
    if args.strip_metadata {
        footer.key_values.clear();
    } else if edit.changes()
        && let Some(stored) = footer.value_of(ARROW_SCHEMA_META_KEY)
    {
        let arrow = marquetry::arrow::parse_stored_schema(stored)
            .and_then(|arrow| edit.arrow(input[0].metadata.schema(), &arrow));
        if arrow.is_none() {
            log.note("the stored Arrow schema does not fit the new columns: it is left out");
        }
        footer.set(ARROW_SCHEMA_META_KEY, arrow.map(|arrow| marquetry::arrow::print_stored_schema(&arrow)));
    }
    footer
}
