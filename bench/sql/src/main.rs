//! DataFusion over Marquetry against DataFusion over its own Parquet, in one process, in turn.

mod clock;
mod data;
mod error;
mod queries;
mod rows;
mod session;
#[path = "../../../crates/datafusion/tests/sessions/tpch_queries.rs"]
mod tpch_queries;

use clap::Parser;
use clock::{Clock, Took};
use datafusion::prelude::SessionContext;
use error::Result;
use queries::Query;
use session::{Format, session};
use std::path::PathBuf;

#[derive(Debug, Parser)]
#[command(about = "Measures DataFusion over Marquetry against DataFusion over its own Parquet")]
struct Args {
    /// Where the files are, and are generated
    #[arg(long, default_value = "target/bench-data")]
    data_dir: PathBuf,
    /// How often each query is run with each format; the best run counts
    #[arg(long, default_value_t = 5)]
    rounds: u32,
    /// Queries whose name begins with this: `tpch`, `clickbench 23`
    #[arg(long, default_value = "")]
    filter: String,
    /// TPC-H scale factor
    #[arg(long, default_value_t = 1.0)]
    sf: f64,
    /// As many partitions as there are processors, if not given
    #[arg(long)]
    partitions: Option<usize>,
    /// Whether conditions are asked while files are read, by both: `on`, `off`, `on,off`
    #[arg(long, default_value = "on,off", value_delimiter = ',')]
    push_down: Vec<String>,
    /// Only this one's times: `ours` or `theirs`, for a profiler
    #[arg(long)]
    only: Option<String>,
    /// Results are not compared first
    #[arg(long)]
    unchecked: bool,
    /// Only shows the queries: a name and statements a line, with tabs between them
    #[arg(long)]
    list: bool,
}

fn main() -> Result<()> {
    let args = Args::parse();
    if args.list {
        for query in queries::tpch().into_iter().chain(queries::clickbench()) {
            let words = |text: &String| text.split_whitespace().collect::<Vec<_>>().join(" ");
            println!("{}\t{}", query.name, query.statements.iter().map(words).collect::<Vec<_>>().join("\t"));
        }
        return Ok(());
    }
    let processors = std::thread::available_parallelism()?.get();
    let partitions = args.partitions.unwrap_or(processors);
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().worker_threads(processors).build()?;
    for push_down in &args.push_down {
        let push_down = match push_down.as_str() {
            "on" => true,
            "off" => false,
            other => return Err(format!("push-down is `on` or `off`, not `{other}`").into()),
        };
        for (suite, queries) in [("tpch", queries::tpch()), ("clickbench", queries::clickbench())] {
            let wanted: Vec<Query> =
                queries.into_iter().filter(|query| is_wanted(&args.filter, &query.name)).collect();
            if wanted.is_empty() {
                continue;
            }
            let tables = match suite {
                "tpch" => data::tpch(&args.data_dir, args.sf)?,
                _ => queries::hits(&args.data_dir)?,
            };
            let ours = runtime.block_on(session(Format::Ours, &tables, partitions, push_down))?;
            let theirs = runtime.block_on(session(Format::Theirs, &tables, partitions, push_down))?;
            println!(
                "\n{suite}, push-down {}, {partitions} partitions\n",
                if push_down { "on" } else { "off" }
            );
            println!(
                "| query | theirs ms | ours ms | ratio | theirs processor ms | ours processor ms | ratio |"
            );
            println!("|---|--:|--:|--:|--:|--:|--:|");
            let mut ratios = Vec::new();
            for query in &wanted {
                let measured = runtime.block_on(async { measure(&args, query, &ours, &theirs).await })?;
                ratios.push(show(query, measured));
            }
            summary(&ratios);
        }
    }
    Ok(())
}

/// `tpch 1` does not match `tpch 12`, but `tpch` does.
fn is_wanted(filter: &str, name: &str) -> bool {
    name.strip_prefix(filter)
        .is_some_and(|rest| !filter.ends_with(|c: char| c.is_ascii_digit()) || rest.is_empty())
}

/// Returns the best of the rounds, theirs and ours; of one alone if only that is wanted.
async fn measure(
    args: &Args,
    query: &Query,
    ours: &SessionContext,
    theirs: &SessionContext,
) -> Result<[Took; 2]> {
    if !args.unchecked {
        for statement in &query.statements {
            let statement = queries::without_limit(statement);
            let expected = rows::sorted_rows(&theirs.sql(statement).await?.collect().await?)?;
            let found = rows::sorted_rows(&ours.sql(statement).await?.collect().await?)?;
            if !rows::is_same(&expected, &found) {
                return Err(format!("{}: the results differ: {statement}", query.name).into());
            }
        }
    }
    let mut best = [Took { wall: f64::INFINITY, processor: f64::INFINITY }; 2];
    for round in 0..args.rounds {
        for turn in 0..2 {
            let who = ((round as usize) + turn) % 2;
            if args.only.as_deref().is_some_and(|only| only != ["theirs", "ours"][who]) {
                continue;
            }
            let clock = Clock::start();
            run(query, [theirs, ours][who]).await?;
            let took = clock.stop();
            best[who].wall = best[who].wall.min(took.wall);
            best[who].processor = best[who].processor.min(took.processor);
        }
    }
    Ok(best)
}

async fn run(query: &Query, ctx: &SessionContext) -> Result<()> {
    for statement in &query.statements {
        ctx.sql(statement).await?.collect().await?;
    }
    Ok(())
}

/// Prints a row, and returns how many times faster ours is: by wall time, and by processor time.
fn show(query: &Query, [theirs, ours]: [Took; 2]) -> (String, f64, f64) {
    let (wall, processor) = (theirs.wall / ours.wall, theirs.processor / ours.processor);
    println!(
        "| {} | {:.1} | {:.1} | {wall:.2} | {:.1} | {:.1} | {processor:.2} |",
        query.name,
        theirs.wall * 1e3,
        ours.wall * 1e3,
        theirs.processor * 1e3,
        ours.processor * 1e3
    );
    (query.name.clone(), wall, processor)
}

fn summary(ratios: &[(String, f64, f64)]) {
    let mean = |of: fn(&(String, f64, f64)) -> f64| {
        (ratios.iter().map(|ratio| of(ratio).ln()).sum::<f64>() / ratios.len() as f64).exp()
    };
    let below: Vec<String> = ratios
        .iter()
        .filter(|ratio| ratio.1 < 0.97 && ratio.2 < 0.97)
        .map(|ratio| format!("{} {:.2}", ratio.0, ratio.1))
        .collect();
    println!("\ngeometric mean {:.2} on the wall, {:.2} of processors", mean(|r| r.1), mean(|r| r.2));
    println!(
        "below 0.97 by both clocks: {}",
        if below.is_empty() { "none".to_owned() } else { below.join(", ") }
    );
}
