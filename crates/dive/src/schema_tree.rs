//! The schema as a tree.

use crate::columns::Columns;
use crate::opened_file::OpenedFile;
use crate::screen::Screen;
use crate::text::shown;
use marquetry_core::schema::{Node, NodeKind, Repetition};
use std::rc::Rc;

/// The schema as a tree, with all groups open at first.
pub(crate) struct SchemaTree {
    file: Rc<OpenedFile>,
    nodes: Vec<TreeNode>,
    /// The indices of the visible nodes.
    seen: Vec<usize>,
}

struct TreeNode {
    depth: usize,
    name: String,
    repetition: Repetition,
    what: String,
    field_id: Option<i32>,
    leaf: Option<usize>,
    /// The first node that is not below it.
    end: usize,
    is_open: bool,
}

impl SchemaTree {
    pub(crate) fn new(file: Rc<OpenedFile>) -> Self {
        let mut tree = SchemaTree { file: file.clone(), nodes: Vec::new(), seen: Vec::new() };
        let schema = file.metadata().schema();
        schema.fields().iter().for_each(|field| tree.add(field, 0));
        tree.look_again();
        tree
    }

    fn add(&mut self, node: &Node, depth: usize) {
        let schema = self.file.metadata().schema().clone();
        let logical = node.logical().map(|logical| format!(" ({logical})")).unwrap_or_default();
        let (what, leaf) = match node.kind() {
            NodeKind::Group(_) => (format!("group{logical}"), None),
            NodeKind::Leaf(leaf) => (format!("{}{logical}", schema.column(*leaf).physical()), Some(*leaf)),
        };
        let place = self.nodes.len();
        self.nodes.push(TreeNode {
            depth,
            name: shown(node.name()),
            repetition: node.repetition(),
            what,
            field_id: node.field_id(),
            leaf,
            end: 0,
            is_open: true,
        });
        if let NodeKind::Group(fields) = node.kind() {
            fields.iter().for_each(|field| self.add(field, depth + 1));
        }
        self.nodes[place].end = self.nodes.len();
    }

    fn look_again(&mut self) {
        self.seen.clear();
        let mut at = 0;
        while let Some(node) = self.nodes.get(at) {
            self.seen.push(at);
            at = if node.is_open { at + 1 } else { node.end };
        }
    }
}

impl Screen for SchemaTree {
    fn title(&self) -> String {
        "schema".to_owned()
    }

    fn headings(&self) -> Vec<String> {
        ["field", "repetition", "type", ">field id", ">column"].map(str::to_owned).to_vec()
    }

    fn len(&self) -> (usize, bool) {
        (self.seen.len(), true)
    }

    fn row(&mut self, index: usize) -> Vec<String> {
        let node = &self.nodes[self.seen[index]];
        let mark = match (node.leaf, node.is_open) {
            (Some(_), _) => "  ",
            (None, true) => "▾ ",
            (None, false) => "▸ ",
        };
        vec![
            format!("{}{mark}{}", "  ".repeat(node.depth), node.name),
            node.repetition.to_string(),
            node.what.clone(),
            node.field_id.map(|id| id.to_string()).unwrap_or_default(),
            node.leaf.map(|leaf| leaf.to_string()).unwrap_or_default(),
        ]
    }

    fn about(&mut self, index: usize) -> String {
        let node = &self.nodes[self.seen[index]];
        let often = match node.repetition {
            Repetition::Required => "There is one in each parent.",
            Repetition::Optional => {
                "There is one in a parent, or none: null. That is one definition level more."
            }
            Repetition::Repeated => {
                "There is any number in a parent: a list. That is one definition and one repetition level more."
            }
        };
        let levels = node.leaf.map(|leaf| {
            let leaf = self.file.metadata().schema().column(leaf);
            format!(
                " A value has definition level {}; repetition levels go to {}.",
                leaf.max_def(),
                leaf.max_rep()
            )
        });
        format!("{often}{} README.md, Nested Encoding; LogicalTypes.md.", levels.unwrap_or_default())
    }

    fn can_enter(&self, _: usize) -> bool {
        true
    }

    fn enter(&mut self, index: usize) -> Option<Box<dyn Screen>> {
        match self.nodes[self.seen[index]].leaf {
            Some(leaf) => Some(Box::new(Columns::of_column(self.file.clone(), leaf))),
            None => {
                let node = &mut self.nodes[self.seen[index]];
                node.is_open = !node.is_open;
                self.look_again();
                None
            }
        }
    }

    fn key(&mut self, key: char, index: usize) -> Option<usize> {
        match key {
            'c' | 'e' => {
                self.nodes.iter_mut().for_each(|node| node.is_open = key == 'e');
                self.look_again();
                Some(0)
            }
            _ => {
                let _ = index;
                None
            }
        }
    }

    fn keys(&self) -> &'static str {
        "Enter fold  c fold all  e open all"
    }
}
