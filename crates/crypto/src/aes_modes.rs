//! AES-GCM and AES-CTR with the crates of RustCrypto.

use crate::block_modes::{BlockModes, Nonce, Tag};
use crate::fast_gcm::faster;
use crate::secret_key::SecretKey;
use aes::cipher::consts::{U12, U16};
use aes::cipher::inout::InOutBuf;
use aes::cipher::{BlockCipherEncrypt, BlockSizeUser, InnerIvInit, KeyInit, StreamCipherCore};
use aes::{Aes128, Aes192, Aes256};
use aes_gcm::AesGcm;
use aes_gcm::aead::AeadInOut;
use marquetry_base::{Error, Result};
use std::sync::Arc;

/// Prepares a key. Creates the cipher where it stays: a box that is moved into another allocation leaves memory that is not wiped.
pub(crate) fn block_modes(key: &SecretKey) -> Result<Arc<dyn BlockModes>> {
    let bytes = key.expose();
    let modes: Arc<dyn BlockModes> = match bytes.len() {
        16 => Arc::new(Aes::<Aes128>::new(bytes)?),
        24 => Arc::new(Aes::<Aes192>::new(bytes)?),
        _ => Arc::new(Aes::<Aes256>::new(bytes)?),
    };
    Ok(faster(key, modes))
}

struct Aes<A> {
    gcm: AesGcm<A, U12>,
    block: A,
}

impl<A: KeyInit + Clone + BlockSizeUser<BlockSize = U16> + BlockCipherEncrypt> Aes<A> {
    fn new(key: &[u8]) -> Result<Self> {
        let block = A::new_from_slice(key).map_err(|_| Error::argument("a key of a wrong length"))?;
        Ok(Aes { gcm: AesGcm::from(block.clone()), block })
    }
}

impl<A> BlockModes for Aes<A>
where
    A: BlockSizeUser<BlockSize = U16> + BlockCipherEncrypt + Send + Sync,
{
    fn gcm_encrypt(&self, nonce: &Nonce, aad: &[u8], data: &mut [u8]) -> Result<Tag> {
        let tag = self.gcm.encrypt_inout_detached(nonce.into(), aad, data.into());
        tag.map(Into::into).map_err(|_| Error::argument("more bytes than one AES-GCM module can have"))
    }

    fn gcm_decrypt(&self, nonce: &Nonce, aad: &[u8], input: &[u8], output: &mut [u8], tag: &Tag) -> bool {
        let Ok(bytes) = InOutBuf::new(input, output) else { return false };
        self.gcm.decrypt_inout_detached(nonce.into(), aad, bytes, tag.into()).is_ok()
    }

    fn ctr(&self, nonce: &Nonce, first_block: u32, input: &[u8], output: &mut [u8]) {
        let mut iv = [0; 16];
        iv[..12].copy_from_slice(nonce);
        iv[12..].copy_from_slice(&first_block.to_be_bytes());
        let core = ctr::CtrCore::<&A, ctr::flavors::Ctr32BE>::inner_iv_init(&self.block, &iv.into());
        if let Ok(bytes) = InOutBuf::new(input, output) {
            core.apply_keystream_partial(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(hex: &str) -> Vec<u8> {
        let digits: Vec<u32> = hex.chars().filter_map(|c| c.to_digit(16)).collect();
        digits.chunks(2).map(|pair| (pair[0] * 16 + pair[1]) as u8).collect()
    }

    fn modes(key: &str) -> Arc<dyn BlockModes> {
        block_modes(&SecretKey::new(bytes(key)).unwrap()).unwrap()
    }

    /// McGrew and Viega, "The Galois/Counter Mode of Operation", test cases 4, 10 and 16: key, ciphertext, tag.
    const GCM: [[&str; 3]; 3] = [
        [
            "feffe9928665731c6d6a8f9467308308",
            "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e
             21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091",
            "5bc94fbc3221a5db94fae95ae7121a47",
        ],
        [
            "feffe9928665731c6d6a8f9467308308feffe9928665731c",
            "3980ca0b3c00e841eb06fac4872a2757859e1ceaa6efd984628593b40ca1e19c
             7d773d00c144c525ac619d18c84a3f4718e2448b2fe324d9ccda2710",
            "2519498e80f1478f37ba55bd6d27618c",
        ],
        [
            "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308",
            "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa
             8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662",
            "76fc6ece0f4e1768cddf8853bb2d551b",
        ],
    ];
    const GCM_NONCE: &str = "cafebabefacedbaddecaf888";
    const GCM_AAD: &str = "feedfacedeadbeeffeedfacedeadbeefabaddad2";
    const GCM_PLAINTEXT: &str = "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72
         1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39";

    #[test]
    fn known_answers_of_gcm() {
        for [key, ciphertext, tag] in GCM {
            let (nonce, aad) = (bytes(GCM_NONCE).try_into().unwrap(), bytes(GCM_AAD));
            let (ciphertext, tag): (_, Tag) = (bytes(ciphertext), bytes(tag).try_into().unwrap());
            let (modes, mut data) = (modes(key), bytes(GCM_PLAINTEXT));
            assert_eq!(modes.gcm_encrypt(&nonce, &aad, &mut data).unwrap(), tag);
            assert_eq!(data, ciphertext);
            let mut out = vec![0; data.len()];
            assert!(modes.gcm_decrypt(&nonce, &aad, &ciphertext, &mut out, &tag));
            assert_eq!(out, bytes(GCM_PLAINTEXT));
            // Without the tag, GCM is CTR whose counter begins at 2.
            modes.ctr(&nonce, 2, &ciphertext, &mut out);
            assert_eq!(out, bytes(GCM_PLAINTEXT));
            for bit in 0..128 {
                let mut wrong = tag;
                wrong[bit / 8] ^= 1 << (bit % 8);
                assert!(!modes.gcm_decrypt(&nonce, &aad, &ciphertext, &mut out, &wrong));
            }
            assert!(!modes.gcm_decrypt(&nonce, &aad[1..], &ciphertext, &mut out, &tag));
        }
    }

    /// NIST SP 800-38A, F.5.1, F.5.3 and F.5.5: key, ciphertext.
    const CTR: [[&str; 2]; 3] = [
        [
            "2b7e151628aed2a6abf7158809cf4f3c",
            "874d6191b620e3261bef6864990db6ce9806f66b7970fdff8617187bb9fffdff
             5ae4df3edbd5d35e5b4f09020db03eab1e031dda2fbe03d1792170a0f3009cee",
        ],
        [
            "8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b",
            "1abc932417521ca24f2b0459fe7e6e0b090339ec0aa6faefd5ccc2c6f4ce8e94
             1e36b26bd1ebc670d1bd1d665620abf74f78a7f6d29809585a97daec58c6b050",
        ],
        [
            "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4",
            "601ec313775789a5b7a7f504bbf3d228f443e3ca4d62b59aca84e990cacaf5c5
             2b0930daa23de94ce87017ba2d84988ddfc9c58db67aada613c2dd08457941a6",
        ],
    ];
    const CTR_NONCE: &str = "f0f1f2f3f4f5f6f7f8f9fafb";
    const CTR_FIRST_BLOCK: u32 = 0xfcfd_feff;
    const CTR_PLAINTEXT: &str = "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51
         30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710";

    #[test]
    fn known_answers_of_ctr() {
        for [key, ciphertext] in CTR {
            let nonce = bytes(CTR_NONCE).try_into().unwrap();
            for (input, output) in [(CTR_PLAINTEXT, ciphertext), (ciphertext, CTR_PLAINTEXT)] {
                let mut out = vec![0; 64];
                modes(key).ctr(&nonce, CTR_FIRST_BLOCK, &bytes(input), &mut out);
                assert_eq!(out, bytes(output));
            }
        }
    }
}
