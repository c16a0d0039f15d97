//! The results as JSON, as text and as Markdown.

use std::fmt::Write;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;

use crate::race::Row;
use crate::{Result, peer};

/// One object of the JSON list. What needs a time of ours is null when our side could not read the file.
#[derive(Serialize)]
struct Entry<'a> {
    name: &'a str,
    /// Seconds.
    ours: Option<f64>,
    /// Seconds.
    peer: f64,
    /// peer / ours
    ratio: Option<f64>,
    /// memcpy of the output / ours
    memcpy_ratio: Option<f64>,
    /// Bytes of our file, if one was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    our_bytes: Option<usize>,
    /// Bytes of the peer's file, if one was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    peer_bytes: Option<usize>,
}

pub(crate) fn json(rows: &[Row]) -> Result<String> {
    let entries: Vec<Entry> = rows
        .iter()
        .map(|row| Entry {
            name: &row.name,
            ours: row.ours,
            peer: row.peer,
            ratio: row.ratio(),
            memcpy_ratio: row.memcpy_ratio(),
            our_bytes: row.sizes.map(|sizes| sizes.0),
            peer_bytes: row.sizes.map(|sizes| sizes.1),
        })
        .collect();
    Ok(serde_json::to_string_pretty(&entries)?)
}

/// The figures of one row, as both tables show them: M rows/s of ours and of the peer, ratio, memcpy ratio.
fn figures(row: &Row) -> [String; 4] {
    let speed = |seconds: f64| {
        let millions = row.rows as f64 / seconds / 1e6;
        let decimals = if millions < 100.0 { 1 } else { 0 };
        format!("{millions:.decimals$}")
    };
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    [
        or_dash(row.ours.map(speed)),
        speed(row.peer),
        or_dash(row.ratio().map(|ratio| format!("{ratio:.2}"))),
        or_dash(row.memcpy_ratio().map(|ratio| format!("{ratio:.2}"))),
    ]
}

/// The size of our file as a part of the peer's, if they were written.
fn size(row: &Row) -> Option<String> {
    row.sizes.map(|(ours, peer)| format!("{:.3}", ours as f64 / peer as f64))
}

/// An aligned table for a terminal.
pub(crate) fn text(rows: &[Row]) -> String {
    let width = rows.iter().map(|row| row.name.len()).max().unwrap_or(0);
    let with_size = rows.iter().any(|row| row.sizes.is_some());
    let mut out =
        format!("{:width$}  {:>9} {:>9} {:>7} {:>7}", "M rows/s", "ours", "peer", "ratio", "memcpy");
    out.push_str(if with_size { "    size\n" } else { "\n" });
    for row in rows {
        let [ours, peer, ratio, memcpy] = figures(row);
        let size = size(row).map_or(String::new(), |size| format!(" {size:>7}"));
        // Writing to a String cannot fail.
        let _ = writeln!(out, "{:width$}  {ours:>9} {peer:>9} {ratio:>7} {memcpy:>7}{size}", row.name);
    }
    out
}

/// The README's table, under a line that says where and when.
pub(crate) fn markdown(rows: &[Row]) -> String {
    let mut out = format!(
        "Measured on {}, {}, one thread unless said. The peer is {}.\n\n",
        date(),
        machine(),
        peer::NAME
    );
    let with_size = rows.iter().any(|row| row.sizes.is_some());
    let (title, rule) = if with_size { (" size of our file |", "--:|") } else { ("", "") };
    let _ = writeln!(
        out,
        "| column | ours, M rows/s | peer, M rows/s | ratio | part of memcpy |{title}\n|---|--:|--:|--:|--:|{rule}"
    );
    for row in rows {
        let [ours, peer, ratio, memcpy] = figures(row);
        let size = size(row).map_or(String::new(), |size| format!(" {size} |"));
        let _ =
            writeln!(out, "| `{}`: {} | {ours} | {peer} | {ratio} | {memcpy} |{size}", row.name, row.title);
    }
    out
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

    fn row(ours: Option<f64>) -> Row {
        Row {
            name: "i64_plain".to_owned(),
            title: "i64".to_owned(),
            rows: 4_000_000,
            ours,
            peer: 0.004,
            memcpy: 0.001,
            sizes: None,
        }
    }

    #[test]
    fn text_and_json() {
        let rows = [row(Some(0.002)), row(None)];
        assert_eq!(
            text(&rows),
            "M rows/s        ours      peer   ratio  memcpy\n\
             i64_plain       2000      1000    2.00    0.50\n\
             i64_plain          -      1000       -       -\n"
        );
        let parsed: serde_json::Value = serde_json::from_str(&json(&rows).unwrap()).unwrap();
        assert_eq!(parsed[0]["ratio"], 2.0);
        assert_eq!(parsed[0]["memcpy_ratio"], 0.5);
        assert!(parsed[1]["ours"].is_null());
    }
}
