//! Levels and values of a page, run by run.

use crate::explained::{Explained, MOST, more, unpacked, varint};
use crate::page_alp::explain_alp;
use crate::page_deltas;
use marquetry_base::counted;
use marquetry_format::Encoding;

/// Explains the runs of levels of at most `max`, from byte `at` of the page on.
pub(crate) fn explain_levels(bytes: &[u8], at: usize, max: u8, what: &str, means: &str) -> Vec<Explained> {
    let width = u8::BITS - max.leading_zeros();
    runs(bytes, at, width, what, &format!("{means} Encodings.md, Run Length Encoding / Bit-Packing Hybrid."))
}

/// Explains the bytes of values, from byte `at` of the page on.
pub(crate) fn explain_values(
    bytes: &[u8],
    at: usize,
    encoding: Encoding,
    width: Option<usize>,
) -> Vec<Explained> {
    match encoding {
        Encoding::PLAIN => plain(bytes, at, width),
        Encoding::PLAIN_DICTIONARY | Encoding::RLE_DICTIONARY => dictionary(bytes, at),
        Encoding::RLE => boolean_runs(bytes, at),
        Encoding::DELTA_BINARY_PACKED => page_deltas::numbers(bytes, at),
        Encoding::DELTA_LENGTH_BYTE_ARRAY => page_deltas::strings(bytes, at),
        Encoding::DELTA_BYTE_ARRAY => page_deltas::shared_strings(bytes, at),
        Encoding::BYTE_STREAM_SPLIT => split(bytes, at, width),
        Encoding::ALP => explain_alp(bytes, at, width.unwrap_or(8)),
        _ => vec![Explained::new(at, bytes, "values", format!("{} bytes", bytes.len()), "Encodings.md.")],
    }
}

/// RLE runs, and bit-packed runs of `width` bits.
fn runs(bytes: &[u8], at: usize, width: u32, what: &str, about: &str) -> Vec<Explained> {
    let (mut out, mut from) = (Vec::new(), 0);
    while from < bytes.len() && out.len() < MOST {
        let Some((head, len)) = varint(&bytes[from..]) else { break };
        let count = head >> 1;
        let (name, value, body, text) = if head & 1 == 0 {
            let body = (width as usize).div_ceil(8);
            let stored = bytes.get(from + len..from + len + body).unwrap_or_default();
            let number = stored.iter().rev().fold(0u64, |sum, byte| sum << 8 | u64::from(*byte));
            (
                format!("{what}: run"),
                format!("{count} x {number}"),
                body,
                "An even header is a run: half of it is how often the number behind it comes.",
            )
        } else {
            let body = usize::try_from(count).unwrap_or(usize::MAX).saturating_mul(width as usize);
            let rest = bytes.get(from + len..).unwrap_or_default();
            let shown = unpacked(rest, width, count.saturating_mul(8).min(16) as usize);
            let shown: Vec<String> = shown.iter().map(u64::to_string).collect();
            let dots = if count > 2 { " .." } else { "" };
            (
                format!("{what}: packed"),
                format!("{} of {width} bits: {}{dots}", count.saturating_mul(8), shown.join(" ")),
                body,
                "An odd header is a group: half of it, times eight, is how many numbers stand behind it bit by bit.",
            )
        };
        let end = from.saturating_add(len).saturating_add(body).min(bytes.len());
        out.push(Explained::new(at + from, &bytes[from..end], name, value, format!("{text} {about}")));
        from = end;
    }
    more(&mut out, bytes, from, at);
    out
}

fn dictionary(bytes: &[u8], at: usize) -> Vec<Explained> {
    let Some((&width, rest)) = bytes.split_first() else { return Vec::new() };
    let about =
        "How many bits an index into the dictionary has. Encodings.md, Dictionary Encoding (RLE_DICTIONARY).";
    let mut out = vec![Explained::new(at, &bytes[..1], "bit width", width.to_string(), about)];
    out.extend(runs(
        rest,
        at + 1,
        u32::from(width.min(32)),
        "index",
        "Indices into the dictionary page. Encodings.md, Dictionary Encoding (RLE_DICTIONARY).",
    ));
    out
}

fn boolean_runs(bytes: &[u8], at: usize) -> Vec<Explained> {
    let Some(len) = bytes.first_chunk().map(|len| u32::from_le_bytes(*len)) else { return Vec::new() };
    let mut out = vec![Explained::new(
        at,
        &bytes[..4],
        "length",
        len.to_string(),
        "Bytes of the runs behind it. Encodings.md, Run Length Encoding.",
    )];
    out.extend(runs(
        &bytes[4..],
        at + 4,
        1,
        "boolean",
        "1 is true. Encodings.md, Run Length Encoding / Bit-Packing Hybrid.",
    ));
    out
}

/// Values of `width` bytes, or strings with a length prefix.
fn plain(bytes: &[u8], at: usize, width: Option<usize>) -> Vec<Explained> {
    let (mut out, mut from) = (Vec::new(), 0);
    let about = match width {
        Some(0) => {
            return vec![Explained::new(
                at,
                bytes,
                "bits",
                format!("{} bytes", bytes.len()),
                "A bit for each value, the lowest of a byte first. Encodings.md, Plain (PLAIN).",
            )];
        }
        Some(_) => "The value's bytes, the lowest first. Encodings.md, Plain (PLAIN).",
        None => "Four bytes of length, then so many bytes. Encodings.md, Plain (PLAIN).",
    };
    while from < bytes.len() && out.len() < MOST {
        let rest = &bytes[from..];
        let len = match width {
            Some(width) => width,
            None => match rest.first_chunk() {
                Some(len) => (u32::from_le_bytes(*len) as usize).saturating_add(4),
                None => break,
            },
        };
        let Some(value) = rest.get(..len) else { break };
        let text = match width {
            Some(_) => String::new(),
            None => format!(
                "{}: {}",
                counted(len - 4, "byte"),
                value[4..].iter().take(40).copied().collect::<Vec<_>>().escape_ascii()
            ),
        };
        out.push(Explained::new(at + from, value, format!("value {}", out.len()), text, about));
        from += len;
    }
    more(&mut out, bytes, from, at);
    out
}

fn split(bytes: &[u8], at: usize, width: Option<usize>) -> Vec<Explained> {
    let streams = width.unwrap_or(1).max(1);
    let len = bytes.len() / streams;
    let stream = |i: usize| {
        let part = &bytes[i * len..(i + 1) * len];
        Explained::new(
            at + i * len,
            part,
            format!("stream {i}"),
            format!("{len} bytes"),
            format!(
                "Byte {i} of each value, one after the other. Encodings.md, Byte Stream Split (BYTE_STREAM_SPLIT)."
            ),
        )
    };
    (0..streams.min(MOST)).filter(|_| len > 0).map(stream).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_and_groups_are_told_apart() {
        // The example of Encodings.md: 0 to 7 in 3 bits; then 5 times 1.
        let runs = runs(&[0x03, 0x88, 0xc6, 0xfa, 0x0a, 0x01], 10, 3, "level", "");
        assert_eq!(runs[0].value, "8 of 3 bits: 0 1 2 3 4 5 6 7");
        assert_eq!((runs[1].at, runs[1].value.as_str()), (14, "5 x 1"));
        assert_eq!(
            explain_values(&[2, 0, 0, 0, b'a', b'b'], 0, Encoding::PLAIN, None)[0].value,
            "2 bytes: ab"
        );
    }
}
