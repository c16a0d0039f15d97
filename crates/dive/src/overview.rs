//! The first screen: the file as a whole, with links to its parts.

use crate::columns::Columns;
use crate::footer::Footer;
use crate::hex::Hex;
use crate::opened_file::OpenedFile;
use crate::row_groups::RowGroups;
use crate::rows::Rows;
use crate::schema_tree::SchemaTree;
use crate::screen::Screen;
use crate::text::shown;
use marquetry_base::counted;
use marquetry_inspect::{ShownBytes, ShownCount};
use std::rc::Rc;

/// The first screen.
pub(crate) struct Overview {
    file: Rc<OpenedFile>,
    lines: Vec<[String; 3]>,
}

impl Overview {
    /// Reads no column chunk: there may be very many.
    pub(crate) fn new(file: Rc<OpenedFile>) -> Self {
        let metadata = file.metadata();
        let len = file.source.len();
        let count = |n: u64| ShownCount(n).to_string();
        let mut lines = vec![
            ["schema".to_owned(), counted(ShownCount(metadata.schema().num_columns() as u64), "column"), "The tree of fields; its leaves are the columns. README.md, Nested Encoding; parquet.thrift, SchemaElement.".to_owned()],
            ["row groups".to_owned(), count(metadata.num_row_groups() as u64), "Rows are cut into row groups, which are read on their own: each has a chunk of every column. README.md, Glossary; parquet.thrift, RowGroup.".to_owned()],
            ["columns".to_owned(), "bytes of each".to_owned(), "Which columns take the most bytes, over all row groups: s sorts them. parquet.thrift, ColumnMetaData.".to_owned()],
            ["rows".to_owned(), count(metadata.num_rows()), "The values, row by row; f filters them by a condition as SQL has it after WHERE.".to_owned()],
            ["bytes".to_owned(), format!("{} ({})", count(len), ShownBytes(len)), "The bytes of the file. It begins and ends with PAR1, or ends with PARE if the footer is encrypted. README.md, File format.".to_owned()],
        ];
        let footer = metadata.data_end().filter(|end| *end <= len);
        lines.push(match footer {
            Some(end) => ["footer".to_owned(), format!("from byte {} on, {}", count(end), ShownBytes(len - end)), "The file's metadata is at its end: a Thrift struct, its length in four bytes, PAR1. README.md, File format; parquet.thrift, FileMetaData.".to_owned()],
            None => ["footer".to_owned(), String::new(), "The footer is not in this file.".to_owned()],
        });
        let mut fact = |name: &str, value: String, about: &str| {
            lines.push([name.to_owned(), shown(&value), about.to_owned()])
        };
        fact(
            "written by",
            metadata.created_by().unwrap_or("-").to_owned(),
            "The writer, as it names itself. parquet.thrift, FileMetaData field 6.",
        );
        fact(
            "version",
            metadata.version().to_string(),
            "1 or 2, as the writer claims; it decides nothing. parquet.thrift, FileMetaData field 1.",
        );
        if metadata.encryption().is_some() {
            fact(
                "encryption",
                "yes".to_owned(),
                "Parts of the file are encrypted; what there is no key for says so in its place. Encryption.md.",
            );
        }
        for pair in metadata.key_value_metadata() {
            let value = pair.value.as_ref().map(|value| value.to_string()).unwrap_or_default();
            lines.push([
                format!("key {}", shown(&pair.key)),
                shown(&value),
                "What the writer adds for its own readers. parquet.thrift, KeyValue.".to_owned(),
            ]);
        }
        Overview { file, lines }
    }
}

impl Screen for Overview {
    fn title(&self) -> String {
        "file".to_owned()
    }

    fn headings(&self) -> Vec<String> {
        ["what", "how much"].map(str::to_owned).to_vec()
    }

    fn len(&self) -> (usize, bool) {
        (self.lines.len(), true)
    }

    fn row(&mut self, index: usize) -> Vec<String> {
        self.lines[index][..2].to_vec()
    }

    fn about(&mut self, index: usize) -> String {
        self.lines[index][2].clone()
    }

    fn can_enter(&self, index: usize) -> bool {
        index < 6
    }

    fn enter(&mut self, index: usize) -> Option<Box<dyn Screen>> {
        let file = self.file.clone();
        Some(match index {
            0 => Box::new(SchemaTree::new(file)),
            1 => Box::new(RowGroups::new(file)),
            2 => Box::new(Columns::new(file, None)),
            3 => Box::new(Rows::new(file, None)),
            4 => Box::new(Hex::new(file, 0)),
            5 => Box::new(Footer::new(file)),
            _ => return None,
        })
    }

    fn byte(&mut self, index: usize) -> Option<u64> {
        match index {
            5 => self.file.metadata().data_end(),
            _ => None,
        }
    }
}
