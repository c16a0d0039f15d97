//! Nesting: from levels to lists, structs and nulls.
//!
//! [`NestedField`] is the schema as nested *values*: lists, maps and structs instead of groups. [`LeafLevels`] finds,
//! in the levels of any leaf below a field, that field's slots, which of them are null, and where lists begin.
//! [`LeafShape`] gives the meaning of a leaf's levels, and [`SiblingHasher`] compares the levels of leaves in one
//! group.
//!
//! Spec: README.md, "Nested Encoding"; LogicalTypes.md, "Nested Types".
//!
//! ```text
//! list<int>: [1, 2], null, [], [3]       (def: 0 null list, 1 empty list, 2 null element, 3 value)
//!
//! rep   0 1  0  0  0
//! def   3 3  0  1  3
//!       │ │  │  │  └─ a list starts (rep 0), with a slot for its element (def >= 2)
//!       │ │  │  └──── a list starts, without an element: empty (def 1)
//!       │ │  └─────── a list starts, null (def 0)
//!       │ └────────── the list goes on (rep 1)
//!       └──────────── a list starts
//!
//! list offsets 0 2 2 2 3, valid 1 0 1 1;  element slots 1 2 3
//! ```

mod assemble;
mod leaf_shape;
mod nested_field;
mod repetition_levels;
mod shred;
mod sibling_levels;

pub use assemble::{LeafLevels, ListOffsets};
pub use leaf_shape::{LeafShape, LevelGroup, leaf_shapes, map_entries};
pub use nested_field::{FieldKind, NestedField};
pub use repetition_levels::{RepetitionLevels, RepetitionSlice};
pub use shred::{ColumnValues, DefinitionLevels, LevelBuilder, ShreddedColumn, SlotRanges};
pub use sibling_levels::{SiblingHasher, Signatures, disagreeing};
