//! Terminal output with control characters made harmless.

use marquetry_base::steers_terminal;
use std::io::{self, Write};

/// Passes text on, with control characters written as `\u001b`, as in JSON. Line breaks and tabs stay.
pub(crate) struct TerminalWriter<W> {
    inner: W,
    /// The bytes of an incomplete character.
    begun: Vec<u8>,
}

impl<W: Write> TerminalWriter<W> {
    pub(crate) fn new(inner: W) -> Self {
        TerminalWriter { inner, begun: Vec::new() }
    }

    /// Writes a control sequence as it is. The text before it must end with a whole character.
    pub(crate) fn steer(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.inner.write_all(bytes)
    }

    fn pass(&mut self, text: &str) -> io::Result<()> {
        self.inner.write_all(escaped(text, |c| steers_terminal(c) && !matches!(c, '\n' | '\t')).as_bytes())
    }
}

impl<W: Write> Write for TerminalWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut text = std::mem::take(&mut self.begun);
        text.extend_from_slice(bytes);
        let mut rest = text.as_slice();
        loop {
            match std::str::from_utf8(rest) {
                Ok(text) => {
                    self.pass(text)?;
                    return Ok(bytes.len());
                }
                Err(error) => {
                    let (valid, others) = rest.split_at(error.valid_up_to());
                    self.pass(&String::from_utf8_lossy(valid))?;
                    let Some(wrong) = error.error_len() else {
                        self.begun = others.to_vec();
                        return Ok(bytes.len());
                    };
                    self.pass("\u{fffd}")?;
                    rest = &others[wrong..];
                }
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// The text with these characters escaped as in JSON.
pub(crate) fn escaped(text: &str, is_escaped: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match is_escaped(c) {
            true => c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| out += &format!("\\u{unit:04x}")),
            false => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_steers_the_terminal_however_it_is_cut() {
        let text = "a\u{1b}[31m\r\n\tß\u{9b}1m\u{202e}b€\u{7f}😀\0".as_bytes();
        let text = [text, b"\x9b|\xff".as_slice()].concat();
        for size in 1..=text.len() {
            let mut out = Vec::new();
            let mut terminal = TerminalWriter::new(&mut out);
            text.chunks(size).for_each(|chunk| terminal.write_all(chunk).unwrap());
            let shown = String::from_utf8(out).unwrap();
            assert_eq!(
                shown, "a\\u001b[31m\\u000d\n\tß\\u009b1m\\u202eb€\\u007f😀\\u0000\u{fffd}|\u{fffd}",
                "{size}"
            );
        }
    }
}
