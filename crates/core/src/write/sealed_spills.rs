//! Encrypted spills: pages of an encrypted file never reach a disk in plaintext.

use super::spill_store::{SpillFile, SpillStore};
use marquetry_crypto::{ScratchKey, Seal};
use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A store that encrypts all bytes for another store. It uses AES-GCM with a random key for each file, which exists in
/// memory only and is discarded with the file. Reading bytes that were changed in the store is an error.
///
/// Writers of [encrypted files](super::WriterPropertiesBuilder::with_file_encryption_properties) use it automatically,
/// whatever their store. It can be set explicitly if a plaintext file is written with data from encrypted files.
/// Encryption changes neither the number of bytes nor their offsets in the store; it takes some fifty bytes of memory
/// for each 128 KiB of them.
///
/// ```
/// # #[cfg(feature = "fs")] {
/// use marquetry_core::write::{SealedSpills, SpillFolder, WriterProperties};
/// use std::sync::Arc;
///
/// let store = SealedSpills::new(Arc::new(SpillFolder::system()));
/// let properties = WriterProperties::builder().set_spill_store(Some(Arc::new(store))).build();
/// assert!(properties.spill_store().is_some());
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct SealedSpills(Arc<dyn SpillStore>);

impl SealedSpills {
    /// Creates a store that keeps encrypted bytes in `store`.
    pub fn new(store: Arc<dyn SpillStore>) -> Self {
        SealedSpills(store)
    }
}

impl SpillStore for SealedSpills {
    /// Creates a file. Also fails if this build has no encryption.
    fn create(&self) -> io::Result<Box<dyn SpillFile>> {
        let key = ScratchKey::random().map_err(io::Error::other)?;
        Ok(Box::new(SealedFile { file: self.0.create()?, key, blocks: Mutex::default() }))
    }
}

/// A file of blocks that are encrypted separately.
#[derive(Debug)]
struct SealedFile {
    file: Box<dyn SpillFile>,
    key: ScratchKey,
    /// The written blocks by their offsets. A block that is read from a wrong place does not match the seal.
    blocks: Mutex<BTreeMap<u64, Block>>,
}

#[derive(Debug, Clone, Copy)]
struct Block {
    len: usize,
    seal: Seal,
}

impl SealedFile {
    fn blocks(&self) -> MutexGuard<'_, BTreeMap<u64, Block>> {
        self.blocks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the offset of the block that contains a position, and its length and seal.
    fn block_at(&self, position: u64) -> io::Result<(u64, Block)> {
        let blocks = self.blocks();
        let found = blocks.range(..=position).next_back().map(|(start, block)| (*start, *block));
        let is_in = |(start, block): &(u64, Block)| position - start < block.len as u64;
        found.filter(is_in).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }
}

impl SpillFile for SealedFile {
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let (mut sealed, mut start) = (Vec::with_capacity(bytes.len().min(BLOCK)), offset);
        for block in bytes.chunks(BLOCK) {
            sealed.clear();
            sealed.extend_from_slice(block);
            let seal = self.key.seal(&mut sealed).map_err(io::Error::other)?;
            self.file.write_at(&sealed, start)?;
            self.blocks().insert(start, Block { len: block.len(), seal });
            start += block.len() as u64;
        }
        Ok(())
    }

    fn read_at(&self, mut buffer: &mut [u8], mut offset: u64) -> io::Result<()> {
        let (mut sealed, mut opened) = (Vec::new(), Vec::new());
        while !buffer.is_empty() {
            let (start, Block { len, seal }) = self.block_at(offset)?;
            sealed.resize(len, 0);
            self.file.read_at(&mut sealed, start)?;
            let before = (offset - start) as usize;
            let (wanted, rest) = buffer.split_at_mut((len - before).min(buffer.len()));
            let is_right = match wanted.len() == len {
                true => self.key.open(&seal, &sealed, wanted),
                false => {
                    opened.resize(len, 0);
                    let is_right = self.key.open(&seal, &sealed, &mut opened);
                    wanted.copy_from_slice(&opened[before..before + wanted.len()]);
                    is_right
                }
            };
            if !is_right {
                let what = "somebody changed what was written to it";
                return Err(io::Error::new(io::ErrorKind::InvalidData, what));
            }
            offset += wanted.len() as u64;
            buffer = rest;
        }
        Ok(())
    }
}

/// Bytes of a block. Spilled pages are read a megabyte at a time, which is a number of whole blocks.
const BLOCK: usize = 128 << 10;

#[cfg(all(test, feature = "encryption"))]
mod tests {
    use super::*;

    /// Files in memory that the test can look into.
    #[derive(Debug, Clone, Default)]
    struct Memory(Arc<Mutex<Vec<u8>>>);

    impl SpillStore for Memory {
        fn create(&self) -> io::Result<Box<dyn SpillFile>> {
            Ok(Box::new(self.clone()))
        }
    }

    impl SpillFile for Memory {
        fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
            let (mut all, end) = (self.0.lock().unwrap(), offset as usize + bytes.len());
            let len = all.len().max(end);
            all.resize(len, 0);
            all[offset as usize..end].copy_from_slice(bytes);
            Ok(())
        }

        fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
            buffer.copy_from_slice(&self.0.lock().unwrap()[offset as usize..][..buffer.len()]);
            Ok(())
        }
    }

    fn text(len: usize) -> Vec<u8> {
        b"a secret ".iter().copied().cycle().take(len).collect()
    }

    #[test]
    fn any_part_comes_back_and_nothing_is_in_the_open() {
        let memory = Memory::default();
        let file = SealedSpills::new(Arc::new(memory.clone())).create().unwrap();
        let (mut offset, mut all) = (0, Vec::new());
        for len in [0, 1, 17, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 5, 100] {
            file.write_at(&text(len), offset).unwrap();
            all.extend(text(len));
            offset += len as u64;
        }
        assert_eq!(memory.0.lock().unwrap().len(), all.len(), "nothing is longer than it was");
        assert!(!memory.0.lock().unwrap().windows(8).any(|seen| seen == b"a secret"));
        for start in (0..all.len()).step_by(31_013) {
            for len in [0, 1, 9, BLOCK, 2 * BLOCK + 3, all.len()] {
                let mut read = vec![0; len.min(all.len() - start)];
                file.read_at(&mut read, start as u64).unwrap();
                assert!(read == all[start..start + read.len()], "{len} bytes at {start}");
            }
        }
        let past = file.read_at(&mut [0; 2], offset - 1).unwrap_err();
        assert_eq!(past.kind(), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn a_changed_or_moved_block_is_an_error() {
        let memory = Memory::default();
        let file = SealedSpills::new(Arc::new(memory.clone())).create().unwrap();
        file.write_at(&text(2 * BLOCK), 0).unwrap();
        let kept = memory.0.lock().unwrap().clone();
        let mut read = vec![0; 2 * BLOCK];
        for at in [0, BLOCK - 1, BLOCK, 2 * BLOCK - 1] {
            memory.0.lock().unwrap()[at] ^= 1;
            let error = file.read_at(&mut read, 0).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidData, "{error}");
            memory.0.lock().unwrap().clone_from(&kept);
            file.read_at(&mut read, 0).unwrap();
        }
        memory.0.lock().unwrap().rotate_left(BLOCK);
        assert!(file.read_at(&mut read, 0).is_err());
        let other = SealedSpills::new(Arc::new(memory.clone())).create().unwrap();
        assert!(other.read_at(&mut read, 0).is_err(), "another file's");
    }
}
