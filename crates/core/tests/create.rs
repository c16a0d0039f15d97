//! Creating files: the old one or the new one, never a part of one.

use marquetry_base::{Error, ErrorKind};
use marquetry_core::io::AtomicFile;
use marquetry_core::write::Durable;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// An empty directory of this test's own.
fn directory(test: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("create-{test}"));
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    path
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn refused(path: &Path, text: &str) -> Error {
    let error = AtomicFile::create(path).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Io | ErrorKind::NotFound), "{error}");
    assert!(error.to_string().contains(text), "{error}");
    assert!(error.to_string().contains(&*path.display().to_string()), "{error}");
    error
}

#[test]
fn finish_makes_the_file_appear() {
    let directory = directory("finish");
    let path = directory.join("new.parquet");
    let mut file = AtomicFile::create(&path).unwrap();
    file.write_all(b"one, ").unwrap();
    file.flush().unwrap();
    assert!(!path.exists());
    let hidden = names(&directory);
    assert!(hidden.len() == 1 && hidden[0].starts_with(".new.parquet."), "{hidden:?}");
    assert!(hidden[0].ends_with(".tmp"), "{hidden:?}");
    file.write_all(&[b'2'; 200_000]).unwrap();
    file.finish().unwrap();
    assert_eq!(fs::read(&path).unwrap().len(), 200_005);
    assert_eq!(names(&directory), ["new.parquet"]);
}

#[test]
fn finish_replaces_and_drop_does_not() {
    let directory = directory("replace");
    let path = directory.join("f");
    fs::write(&path, "old").unwrap();
    let mut file = AtomicFile::create(&path).unwrap();
    file.write_all(b"dropped").unwrap();
    drop(file);
    assert_eq!(fs::read(&path).unwrap(), b"old");
    assert_eq!(names(&directory), ["f"]);
    let mut file = AtomicFile::create(&path).unwrap();
    file.write_all(b"new").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"old");
    file.finish().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");
    assert_eq!(names(&directory), ["f"]);
}

#[test]
fn of_two_writers_the_last_to_finish_wins() {
    let path = directory("two").join("f");
    let mut first = AtomicFile::create(&path).unwrap();
    let mut second = AtomicFile::create(&path).unwrap();
    first.write_all(b"first").unwrap();
    second.write_all(b"second").unwrap();
    second.finish().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"second");
    first.finish().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"first");
}

/// What goes to the disk behind the writer's back is the same file, and worth nothing by itself.
#[test]
fn syncs_behind_the_back_of_the_writer() {
    let directory = directory("behind");
    let path = directory.join("f");
    let content: Vec<u8> = (0..40 << 20).map(|i: u32| (i ^ i >> 11) as u8).collect();
    for ends in ["finished", "synced", "dropped"] {
        let mut file = AtomicFile::create(&path).unwrap();
        for part in content.chunks(3 << 20) {
            file.write_all(part).unwrap();
        }
        let hidden = file.temporary_path().to_owned();
        match ends {
            "finished" => {
                file.finish().unwrap();
                assert!(fs::read(&path).unwrap() == content);
                assert_eq!(names(&directory), ["f"]);
                fs::remove_file(&path).unwrap();
            }
            "synced" => {
                file.sync().unwrap();
                drop(file);
                assert!(fs::read(&hidden).unwrap() == content);
                fs::remove_file(hidden).unwrap();
            }
            _ => {
                drop(file);
                assert_eq!(names(&directory), [""; 0]);
            }
        }
    }
}

#[test]
fn a_long_name_and_one_without_a_directory() {
    let path = directory("names").join("ü".repeat(120));
    let file = AtomicFile::create(&path).unwrap();
    file.finish().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"");
    let bare = PathBuf::from(format!("marquetry-create-{}", std::process::id()));
    AtomicFile::create(&bare).unwrap().finish().unwrap();
    fs::remove_file(&bare).unwrap();
}

#[test]
fn what_is_no_file_is_refused() {
    let directory = directory("refused");
    refused(&directory, "is a directory, not a file");
    refused(&directory.join("absent/f"), "cannot create the file");
    refused(&directory.join(".."), "is a directory");
    let path = directory.join("read-only");
    fs::write(&path, "old").unwrap();
    let mut permissions = fs::metadata(&path).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&path, permissions).unwrap();
    refused(&path, "is read-only");
    assert_eq!(names(&directory), ["read-only"]);
}

#[test]
fn a_finished_file_that_cannot_take_its_name_is_removed() {
    let directory = directory("taken");
    let path = directory.join("f");
    let file = AtomicFile::create(&path).unwrap();
    fs::create_dir(&path).unwrap();
    let error = file.finish().unwrap_err();
    assert!(error.to_string().contains("cannot rename the finished file"), "{error}");
    assert!(error.to_string().contains(&*path.display().to_string()), "{error}");
    assert_eq!(names(&directory), ["f"]);
}

#[cfg(unix)]
mod unix {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn permissions_are_kept() {
        let path = directory("permissions").join("f");
        AtomicFile::create(&path).unwrap().finish().unwrap();
        let plain = path.with_file_name("plain");
        fs::write(&plain, "").unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&path), mode(&plain));
        for wanted in [0o600, 0o664, 0o755] {
            fs::set_permissions(&path, fs::Permissions::from_mode(wanted)).unwrap();
            AtomicFile::create(&path).unwrap().finish().unwrap();
            assert_eq!(mode(&path), wanted);
        }
    }

    /// A process may go to another directory while it writes.
    #[test]
    fn a_relative_path_is_one_from_where_the_process_was() {
        let directory = directory("relative");
        fs::create_dir(directory.join("elsewhere")).unwrap();
        let exe = std::env::current_exe().unwrap();
        let child = Command::new(exe)
            .args(["--exact", "unix::child_that_goes_elsewhere", "--nocapture"])
            .current_dir(&directory)
            .env(CHILD, "f")
            .output()
            .unwrap();
        assert!(child.status.success(), "{}", String::from_utf8_lossy(&child.stderr));
        assert_eq!(fs::read(directory.join("f")).unwrap(), b"whole");
        assert_eq!(names(&directory), ["elsewhere", "f"]);
        assert_eq!(names(&directory.join("elsewhere")), [""; 0]);
    }

    #[test]
    fn child_that_goes_elsewhere() {
        let Some(path) = std::env::var_os(CHILD) else { return };
        let mut file = AtomicFile::create(&path).unwrap();
        let given_up = AtomicFile::create("given up").unwrap();
        std::env::set_current_dir("elsewhere").unwrap();
        file.write_all(b"whole").unwrap();
        file.finish().unwrap();
        drop(given_up);
    }

    /// Who ends a process that was told of a signal leaves nothing behind; what was synced stays.
    #[test]
    fn unfinished_files_are_removed_on_request() {
        let directory = directory("removed");
        fs::write(directory.join("f"), "old").unwrap();
        let exe = std::env::current_exe().unwrap();
        let child = Command::new(exe)
            .args(["--exact", "unix::child_that_is_told_of_a_signal", "--nocapture"])
            .current_dir(&directory)
            .env(CHILD, "f")
            .output()
            .unwrap();
        assert_eq!(child.status.code(), Some(7), "{}", String::from_utf8_lossy(&child.stderr));
        assert_eq!(fs::read(directory.join("f")).unwrap(), b"old");
        let names = names(&directory);
        assert!(names.len() == 2 && names[0].starts_with(".synced."), "{names:?}");
    }

    #[test]
    fn child_that_is_told_of_a_signal() {
        let Some(path) = std::env::var_os(CHILD) else { return };
        let mut first = AtomicFile::create(&path).unwrap();
        let mut synced = AtomicFile::create("synced").unwrap();
        synced.write_all(b"worth something").unwrap();
        synced.sync().unwrap();
        // Threads go on beginning and finishing files.
        for _ in 0..3 {
            std::thread::spawn(|| {
                loop {
                    drop(AtomicFile::create("another").unwrap());
                }
            });
        }
        first.write_all(b"new").unwrap();
        std::thread::sleep(Duration::from_millis(50));
        let _removed = marquetry_core::io::remove_unfinished_files();
        std::process::exit(7);
    }

    #[test]
    fn a_link_stays_and_what_it_leads_to_is_replaced() {
        let directory = directory("links");
        fs::create_dir(directory.join("there")).unwrap();
        symlink("there/second", directory.join("first")).unwrap();
        symlink("third", directory.join("there/second")).unwrap();
        for content in ["new", "newer"] {
            let mut file = AtomicFile::create(directory.join("first")).unwrap();
            file.write_all(content.as_bytes()).unwrap();
            file.finish().unwrap();
            assert_eq!(fs::read_to_string(directory.join("there/third")).unwrap(), content);
        }
        assert!(directory.join("first").is_symlink() && directory.join("there/second").is_symlink());
        symlink("round", directory.join("round")).unwrap();
        refused(&directory.join("round"), "too many symbolic links");
        symlink("there", directory.join("to-directory")).unwrap();
        refused(&directory.join("to-directory"), "is a directory");
    }

    #[test]
    fn a_device_is_not_replaced() {
        refused(Path::new("/dev/null"), "is not a regular file");
    }

    /// A write fails in a child whose files may have no more than 64 blocks, and that is told by an error, not a signal.
    #[test]
    fn an_error_while_writing_leaves_the_old_file() {
        let path = directory("full").join("f");
        fs::write(&path, "old").unwrap();
        let exe = std::env::current_exe().unwrap();
        let script = "trap '' XFSZ; ulimit -f 64; exec \"$0\" --exact unix::child_that_fails --nocapture";
        let child = Command::new("sh").args(["-c", script]).arg(exe).env(CHILD, &path).output().unwrap();
        assert!(child.status.success(), "{}", String::from_utf8_lossy(&child.stderr));
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(names(path.parent().unwrap()), ["f"]);
    }

    #[test]
    fn child_that_fails() {
        let Some(path) = std::env::var_os(CHILD) else { return };
        let mut file = AtomicFile::create(&path).unwrap();
        let error = (0..1_000).find_map(|_| file.write_all(&[0; 10_000]).err()).expect("an error");
        assert!(error.to_string().contains("/f"), "{error}");
        let error = file.finish().unwrap_err();
        assert!(error.to_string().contains("an earlier write failed"), "{error}");
    }
}

/// Set for a child process: the file that it writes.
const CHILD: &str = "MARQUETRY_TEST_CREATE";
const KILLS: usize = 40;

#[test]
fn killed_at_any_time_it_leaves_the_old_file_or_the_new_one() {
    let path = directory("killed").join("f");
    fs::write(&path, content(0)).unwrap();
    for i in 0..KILLS {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "child_that_is_killed"])
            .env(CHILD, &path)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        // Any times will do, so long as they fall into all parts of the child's work.
        std::thread::sleep(Duration::from_micros(i as u64 * 7_919 % 60_000));
        if i + 1 == KILLS {
            // However slow the machine is, one child gets the time to finish a file.
            let changed = || fs::read(&path).unwrap().first() != Some(&0);
            assert!(
                (0..3_000).any(|_| {
                    std::thread::sleep(Duration::from_millis(10));
                    changed()
                }),
                "no new file"
            );
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let found = fs::read(&path).unwrap();
        let first = found.first().copied().expect("not empty");
        assert!(found == content(first), "kill {i}: {} bytes, the first is {first}", found.len());
    }
    assert!(names(path.parent().unwrap()).iter().all(|name| name == "f" || name.starts_with(".f.")));
}

#[test]
fn child_that_is_killed() {
    let Some(path) = std::env::var_os(CHILD) else { return };
    for version in (0..=255).cycle() {
        let mut file = AtomicFile::create(&path).unwrap();
        content(version).chunks(30_000).for_each(|piece| file.write_all(piece).unwrap());
        file.finish().unwrap();
    }
}

/// Each version has its own byte, and its own length.
fn content(version: u8) -> Vec<u8> {
    vec![version; 1_000_000 + 1_000 * usize::from(version)]
}
