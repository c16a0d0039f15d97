//! Private temporary folders, which only their owner can read.

use std::io;
use tempfile::TempDir;

/// A temporary folder, which is removed with the value. Tasks write rows there: who may not read the tables must not
/// read these.
pub(crate) fn private_folder(prefix: &str) -> io::Result<TempDir> {
    let mut folder = tempfile::Builder::new();
    folder.prefix(prefix);
    #[cfg(unix)]
    folder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    folder.tempdir()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn only_its_owner_looks_into_it() {
        let folder = private_folder("marquetry-test").unwrap();
        assert_eq!(folder.path().metadata().unwrap().permissions().mode() & 0o777, 0o700);
    }
}
