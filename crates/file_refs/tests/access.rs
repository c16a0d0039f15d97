//! What values of FILE lead to, and what they do not lead to, whoever wrote them.

use bytes::Bytes;
use marquetry_file_refs::{Algorithm, FileAccess, FileRef, Location, Result};
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

const OWN: &[u8] = b"PAR1 some bytes PAR1";

fn of_uri(uri: &str) -> FileRef<'_> {
    FileRef { uri: Some(uri), ..FileRef::default() }
}

fn read(access: &FileAccess, reference: &FileRef<'_>) -> Result<Vec<u8>> {
    access.open(reference)?.read_all(1 << 20)
}

fn message(access: &FileAccess, reference: &FileRef<'_>) -> String {
    match read(access, reference) {
        Ok(bytes) => panic!("{reference:?} is {} bytes", bytes.len()),
        Err(error) => error.message().to_owned(),
    }
}

/// `allowed` with `a b.txt`, `inner/b.txt` and links; beside it `secret.txt` and `allowed-not`.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::create_dir_all(path("allowed/inner")).unwrap();
    std::fs::create_dir_all(path("allowed-not")).unwrap();
    for (name, text) in [
        ("allowed/a b.txt", "a"),
        ("allowed/inner/b.txt", "bb"),
        ("secret.txt", "secret"),
        ("allowed-not/c.txt", "c"),
    ] {
        std::fs::write(path(name), text).unwrap();
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::symlink;
        symlink("../secret.txt", path("allowed/link.txt")).unwrap();
        symlink("..", path("allowed/up")).unwrap();
        symlink("inner/b.txt", path("allowed/inside.txt")).unwrap();
        symlink("turn.txt", path("allowed/turn.txt")).unwrap();
    }
    folder
}

fn access(folder: &Path) -> FileAccess {
    FileAccess::none().with_directory(folder.join("allowed")).unwrap().with_base(folder.join("allowed"))
}

#[test]
fn where_bytes_are() {
    let all = |uri, offset, size| FileRef { uri, offset, size, ..FileRef::default() }.location();
    let uri = "s3://b/x";
    assert_eq!(all(Some(uri), None, None).unwrap(), Location::Uri { uri, range: None });
    assert_eq!(all(Some(uri), None, Some(5)).unwrap(), Location::Uri { uri, range: Some(0..5) });
    assert_eq!(all(Some(uri), Some(2), Some(5)).unwrap(), Location::Uri { uri, range: Some(2..7) });
    assert_eq!(all(None, Some(2), Some(0)).unwrap(), Location::OwnFile(2..2));
    assert_eq!(all(Some(""), Some(2), Some(5)).unwrap(), Location::OwnFile(2..7));
    for (uri, offset, size) in [
        (Some(uri), Some(2), None),
        (None, Some(2), None),
        (None, None, Some(2)),
        (None, None, None),
        (Some(""), None, Some(2)),
        (Some(uri), Some(-1), Some(2)),
        (None, Some(i64::MIN), Some(2)),
        (None, Some(2), Some(-2)),
        (Some(uri), Some(i64::MAX), Some(1)),
        (None, Some(i64::MAX), Some(i64::MAX)),
    ] {
        assert!(all(uri, offset, size).is_err(), "{uri:?} {offset:?} {size:?}");
    }
    // Inline bytes are available whatever the other fields are.
    let inline = FileRef { inline: Some(b""), offset: Some(-1), ..FileRef::default() };
    assert_eq!(inline.location().unwrap(), Location::Inline(b""));
}

#[test]
fn ranges_of_the_file_itself() {
    let access = FileAccess::none().with_own_file(Arc::new(Bytes::from_static(OWN)));
    let of = |offset, size| FileRef { offset: Some(offset), size: Some(size), ..FileRef::default() };
    assert_eq!(read(&access, &of(5, 10)).unwrap(), b"some bytes");
    assert_eq!(read(&access, &of(20, 0)).unwrap(), b"");
    for (offset, size) in [(11, 10), (21, 0), (0, i64::MAX), (i64::MAX - 1, 1)] {
        assert!(message(&access, &of(offset, size)).contains("of a file of 20 bytes"), "{offset} {size}");
    }
    assert!(message(&FileAccess::none(), &of(5, 10)).contains("not allowed"));
    assert!(message(&access, &of_uri("file:///etc/hostname")).contains("not allowed"));
}

#[test]
fn checksums_are_compared_at_the_end() {
    let access = FileAccess::none();
    fn of(checksum: &str) -> FileRef<'_> {
        FileRef { inline: Some(b"some bytes"), checksum: Some(checksum), ..FileRef::default() }
    }
    for algorithm in [Algorithm::Md5, Algorithm::Crc32, Algorithm::Crc32c, Algorithm::Sha256] {
        let right = algorithm.of(b"some bytes").unwrap();
        assert_eq!(read(&access, &of(&right)).unwrap(), b"some bytes");
        let wrong = algorithm.of(b"other bytes").unwrap();
        assert!(message(&access, &of(&wrong)).contains("the checksum is"), "{wrong}");
        // Later reads fail again, instead of reporting the end.
        let mut reader = access.open(&of(&wrong)).unwrap();
        assert!((0..3).all(|_| reader.next_part().is_err()), "{wrong}");
        assert_eq!(read(&access.clone().without_checksums(), &of(&wrong)).unwrap(), b"some bytes");
        // As text of another form.
        assert!(of(&right.to_uppercase()).check().is_err() || right == right.to_uppercase());
        assert!(of(&right[..right.len() - 1]).check().is_err());
    }
    for ignored in ["ETAG:\"whatever\"", "BLAKE3:00", ""] {
        assert_eq!(read(&access, &of(ignored)).unwrap(), b"some bytes");
    }
    assert!(of("no colon").check().is_err());
    // By small reads, too.
    let right = Algorithm::Sha256.of(b"some bytes").unwrap();
    let mut reader = access.open(&of(&right)).unwrap();
    let (mut out, mut byte) = (Vec::new(), [0]);
    while reader.read(&mut byte).unwrap() == 1 {
        out.push(byte[0]);
    }
    assert_eq!((out, reader.len()), (b"some bytes".to_vec(), 10));
    assert!(access.open(&of(&right)).unwrap().read_all(9).unwrap_err().message().contains("9 at most"));
}

#[test]
fn files_in_a_directory() {
    let folder = folder();
    let access = access(folder.path());
    let allowed = folder.path().join("allowed");
    let absolute = |name: &str| format!("file://{}/{name}", allowed.display());
    for (uri, text) in [
        ("a%20b.txt".to_owned(), "a"),
        ("a b.txt".to_owned(), "a"),
        ("inner/b.txt".to_owned(), "bb"),
        ("./inner/../inner/b.txt".to_owned(), "bb"),
        (absolute("inner/b.txt"), "bb"),
        (absolute("inner/b.txt").replace("file://", "FILE://localhost"), "bb"),
        (absolute("inner/b.txt").replace("file://", "file:"), "bb"),
        (allowed.join("inner/b.txt").display().to_string(), "bb"),
    ] {
        assert_eq!(read(&access, &of_uri(&uri)).unwrap(), text.as_bytes(), "{uri}");
    }
    let part = FileRef { size: Some(1), ..of_uri("inner/b.txt") };
    assert_eq!(read(&access, &part).unwrap(), b"b");
    assert!(message(&access, &FileRef { size: Some(3), ..of_uri("inner/b.txt") }).contains("of 2 bytes"));
}

#[test]
fn nothing_leads_out_of_a_directory() {
    let folder = folder();
    let access = access(folder.path());
    let secret = folder.path().join("secret.txt");
    let uris = [
        "../secret.txt".to_owned(),
        "%2e%2e/secret.txt".to_owned(),
        "..%2fsecret.txt".to_owned(),
        "inner/../../secret.txt".to_owned(),
        "../allowed-not/c.txt".to_owned(),
        secret.display().to_string(),
        format!("file://{}", secret.display()),
        format!("file://{}", secret.display().to_string().replace('/', "%2F")),
        "/etc/hostname".to_owned(),
        "file:///etc/hostname".to_owned(),
        "../not-there.txt".to_owned(),
        "/not/there".to_owned(),
        "http://localhost/a".to_owned(),
        "s3://bucket/a".to_owned(),
        "data:text/plain,a".to_owned(),
        "javascript:alert(1)".to_owned(),
    ];
    for uri in &uris {
        let message = message(&access, &of_uri(uri));
        assert!(message.contains("not allowed") || message.contains("another machine"), "{uri}: {message}");
        // Without any directory, too.
        let nothing = FileAccess::none().with_base(folder.path());
        assert!(nothing.open(&of_uri(uri)).is_err(), "{uri}");
    }
    for (uri, part) in [
        ("file://other/etc/hostname", "another machine"),
        ("//other/etc/hostname", "another machine"),
        ("a%zz", "no path"),
        ("a%00", "no path"),
        ("a%ff", "no path"),
        ("a%2", "no path"),
        ("file:", "no path"),
        ("file:a.txt", "relative to nothing"),
        ("a.txt?x=1", "a query"),
        ("a.txt#x", "a query"),
        ("inner", "not a plain file"),
        ("not-there.txt", "is not there"),
        ("inner/b.txt/c", "is not there"),
    ] {
        assert!(message(&access, &of_uri(uri)).contains(part), "{uri}: {}", message(&access, &of_uri(uri)));
    }
}

#[cfg(unix)]
#[test]
fn links_are_followed_before_they_are_judged() {
    let folder = folder();
    let access = access(folder.path());
    assert_eq!(read(&access, &of_uri("inside.txt")).unwrap(), b"bb");
    for uri in ["link.txt", "up/secret.txt", "up/allowed-not/c.txt"] {
        assert!(message(&access, &of_uri(uri)).contains("not allowed"), "{uri}");
    }
    assert!(access.open(&of_uri("turn.txt")).is_err());
    // A link out of it, and back.
    assert_eq!(read(&access, &of_uri("up/allowed/inner/b.txt")).unwrap(), b"bb");
}

#[test]
fn urls_below_a_prefix() {
    let open = |url: &str| Ok(Arc::new(Bytes::copy_from_slice(url.as_bytes())) as _);
    for wrong in ["s3:", "s3://bucket", "bucket/a", "s3:///a", "s3://a/../b", "s3://u@a/b"] {
        assert!(FileAccess::none().with_urls(wrong, open).is_err(), "{wrong}");
    }
    let access = FileAccess::none().with_urls("https://example.com/images", open).unwrap();
    let url = "https://example.com/images/a/b.png";
    assert_eq!(read(&access, &of_uri(url)).unwrap(), url.as_bytes());
    for uri in [
        "https://example.com/images",
        "https://example.com/images-of-others/a",
        "https://example.com/images/../secret",
        "https://example.com/images/%2e%2E/secret",
        "https://example.com/images/a%2f..%2f..%2fsecret",
        "https://example.com/images/..\\secret",
        "https://example.com/images/a?x=http://other",
        "https://example.com/images/a b",
        "https://example.com/images/a\nHost: other",
        "https://example.com@other/images/a",
        "http://example.com/images/a",
        "HTTPS://EXAMPLE.COM/images/a",
        "file:///images/a",
    ] {
        assert!(access.open(&of_uri(uri)).is_err(), "{uri}");
    }
}
