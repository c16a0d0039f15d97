//! VARIANT: one value of any type in binary, as a column of Parquet holds it: JSON with more types, of which one part can be
//! read without the others.
//!
//! Spec: VariantEncoding.md. A value is two byte strings: the [metadata](Metadata) has the names of all fields, the value has
//! the rest. Nothing is copied in reading: a [`Variant`] is a position in both.
//!
//! ```
//! use marquetry_variant::{Path, Value, Variant, json};
//!
//! let (metadata, value) = json::parse(r#"{"user": {"id": 7, "tags": ["a", "b"]}, "price": 1.10}"#)?;
//! let variant = Variant::new(&metadata, &value)?;
//! let path: Path = "user.tags[1]".parse()?;
//! assert_eq!(variant.get_path(&path)?.unwrap().value()?, Value::String("b"));
//! // Numbers keep their digits, and fields come in the order of their names.
//! assert_eq!(json::to_string(variant)?, r#"{"price":1.10,"user":{"id":7,"tags":["a","b"]}}"#);
//! # Ok::<(), marquetry_variant::Error>(())
//! ```
//!
//! | file | what it does |
//! |---|---|
//! | `metadata.rs`, `names.rs` | the dictionary of field names: read, and in the making |
//! | `header.rs` | the first byte of a value: what it is, and how long |
//! | `primitive.rs` | values that hold no others, both directions |
//! | `container.rs` | the offsets that objects and arrays have in common, both directions |
//! | `object.rs`, `array.rs` | fields by name, elements by position |
//! | `variant.rs`, `value.rs`, `decode.rs` | a value with the names that it refers to; the kinds of values; from one to the other |
//! | `path.rs`, `lookup.rs`, `path_finder.rs` | `a.b[2]."odd name"`, and what it leads to: in one value, and in those of a column |
//! | `validate.rs`, `field_order.rs` | looking at every byte; bringing fields that are out of order into it |
//! | `writer.rs`, `value_writer.rs` | values from front to back: with their names, and with names that are there |
//! | `json.rs` | JSON both ways |
//! | `shredding.rs` | which parts of a column stand in columns of their own: as text, and out of a sample |
#![forbid(unsafe_code)]

mod array;
mod container;
mod decimal;
mod decode;
mod depth;
mod field_order;
mod header;
pub mod json;
mod lookup;
mod metadata;
mod names;
mod number;
mod object;
mod path;
mod path_finder;
mod primitive;
mod shredding;
mod utf8;
mod validate;
mod value;
mod value_writer;
mod variant;
mod writer;

pub use array::Array;
pub use decimal::Decimal;
pub use depth::MAX_DEPTH;
pub use marquetry_base::{Error, Result};
pub use metadata::Metadata;
pub use object::Object;
pub use path::{Path, Step};
pub use path_finder::PathFinder;
pub use shredding::{
    InferShreddingOptions, MAX_SHREDDED_COLUMNS, MAX_SHREDDING_DEPTH, PrimitiveType, Shredding,
    ShreddingInference,
};
pub use value::Value;
pub use value_writer::ValueWriter;
pub use variant::Variant;
pub use writer::Writer;
