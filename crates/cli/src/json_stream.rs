//! Writes JSON as its parts arrive, so that long lists take no memory.

use crate::failure::Failure;
use crate::output::Output;
use serde::Serialize;
use std::io::{self, Write};

/// An object, written member by member.
pub(crate) struct JsonObject<'a> {
    output: &'a mut Output,
    separator: &'static str,
}

/// A list, written item by item.
pub(crate) struct JsonList<'a> {
    output: &'a mut Output,
    separator: &'static str,
}

impl Output {
    /// Writes one line of JSON: an object with the members that `write` adds. It is closed even if `write` fails.
    pub(crate) fn json_object(
        &mut self,
        write: impl FnOnce(&mut JsonObject<'_>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let written = object(self, write);
        self.write_all(b"\n")?;
        written
    }
}

impl JsonObject<'_> {
    /// Adds a member.
    pub(crate) fn member(&mut self, name: &str, value: &(impl Serialize + ?Sized)) -> io::Result<()> {
        self.name(name)?;
        self.output.json_value(value)
    }

    /// Adds a member that is a list, with the items that `write` adds.
    pub(crate) fn list(
        &mut self,
        name: &str,
        write: impl FnOnce(&mut JsonList<'_>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        self.name(name)?;
        self.output.write_all(b"[")?;
        let written = write(&mut JsonList { output: &mut *self.output, separator: "" });
        self.output.write_all(b"]")?;
        written
    }

    fn name(&mut self, name: &str) -> io::Result<()> {
        self.output.write_all(std::mem::replace(&mut self.separator, ",").as_bytes())?;
        self.output.json_value(name)?;
        self.output.write_all(b":")
    }
}

impl JsonList<'_> {
    /// Adds an item.
    pub(crate) fn item(&mut self, value: &(impl Serialize + ?Sized)) -> io::Result<()> {
        self.separate()?;
        self.output.json_value(value)
    }

    /// Adds an item that is itself written piece by piece.
    pub(crate) fn written_item(
        &mut self,
        write: impl FnOnce(&mut Output) -> io::Result<()>,
    ) -> io::Result<()> {
        self.separate()?;
        write(self.output)
    }

    /// Adds an object, with the members that `write` adds.
    pub(crate) fn object(
        &mut self,
        write: impl FnOnce(&mut JsonObject<'_>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        self.separate()?;
        object(self.output, write)
    }

    fn separate(&mut self) -> io::Result<()> {
        self.output.write_all(std::mem::replace(&mut self.separator, ",").as_bytes())
    }
}

fn object(
    output: &mut Output,
    write: impl FnOnce(&mut JsonObject<'_>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    output.write_all(b"{")?;
    let written = write(&mut JsonObject { output: &mut *output, separator: "" });
    output.write_all(b"}")?;
    written
}
