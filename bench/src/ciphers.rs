//! `ciphers`: how fast pages of some sizes are encrypted and decrypted, by whatever library was built in.
//!
//! AES-GCM is ring's, without the feature `ring` RustCrypto's, as AES-CTR and keys of 192 bits always are. Run both, in turn.

use std::hint::black_box;

use clap::Args;
use marquetry_crypto::{EncryptionKey, SecretKey};

use crate::error::Result;
use crate::timing::in_turn;

#[derive(Args)]
pub(crate) struct Options {
    /// Take the best of N runs
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) rounds: u32,
    /// Bytes that each run goes through
    #[arg(long, value_name = "N", default_value_t = 256 << 20)]
    pub(crate) bytes: usize,
}

const SIZES: [usize; 4] = [8 << 10, 64 << 10, 256 << 10, 1 << 20];
const KEYS: [&[u8]; 3] =
    [b"0123456789012345", b"012345678901234567890123", b"01234567890123456789012345678901"];

/// Prints GB/s.
pub(crate) fn run(options: &Options) -> Result<()> {
    let library = if cfg!(feature = "ring") { "ring" } else { "RustCrypto" };
    println!(
        "GB/s, AES-GCM by {library}\n\n| key | page | GCM opened | GCM sealed | CTR opened |\n|--:|--:|--:|--:|--:|"
    );
    for bytes in KEYS {
        for size in SIZES {
            let [open, seal, ctr] = measure(bytes, size, options)?;
            println!("| {} | {} KiB | {open:.2} | {seal:.2} | {ctr:.2} |", 8 * bytes.len(), size >> 10);
        }
    }
    Ok(())
}

fn measure(bytes: &[u8], size: usize, options: &Options) -> Result<[f64; 3]> {
    let key = EncryptionKey::new(SecretKey::new(bytes)?)?;
    let page: Vec<u8> = (0..size).map(|i| (i / 3) as u8).collect();
    let (mut sealed, mut counted) = (Vec::new(), Vec::new());
    key.seal_gcm(&page, b"additional data", &mut sealed)?;
    key.seal_ctr(&page, &mut counted)?;
    let times = options.bytes.div_ceil(size);
    let (mut out, mut other, mut third) = (Vec::new(), Vec::new(), Vec::new());
    let mut open = || -> Result<()> {
        for _ in 0..times {
            if !key.cipher().open_gcm(black_box(&sealed), b"additional data", &mut out)? {
                return Err("a wrong tag".into());
            }
        }
        Ok(())
    };
    let mut seal = || -> Result<()> {
        for _ in 0..times {
            other.clear();
            key.seal_gcm(black_box(&page), b"additional data", &mut other)?;
        }
        Ok(())
    };
    let mut ctr = || -> Result<()> {
        for _ in 0..times {
            key.cipher().open_ctr(black_box(&counted), &mut third)?;
        }
        Ok(())
    };
    let taken = in_turn(options.rounds, [Some(&mut open), Some(&mut seal), Some(&mut ctr)])?;
    if out != page || third != page {
        return Err("other bytes".into());
    }
    let speed = (times * size) as f64 / 1e9;
    Ok(taken.map(|times| times.map_or(0.0, |times| speed / times.best)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_run() {
        run(&Options { rounds: 1, bytes: 1 << 20 }).unwrap();
    }
}
