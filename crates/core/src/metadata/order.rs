//! Column chunks that are not in the order of the schema.

use crate::schema::Leaf;
use marquetry_base::Result;
use marquetry_format::{ChunkView, Elements};
use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// The places of a row group's chunks by path.
#[derive(Debug, Clone)]
pub(super) struct Order {
    /// The hash of each chunk's path, and its place, sorted.
    places: Vec<(u64, u32)>,
}

impl Order {
    /// Hashes the paths of all chunks of a row group. Chunks that cannot be read have no path.
    pub(super) fn of<'a>(chunks: impl Iterator<Item = Result<ChunkView<'a>>>) -> Self {
        let place = |(place, chunk): (usize, Result<ChunkView<'a>>)| {
            let path = path_of(&chunk.ok()?)?;
            Some((hash(path.iter().map(String::from_utf8_lossy)), place as u32))
        };
        let mut places: Vec<_> = chunks.enumerate().filter_map(place).collect();
        places.sort_unstable();
        Order { places }
    }

    /// Returns the places, in order, of all chunks that have the path of `leaf`, and perhaps of chunks whose path has
    /// the same hash.
    pub(super) fn candidates(&self, leaf: &Leaf) -> impl Iterator<Item = usize> {
        let hash = hash(leaf.path().iter().map(|name| Cow::Borrowed(name.as_ref())));
        let from = self.places.partition_point(|place| place.0 < hash);
        self.places[from..].iter().take_while(move |place| place.0 == hash).map(|place| place.1 as usize)
    }
}

/// Returns the path that a chunk states, if it is not empty.
pub(super) fn path_of<'a>(chunk: &ChunkView<'a>) -> Option<Elements<'a, &'a [u8]>> {
    Some(chunk.path_in_schema()).filter(|path| !path.is_empty())
}

/// Whether `path` is the path of `leaf`. Names of a leaf are text, in which bytes that are not UTF-8 were replaced.
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
