//! How content-defined chunking cuts pages.

use marquetry_base::parse_byte_size;
use marquetry_core::write::CdcOptions;

/// Parses `256KiB:1MiB`, or `256KiB:1MiB:1`. The sizes are checked when a writer is created.
pub(crate) fn chunking(text: &str) -> Result<CdcOptions, String> {
    let parts: Vec<&str> = text.split(':').collect();
    let (min, max, level) = match parts[..] {
        [min, max] => (min, max, "0"),
        [min, max, level] => (min, max, level),
        _ => return Err("say the least and the most bytes of a page, such as 256KiB:1MiB".to_owned()),
    };
    let norm_level = level.parse().map_err(|_| format!("{level:?} is not a level, such as 0, 1 or -1"))?;
    Ok(CdcOptions {
        min_chunk_size: parse_byte_size(min)?,
        max_chunk_size: parse_byte_size(max)?,
        norm_level,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_a_level() {
        let options = |min_chunk_size, max_chunk_size, norm_level| CdcOptions {
            min_chunk_size,
            max_chunk_size,
            norm_level,
        };
        assert_eq!(chunking("256KiB:1MiB"), Ok(CdcOptions::default()));
        assert_eq!(chunking("4096:64k:-2"), Ok(options(4096, 65536, -2)));
        assert!(chunking("4096").is_err() && chunking("1:2:x").is_err() && chunking("1:2:3:4").is_err());
    }
}
