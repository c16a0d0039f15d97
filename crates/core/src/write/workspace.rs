//! What one worker needs for any column, and reuses from page to page.

use super::settings::ColumnSettings;
use super::spares::Spares;
use marquetry_base::Result;
use marquetry_codec::{Codec, Compressor};
use std::sync::Arc;

/// Codec states and buffers. PERF: making a codec's state costs more than compressing a page with it, and buffers are as
/// large as pages, so there is one of each for a worker and not for a column.
#[derive(Debug)]
pub struct Workspace {
    compressors: Vec<(Codec, Option<i32>, Compressor)>,
    /// What comes first in a page, and is stored as it is: levels.
    pub(super) head: Vec<u8>,
    /// The rest of a page before compression.
    pub(super) body: Vec<u8>,
    /// The same after compression.
    pub(super) stored: Vec<u8>,
    pub(super) spares: Arc<Spares>,
}

impl Workspace {
    /// Nothing is made before its first use.
    pub fn new() -> Self {
        Workspace::with(&Spares::new(true))
    }

    /// One for each of `n` workers, at least one. Memory that one column has no more use for goes to the next of any
    /// worker; without `keeps_memory` it is given back, which takes longer.
    pub fn several(n: usize, keeps_memory: bool) -> Vec<Self> {
        let spares = Spares::new(keeps_memory);
        (0..n.max(1)).map(|_| Workspace::with(&spares)).collect()
    }

    fn with(spares: &Arc<Spares>) -> Self {
        let [head, body, stored] = Default::default();
        Workspace { compressors: Vec::new(), head, body, stored, spares: spares.clone() }
    }

    /// Appends the compressed form of `input` to `output`.
    pub(super) fn compress(
        &mut self,
        settings: &ColumnSettings,
        input: &[u8],
        output: &mut Vec<u8>,
    ) -> Result<()> {
        let wanted = (settings.codec, settings.level);
        let known = self.compressors.iter().position(|(codec, level, _)| (*codec, *level) == wanted);
        let at = match known {
            Some(at) => at,
            None => {
                let compressor = Compressor::new(settings.codec, settings.level)?;
                self.compressors.push((settings.codec, settings.level, compressor));
                self.compressors.len() - 1
            }
        };
        self.compressors[at].2.compress(input, output)
    }
}

impl Default for Workspace {
    fn default() -> Self {
        Workspace::new()
    }
}
