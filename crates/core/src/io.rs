//! Files: opening them, reading their footer, creating them in one step, and changing them in place. Except for reading
//! footers, it is for local files, and behind the feature `fs`.

#[cfg(feature = "fs")]
mod atomic_file;
#[cfg(feature = "fs")]
mod background_sync;
mod cache_key;
#[cfg(feature = "fs")]
mod directory_chain;
#[cfg(feature = "fs")]
mod durable_file;
#[cfg(feature = "fs")]
mod file_edit;
#[cfg(feature = "fs")]
mod file_identity;
mod file_regions;
mod footer;
#[cfg(feature = "fs")]
mod grown_file;
#[cfg(all(feature = "encryption", feature = "fs"))]
mod key_material;
#[cfg(feature = "fs")]
mod local_cache_key;
#[cfg(feature = "fs")]
mod local_file;
#[cfg(feature = "fs")]
mod own_file;
mod push_decoder;
#[cfg(feature = "fs")]
mod temporary_file;
#[cfg(feature = "fs")]
mod unfinished;

pub use cache_key::FileCacheKey;
pub use file_regions::{FileRegion, RegionKind, file_regions, unreferenced_bytes};
pub use footer::{FooterRead, TAIL_READ, read_encrypted_metadata, read_metadata};
pub use push_decoder::{DecodeResult, ParquetMetaDataPushDecoder};

#[cfg(all(feature = "encryption", feature = "fs"))]
pub use key_material::{key_material_path, read_key_material, rotate_key_material, write_key_material};

#[cfg(feature = "fs")]
pub use self::{
    atomic_file::AtomicFile,
    directory_chain::DirectoryChain,
    file_edit::{Edited, FileEdit},
    file_identity::is_same_file,
    local_file::LocalFile,
    unfinished::{UnfinishedFilesRemoved, remove_unfinished_files},
};
