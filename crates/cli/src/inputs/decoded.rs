//! Decodes text in other character encodings to UTF-8.

use encoding_rs::{Decoder, DecoderResult, Encoding};
use std::io::{self, BufRead, Read};

/// Text in UTF-8. Bytes that are invalid in the encoding are an error, as in UTF-8.
pub(super) struct Decoded {
    from: Box<dyn BufRead + Send>,
    decoder: Decoder,
    text: Vec<u8>,
    /// Number of bytes of `text` that were returned.
    given: usize,
    is_at_end: bool,
}

impl Decoded {
    /// A byte order mark overrides `encoding`, and is left out.
    pub(super) fn new(from: Box<dyn BufRead + Send>, encoding: &'static Encoding) -> Self {
        let decoder = encoding.new_decoder();
        Decoded { from, decoder, text: Vec::new(), given: 0, is_at_end: false }
    }

    fn decode(&mut self) -> io::Result<()> {
        let bytes = self.from.fill_buf()?;
        // Decodes as much at a time as is sure to fit.
        let bytes = &bytes[..bytes.len().min(PIECE)];
        let most = self.decoder.max_utf8_buffer_length_without_replacement(bytes.len());
        self.text.resize(most.unwrap_or(4 * PIECE), 0);
        let is_last = bytes.is_empty();
        let (result, read, written) =
            self.decoder.decode_to_utf8_without_replacement(bytes, &mut self.text, is_last);
        self.text.truncate(written);
        self.given = 0;
        self.from.consume(read);
        match result {
            DecoderResult::InputEmpty => self.is_at_end = is_last,
            DecoderResult::OutputFull => {}
            DecoderResult::Malformed(..) => {
                let name = self.decoder.encoding().name();
                return Err(io::Error::new(io::ErrorKind::InvalidData, format!("is not text in {name}")));
            }
        }
        Ok(())
    }
}

impl Read for Decoded {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.given == self.text.len() && !self.is_at_end {
            self.decode()?;
        }
        let rest = &self.text[self.given..];
        let n = rest.len().min(out.len());
        out[..n].copy_from_slice(&rest[..n]);
        self.given += n;
        Ok(n)
    }
}

const PIECE: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufReader, Cursor};

    fn decoded(bytes: &[u8], label: &str, buffer: usize) -> io::Result<String> {
        let encoding = Encoding::for_label(label.as_bytes()).unwrap();
        let from = Box::new(BufReader::with_capacity(buffer, Cursor::new(bytes.to_vec())));
        let mut out = String::new();
        Decoded::new(from, encoding).read_to_string(&mut out).map(|_| out)
    }

    #[test]
    fn text_of_other_encodings_however_it_comes() {
        let utf16 = |text: &str, bytes: fn(u16) -> [u8; 2]| -> Vec<u8> {
            text.encode_utf16().flat_map(bytes).collect()
        };
        for buffer in [1, 3, 1 << 20] {
            let of = |bytes: &[u8], label| decoded(bytes, label, buffer).ok();
            assert_eq!(of(b"caf\xe9", "latin1").as_deref(), Some("café"));
            assert_eq!(of(&utf16("a,😀\n", u16::to_le_bytes), "utf-16").as_deref(), Some("a,😀\n"));
            assert_eq!(of(&utf16("\u{feff}é", u16::to_be_bytes), "utf-16").as_deref(), Some("é"));
            assert_eq!(of(&utf16("x", u16::to_le_bytes)[..1], "utf-16"), None);
            assert_eq!(of(b"\x82\xa0", "shift_jis").as_deref(), Some("あ"));
            assert_eq!(of(b"", "utf-16").as_deref(), Some(""));
        }
        let long = "é".repeat(3 * PIECE);
        assert_eq!(decoded(&vec![0xe9; 3 * PIECE], "latin1", 1 << 20).unwrap(), long);
    }
}
