//! Damage for the tests of parsers: random, but the same in every run.
//!
//! RADDLE_FUZZ_CASES is the number of inputs that each of these tests makes; more of them take longer and find more.

use std::path::PathBuf;

/// How many inputs a test makes: as many as it says itself, or as RADDLE_FUZZ_CASES says.
pub fn cases(usual: u64) -> u64 {
    let asked = std::env::var("RADDLE_FUZZ_CASES").ok();
    asked.map_or(usual, |text| text.parse().expect("RADDLE_FUZZ_CASES is a number"))
}

/// A source of random numbers, and of damage.
pub struct Mutator(u64);

impl Mutator {
    /// The same seed makes the same damage.
    pub fn new(seed: u64) -> Mutator {
        Mutator(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number (xorshift64*).
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number below a limit.
    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() >> 11) as usize % limit.max(1)
    }

    /// One of several things.
    pub fn one<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }

    /// A number that is likely to be at the edge of something.
    pub fn edge(&mut self) -> u64 {
        let near = [0, 1, 0x7f, 0x80, 0xff, 0xffff, 1 << 31, u64::from(u32::MAX), 1 << 40, i64::MAX as u64, u64::MAX];
        let edge = *self.one(&near);
        match self.below(4) {
            0 => self.next() >> self.below(64),
            1 => edge.wrapping_add(self.below(9) as u64).wrapping_sub(4),
            _ => edge,
        }
    }

    /// Changes some bytes of a part: bits, whole numbers, stretches that are copied, zeroed or dropped.
    pub fn damage(&mut self, bytes: &mut [u8], part: std::ops::Range<usize>) {
        let part = part.start.min(bytes.len())..part.end.min(bytes.len());
        if part.is_empty() {
            return;
        }
        for _ in 0..=self.below(6) {
            let at = part.start + self.below(part.len());
            match self.below(8) {
                0 | 1 => bytes[at] ^= 1 << self.below(8),
                2 => bytes[at] = self.edge() as u8,
                3 | 4 => {
                    let (number, size) = (self.edge().to_le_bytes(), *self.one(&[2, 4, 8]));
                    let end = (at + size).min(part.end);
                    bytes[at..end].copy_from_slice(&number[..end - at]);
                }
                5 => {
                    let (from, length) = (part.start + self.below(part.len()), self.below(64));
                    let length = length.min(part.end - at).min(part.end - from);
                    bytes.copy_within(from..from + length, at);
                }
                _ => {
                    let (fill, end) = (*self.one(&[0, 0xff, 0x80, 1]), (at + self.below(64)).min(part.end));
                    bytes[at..end].fill(fill);
                }
            }
        }
    }

    /// The same, or the end is missing, or a stretch is there twice.
    pub fn rough_damage(&mut self, bytes: &mut Vec<u8>) {
        let at = self.below(bytes.len());
        match self.below(6) {
            0 => bytes.truncate(at),
            1 => {
                let piece = bytes[at..(at + self.below(600)).min(bytes.len())].to_vec();
                let to = self.below(bytes.len());
                bytes.splice(to..to, piece);
            }
            _ => self.damage(bytes, 0..usize::MAX),
        }
    }
}

/// The most memory that this process had at once since [`forget_peak`], in bytes.
pub fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("is there");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("is there");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") << 10
}

/// Starts to look for the peak anew; says how much memory there is now.
pub fn forget_peak() -> u64 {
    std::fs::write("/proc/self/clear_refs", "5").expect("can be written");
    peak()
}

/// Keeps an input that broke something, and says where.
pub fn keep(name: &str, bytes: &[u8]) -> PathBuf {
    let path = std::env::temp_dir().join(format!("raddle-fuzz-{name}-{}", std::process::id()));
    std::fs::write(&path, bytes).expect("can be written");
    path
}
