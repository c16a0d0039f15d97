//! Standard output: text or JSON.

use crate::args::Format;
use crate::hyperlinks::{self, Hyperlinks};
use crate::pager::Pager;
use crate::terminal::{TerminalWriter, escaped};
use marquetry_base::{Printable, steers_terminal};
use serde::Serialize;
use serde_json::Value;
use serde_json::ser::{Formatter, Serializer};
use std::io::{self, BufWriter, IsTerminal, Stdout, Write};

/// Standard output, buffered. A closed output shows as [`io::ErrorKind::BrokenPipe`], which becomes
/// [`Failure::ClosedPipe`](crate::failure::Failure::ClosedPipe).
pub(crate) struct Output {
    format: Format,
    has_links: bool,
    out: BufWriter<Destination>,
}

/// What standard output leads to.
enum Destination {
    Terminal(TerminalWriter<Stdout>),
    /// A pager, which has the terminal.
    Pager(TerminalWriter<Pager>),
    Other(Stdout),
}

impl Output {
    /// On a terminal, text that `may_be_long` goes through a pager.
    pub(crate) fn new(format: Format, may_be_long: bool) -> Self {
        let pager = if may_be_long && format == Format::Text { Pager::start() } else { None };
        let out = match (pager, io::stdout().is_terminal()) {
            (Some(pager), _) => Destination::Pager(TerminalWriter::new(pager)),
            (None, true) => Destination::Terminal(TerminalWriter::new(io::stdout())),
            (None, false) => Destination::Other(io::stdout()),
        };
        Output { format, has_links: false, out: BufWriter::with_capacity(BUFFER, out) }
    }

    /// Enables links, if they are wanted.
    #[must_use]
    pub(crate) fn with_hyperlinks(mut self, hyperlinks: Hyperlinks) -> Self {
        let is_terminal = matches!(self.out.get_ref(), Destination::Terminal(_));
        self.has_links = self.format == Format::Text && hyperlinks.are_wanted(is_terminal);
        self
    }

    /// Whether a pager shows it.
    pub(crate) fn is_paged(&self) -> bool {
        matches!(self.out.get_ref(), Destination::Pager(_))
    }

    /// Whether facts are wanted as JSON.
    pub(crate) fn is_json(&self) -> bool {
        self.format == Format::Json
    }

    /// Whether findings are wanted as SARIF.
    pub(crate) fn is_sarif(&self) -> bool {
        self.format == Format::Sarif
    }

    /// Whether findings are wanted as annotations of GitHub's workflows.
    pub(crate) fn is_github(&self) -> bool {
        self.format == Format::Github
    }

    /// Writes a line of text.
    pub(crate) fn line(&mut self, line: impl AsRef<str>) -> io::Result<()> {
        self.out.write_all(line.as_ref().as_bytes())?;
        self.out.write_all(b"\n")
    }

    /// Writes text with a link to the URL `target`, if there is one and the output has links.
    pub(crate) fn linked(&mut self, text: &str, target: Option<String>) -> io::Result<()> {
        let Some(target) = target.filter(|_| self.has_links) else {
            return self.out.write_all(text.as_bytes());
        };
        let (begin, end) = hyperlinks::around(&target);
        self.steer(&begin)?;
        self.out.write_all(text.as_bytes())?;
        self.steer(end)
    }

    /// Writes a control sequence, after all that was written before.
    fn steer(&mut self, sequence: &str) -> io::Result<()> {
        self.out.flush()?;
        match self.out.get_mut() {
            Destination::Terminal(out) => out.steer(sequence.as_bytes()),
            Destination::Pager(out) => out.steer(sequence.as_bytes()),
            Destination::Other(out) => out.write_all(sequence.as_bytes()),
        }
    }

    /// Writes a value as one line of JSON.
    pub(crate) fn json(&mut self, value: &Value) -> io::Result<()> {
        self.json_value(value)?;
        self.out.write_all(b"\n")
    }

    /// Writes a value as JSON. Control characters are escaped for any output: the value is the same.
    pub(crate) fn json_value(&mut self, value: &(impl Serialize + ?Sized)) -> io::Result<()> {
        Ok(value.serialize(&mut Serializer::with_formatter(&mut self.out, Harmless))?)
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl Write for Destination {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Destination::Terminal(out) => out.write(bytes),
            Destination::Pager(out) => out.write(bytes),
            Destination::Other(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Destination::Terminal(out) => out.flush(),
            Destination::Pager(out) => out.flush(),
            Destination::Other(out) => out.flush(),
        }
    }
}

/// Formats JSON without control characters that steer a terminal.
struct Harmless;

impl Formatter for Harmless {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, out: &mut W, text: &str) -> io::Result<()> {
        match Printable(text).is_plain() {
            true => out.write_all(text.as_bytes()),
            false => out.write_all(escaped(text, steers_terminal).as_bytes()),
        }
    }
}

const BUFFER: usize = 64 << 10;
