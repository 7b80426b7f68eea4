//! A hash of 128 bits, in which equal values mean equal memory.
//!
//! Two independent lanes of 64 bits. In each, a word is mixed in by steps that can be undone (exclusive or, the product
//! with an odd number, rotation), so that two pages that differ in one word never have the same hash. That they have it
//! by chance otherwise, once in 2^128, is no concern: nobody chooses pages against us, and a cycle must close several
//! times.

/// Odd, with bits set as if at random: the fraction of the golden ratio, and that of the square root of two.
const FACTORS: [u64; 2] = [0x9E37_79B9_7F4A_7C15, 0x6A09_E667_F3BC_C909];

/// A hash in the making.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hash([u64; 2]);

impl Hash {
    /// Of nothing.
    pub const EMPTY: Hash = Hash([0x0123_4567_89AB_CDEF, 0xFEDC_BA98_7654_3210]);

    /// Mixes a word in.
    #[inline(always)]
    pub fn word(&mut self, word: u64) {
        let [a, b] = &mut self.0;
        *a = (*a ^ word).wrapping_mul(FACTORS[0]).rotate_left(29);
        *b = (*b ^ word.rotate_left(32)).wrapping_mul(FACTORS[1]).rotate_left(31);
    }

    /// Mixes another hash in.
    pub fn add(&mut self, other: Hash) {
        other.0.into_iter().for_each(|word| self.word(word));
    }

    /// Of all words; `None` when all are zero.
    pub fn of(words: &[u64]) -> Option<Hash> {
        let (mut hash, mut any) = (Hash::EMPTY, 0);
        for &word in words {
            hash.word(word);
            any |= word;
        }
        (any != 0).then_some(hash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bit_counts() {
        let page = [7u64; 512];
        let before = Hash::of(&page).expect("not empty");
        for word in [0, 1, 255, 511] {
            for bit in 0..64 {
                let mut changed = page;
                changed[word] ^= 1 << bit;
                let after = Hash::of(&changed).expect("not empty");
                assert!((0..2).all(|lane| after.0[lane] != before.0[lane]), "word {word}, bit {bit}");
            }
        }
    }

    #[test]
    fn order_counts() {
        let of = |words: [u64; 4]| Hash::of(&words);
        assert_ne!(of([1, 2, 3, 4]), of([2, 1, 3, 4]));
        assert_ne!(of([1, 2, 3, 4]), of([1, 2, 4, 3]));
        assert_eq!(of([0; 4]), None);
    }
}
