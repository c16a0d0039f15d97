//! In place of `kms.rs` in a build without encryption: there is no KMS.

use marquetry::errors::{Error, Result};
use marquetry::file::encryption::{EncryptionPropertiesBuilder, KeyRetriever};
use serde_json::{Map, Value};
use std::path::Path;
use std::sync::Arc;

/// There are no settings.
pub(super) enum KmsSettings {}

impl KmsSettings {
    pub(super) fn parse(_: Value) -> Result<Self> {
        Err(Error::unsupported("this build has no encryption (the feature `encryption`)"))
    }

    pub(super) fn retriever(&self) -> Result<Arc<dyn KeyRetriever>> {
        match *self {}
    }

    pub(super) fn encryption(&self, _: Map<String, Value>) -> Result<EncryptionPropertiesBuilder> {
        match *self {}
    }

    pub(super) fn rotate(&self, _: &Path) -> Result<usize> {
        match *self {}
    }
}

/// Whether the key material is outside of the file.
pub(super) fn is_outside(_: &[u8]) -> bool {
    false
}
