//! Memory of the system, and what it and time are counted by.

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

/// What the rounds of one row took, in seconds.
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

/// Memory of the system, not of malloc.
pub(crate) struct Region {
    start: *mut u8,
    pub(crate) len: usize,
}

impl Region {
    /// Fresh memory, no page of which was touched.
    pub(crate) fn anonymous(len: usize, advice: Option<libc::c_int>) -> io::Result<Self> {
        let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: new memory at an address of the system's choice.
        let start = unsafe { libc::mmap(ptr::null_mut(), len, access, kind, -1, 0) };
        let region = Region::new(start, len)?;
        if let Some(advice) = advice {
            // SAFETY: the memory that was just mapped; how large its pages are changes nothing of what is in it.
            if unsafe { libc::madvise(start, len, advice) } != 0 {
                return Err(io::Error::last_os_error());
            }
        }
        Ok(region)
    }

    /// A file, read-only. Nobody may change or cut it off while this lives.
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
        // SAFETY: so many bytes were mapped, all of which can be read.
        unsafe { std::slice::from_raw_parts(self.start, self.len) }
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: what was mapped, and nothing borrows from it any more.
        unsafe { libc::munmap(self.start.cast(), self.len) };
    }
}

/// Anonymous memory, which can be written too: that of a file cannot.
pub(crate) struct Fresh(Region);

impl Fresh {
    pub(crate) fn new(len: usize, advice: Option<libc::c_int>) -> io::Result<Self> {
        Region::anonymous(len, advice).map(Fresh)
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: so many bytes were mapped to be read and written, and this value is the only one that has them.
        unsafe { std::slice::from_raw_parts_mut(self.0.start, self.0.len) }
    }
}

/// How many page faults of this process needed no disk so far.
pub(crate) fn faults() -> u64 {
    // SAFETY: the structure is made of integers, for which zeros are valid.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: asks for numbers of this process, for which there is room.
    unsafe { libc::getrusage(libc::RUSAGE_SELF, &raw mut usage) };
    usage.ru_minflt as u64
}
