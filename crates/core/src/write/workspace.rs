//! What one worker needs for any column, and reuses from page to page.

use super::settings::ColumnSettings;
use marquetry_base::Result;
use marquetry_codec::{Codec, Compressor};

/// Codec states and buffers. PERF: making a codec's state costs more than compressing a page with it, and buffers are as
/// large as pages, so there is one of each for a worker and not for a column.
#[derive(Debug, Default)]
pub struct Workspace {
    compressors: Vec<(Codec, Option<i32>, Compressor)>,
    /// Levels and values of a page before compression.
    pub(super) body: Vec<u8>,
    /// A page after compression.
    pub(super) stored: Vec<u8>,
}

impl Workspace {
    /// Nothing is made before its first use.
    pub fn new() -> Self {
        Workspace::default()
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
