//! Keys whose master keys a key management service (KMS) keeps, as in parquet-java and pyarrow.
//!
//! Each file has new data keys. They are wrapped and stored in the key metadata as JSON of type PKMT1:
//!
//! ```text
//! single wrapping    data key, wrapped by the KMS with the master key
//! double wrapping    data key, wrapped here with a key encryption key, which the KMS has wrapped with the master key
//! ```
//!
//! With double wrapping, the KMS is called once for a key encryption key and all files that it is used for. The key material may also be in
//! a separate file beside the Parquet file (external), so that it can be wrapped with new master keys without touching the Parquet file.
//!
//! [`LocalKms`] makes a KMS of a server that wraps nothing, but gives away its master keys.

mod client;
mod external;
mod key_cache;
mod local;
mod material;
mod origin;
mod properties;
mod retriever;
mod writer;

pub use client::KmsClient;
pub use external::ExternalKeyMaterial;
pub use local::{LocalKms, MasterKeys};
pub use origin::MaterialOrigin;
pub use properties::KeyProperties;
pub use retriever::KmsKeyRetriever;
pub use writer::KeyManagement;
