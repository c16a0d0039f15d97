//! A folder of Parquet files as a site on this machine's loopback interface.
//!
//! ```text
//! below_folder    what is below a folder, and nothing else
//! byte_range      which part of something a request wants
//! request         the head of a request, and what is refused of it
//! response        a response, and how it is written
//! listing         the files of a folder, and a search below it
//! row_preview     some rows of a file as text
//! site            which address is answered by what
//! connections     who is listened to, how many at a time, and for how long
//! ```
//!
//! Whoever asks is not trusted: other users of the machine can connect, and pages of the web can have a browser send requests. So an address
//! has a secret in it, the name of the host must be ours, and what comes from other pages is refused.

mod below_folder;
mod byte_range;
mod connections;
mod listing;
mod request;
mod response;
mod row_preview;
mod site;

pub(crate) use below_folder::Folder;
pub(crate) use connections::serve;
pub(crate) use site::Site;
