//! How often a file that is being written gets a checkpoint: `auto`, `1rg`, `64MiB`, `10s`.

use marquetry_base::parse_byte_size;
use marquetry_core::write::CheckpointEvery;
use std::time::Duration;

/// Parses a checkpoint step.
pub(crate) fn checkpoint(text: &str) -> Result<CheckpointEvery, String> {
    let text = text.trim();
    if text == "auto" {
        return Ok(CheckpointEvery::Auto);
    }
    if let Some(number) = text.strip_suffix("rg") {
        return match number.trim().parse() {
            Ok(row_groups) if row_groups > 0 => Ok(CheckpointEvery::RowGroups(row_groups)),
            _ => Err("is not a number of row groups: say 1rg".to_owned()),
        };
    }
    let seconds = |number: &str, factor: f64| {
        let seconds = number.trim().parse::<f64>().ok().filter(|number| *number > 0.0)? * factor;
        Duration::try_from_secs_f64(seconds).ok().map(CheckpointEvery::Time)
    };
    // Only times end in `s`, `min` or `h`.
    let time = match () {
        () if text.ends_with("ms") => Some(seconds(&text[..text.len() - 2], 0.001)),
        () if text.ends_with('s') => Some(seconds(&text[..text.len() - 1], 1.0)),
        () if text.ends_with("min") => Some(seconds(&text[..text.len() - 3], 60.0)),
        () if text.ends_with('h') => Some(seconds(&text[..text.len() - 1], 3600.0)),
        () => None,
    };
    match time {
        Some(time) => time.ok_or_else(|| "is not a time: say 500ms, 10s or 5min".to_owned()),
        None if text.ends_with(|last: char| last.is_ascii_digit()) => {
            Err("is a number of what? say 1rg, 64MiB or 10s".to_owned())
        }
        None => parse_byte_size(text).map(|bytes| CheckpointEvery::Bytes(bytes as u64)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_of_each_kind() {
        assert_eq!(checkpoint("auto"), Ok(CheckpointEvery::Auto));
        assert_eq!(checkpoint("3rg"), Ok(CheckpointEvery::RowGroups(3)));
        assert_eq!(checkpoint("64MiB"), Ok(CheckpointEvery::Bytes(64 << 20)));
        assert_eq!(checkpoint("1.5 GB"), Ok(CheckpointEvery::Bytes(1_500_000_000)));
        assert_eq!(checkpoint("10s"), Ok(CheckpointEvery::Time(Duration::from_secs(10))));
        assert_eq!(checkpoint("250ms"), Ok(CheckpointEvery::Time(Duration::from_millis(250))));
        assert_eq!(checkpoint("0.5 min"), Ok(CheckpointEvery::Time(Duration::from_secs(30))));
        for wrong in ["", "0rg", "-1s", "5", "s", "never", "1e400s", "3 apples"] {
            assert!(checkpoint(wrong).is_err(), "{wrong}");
        }
    }
}
