//! The schema as text, in the format's own notation.

use super::{Node, NodeKind, Repetition, Schema};
use crate::logical_type::{LogicalType, TimeUnit};
use marquetry_base::Printable;
use std::fmt::{self, Display, Formatter};

impl Display for Schema {
    /// Writes `message name { ... }` with one field a line, annotations in parentheses and field ids after `=`.
    /// Characters of names that would begin a line or control a terminal are written as `\u{..}`.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "message {} {{", Printable(&self.name))?;
        self.fields.iter().try_for_each(|field| self.print(field, 1, f))?;
        write!(f, "}}")
    }
}

impl Schema {
    fn print(&self, node: &Node, depth: usize, f: &mut Formatter<'_>) -> fmt::Result {
        let indent = depth * 2;
        write!(f, "{:indent$}{} ", "", node.repetition)?;
        match &node.kind {
            NodeKind::Group(_) => write!(f, "group {}", Printable(&node.name))?,
            NodeKind::Leaf(leaf) => {
                let physical = self.leaves[*leaf].physical.to_string().to_lowercase();
                write!(f, "{physical} {}", Printable(&node.name))?;
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

impl Display for LogicalType {
    /// Writes the format's name with its parameters: `DECIMAL(9,2)`, `TIMESTAMP(MICROS,true)`.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            LogicalType::String => f.write_str("STRING"),
            LogicalType::Enum => f.write_str("ENUM"),
            LogicalType::Json => f.write_str("JSON"),
            LogicalType::Bson => f.write_str("BSON"),
            LogicalType::Uuid => f.write_str("UUID"),
            LogicalType::Decimal { precision, scale } => write!(f, "DECIMAL({precision},{scale})"),
            LogicalType::Date => f.write_str("DATE"),
            LogicalType::Time { utc, unit } => write!(f, "TIME({unit},{utc})"),
            LogicalType::Timestamp { utc, unit } => write!(f, "TIMESTAMP({unit},{utc})"),
            LogicalType::Integer { bits, signed } => write!(f, "INTEGER({bits},{signed})"),
            LogicalType::Interval => f.write_str("INTERVAL"),
            LogicalType::Float16 => f.write_str("FLOAT16"),
            LogicalType::Null => f.write_str("UNKNOWN"),
            LogicalType::List => f.write_str("LIST"),
            LogicalType::Map => f.write_str("MAP"),
            LogicalType::MapKeyValue => f.write_str("MAP_KEY_VALUE"),
            LogicalType::Variant { version: Some(version) } => write!(f, "VARIANT({version})"),
            LogicalType::Variant { version: None } => f.write_str("VARIANT"),
            LogicalType::Geometry { crs: Some(crs) } => write!(f, "GEOMETRY({crs})"),
            LogicalType::Geometry { crs: None } => f.write_str("GEOMETRY"),
            LogicalType::Geography { crs, algorithm } => {
                let crs = crs.as_deref().unwrap_or("OGC:CRS84");
                match algorithm {
                    Some(algorithm) => write!(f, "GEOGRAPHY({crs},{algorithm})"),
                    None => write!(f, "GEOGRAPHY({crs})"),
                }
            }
            LogicalType::File => f.write_str("FILE"),
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
