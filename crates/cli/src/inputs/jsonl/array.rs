//! Rewrites an array of objects with one object on each line.

use super::line_reader::{ToLines, broken};
use std::io::{self, BufRead};

/// The elements of a JSON array, one on each line, however they are arranged. Elements are not checked.
pub(super) struct ArrayLines {
    from: Box<dyn BufRead + Send>,
    at: At,
    /// Number of open brackets and braces within an element.
    depth: usize,
}

/// The position in the array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    Start,
    /// An element or the end must follow; after a comma, an element.
    First,
    Next,
    Element,
    String,
    Escape,
    End,
}

impl ArrayLines {
    /// `from` begins with the array.
    pub(super) fn new(from: Box<dyn BufRead + Send>) -> Self {
        ArrayLines { from, at: At::Start, depth: 0 }
    }
}

impl ToLines for ArrayLines {
    fn next_lines(&mut self, lines: &mut Vec<u8>) -> io::Result<bool> {
        let bytes = self.from.fill_buf()?;
        if bytes.is_empty() {
            return match self.at {
                At::End => Ok(false),
                _ => Err(broken("the array is not closed")),
            };
        }
        for byte in bytes {
            self.at = match (self.at, byte) {
                (At::String, b'"') => At::Element,
                (At::String, b'\\') => At::Escape,
                (At::String | At::Escape, _) => At::String,
                // Line ends only follow elements.
                (At::Element, b'\n' | b'\r') => {
                    lines.push(b' ');
                    continue;
                }
                (at, b' ' | b'\t' | b'\n' | b'\r') if at != At::Element => continue,
                (At::Start, b'[') => {
                    self.at = At::First;
                    continue;
                }
                (At::First, b']') => At::End,
                (At::Element, b']') if self.depth == 0 => {
                    lines.push(b'\n');
                    self.at = At::End;
                    continue;
                }
                (At::Element, b',') if self.depth == 0 => {
                    lines.push(b'\n');
                    self.at = At::Next;
                    continue;
                }
                (At::First | At::Next, b',' | b']') => return Err(broken("a value is missing in the array")),
                (At::Start | At::End, _) => return Err(broken("something else stands beside the array")),
                (At::First | At::Next | At::Element, b'"') => At::String,
                (At::First | At::Next | At::Element, byte) => {
                    match byte {
                        b'{' | b'[' => self.depth += 1,
                        b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                        _ => {}
                    }
                    At::Element
                }
            };
            if self.at != At::End {
                lines.push(*byte);
            }
        }
        let read = bytes.len();
        self.from.consume(read);
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::super::line_reader::LineReader;
    use super::*;
    use std::io::{BufReader, Cursor, Read};

    fn lines(text: &str, buffer: usize) -> io::Result<String> {
        let from = BufReader::with_capacity(buffer, Cursor::new(text.as_bytes().to_vec()));
        let mut out = String::new();
        LineReader::new(ArrayLines::new(Box::new(from))).read_to_string(&mut out).map(|_| out)
    }

    #[test]
    fn each_element_on_a_line() {
        for buffer in [1, 2, 1 << 16] {
            for (text, expected) in [
                ("[]", ""),
                (
                    " [ {\"a\": [1, 2],\n \"b\": \"],\\\"[\"} ,{}\r\n]\n",
                    "{\"a\": [1, 2],  \"b\": \"],\\\"[\"} \n{}  \n",
                ),
                ("[1,\"x\",[2],null]", "1\n\"x\"\n[2]\nnull\n"),
            ] {
                assert_eq!(lines(text, buffer).unwrap(), expected);
            }
            for wrong in ["[", "[{}", "[{},]", "[,{}]", "[{}] {}", "[{}]]", "[{\"a\":\"]", ""] {
                assert!(lines(wrong, buffer).is_err(), "{wrong}");
            }
        }
    }
}
