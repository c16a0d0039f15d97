//! `stats`: profiles the columns of a file.

use super::heading::title;
use crate::args::{Files, ValueArgs};
use crate::column_list::{ColumnList, all_columns, column_list};
use crate::failure::{Failure, Outcome};
use crate::file_name;
use crate::keys;
use crate::output::Output;
use crate::plain_value::cell;
use crate::printable::printable;
use crate::remote;
use crate::text_table::{TextTable, percent, shortened};
use arrow_array::{Array, ArrayRef};
use clap::Args as ClapArgs;
use marquetry::arrow::arrow_reader::{ArrowReaderMetadata, ChunkReader, Int96Unit};
use marquetry::arrow::{ProjectionMask, StringLayout};
use marquetry::errors::{Error, ErrorKind};
use marquetry::file::Source;
use marquetry::file::metadata::ParquetMetaData;
use marquetry::schema::Leaf;
use marquetry_base::counted;
use marquetry_inspect::{
    ColumnStats, Histogram, Lengths, StatsOptions, column_stats, footer_stats, table_stats,
};
use marquetry_text::format::column::Column;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

/// The arguments of `stats`.
#[derive(Debug, ClapArgs)]
pub(crate) struct StatsArgs {
    #[command(flatten)]
    pub(crate) files: Files,
    /// Only these columns with all their children: dotted paths separated by commas
    #[arg(long, short, value_name = "A,B.C", value_parser = column_list)]
    pub(crate) columns: Option<Vec<ColumnList>>,
    /// Read only the footer, and show what it has
    #[arg(long)]
    pub(crate) quick: bool,
    /// How many of the most frequent values to show
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub(crate) common: usize,
    #[command(flatten)]
    pub(crate) values: ValueArgs,
}

pub(crate) fn run(args: &StatsArgs, output: &mut Output, outcome: &mut Outcome) -> Result<(), Failure> {
    let are_several = args.files.are_several();
    for path in args.files.with_directories(outcome) {
        let printed = args.table(&path).and_then(|table| args.print(&path, &table, are_several, output));
        match printed {
            Ok(()) => {}
            Err(failure @ (Failure::ClosedPipe | Failure::Write(_))) => return Err(failure),
            Err(failure) => outcome.report(Some(&failure.file(&path)), &failure),
        }
    }
    Ok(())
}

/// The files that are profiled as one table.
struct Table {
    files: Vec<(String, Arc<dyn Source>)>,
    /// The footer of the first file.
    metadata: Arc<ParquetMetaData>,
    rows: u64,
}

impl StatsArgs {
    /// A file, or the files of a directory.
    fn table(&self, path: &Path) -> Result<Table, Failure> {
        let paths = match path.is_dir() {
            true => marquetry::dataset([path])?.files().map(Path::to_owned).collect(),
            false => vec![path.to_owned()],
        };
        let (mut files, mut first, mut rows) = (Vec::new(), None, 0);
        for path in paths {
            let file = remote::open(&path)?;
            let metadata = file.metadata().clone();
            rows += metadata.num_rows();
            first.get_or_insert(metadata);
            files.push((file_name::shown(&path), file.into_source()?));
        }
        match first {
            Some(metadata) => Ok(Table { files, metadata, rows }),
            None => Err(Failure::Check("has no Parquet files".to_owned())),
        }
    }

    fn print(
        &self,
        path: &Path,
        table: &Table,
        are_several: bool,
        output: &mut Output,
    ) -> Result<(), Failure> {
        let stats = self.stats(table)?;
        // In their order, as several may have one path.
        let leaves = self.leaves(table)?;
        let columns = || leaves.iter().copied().zip(&stats);
        // Without `--quick` they are an error.
        let sealed = if self.quick { sealed_columns(&table.metadata) } else { HashSet::new() };
        let leaf_of = |number: usize| table.metadata.schema().column(number);
        if output.is_json() {
            return output.json_object(|object| {
                object.member("file", &file_name::shown(path))?;
                object.member("files", &table.files.len())?;
                object.member("rows", &table.rows)?;
                object.list("columns", |list| {
                    columns().try_for_each(|(number, column)| {
                        let mut told = as_json(column, leaf_of(number))?;
                        told["encrypted"] = sealed.contains(&number).into();
                        Ok(list.item(&told)?)
                    })
                })
            });
        }
        if are_several {
            title(path, output)?;
        }
        output.line(match table.files.len() {
            1 => counted(table.rows, "row"),
            files => format!("{} in {files} files", counted(table.rows, "row")),
        })?;
        let mut text = TextTable::new(match self.quick {
            true => &["column", "type", ">nulls", ">distinct", "min", "max"][..],
            false => &[
                "column",
                "type",
                ">nulls",
                ">distinct",
                "min",
                "max",
                ">mean",
                ">median",
                ">length",
                "spread",
                "common",
            ],
        })
        .fitted();
        for (number, column) in columns() {
            let cells = cells(column, leaf_of(number), table.rows, self.quick)?;
            text.stream(cells, output)?;
        }
        text.print(output)?;
        let told = columns().filter(|(number, _)| sealed.contains(number));
        let told: Vec<&str> = told.map(|(_, column)| column.column.as_str()).collect();
        if !told.is_empty() {
            output.line(format!("encrypted, and no key opens them: {}", printable(&told.join(", "))))?;
        }
        Ok(())
    }

    /// The indices of the chosen leaf columns.
    fn leaves(&self, table: &Table) -> Result<Vec<usize>, Failure> {
        let schema = table.metadata.schema();
        let mask = match all_columns(self.columns.as_ref()) {
            Some(chosen) => ProjectionMask::existing_columns(schema, chosen.iter().map(String::as_str))?,
            None => ProjectionMask::all(),
        };
        Ok((0..schema.num_columns()).filter(|number| mask.leaf_included(*number)).collect())
    }

    fn stats(&self, table: &Table) -> Result<Vec<ColumnStats>, Failure> {
        let options = self.values.apply(keys::reader_options());
        let options = options.with_text(StringLayout::Utf8View).with_int96(Int96Unit::Auto);
        let mut wanted = StatsOptions::default().with_most_common(self.common);
        wanted.columns = all_columns(self.columns.as_ref());
        match (self.quick, &table.files[..]) {
            (true, [(_, source)]) => {
                let options = options.with_int96(Int96Unit::Nanoseconds);
                Ok(footer_stats(&ArrowReaderMetadata::load(source.clone(), options)?, &wanted)?)
            }
            (true, _) => {
                Err(Failure::Usage("--quick looks at one footer at a time: name the files".to_owned()))
            }
            (false, [(_, source)]) => Ok(column_stats(source.clone(), options, &wanted)?),
            (false, files) => {
                let files = files.iter().map(|(name, source)| (name.as_str(), source.clone()));
                Ok(table_stats(files, options, &wanted)?)
            }
        }
    }
}

/// Encrypted columns whose key is missing: nothing in the footer about them can be read.
fn sealed_columns(metadata: &ParquetMetaData) -> HashSet<usize> {
    let is_sealed = |column: usize| {
        let mut groups = metadata.row_groups();
        groups.any(|group| match group.column(column) {
            Ok(chunk) => chunk.lacks_key(),
            Err(error) => error.kind() == ErrorKind::Key,
        })
    };
    (0..metadata.schema().num_columns()).filter(|column| is_sealed(*column)).collect()
}

/// The values of an array as JSON.
fn values(array: &ArrayRef, column: &ColumnStats) -> Result<Vec<Value>, Error> {
    let field = column.field.as_ref().clone().with_data_type(array.data_type().clone());
    let shown = Column::new(array, &field)?;
    let value = |row: usize| {
        let mut text = String::new();
        shown.write_json(row, &mut text);
        serde_json::from_str(&text).unwrap_or(Value::String(text))
    };
    Ok((0..array.len()).map(value).collect())
}

fn type_of(leaf: &Leaf) -> String {
    match leaf.logical() {
        Some(logical) => logical.to_string(),
        None => leaf.physical().to_string(),
    }
}

fn as_json(column: &ColumnStats, leaf: &Leaf) -> Result<Value, Error> {
    let array = |array: Option<&ArrayRef>| array.map(|array| values(array, column)).transpose();
    let bounds = array(column.bounds.as_ref())?;
    let [min, max] = [0, 1].map(|i| bounds.as_ref().map(|bounds| &bounds[i]));
    let common = column.common.as_ref();
    let common_values = array(common.map(|common| &common.values))?.unwrap_or_default();
    let counts = common.map_or(&[][..], |common| &common.counts);
    let common = common_values.into_iter().zip(counts);
    let common = common.map(|(value, (at_least, at_most))| match at_least == at_most {
        true => json!({"value": value, "count": at_least}),
        false => json!({"value": value, "count": at_least, "count_at_most": at_most}),
    });
    let lengths = |lengths: Option<Lengths>| {
        lengths.map(|it| json!({"min": it.least, "mean": it.mean, "max": it.greatest}))
    };
    let quartiles = column.quartiles.as_ref();
    Ok(json!({
        "column": column.column,
        "type": type_of(leaf),
        "values": column.values,
        "nulls": column.nulls,
        "nans": column.nans,
        "distinct": column.distinct.map(|distinct| distinct.count),
        "distinct_error": column.distinct.map(|distinct| distinct.error),
        "min": min,
        "max": max,
        "exact_bounds": bounds.is_some().then_some(column.are_bounds_exact),
        "mean": column.mean.filter(|it| it.is_finite()),
        "deviation": column.deviation.filter(|it| it.is_finite()),
        "quartiles": array(quartiles.map(|quartiles| &quartiles.values))?,
        "rank_error": quartiles.map(|quartiles| quartiles.rank_error),
        "length": lengths(column.lengths),
        "list_length": lengths(column.list_lengths),
        "common": common.collect::<Vec<_>>(),
        "histogram": column.histogram.as_ref().map(|it| json!({
            "lower": it.lower, "upper": it.upper, "counts": it.counts,
        })),
    }))
}

fn cells(column: &ColumnStats, leaf: &Leaf, rows: u64, is_quick: bool) -> Result<Vec<String>, Error> {
    let value = |value: &Value| shortened(&cell(value), VALUE_WIDTH);
    let bounds = column.bounds.as_ref().map(|bounds| values(bounds, column)).transpose()?;
    // Marks bounds that may not occur as values.
    let mark = if column.are_bounds_exact { "" } else { "~" };
    let bound =
        |i: usize| bounds.as_ref().map(|bounds| format!("{mark}{}", value(&bounds[i]))).unwrap_or_default();
    let nulls = column.nulls.map(|nulls| match nulls {
        0 => "0".to_owned(),
        nulls => {
            let entries = column.values.map_or(rows, |values| values + nulls);
            percent(Some(nulls as f64 / entries.max(1) as f64))
        }
    });
    let distinct = column.distinct.map(|distinct| match distinct.error > 0.0 {
        true => format!("~{}", distinct.count),
        false => distinct.count.to_string(),
    });
    let mut cells = vec![
        column.column.clone(),
        shortened(&type_of(leaf), VALUE_WIDTH),
        nulls.unwrap_or_default(),
        distinct.unwrap_or_default(),
        bound(0),
        bound(1),
    ];
    if is_quick {
        return Ok(cells);
    }
    let quartiles = column.quartiles.as_ref();
    let median = quartiles.map(|quartiles| Ok::<_, Error>(value(&values(&quartiles.values, column)?[1])));
    let length = column.lengths.map(|it| span(&it)).or(column.list_lengths.map(|it| span(&it)));
    cells.extend([
        column.mean.map(number).unwrap_or_default(),
        median.transpose()?.unwrap_or_default(),
        length.unwrap_or_default(),
        column.histogram.as_ref().map(sparkline).unwrap_or_default(),
        common(column)?,
    ]);
    Ok(cells)
}

fn span(lengths: &Lengths) -> String {
    match lengths.least == lengths.greatest {
        true => lengths.least.to_string(),
        false => format!("{}-{}", lengths.least, lengths.greatest),
    }
}

/// Frequent values with their shares; empty if all values are distinct.
fn common(column: &ColumnStats) -> Result<String, Error> {
    let Some(common) =
        column.common.as_ref().filter(|common| common.counts.iter().any(|(_, most)| *most > 1))
    else {
        return Ok(String::new());
    };
    let total = column.values.unwrap_or(0).max(1) as f64;
    let shown =
        values(&common.values, column)?.into_iter().zip(&common.counts).map(|(value, (at_least, _))| {
            let share = *at_least as f64 / total;
            let share = if share < 0.0005 { "<0.1%".to_owned() } else { percent(Some(share)) };
            format!("{} {share}", shortened(&cell(&value), VALUE_WIDTH))
        });
    Ok(shown.collect::<Vec<_>>().join(", "))
}

/// Non-finite numbers, as in other output.
fn not_finite(number: f64) -> &'static str {
    match number {
        f64::INFINITY => "Infinity",
        f64::NEG_INFINITY => "-Infinity",
        _ => "NaN",
    }
}

/// Six significant digits are enough for display.
fn number(number: f64) -> String {
    match number.abs() {
        _ if !number.is_finite() => not_finite(number).to_owned(),
        0.0 => "0".to_owned(),
        1e-4..1e15 => {
            let digits = (5 - number.abs().log10().floor() as i32).clamp(0, 9) as usize;
            let text = format!("{number:.digits$}");
            match text.contains('.') {
                true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
                false => text,
            }
        }
        _ => format!("{number:.5e}"),
    }
}

/// A bar for each interval, the highest for the largest count.
fn sparkline(histogram: &Histogram) -> String {
    let most = histogram.counts.iter().copied().max().unwrap_or(0).max(1);
    let bar = |count: &u64| match count {
        0 => ' ',
        count => {
            BARS[((*count as f64 / most as f64 * BARS.len() as f64).ceil() as usize).clamp(1, BARS.len()) - 1]
        }
    };
    histogram.counts.iter().map(bar).collect()
}

const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Maximum width of a value, in terminal columns.
const VALUE_WIDTH: usize = 20;

/// Text after the options in `--help`.
pub(crate) const STATS_HELP: &str = "\
Reads the chosen columns once. Counts, bounds, means and lengths are exact. Up to 65,536 distinct values of a column
are counted exactly. Beyond that the number is an estimate within 2 % (~), quartiles may be off by 1 % of the ranks,
and a frequent value occurs at least as often as shown. The files of a directory are one table with the same columns.
`length` is in bytes for strings, in elements for lists. `spread` is a histogram of 16 equal intervals from min to
max. The result is the same on every run. With --quick, ~ marks bounds that need not occur.

JSON: {file, files, rows, columns: [{column, type, values, nulls, nans, distinct, distinct_error, min, max,
exact_bounds, mean, deviation, quartiles, rank_error, length: {min, mean, max}, list_length, common: [{value, count,
count_at_most}], histogram: {lower, upper, counts}, encrypted}]}. null is what is unknown, what the type lacks, and a
mean or deviation that is not finite. `count_at_most` is only there if a count is not exact.

Examples:
  marquetry stats wines.parquet
  marquetry stats wines.parquet --columns price,country --common 10
  marquetry stats warehouse/wines
  marquetry stats --quick 'warehouse/*.parquet' --format json";
