//! Dictionary lookup: indices become values.

/// The largest of `values`, 0 if there are none: one check for a block of indices instead of one for each.
pub fn max_u32(values: &[u32]) -> u32 {
    values.iter().copied().fold(0, u32::max)
}

/// Appends `dictionary[index]` for each index.
///
/// # Panics
/// If an index is not in the dictionary; check with [`max_u32`] first.
pub fn gather<T: Copy>(dictionary: &[T], indices: &[u32], out: &mut Vec<T>) {
    assert!(indices.is_empty() || (max_u32(indices) as usize) < dictionary.len(), "index outside dictionary");
    out.extend(indices.iter().map(|&index| {
        // SAFETY: the largest of the indices was held against the length above.
        unsafe { *dictionary.get_unchecked(index as usize) }
    }));
}

/// [`gather`] for values of `width` bytes each.
///
/// # Panics
/// If an index is not in the dictionary.
pub fn gather_fixed(dictionary: &[u8], width: usize, indices: &[u32], out: &mut Vec<u8>) {
    out.reserve(indices.len() * width);
    for &index in indices {
        let from = index as usize * width;
        out.extend_from_slice(&dictionary[from..from + width]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_become_values() {
        let mut out = vec![0u64];
        gather(&[10, 20, 30], &[2, 0, 2], &mut out);
        assert_eq!(out, [0, 30, 10, 30]);
        let mut out = Vec::new();
        gather_fixed(b"abcdef", 2, &[2, 0], &mut out);
        assert_eq!(out, b"efab");
    }

    #[test]
    #[should_panic(expected = "index outside dictionary")]
    fn an_index_outside_is_refused() {
        gather(&[10u32], &[1], &mut Vec::new());
    }
}
