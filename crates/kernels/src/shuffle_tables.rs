//! Lookup tables for loops that shuffle lanes or bytes of a vector, at any level.

use crate::unpack::{GROUP, OVERREAD_BYTES};

/// The index for which a shuffle writes zeros. It is negative as a 32-bit number, too, when it is widened from a byte.
pub(crate) const ZERO_LANE: u8 = 0x80;

/// For each pattern of eight validity bits: the dense lane of each valid slot.
pub(crate) static EXPAND_8: [[u8; 8]; 256] = {
    let mut patterns = [[ZERO_LANE; 8]; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut slot, mut lane) = (0, 0);
        while slot < 8 {
            if byte >> slot & 1 == 1 {
                patterns[byte][slot] = lane;
                lane += 1;
            }
            slot += 1;
        }
        byte += 1;
    }
    patterns
};

/// For each pattern of eight bits: the lanes of the ones, lowest first. The remaining entries do not matter.
pub(crate) static COMPRESS_8: [[u8; 8]; 256] = {
    let mut patterns = [[0; 8]; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut lane, mut at) = (0, 0);
        while lane < 8 {
            if byte >> lane & 1 == 1 {
                patterns[byte][at] = lane;
                at += 1;
            }
            lane += 1;
        }
        byte += 1;
    }
    patterns
};

/// How packed values of one width are moved to 32-bit lanes: `shuffle` is the source of each byte of a lane, in its
/// half of the vector, and `shift` the right shift that follows. The `_high` fields do the same for the fifth byte of
/// values that touch five bytes: it goes to the top of the lane and is shifted left.
pub(crate) struct Lanes32 {
    pub(crate) shuffle: [u8; 32],
    pub(crate) shift: [u32; 8],
    pub(crate) shuffle_high: [u8; 32],
    pub(crate) shift_high: [u32; 8],
}

pub(crate) static LANES_U32: [Lanes32; 33] = {
    let mut lanes = [const { lanes_u32(0) }; 33];
    let mut width = 0;
    while width < 33 {
        lanes[width] = lanes_u32(width);
        width += 1;
    }
    lanes
};

const fn lanes_u32(width: usize) -> Lanes32 {
    let mut lanes = Lanes32 {
        shuffle: [ZERO_LANE; 32],
        shift: [0; 8],
        shuffle_high: [ZERO_LANE; 32],
        shift_high: [0; 8],
    };
    let mut lane = 0;
    while lane < 8 {
        // The half begins at the byte in which its first value begins.
        let half_start = lane / 4 * 4 * width / 8 * 8;
        let bit = lane * width - half_start;
        let mut byte = 0;
        while byte < 4 {
            lanes.shuffle[lane * 4 + byte] = in_half(bit / 8 + byte);
            byte += 1;
        }
        lanes.shift[lane] = (bit % 8) as u32;
        if bit % 8 + width > 32 {
            lanes.shuffle_high[lane * 4 + 3] = in_half(bit / 8 + 4);
            lanes.shift_high[lane] = (8 - bit % 8) as u32;
        }
        lane += 1;
    }
    lanes
}

/// The shuffle index of byte `i` of a half. Bytes beyond the half contain no bits of a value.
pub(crate) const fn in_half(i: usize) -> u8 {
    if i < 16 { i as u8 } else { ZERO_LANE }
}

/// Panics unless `source` has all bytes that loops with these lanes read: `width` for each group, and 16 more.
pub(crate) fn check_groups(source: &[u8], width: u32, values: usize) {
    assert!(values.is_multiple_of(GROUP));
    assert!(source.len() >= values / GROUP * width as usize + OVERREAD_BYTES);
}
