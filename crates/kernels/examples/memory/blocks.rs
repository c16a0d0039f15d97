//! Blocks that are allocated, filled and freed: what malloc keeps, and what it gives back to the system.

use crate::pages::copy;
use crate::region::{KIB, MIB, Times, faults, seconds};
use std::hint::black_box;

/// How a block is filled.
#[derive(Clone, Copy)]
enum Fill {
    /// Copied into newly allocated memory.
    Copied,
    /// Newly allocated and zeroed first, as safe code has to do before it reads a file into a buffer.
    Zeroed,
    /// Copied into a buffer that is kept. What the others cost more is the price of allocating.
    Kept,
}

const FILLS: [(Fill, &str); 3] =
    [(Fill::Copied, "allocated"), (Fill::Zeroed, "allocated, zeroed"), (Fill::Kept, "kept")];

pub(crate) fn all() {
    println!(
        "| block | malloc | filled by copy | GB/s, best | median | faults of the first | faults a block, of later ones |"
    );
    println!("|---|---|---|--:|--:|--:|--:|");
    // Comes first, as in a new process: the first block that is freed changes what malloc does with later ones.
    block_rows("default");
    std::thread::scope(|scope| {
        scope.spawn(|| block_rows("default, second thread"));
    });
    if always_map() {
        block_rows("M_MMAP_THRESHOLD fixed at 128 KiB");
    }
    println!();
}

fn block_rows(malloc: &str) {
    for (size, name, count) in [
        (64 * KIB, "64 KiB", 10_000),
        (MIB, "1 MiB", 2_000),
        (8 * MIB, "8 MiB", 200),
        (64 * MIB, "64 MiB", 10),
    ] {
        let source = vec![1u8; size];
        for (fill, how) in FILLS {
            let (times, first, later) = block_times(fill, &source, count);
            println!("| {name} | {malloc} | {how} | {} | {first} | {later:.2} |", times.speeds(size));
        }
    }
}

/// Measures ten parts of `count / 10` blocks each. Returns the times, the page faults of the very first block, and
/// those of each later block.
fn block_times(fill: Fill, source: &[u8], count: usize) -> (Times, u64, f64) {
    const PARTS: usize = 10;
    let mut kept = Vec::new();
    let start = faults();
    one_block(fill, source, &mut kept);
    let first = faults() - start;
    let mut times = Times::default();
    for _ in 0..PARTS {
        let blocks = count / PARTS;
        let whole = seconds(|| (0..blocks).for_each(|_| one_block(fill, source, &mut kept)));
        times.0.push(whole / blocks as f64);
    }
    let later = (faults() - start - first) as f64 / count as f64;
    (times, first, later)
}

fn one_block(fill: Fill, source: &[u8], kept: &mut Vec<u8>) {
    let mut new = Vec::new();
    let block = match fill {
        Fill::Copied | Fill::Zeroed => &mut new,
        Fill::Kept => kept,
    };
    match fill {
        Fill::Zeroed => {
            *block = vec![0; source.len()];
            // Otherwise the compiler might see that no zero is ever read.
            copy(source, black_box(&mut *block));
        }
        Fill::Copied | Fill::Kept => {
            block.clear();
            block.reserve_exact(source.len());
            block.extend_from_slice(black_box(source));
            black_box(block);
        }
    }
}

/// Makes malloc map all blocks over 128 KiB, and unmap them when they are freed. Returns whether that is possible.
#[cfg(target_env = "gnu")]
fn always_map() -> bool {
    // SAFETY: sets a threshold that malloc does not change from then on; then returns free memory to the system,
    // because malloc would take blocks from it first.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, 128 * KIB as libc::c_int) == 1 && libc::malloc_trim(0) >= 0
    }
}

#[cfg(not(target_env = "gnu"))]
fn always_map() -> bool {
    false
}
