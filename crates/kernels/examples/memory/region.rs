//! Memory of the system, and counters for it and for time.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::ptr;
use std::time::Instant;

pub(crate) const KIB: usize = 1 << 10;
pub(crate) const MIB: usize = 1 << 20;
pub(crate) const PAGE: usize = 4 * KIB;

pub(crate) fn seconds(run: impl FnOnce()) -> f64 {
    let start = Instant::now();
    run();
    start.elapsed().as_secs_f64()
}

/// The times of the rounds of one row, in seconds.
#[derive(Clone, Default)]
pub(crate) struct Times(pub(crate) Vec<f64>);

impl Times {
    pub(crate) fn best(&self) -> f64 {
        self.0.iter().copied().fold(f64::INFINITY, f64::min)
    }

    pub(crate) fn median(&self) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        sorted[sorted.len() / 2]
    }

    /// Best and median as two cells, in GB/s.
    pub(crate) fn speeds(&self, bytes: usize) -> String {
        format!("{:.2} | {:.2}", bytes as f64 / self.best() / 1e9, bytes as f64 / self.median() / 1e9)
    }
}

/// Memory from the system, not from malloc.
pub(crate) struct Region {
    start: *mut u8,
    pub(crate) len: usize,
}

impl Region {
    /// Maps fresh memory, of which no page was touched.
    pub(crate) fn anonymous(len: usize, advice: Option<libc::c_int>) -> io::Result<Self> {
        let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: new memory at an address of the system's choice.
        let start = unsafe { libc::mmap(ptr::null_mut(), len, access, kind, -1, 0) };
        let region = Region::new(start, len)?;
        if let Some(advice) = advice {
            // SAFETY: the memory that was just mapped; the size of its pages does not change its content.
            if unsafe { libc::madvise(start, len, advice) } != 0 {
                return Err(io::Error::last_os_error());
            }
        }
        Ok(region)
    }

    /// Maps a file, read-only. Nobody may change or truncate it while this lives.
    pub(crate) fn of_file(file: &File, len: usize, populate: bool) -> io::Result<Self> {
        let kind = libc::MAP_PRIVATE | if populate { libc::MAP_POPULATE } else { 0 };
        // SAFETY: new memory at an address of the system's choice; the file is open.
        let start = unsafe { libc::mmap(ptr::null_mut(), len, libc::PROT_READ, kind, file.as_raw_fd(), 0) };
        Region::new(start, len)
    }

    pub(crate) fn new(start: *mut libc::c_void, len: usize) -> io::Result<Self> {
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(Region { start: start.cast(), len })
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: `len` bytes were mapped, all of which can be read.
        unsafe { std::slice::from_raw_parts(self.start, self.len) }
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: the memory that was mapped; nothing borrows from it any more.
        unsafe { libc::munmap(self.start.cast(), self.len) };
    }
}

/// Anonymous memory, which can be written, too, unlike that of a file.
pub(crate) struct Fresh(Region);

impl Fresh {
    pub(crate) fn new(len: usize, advice: Option<libc::c_int>) -> io::Result<Self> {
        Region::anonymous(len, advice).map(Fresh)
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: `len` bytes were mapped to be read and written, and this value is the only one that has them.
        unsafe { std::slice::from_raw_parts_mut(self.0.start, self.0.len) }
    }
}

/// The number of page faults of this process so far that needed no disk.
pub(crate) fn faults() -> u64 {
    // SAFETY: the structure consists of integers, for which zeros are valid.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: fills a structure of this process with numbers.
    unsafe { libc::getrusage(libc::RUSAGE_SELF, &raw mut usage) };
    usage.ru_minflt as u64
}
