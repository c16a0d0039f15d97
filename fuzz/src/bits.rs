//! RLE and BIT_PACKED, of values and of levels.

use crate::encoding::{laws, with_slack};
use crate::input::{Input, Splits};
use crate::memory::earned;
use marquetry_base::{PaddedBytes, Result};
use marquetry_encoding::levels::{Levels, width};
use marquetry_encoding::{Bitmap, bit_packed as packed, rle as hybrid};

/// RLE: values of BOOLEAN, the hybrid of any width, or levels.
pub fn rle(data: &[u8]) {
    let mut input = Input(data);
    match input.u8() % 3 {
        0 => laws(3, input.0),
        1 => indices(input),
        _ => levels(RLE, input),
    }
}

/// BIT_PACKED: levels.
pub fn bit_packed(data: &[u8]) {
    levels(BIT_PACKED, Input(data));
}

/// Input: width, number (2 bytes), seed of the splits; the runs.
fn indices(mut input: Input<'_>) {
    let bits = u32::from(input.u8() % 34);
    let n = usize::from(input.u16() % 5_000);
    let seed = u64::from(input.u8());
    let open = |slack| hybrid::Hybrid::new(with_slack(input.0, slack), bits);
    let whole = earned((1 << 20) + 64 * (input.0.len() + 4 * n), || -> Result<Vec<u32>> {
        let mut out = Vec::new();
        open(0xa5)?.decode(n, &mut out)?;
        Ok(out)
    });
    let splits = || -> Result<Vec<u32>> {
        let (mut hybrid, mut splits, mut out) = (open(0)?, Splits(seed), Vec::new());
        while out.len() < n {
            hybrid.decode(splits.next(n - out.len()), &mut out)?;
        }
        Ok(out)
    };
    let (splits, skipped) = (splits(), open(0).and_then(|mut hybrid| hybrid.skip(n)));
    assert_eq!(whole.is_ok(), splits.is_ok());
    let (Ok(whole), Ok(splits)) = (whole, splits) else {
        return;
    };
    assert_eq!(whole, splits);
    skipped.expect("what decodes can be skipped");
    let back = hybrid::decode(&hybrid::encode(&whole, bits), bits, n).expect("what was encoded");
    assert_eq!(whole, back);
}

/// Input: largest level, number (2 bytes), seed of the splits; the levels as a V1 page has them.
fn levels(encoding: i32, mut input: Input<'_>) {
    let max = input.u8();
    let n = usize::from(input.u16() % 5_000);
    let seed = u64::from(input.u8());
    let page = with_slack(input.0, 0xa5);
    let open = || Levels::v1(encoding, &page, max, n);
    let whole = earned((1 << 20) + 64 * (input.0.len() + n), || -> Result<Vec<u8>> {
        let (mut levels, taken) = open()?;
        assert!(taken <= page.len());
        let mut out = Vec::new();
        levels.decode(n, &mut out)?;
        Ok(out)
    });
    let splits = in_splits(open, n, seed, |levels, n, out| levels.decode(n, out));
    let validity = in_splits(open, n, seed, |levels, n, out| {
        let mut bits = Bitmap::new();
        levels.decode_is_max(n, &mut Vec::new(), &mut bits)?;
        out.extend((0..n).map(|i| u8::from(bits.get(i))));
        Ok(())
    });
    let mut skipped = Vec::new();
    let counts = in_splits(open, n, seed, |levels, n, out| {
        skipped.push(levels.skip(n, &mut Vec::new())?);
        out.resize(out.len() + n, 0);
        Ok(())
    });
    assert_eq!(whole.is_ok(), splits.is_ok());
    let Ok(whole) = whole else {
        return;
    };
    assert_eq!(whole, splits.unwrap_or_default());
    assert!(whole.iter().all(|&level| level <= max));
    let is_max: Vec<u8> = whole.iter().map(|&level| u8::from(level == max)).collect();
    assert_eq!(is_max, validity.expect("levels that decode"));
    counts.expect("levels that decode");
    let values: usize = is_max.iter().map(|&is_max| usize::from(is_max)).sum();
    assert_eq!(values, skipped.iter().sum::<usize>());
    comes_back(encoding, max, &whole);
}

fn comes_back(encoding: i32, max: u8, whole: &[u8]) {
    let wide: Vec<u32> = whole.iter().map(|&level| u32::from(level)).collect();
    let bytes = match (encoding, max) {
        (_, 0) => Vec::new(),
        (BIT_PACKED, _) => packed::encode(&wide, width(max)).expect("a width of levels"),
        _ => {
            let runs = hybrid::encode(&wide, width(max));
            [&(runs.len() as u32).to_le_bytes()[..], &runs].concat()
        }
    };
    let page = PaddedBytes::from(bytes);
    let (mut levels, taken) = Levels::v1(encoding, &page, max, whole.len()).expect("what was encoded");
    let mut back = Vec::new();
    levels.decode(whole.len(), &mut back).expect("what was encoded");
    assert_eq!((whole, page.len()), (&back[..], taken));
}

/// Calls `read` for splits of `n` levels; it appends as many bytes as it is told to read levels.
fn in_splits(
    open: impl Fn() -> Result<(Levels, usize)>,
    n: usize,
    seed: u64,
    mut read: impl FnMut(&mut Levels, usize, &mut Vec<u8>) -> Result<()>,
) -> Result<Vec<u8>> {
    let ((mut levels, _), mut splits, mut out) = (open()?, Splits(seed), Vec::new());
    while out.len() < n {
        read(&mut levels, splits.next(n - out.len()), &mut out)?;
    }
    Ok(out)
}

const RLE: i32 = 3;
const BIT_PACKED: i32 = 4;
