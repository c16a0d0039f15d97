//! Strings of the footer as they are stored, UTF-8 or not.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

/// A string of the footer: its bytes as stored, and a text in which each sequence that is not UTF-8 is replaced by U+FFFD.
///
/// SPEC: `parquet.thrift` has the type `string`, which is UTF-8. QUIRK: writers that accept bytes as keys, values and
/// names store them unchanged, and a copy of a footer must not change them.
///
/// ```
/// use marquetry_format::ThriftString;
/// let stored = ThriftString::from_bytes(b"caf\xe9");
/// assert_eq!(&*stored, "caf\u{FFFD}");
/// assert_eq!(stored.as_bytes(), b"caf\xe9");
/// assert_eq!(ThriftString::from("name"), "name");
/// ```
#[derive(Clone)]
pub struct ThriftString(Repr);

#[derive(Clone)]
enum Repr {
    Utf8(Arc<str>),
    Other(Arc<Other>),
}

/// A string that is not UTF-8, and the text that is shown for it.
struct Other {
    bytes: Box<[u8]>,
    shown: Arc<str>,
}

impl ThriftString {
    /// Creates a string that is stored as these bytes.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        // Checking is faster than searching for sequences to replace.
        match str::from_utf8(bytes) {
            Ok(text) => text.into(),
            Err(_) => ThriftString(Repr::Other(Arc::new(Other {
                bytes: bytes.into(),
                shown: String::from_utf8_lossy(bytes).into(),
            }))),
        }
    }

    /// The text, with U+FFFD for sequences that are not UTF-8.
    #[inline]
    pub fn as_str(&self) -> &str {
        self.shared()
    }

    /// The bytes that are stored.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        match &self.0 {
            Repr::Utf8(text) => text.as_bytes(),
            Repr::Other(other) => &other.bytes,
        }
    }

    /// Whether the stored bytes are UTF-8, as they should be.
    #[inline]
    pub fn is_utf8(&self) -> bool {
        matches!(self.0, Repr::Utf8(_))
    }

    /// The text, which can be shared.
    #[inline]
    pub fn shared(&self) -> &Arc<str> {
        match &self.0 {
            Repr::Utf8(text) => text,
            Repr::Other(other) => &other.shown,
        }
    }
}

impl Deref for ThriftString {
    type Target = str;

    #[inline]
    fn deref(&self) -> &str {
        self.shared()
    }
}

impl AsRef<str> for ThriftString {
    fn as_ref(&self) -> &str {
        self
    }
}

impl<T: Into<Arc<str>>> From<T> for ThriftString {
    #[inline]
    fn from(text: T) -> Self {
        ThriftString(Repr::Utf8(text.into()))
    }
}

impl Default for ThriftString {
    fn default() -> Self {
        "".into()
    }
}

impl fmt::Debug for ThriftString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.is_utf8() {
            true => fmt::Debug::fmt(&**self, f),
            false => write!(f, "b\"{}\"", self.as_bytes().escape_ascii()),
        }
    }
}

impl fmt::Display for ThriftString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self)
    }
}

/// Strings are equal if their bytes are.
impl PartialEq for ThriftString {
    fn eq(&self, other: &Self) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl Eq for ThriftString {}

impl PartialEq<str> for ThriftString {
    fn eq(&self, other: &str) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl PartialEq<&str> for ThriftString {
    fn eq(&self, other: &&str) -> bool {
        *self == **other
    }
}

impl PartialEq<String> for ThriftString {
    fn eq(&self, other: &String) -> bool {
        *self == **other
    }
}

impl Hash for ThriftString {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_bytes().hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_decide() {
        let (one, other) = (ThriftString::from_bytes(b"\xfe"), ThriftString::from_bytes(b"\xff"));
        assert_eq!(one.as_str(), other.as_str());
        assert_ne!(one, other);
        assert_ne!(one, ThriftString::from("\u{FFFD}"));
        assert_ne!(one, *"\u{FFFD}");
        assert_eq!(ThriftString::from_bytes("ü".as_bytes()), ThriftString::from("ü"));
        assert_eq!(format!("{one:?} {one}"), "b\"\\xfe\" \u{FFFD}");
        // Small, because a wide footer has many.
        assert_eq!(size_of::<ThriftString>(), 16);
    }
}
