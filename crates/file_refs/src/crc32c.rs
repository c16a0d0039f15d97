//! CRC-32C: the polynomial of Castagnoli, a byte at a time.

/// A checksum that is being computed.
#[derive(Debug, Clone)]
pub(crate) struct Crc32c(u32);

impl Crc32c {
    pub(crate) fn new() -> Self {
        Crc32c(!0)
    }

    pub(crate) fn update(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = TABLE[usize::from((self.0 as u8) ^ byte)] ^ (self.0 >> 8);
        }
    }

    pub(crate) fn finish(&self) -> u32 {
        !self.0
    }
}

const TABLE: [u32; 256] = table();

const fn table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut i = 0;
    while i < 256 {
        let (mut word, mut bit) = (i as u32, 0);
        while bit < 8 {
            word = if word & 1 == 1 { word >> 1 ^ REVERSED_POLYNOMIAL } else { word >> 1 };
            bit += 1;
        }
        table[i] = word;
        i += 1;
    }
    table
}

const REVERSED_POLYNOMIAL: u32 = 0x82f6_3b78;
