//! The schema as text, in the format's own notation.

use super::{Node, NodeKind, Repetition, Schema};
use crate::logical::{Logical, TimeUnit};
use std::fmt::{self, Display, Formatter};

impl Display for Schema {
    /// `message name { ... }` with one field a line, annotations in parentheses and field ids after `=`.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "message {} {{", self.name)?;
        self.fields.iter().try_for_each(|field| self.print(field, 1, f))?;
        write!(f, "}}")
    }
}

impl Schema {
    fn print(&self, node: &Node, depth: usize, f: &mut Formatter<'_>) -> fmt::Result {
        let indent = depth * 2;
        write!(f, "{:indent$}{} ", "", node.repetition)?;
        match &node.kind {
            NodeKind::Group(_) => write!(f, "group {}", node.name)?,
            NodeKind::Leaf(leaf) => {
                let physical = self.leaves[*leaf].physical.to_string().to_lowercase();
                write!(f, "{physical} {}", node.name)?;
            }
        }
        if let Some(logical) = &node.logical {
            write!(f, " ({logical})")?;
        }
        if let Some(id) = node.field_id {
            write!(f, " = {id}")?;
        }
        match &node.kind {
            NodeKind::Leaf(_) => writeln!(f, ";"),
            NodeKind::Group(fields) => {
                writeln!(f, " {{")?;
                fields.iter().try_for_each(|field| self.print(field, depth + 1, f))?;
                writeln!(f, "{:indent$}}}", "")
            }
        }
    }
}

impl Display for Repetition {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Repetition::Required => "required",
            Repetition::Optional => "optional",
            Repetition::Repeated => "repeated",
        })
    }
}

impl Display for Logical {
    /// The format's name with its parameters: `DECIMAL(9,2)`, `TIMESTAMP(MICROS,true)`.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Logical::String => f.write_str("STRING"),
            Logical::Enum => f.write_str("ENUM"),
            Logical::Json => f.write_str("JSON"),
            Logical::Bson => f.write_str("BSON"),
            Logical::Uuid => f.write_str("UUID"),
            Logical::Decimal { precision, scale } => write!(f, "DECIMAL({precision},{scale})"),
            Logical::Date => f.write_str("DATE"),
            Logical::Time { utc, unit } => write!(f, "TIME({unit},{utc})"),
            Logical::Timestamp { utc, unit } => write!(f, "TIMESTAMP({unit},{utc})"),
            Logical::Integer { bits, signed } => write!(f, "INTEGER({bits},{signed})"),
            Logical::Interval => f.write_str("INTERVAL"),
            Logical::Float16 => f.write_str("FLOAT16"),
            Logical::Null => f.write_str("UNKNOWN"),
            Logical::List => f.write_str("LIST"),
            Logical::Map => f.write_str("MAP"),
            Logical::MapKeyValue => f.write_str("MAP_KEY_VALUE"),
            Logical::Variant { version: Some(version) } => write!(f, "VARIANT({version})"),
            Logical::Variant { version: None } => f.write_str("VARIANT"),
            Logical::Geometry { crs: Some(crs) } => write!(f, "GEOMETRY({crs})"),
            Logical::Geometry { crs: None } => f.write_str("GEOMETRY"),
            Logical::Geography { crs, algorithm } => {
                let crs = crs.as_deref().unwrap_or("OGC:CRS84");
                match algorithm {
                    Some(algorithm) => write!(f, "GEOGRAPHY({crs},{algorithm})"),
                    None => write!(f, "GEOGRAPHY({crs})"),
                }
            }
            Logical::File => f.write_str("FILE"),
        }
    }
}

impl Display for TimeUnit {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TimeUnit::Millis => "MILLIS",
            TimeUnit::Micros => "MICROS",
            TimeUnit::Nanos => "NANOS",
        })
    }
}
