//! Decodes damaged pages with every row of the registry: pages truncated at every byte, with every bit flipped, or made
//! up. The result is an error or other values, but never a panic, and never takes more memory than the size of the page
//! justifies. Memory is measured for the whole process, so there is only one test in it.

#[path = "../laws/data.rs"]
#[allow(dead_code, reason = "shared with the laws")]
mod data;
#[path = "../laws/pages.rs"]
#[allow(dead_code, reason = "shared with the laws")]
mod pages;

use data::{Case, cases, mix};
use marquetry_encoding::{PhysicalType, Shape, Values};
use pages::Page;
use peak_alloc::PeakAlloc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

#[test]
fn damaged_pages_are_errors_or_other_values() {
    for case in cases(60) {
        truncations(&case);
        flips(&case, 1);
    }
    for case in cases(1_100) {
        // For later vectors, blocks and runs. Flipping every bit would take too long.
        flips(&case, 53);
    }
    garbage();
}

/// Decodes random bytes. Some of them are small numbers, as in headers.
fn garbage() {
    for case in cases(3).filter(|case| case.set == "small") {
        let whole = Page::write(case.row, case.physical, &case.values);
        for seed in 0..2_000 {
            let byte =
                |i: u64| (mix(seed * 64 + i) >> (8 * (mix(i ^ seed) % 8))) as u8 >> (mix(seed ^ i << 9) % 8);
            let page =
                Page { bytes: (0..1 + seed % 64).map(byte).collect(), max_values: 100, ..whole.clone() };
            measured(&page, 100, &case);
            skip(&page, 100);
        }
    }
}

/// Truncates a page. The rest either gives the same values, because only padding was cut off, or is an error.
fn truncations(case: &Case) {
    let (whole, n) = (Page::write(case.row, case.physical, &case.values), case.values.len());
    for len in 0..whole.bytes.len() {
        let page = Page { bytes: whole.bytes[..len].to_vec(), ..whole.clone() };
        match page.decode(n) {
            Ok(values) => {
                assert_eq!(values, case.values, "{case}, cut to {len} bytes");
                assert!(is_padded(case), "{case}, cut to {len} bytes, gives all values");
            }
            Err(_) => skip(&page, n),
        }
    }
}

/// Flips every `step`th bit, one at a time.
fn flips(case: &Case, step: usize) {
    let (whole, n) = (Page::write(case.row, case.physical, &case.values), case.values.len());
    for bit in (0..whole.bytes.len() * 8).step_by(step) {
        let mut page = whole.clone();
        page.bytes[bit / 8] ^= 1 << (bit % 8);
        let values = measured(&page, n, case);
        if let Some(values) = values {
            assert_eq!(values.len(), n, "{case}, bit {bit} flipped");
            // Only comparing follows the views of byte strings, each of which must be inside of its buffer.
            assert!(values == values.clone(), "{case}, bit {bit} flipped");
        }
        skip(&page, n);
    }
}

/// Decodes a page. Checks that the memory this takes is in proportion to the size of the page and to `n`.
fn measured(page: &Page, n: usize, case: &Case) -> Option<Values> {
    MEMORY.reset_peak_usage();
    let before = MEMORY.current_usage();
    let values = page.decode(n).ok();
    let peak = MEMORY.peak_usage().saturating_sub(before);
    let earned = (1 << 20) + 64 * (page.bytes.len() + n * width(case.physical));
    assert!(peak > 0, "memory is measured");
    assert!(peak <= earned, "{case}: {peak} bytes of memory, {earned} earned by {:02x?}", page.bytes);
    values
}

/// Skips, then decodes: errors are legal, panics are not.
fn skip(page: &Page, n: usize) {
    if let Ok(mut decoder) = page.open()
        && decoder.skip(n / 2).is_ok()
    {
        let _ = page.next(&mut *decoder, n - n / 2);
    }
}

/// Whether pages may end with bytes that no value needs: the padding of a packed group or miniblock.
fn is_padded(case: &Case) -> bool {
    !matches!(case.row.name, "PLAIN" | "BYTE_STREAM_SPLIT" | "ALP") || case.values.is_empty()
}

/// Size of a value in memory, in bytes.
fn width(physical: PhysicalType) -> usize {
    match physical.shape() {
        Shape::Bit => 1,
        Shape::W32 => 4,
        Shape::W64 => 8,
        Shape::Fixed(width) => width,
        Shape::Bytes => 16,
    }
}
