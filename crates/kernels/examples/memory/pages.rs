//! Copies within each cache, and pages that are touched for the first time.

use crate::region::{Fresh, KIB, MIB, PAGE, Times, faults, seconds};
use std::hint::black_box;
use std::io;

/// Larger than any cache.
const LARGE: usize = 256 * MIB;

pub(crate) fn copies() -> io::Result<()> {
    const SIZES: [(usize, &str); 4] =
        [(16 * KIB, "16 KiB"), (256 * KIB, "256 KiB"), (4 * MIB, "4 MiB"), (LARGE, "256 MiB")];
    // Buffers begin at the start of a page. malloc would place two small blocks so that a load looks as if it depended
    // on the store before it.
    let mut buffers = Vec::new();
    for (size, _) in SIZES {
        let mut pair = (Fresh::new(size, None)?, Fresh::new(size, None)?);
        pair.0.bytes_mut().fill(1);
        pair.1.bytes_mut().fill(2);
        buffers.push(pair);
    }
    let mut times = SIZES.map(|_| Times::default());
    for _ in 0..11 {
        for ((from, to), times) in buffers.iter_mut().zip(&mut times) {
            // Long enough to be timed, short enough not to be interrupted often.
            let (from, to) = (from.bytes_mut(), to.bytes_mut());
            let repeats = (64 * MIB / from.len()).max(1);
            let whole = seconds(|| (0..repeats).for_each(|_| copy(from, to)));
            times.0.push(whole / repeats as f64);
        }
    }
    println!("| memcpy, each side | GB/s, best | median |\n|---|--:|--:|");
    for ((size, name), times) in SIZES.iter().zip(&times) {
        println!("| {name} | {} |", times.speeds(*size));
    }
    println!();
    Ok(())
}

pub(crate) fn copy(from: &[u8], to: &mut [u8]) {
    to.copy_from_slice(black_box(from));
    black_box(to);
}

/// The times of one way to get pages.
#[derive(Clone, Default)]
struct Touches {
    touch: Times,
    give_back: Times,
    copy_fresh: Times,
    copy_again: Times,
    faults: u64,
}

pub(crate) fn first_touches() -> io::Result<()> {
    const WAYS: [(&str, Option<libc::c_int>); 3] = [
        ("MADV_NOHUGEPAGE", Some(libc::MADV_NOHUGEPAGE)),
        ("default", None),
        ("MADV_HUGEPAGE", Some(libc::MADV_HUGEPAGE)),
    ];
    let source = vec![1u8; LARGE];
    let mut all = vec![Touches::default(); WAYS.len()];
    for _ in 0..5 {
        for (touches, &(_, advice)) in all.iter_mut().zip(&WAYS) {
            touch_round(touches, &source, advice)?;
        }
    }
    let pages = (LARGE / PAGE) as f64;
    println!(
        "| first touch of 256 MiB | ns a 4 KiB page, best | median | GB/s, best | median | faults | ns to unmap a 4 KiB page |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|");
    for ((name, _), Touches { touch, give_back, faults, .. }) in WAYS.iter().zip(&all) {
        let [best, median, back] =
            [touch.best(), touch.median(), give_back.best()].map(|time| time * 1e9 / pages);
        println!("| {name} | {best:.0} | {median:.0} | {} | {faults} | {back:.0} |", touch.speeds(LARGE));
    }
    println!(
        "\n| memcpy of 256 MiB | into fresh memory, GB/s, best | median | into memory touched before, best | median |"
    );
    println!("|---|--:|--:|--:|--:|");
    for ((name, _), touches) in WAYS.iter().zip(&all) {
        println!("| {name} | {} | {} |", touches.copy_fresh.speeds(LARGE), touches.copy_again.speeds(LARGE));
    }
    println!();
    Ok(())
}

fn touch_round(touches: &mut Touches, source: &[u8], advice: Option<libc::c_int>) -> io::Result<()> {
    let mut fresh = Fresh::new(LARGE, advice)?;
    let before = faults();
    touches.touch.0.push(seconds(|| {
        fresh.bytes_mut().iter_mut().step_by(PAGE).for_each(|byte| *byte = 1);
        black_box(&mut fresh);
    }));
    touches.faults = faults() - before;
    touches.give_back.0.push(seconds(|| drop(fresh)));
    let mut fresh = Fresh::new(LARGE, advice)?;
    touches.copy_fresh.0.push(seconds(|| copy(source, fresh.bytes_mut())));
    touches.copy_again.0.push(seconds(|| copy(source, fresh.bytes_mut())));
    Ok(())
}
