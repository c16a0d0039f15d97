//! The codecs.

use crate::input::Input;
use crate::memory::earned;
use marquetry_base::PADDING;
use marquetry_codec::{Codec, Compressor, Decompressor};

/// Input: codec, size that the page header gives (3 bytes), size of another page that is decompressed before; the page.
pub fn codec(data: &[u8]) {
    let mut input = Input(data);
    let codec = input.pick(&Codec::ALL);
    let size = usize::from(input.u16()) | usize::from(input.u8() & 0x0f) << 16;
    let before = usize::from(input.u8());
    // A decompressor that was used before, perhaps without success, must behave like a new one.
    let (mut used, mut page) = (Decompressor::new(), Vec::new());
    let _ = used.decompress(codec, input.0, before, &mut page);
    let of_used = used.decompress(codec, input.0, size, &mut page);
    let mut fresh_page = Vec::new();
    // Decompressors have windows of their own, of up to 16 MiB for Brotli, that do not depend on the page.
    let allowed = (40 << 20) + 4 * (size + input.0.len());
    let of_fresh = earned(allowed, || Decompressor::new().decompress(codec, input.0, size, &mut fresh_page));
    assert_eq!(of_used.is_ok(), of_fresh.is_ok());
    assert_eq!(page, fresh_page);
    match of_fresh {
        Ok(()) => {
            assert_eq!(page.len(), size);
            assert!(page.capacity() >= size + PADDING);
            comes_back(codec, &page);
        }
        Err(_) => assert!(page.is_empty()),
    }
    comes_back(codec, input.0);
}

fn comes_back(codec: Codec, page: &[u8]) {
    let Ok(mut compressor) = Compressor::new(codec, None) else {
        return;
    };
    let (mut stored, mut back) = (Vec::new(), Vec::new());
    compressor.compress(page, &mut stored).expect("pages of this size compress");
    Decompressor::new().decompress(codec, &stored, page.len(), &mut back).expect("what was compressed");
    assert!(page == back, "another page comes back");
}
