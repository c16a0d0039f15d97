//! Tables for loops that shuffle, at any level: which lane of a vector, or which byte, goes where.

use crate::unpack::{GROUP, OVERREAD};

/// No lane, or no byte: a shuffle puts zeros there. Negative as a 32-bit number, also when it was widened from a byte.
pub(crate) const NOTHING: u8 = 0x80;

/// For each eight bits the dense lanes that the slots of the ones take.
pub(crate) static SPREAD_8: [[u8; 8]; 256] = {
    let mut patterns = [[NOTHING; 8]; 256];
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

/// For each eight bits the lanes of the ones, lowest first. What follows does not matter.
pub(crate) static TOGETHER_8: [[u8; 8]; 256] = {
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

/// Where in its half of the vector the bytes of each 32-bit lane come from, and by how many bits too high they are
/// then; the same for the fifth byte of values that have one, whose place is on top, and which is too low.
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
    let mut lanes =
        Lanes32 { shuffle: [NOTHING; 32], shift: [0; 8], shuffle_high: [NOTHING; 32], shift_high: [0; 8] };
    let mut lane = 0;
    while lane < 8 {
        // The half begins with the byte that its first value begins in.
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

/// The shuffle for byte `i` of a half; what is behind the half is of no value's bits.
pub(crate) const fn in_half(i: usize) -> u8 {
    if i < 16 { i as u8 } else { NOTHING }
}

/// Fails unless `source` has what loops with these lanes read: for each group its `width` bytes, and 16 more.
pub(crate) fn check_groups(source: &[u8], width: u32, values: usize) {
    assert!(values.is_multiple_of(GROUP));
    assert!(source.len() >= values / GROUP * width as usize + OVERREAD);
}
