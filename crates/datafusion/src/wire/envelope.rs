//! The envelope of our messages: a tag, a version, a kind, and a checksum.

use datafusion::error::{DataFusionError, Result};
use prost::Message;

/// The kind of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Scan = 1,
    Sink = 2,
    Table = 3,
    Format = 4,
    Folder = 5,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Scan => "a scan",
            Kind::Sink => "a sink",
            Kind::Table => "a table",
            Kind::Format => "a format",
            Kind::Folder => "a folder",
        }
    }
}

/// No message of Protocol Buffers begins with this byte, so that no other message is mistaken for ours.
const MAGIC: [u8; 4] = [0xff, b'M', b'Q', b'T'];

/// Length of what precedes the checksum: the magic number, the version, and the kind.
const HEAD: usize = MAGIC.len() + 2;

/// Grows with every change of a message: all processes must have the same version.
const VERSION: u8 = 4;

/// Whether these bytes are a message of ours, whatever its version.
pub(super) fn is_ours(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC)
}

/// Appends a message in its envelope.
pub(super) fn seal(kind: Kind, message: &impl Message, into: &mut Vec<u8>) {
    let start = into.len();
    into.extend(MAGIC);
    into.extend([VERSION, kind as u8]);
    let message = message.encode_to_vec();
    let checksum = checksum(&into[start..], &message);
    into.extend(checksum.to_le_bytes());
    into.extend(message);
}

/// Without a checksum, a plan with a damaged number in a condition would still be a plan.
fn checksum(head: &[u8], message: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(head);
    hasher.update(message);
    hasher.finalize()
}

/// The kind of a message of ours. Fails if it is of another version.
pub(super) fn kind(bytes: &[u8]) -> Result<Kind> {
    let [version, kind] = *bytes.get(MAGIC.len()..HEAD).unwrap_or_default() else {
        return Err(unreadable("it ends before it says what it is"));
    };
    if version != VERSION {
        return Err(unreadable(format!(
            "it is of version {version} of the messages, and this is {VERSION}: client, scheduler and executors have to be of one \
             release of Marquetry"
        )));
    }
    let kinds = [Kind::Scan, Kind::Sink, Kind::Table, Kind::Format, Kind::Folder];
    let found = kinds.into_iter().find(|known| *known as u8 == kind);
    found.ok_or_else(|| unreadable(format!("nothing is of kind {kind}")))
}

/// Opens a message. Fails if it is of another kind or version, is damaged, or has fields that this version does not know.
pub(super) fn open<M: Message + Default>(wanted: Kind, bytes: &[u8]) -> Result<M> {
    let found = kind(bytes)?;
    if found != wanted {
        return Err(unreadable(format!("it is {}, and {} was asked for", found.name(), wanted.name())));
    }
    let (head, rest) = bytes.split_at(HEAD);
    let (stored, bytes) =
        rest.split_first_chunk().ok_or_else(|| unreadable("it ends before its checksum"))?;
    if u32::from_le_bytes(*stored) != checksum(head, bytes) {
        return Err(unreadable("it was changed on its way: its checksum is of other bytes"));
    }
    let message = M::decode(bytes).map_err(|error| unreadable(error.to_string()))?;
    // Protocol Buffers ignore unknown fields.
    match message.encoded_len() == bytes.len() {
        true => Ok(message),
        false => Err(unreadable(format!("it has fields that {} does not have", wanted.name()))),
    }
}

/// Returns a field that every message of its kind has. Fails if it is missing.
pub(super) fn required<T>(field: Option<T>, name: &str) -> Result<T> {
    field.ok_or_else(|| unreadable(format!("it has no {name}")))
}

#[cold]
pub(super) fn unreadable(why: impl std::fmt::Display) -> DataFusionError {
    DataFusionError::Plan(format!("a plan of Marquetry's cannot be read: {why}"))
}

/// The error of a plan that cannot be sent.
#[cold]
pub(super) fn unsendable(why: impl std::fmt::Display) -> DataFusionError {
    DataFusionError::Plan(format!("a plan of Marquetry's cannot be sent to another process: {why}"))
}
