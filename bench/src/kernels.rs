//! `kernels`: the inner loops alone, at each level that the CPU has, and in parts of the scalar one.
//!
//! Each loop processes a block that stays in the cache, many times. Levels take turns, and must give the same results.

mod cases;

use std::time::Instant;

use clap::Args;
use marquetry_kernels::Kernels;
use serde::Serialize;

use crate::error::Result;
use crate::report::when_and_where;
use cases::{Case, Out};

#[derive(Args)]
pub(crate) struct Options {
    /// Print JSON: a list of {name, level, values_per_second, ratio}
    #[arg(long)]
    json: bool,
    /// Run only the rows whose name contains NAME
    #[arg(long, value_name = "NAME", default_value = "")]
    filter: String,
    /// Take the best of N runs at each level
    #[arg(long, value_name = "N", default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Values of a block
    #[arg(long, value_name = "N", default_value_t = 4_096, value_parser = clap::value_parser!(u32).range(64..))]
    values: u32,
}

/// The speed of a loop at one level.
#[derive(Serialize)]
struct Speed {
    name: String,
    /// `any` where there is one version for all CPUs.
    level: &'static str,
    values_per_second: f64,
    /// Relative to the scalar level.
    ratio: Option<f64>,
}

/// Measures, and prints a row for each loop.
///
/// # Errors
/// When a level's result for a block differs from the scalar one.
pub(crate) fn run(options: &Options) -> Result<()> {
    let cases = cases::cases(options.values as usize);
    let cases: Vec<&Case> = cases.iter().filter(|case| case.name.contains(&options.filter)).collect();
    if cases.is_empty() {
        return Err(format!("no row's name contains {:?}", options.filter).into());
    }
    let mut all = Vec::new();
    for case in cases {
        let speeds = measure(case, options)?;
        if !options.json {
            print_row(&speeds, all.is_empty());
        }
        all.extend(speeds);
    }
    if options.json {
        println!("{}", serde_json::to_string_pretty(&all)?);
    }
    Ok(())
}

/// The levels, the scalar one first.
fn levels() -> Vec<&'static Kernels> {
    let mut levels: Vec<_> = Kernels::all_available().collect();
    levels.reverse();
    levels
}

fn measure(case: &Case, options: &Options) -> Result<Vec<Speed>> {
    let levels = if case.has_levels { levels() } else { vec![Kernels::current()] };
    let mut out = Out::default();
    let mut expected = None;
    for kernels in &levels {
        (case.run)(kernels, &mut out);
        let made = std::mem::take(&mut out);
        match &expected {
            Some(expected) if *expected != made => {
                return Err(format!("{}: {} differs from scalar", case.name, kernels.name()).into());
            }
            Some(_) => {}
            None => expected = Some(made),
        }
    }
    let mut best = vec![f64::INFINITY; levels.len()];
    let repeats = repeats(case, levels[levels.len() - 1], &mut out);
    for _ in 0..options.rounds {
        for (kernels, best) in levels.iter().zip(&mut best) {
            *best = best.min(seconds(case, kernels, repeats, &mut out));
        }
    }
    let speeds = levels.iter().zip(&best).map(|(kernels, seconds)| Speed {
        name: case.name.clone(),
        level: if case.has_levels { kernels.name() } else { "any" },
        values_per_second: case.values as f64 / seconds,
        ratio: case.has_levels.then(|| best[0] / seconds),
    });
    Ok(speeds.collect())
}

/// The number of runs that take about a millisecond.
fn repeats(case: &Case, kernels: &Kernels, out: &mut Out) -> u32 {
    let once = seconds(case, kernels, 16, out).max(1e-9);
    (1e-3 / once).ceil().clamp(1.0, 1e6) as u32
}

fn seconds(case: &Case, kernels: &Kernels, repeats: u32, out: &mut Out) -> f64 {
    let start = Instant::now();
    for _ in 0..repeats {
        (case.run)(kernels, std::hint::black_box(out));
    }
    start.elapsed().as_secs_f64() / f64::from(repeats)
}

fn print_row(speeds: &[Speed], is_first: bool) {
    if is_first {
        println!("{}.\n", when_and_where());
        print!("| kernel, M values/s | any or scalar |");
        levels().iter().skip(1).for_each(|kernels| print!(" {} | ratio |", kernels.name()));
        print!("\n|---|--:|");
        levels().iter().skip(1).for_each(|_| print!("--:|--:|"));
        println!();
    }
    print!("| `{}` |", speeds[0].name);
    for speed in speeds {
        print!(" {:.0} |", speed.values_per_second / 1e6);
        if let (Some(ratio), false) = (speed.ratio, speed.level == "scalar") {
            print!(" {ratio:.2} |");
        }
    }
    if speeds[0].ratio.is_none() {
        levels().iter().skip(1).for_each(|_| print!(" | |"));
    }
    println!();
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every loop runs at every level, and all make the same.
    #[test]
    fn small_blocks() {
        let options = Options { json: true, filter: String::new(), rounds: 1, values: 192 };
        let cases = cases::cases(options.values as usize);
        for case in &cases {
            let speeds = measure(case, &options).unwrap();
            assert_eq!(speeds.len(), if case.has_levels { levels().len() } else { 1 }, "{}", case.name);
        }
        let mut names: Vec<_> = cases.iter().map(|case| &case.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), cases.len());
    }
}
