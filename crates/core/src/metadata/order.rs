//! Column chunks that are not in the order of the schema.

use crate::schema::Leaf;
use marquetry_base::Result;
use marquetry_format::{ChunkView, Elements};
use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// Where in a row group the chunks of which paths are.
#[derive(Debug, Clone)]
pub(super) struct Order {
    /// The hash of each chunk's path, and its place; sorted.
    places: Vec<(u64, u32)>,
}

impl Order {
    /// Looks at all chunks of a row group. Those that cannot be read have no path.
    pub(super) fn of<'a>(chunks: impl Iterator<Item = Result<ChunkView<'a>>>) -> Self {
        let place = |(place, chunk): (usize, Result<ChunkView<'a>>)| {
            let path = path_of(&chunk.ok()?)?;
            Some((hash(path.iter().map(String::from_utf8_lossy)), place as u32))
        };
        let mut places: Vec<_> = chunks.enumerate().filter_map(place).collect();
        places.sort_unstable();
        Order { places }
    }

    /// The places, in order, of all chunks that have the path of `leaf`, and perhaps of others.
    pub(super) fn candidates(&self, leaf: &Leaf) -> impl Iterator<Item = usize> {
        let hash = hash(leaf.path().iter().map(|name| Cow::Borrowed(name.as_ref())));
        let from = self.places.partition_point(|place| place.0 < hash);
        self.places[from..].iter().take_while(move |place| place.0 == hash).map(|place| place.1 as usize)
    }
}

/// The path that a chunk says it has, if it does.
pub(super) fn path_of<'a>(chunk: &ChunkView<'a>) -> Option<Elements<'a, &'a [u8]>> {
    Some(chunk.path_in_schema()).filter(|path| !path.is_empty())
}

/// Whether this is the path of `leaf`, whose names are text: what is not UTF-8 was replaced in them.
#[inline]
pub(super) fn is_path(path: Elements<'_, &[u8]>, leaf: &Leaf) -> bool {
    let is_name = |(bytes, name): (&[u8], &Arc<str>)| {
        bytes == name.as_bytes() || *String::from_utf8_lossy(bytes) == **name
    };
    path.len() == leaf.path().len() && path.iter().zip(leaf.path()).all(is_name)
}

fn hash<'a>(names: impl Iterator<Item = Cow<'a, str>>) -> u64 {
    let mut hasher = DefaultHasher::new();
    names.for_each(|name| name.hash(&mut hasher));
    hasher.finish()
}
