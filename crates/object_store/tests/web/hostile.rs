//! Servers that give too much, too little, or slowly.

use crate::server::{Faults, Server};
use marquetry_base::ErrorKind;
use marquetry_core::source::Source;
use marquetry_object_store::StoreRegistry;
use std::time::{Duration, Instant};

fn bytes() -> Vec<u8> {
    (0..1u32 << 20).map(|i| (i.wrapping_mul(0x9e37_79b9) >> 24) as u8).collect()
}

/// `user:password@` before the host, and a signature behind the path.
fn with_secrets(url: &str) -> String {
    format!("{}?X-Amz-Signature=SIGNATURE&token=TOKEN", url.replace("http://", "http://me:PASS%20WORD@"))
}

#[track_caller]
fn has_no_secrets(text: &str) {
    for secret in ["PASS", "SIGNATURE", "TOKEN"] {
        assert!(!text.contains(secret), "{text}");
    }
}

#[test]
fn an_endless_error_is_cut_and_shows_no_secrets() {
    let server = Server::start(bytes(), Faults { forbids: true, ..Faults::default() });
    let error = StoreRegistry::new().unwrap().open(&with_secrets(&server.url())).err().unwrap();
    let text = format!("{error} {error:?}");
    assert!(error.to_string().contains("403"), "{error}");
    assert!(error.to_string().len() < 1000, "{}", error.to_string().len());
    has_no_secrets(&text);
    let base64_of_user = "Basic bWU6UEFTUyBXT1JE";
    assert_eq!(server.take_authorization().as_deref(), Some(base64_of_user));
}

#[test]
fn errors_show_no_secrets() {
    let stores = StoreRegistry::new().unwrap().with_patience(Duration::from_millis(300));
    for faults in [
        Faults { busy: Some((0, usize::MAX)), ..Faults::default() },
        Faults { knows_no_ranges: true, ..Faults::default() },
        Faults { silent: Some((0, usize::MAX)), ..Faults::default() },
        Faults { changes: Some(0), cut: Some((0, usize::MAX)), ..Faults::default() },
    ] {
        let url = with_secrets(&Server::start(bytes(), faults).url());
        let failed = stores.open(&url).and_then(|file| file.read_at(0, 10)).unwrap_err();
        has_no_secrets(&format!("{failed} {failed:?}"));
        has_no_secrets(&format!("{:?}", stores.open(&url.replace("data", "none")).err()));
    }
    for url in ["http://me:PASSWORD@/x?sig=SIGNATURE", "http://me:PASSWORD@[::/x?sig=SIGNATURE"] {
        has_no_secrets(&format!("{:?}", stores.open(url).err().unwrap()));
    }
}

#[test]
fn more_than_was_asked_for_is_an_error() {
    let server = Server::start(vec![7; 64 << 20], Faults { gives_more: true, ..Faults::default() });
    let file = StoreRegistry::new().unwrap().open(&server.url()).unwrap();
    let error = file.read_at(0, 10).unwrap_err();
    assert!(error.to_string().contains("requested 10 bytes, and the store returned more"), "{error}");
}

/// Slower than any timeout for whole requests would allow.
#[test]
fn time_runs_only_while_nothing_comes() {
    let pieces = Some((100_000, Duration::from_millis(100)));
    let server = Server::start(bytes(), Faults { pieces, ..Faults::default() });
    let stores = StoreRegistry::new().unwrap().with_patience(Duration::from_millis(400));
    let start = Instant::now();
    let file = stores.open(&server.url()).unwrap();
    assert_eq!(file.read_at(0, 1 << 20).unwrap(), &bytes()[..]);
    assert!(start.elapsed() > Duration::from_millis(900));
}

#[test]
fn silence_is_a_timeout() {
    let server = Server::start(bytes(), Faults { silent: Some((1, usize::MAX)), ..Faults::default() });
    let stores = StoreRegistry::new().unwrap().with_patience(Duration::from_millis(500));
    let file = stores.open(&server.url()).unwrap();
    let start = Instant::now();
    let error = file.read_at(0, 10).unwrap_err();
    assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
    assert!(error.to_string().contains("timed out"), "{error}");
}

/// With and without ETags.
#[test]
fn answers_that_break_off_are_taken_up() {
    for has_no_tags in [false, true] {
        let cut = Some((1, 4));
        let server = Server::start(bytes(), Faults { cut, has_no_tags, ..Faults::default() });
        let file = StoreRegistry::new().unwrap().open(&server.url()).unwrap();
        server.take_answers();
        assert_eq!(file.read_at(0, 800_000).unwrap(), &bytes()[..800_000]);
        let given: usize = server.take_answers().iter().map(|answer| answer.bytes).sum();
        assert_eq!(given, 800_000);
    }
}

#[test]
fn servers_may_leave_headers_out() {
    let hides = Faults { hides_size: true, ..Faults::default() };
    for faults in [
        hides,
        Faults { hides_length: true, ..Faults::default() },
        Faults { hides_length: true, ..hides },
        Faults { knows_no_suffix: true, ..hides },
    ] {
        let server = Server::start(bytes(), faults);
        let file = StoreRegistry::new().unwrap().open(&server.url()).unwrap();
        assert_eq!(file.len(), 1 << 20);
        assert_eq!(file.read_at(5000, 1000).unwrap(), &bytes()[5000..6000]);
    }
}

/// A file is not reported as missing because the server does not support HEAD.
#[test]
fn a_server_that_knows_neither_head_nor_ranges() {
    let neither = Faults { knows_no_head: true, knows_no_ranges: true, ..Faults::default() };
    let error = StoreRegistry::new().unwrap().open(&Server::start(bytes(), neither).url()).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Io);
    assert!(error.to_string().contains("Range request not supported"), "{error}");
}

#[test]
fn a_file_is_read_and_dropped_anywhere_in_a_runtime() {
    let server = Server::start(bytes(), Faults::default());
    let url = server.url();
    for mut builder in
        [tokio::runtime::Builder::new_multi_thread(), tokio::runtime::Builder::new_current_thread()]
    {
        let runtime = builder.enable_all().build().unwrap();
        let opened = url.clone();
        let read = runtime.block_on(async move {
            // The stores are dropped here, on a thread that runs tasks.
            let file = StoreRegistry::new().unwrap().open(&opened).unwrap();
            let read = tokio::task::spawn_blocking(move || file.read_at(100, 10).unwrap());
            let there = StoreRegistry::new().unwrap().open(&opened).unwrap();
            assert_eq!(there.read_at(0, 5).unwrap(), &bytes()[..5]);
            read.await.unwrap()
        });
        assert_eq!(read, &bytes()[100..110]);
        let _entered = runtime.enter();
        let file = StoreRegistry::new().unwrap().open(&url).unwrap();
        assert_eq!(file.read_at(7, 3).unwrap(), &bytes()[7..10]);
    }
}
