//! The results as JSON, as text and as Markdown.

use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;

use crate::error::Result;
use crate::parquet_side;
use crate::row::Row;
use crate::timing::Times;

/// One object of the JSON list. Times are in seconds; values that depend on a side that could not read the file are null.
#[derive(Serialize)]
struct Entry<'a> {
    name: &'a str,
    ours: Option<f64>,
    peer: Option<f64>,
    /// peer / ours
    ratio: Option<f64>,
    /// memcpy of the output / ours
    memcpy_ratio: Option<f64>,
    ours_median: Option<f64>,
    peer_median: Option<f64>,
    /// Decompressing each page, and nothing else.
    #[serde(skip_serializing_if = "Option::is_none")]
    codec: Option<f64>,
    /// ours / (codec + memcpy of the output)
    #[serde(skip_serializing_if = "Option::is_none")]
    over: Option<f64>,
    /// Ours on one thread, where `ours` had more.
    #[serde(skip_serializing_if = "Option::is_none")]
    ours_1t: Option<f64>,
    /// ours_1t / ours
    #[serde(skip_serializing_if = "Option::is_none")]
    speedup: Option<f64>,
    /// Bytes of our file, if one was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    our_bytes: Option<usize>,
    /// Bytes of the peer's file, if one was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    peer_bytes: Option<usize>,
}

pub(crate) fn json(rows: &[Row]) -> Result<String> {
    let best = |times: Option<Times>| times.map(|times| times.best);
    let median = |times: Option<Times>| times.map(|times| times.median);
    let entries: Vec<Entry> = rows
        .iter()
        .map(|row| Entry {
            name: &row.name,
            ours: best(row.ours),
            peer: best(row.peer),
            ratio: row.ratio(),
            memcpy_ratio: row.memcpy_ratio(),
            ours_median: median(row.ours),
            peer_median: median(row.peer),
            codec: best(row.codec),
            over: row.over(),
            ours_1t: best(row.alone),
            speedup: row.speedup(),
            our_bytes: row.sizes.map(|sizes| sizes.0),
            peer_bytes: row.sizes.map(|sizes| sizes.1),
        })
        .collect();
    Ok(serde_json::to_string_pretty(&entries)?)
}

/// A column of both tables. It is left out where no row has a value for it.
struct Column {
    /// In a terminal.
    short: &'static str,
    /// In Markdown.
    title: &'static str,
    cell: fn(&Row) -> Option<String>,
}

#[rustfmt::skip] // one column a line
const COLUMNS: [Column; 9] = [
    Column { short: "ours", title: "ours, M rows/s", cell: |row| speed(row, row.ours) },
    Column { short: "peer", title: "peer, M rows/s", cell: |row| speed(row, row.peer) },
    Column { short: "ratio", title: "ratio", cell: |row| row.ratio().map(two) },
    Column { short: "medians", title: "of medians", cell: |row| row.median_ratio().map(two) },
    Column { short: "memcpy", title: "part of memcpy", cell: |row| row.memcpy_ratio().map(two) },
    Column { short: "codec", title: "codec alone, s", cell: |row| row.codec.map(|codec| format!("{:.3}", codec.best)) },
    Column { short: "over", title: "times codec + memcpy", cell: |row| row.over().map(two) },
    Column { short: "speedup", title: "times one thread", cell: |row| row.speedup().map(two) },
    Column { short: "size", title: "size of our file", cell: |row| row.sizes.map(|(ours, peer)| format!("{:.3}", ours as f64 / peer as f64)) },
];

/// M rows/s.
fn speed(row: &Row, times: Option<Times>) -> Option<String> {
    let millions = row.rows as f64 / times?.best / 1e6;
    let decimals = match millions {
        100.0.. => 0,
        1.0.. => 1,
        _ => 3,
    };
    Some(format!("{millions:.decimals$}"))
}

/// With two decimals.
pub(crate) fn two(figure: f64) -> String {
    format!("{figure:.2}")
}

/// The columns for which some row has a value; the ratio is always shown.
fn shown(rows: &[Row]) -> Vec<&'static Column> {
    let is_shown =
        |column: &&Column| column.short == "ratio" || rows.iter().any(|row| (column.cell)(row).is_some());
    COLUMNS.iter().filter(is_shown).collect()
}

fn cell(column: &Column, row: &Row) -> String {
    (column.cell)(row).unwrap_or_else(|| "-".to_owned())
}

/// An aligned table for a terminal.
pub(crate) fn text(rows: &[Row]) -> String {
    let width = rows.iter().map(|row| row.name.len()).max().unwrap_or(0);
    let mut out = format!("{:width$} ", "M rows/s");
    let columns = shown(rows);
    columns.iter().for_each(|column| out += &format!(" {:>8}", column.short));
    for row in rows {
        out += &format!("\n{:width$} ", row.name);
        columns.iter().for_each(|column| out += &format!(" {:>8}", cell(column, row)));
    }
    out + "\n"
}

/// A Markdown table, under a line that says where and when.
pub(crate) fn markdown(rows: &[Row]) -> String {
    let columns = shown(rows);
    let mut out = format!("{}\n\n| column |", measured());
    columns.iter().for_each(|column| out += &format!(" {} |", column.title));
    out += "\n|---|";
    columns.iter().for_each(|_| out += "--:|");
    for row in rows {
        out += &format!("\n| `{}`: {} |", row.name, row.title);
        columns.iter().for_each(|column| out += &format!(" {} |", cell(column, row)));
    }
    out + "\n"
}

/// When and where, and who the peer is.
pub(crate) fn measured() -> String {
    format!("{}, one thread unless said. The peer is {}.", when_and_where(), parquet_side::NAME)
}

/// When and where, without the end of the sentence.
pub(crate) fn when_and_where() -> String {
    format!("Measured on {}, {}", date(), machine())
}

/// The model and the number of the CPUs.
fn machine() -> String {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model =
        info.lines().find(|line| line.starts_with("model name")).and_then(|line| line.split_once(':'));
    let model = model.map_or(std::env::consts::ARCH, |(_, model)| model.trim());
    format!("{model} ({cpus} CPUs, {})", std::env::consts::OS)
}

/// Today's date in UTC, as YYYY-MM-DD.
fn date() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    civil(seconds / 86_400)
}

/// The date that many days after 1970-01-01, in the Gregorian calendar.
/// Years run from March here, so that the leap day comes last; eras are 400 years of 146,097 days.
fn civil(days: u64) -> String {
    let days = days + 719_468; // 0000-03-01 to 1970-01-01
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, carry) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    format!("{:04}-{month:02}-{day:02}", era * 400 + year + carry)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        assert_eq!(civil(0), "1970-01-01");
        assert_eq!(civil(11_016), "2000-02-29");
        assert_eq!(civil(20_512), "2026-02-28");
        assert_eq!(civil(20_513), "2026-03-01");
        assert_eq!(civil(20_777), "2026-11-20");
    }

    fn times(best: f64) -> Times {
        Times { best, median: best * 1.5 }
    }

    fn row(ours: Option<f64>) -> Row {
        Row {
            name: "i64_plain".to_owned(),
            title: "i64".to_owned(),
            rows: 4_000_000,
            ours: ours.map(times),
            peer: Some(times(0.004)),
            memcpy: ours.map(|_| times(0.001)),
            codec: None,
            alone: None,
            sizes: None,
        }
    }

    #[test]
    fn text_and_json() {
        let rows = [row(Some(0.002)), row(None)];
        assert_eq!(
            text(&rows),
            "M rows/s       ours     peer    ratio  medians   memcpy\n\
             i64_plain      2000     1000     2.00     2.00     0.50\n\
             i64_plain         -     1000        -        -        -\n"
        );
        let parsed: serde_json::Value = serde_json::from_str(&json(&rows).unwrap()).unwrap();
        assert_eq!(parsed[0]["ratio"], 2.0);
        assert_eq!(parsed[0]["memcpy_ratio"], 0.5);
        assert_eq!(parsed[0]["ours_median"], 0.003);
        assert!(parsed[1]["ours"].is_null());
        assert!(parsed[0].get("codec").is_none());
    }

    #[test]
    fn columns_that_are_measured() {
        let mut scanned = row(Some(0.002));
        (scanned.codec, scanned.alone) = (Some(times(0.0005)), Some(times(0.003)));
        let table = markdown(&[scanned, row(None)]);
        let lines: Vec<_> = table.lines().skip(2).collect();
        assert_eq!(
            lines,
            [
                "| column | ours, M rows/s | peer, M rows/s | ratio | of medians | part of memcpy | codec alone, s | \
                 times codec + memcpy | times one thread |",
                "|---|--:|--:|--:|--:|--:|--:|--:|--:|",
                "| `i64_plain`: i64 | 2000 | 1000 | 2.00 | 2.00 | 0.50 | 0.001 | 1.33 | 1.50 |",
                "| `i64_plain`: i64 | - | 1000 | - | - | - | - | - | - |",
            ]
        );
    }
}
