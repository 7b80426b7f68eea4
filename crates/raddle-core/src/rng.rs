//! The one random generator of raddle.
//!
//! xoshiro256++ (Blackman and Vigna), seeded through SplitMix64. The stream for a seed is part of
//! the contract "same seed, same run": it must never change between releases, which is why it is
//! written out here and pinned by a test.

/// A small, fast generator with a stream that is fixed for ever.
#[derive(Clone, Debug)]
pub struct Rng {
    s: [u64; 4],
}

/// One step of SplitMix64: advances `state` and returns a well-mixed value.
pub fn splitmix64(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// The seed of run number `run` (counted from 1) of a campaign with seed `campaign`.
pub fn run_seed(campaign: u64, run: u64) -> u64 {
    let mut state = campaign ^ run.wrapping_mul(0xD6E8_FEB8_6659_FD93);
    splitmix64(&mut state)
}

impl Rng {
    /// The generator for a seed.
    pub fn new(seed: u64) -> Rng {
        let mut state = seed;
        let mut s = [0; 4];
        for word in &mut s {
            *word = splitmix64(&mut state);
        }
        Rng { s }
    }

    /// A generator for one purpose within a run: streams of different purposes are independent.
    #[link_section = "raddle_run"]
    pub fn for_purpose(seed: u64, purpose: u64) -> Rng {
        Rng::new(seed ^ purpose.wrapping_mul(0xA24B_AED4_963E_E407))
    }

    /// 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        let s = &mut self.s;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// A uniform number below `n` (which must not be 0), by Lemire's method: exactly uniform.
    #[inline]
    pub fn below(&mut self, n: u64) -> u64 {
        debug_assert!(n > 0);
        let mut wide = u128::from(self.next_u64()) * u128::from(n);
        if (wide as u64) < n {
            let threshold = n.wrapping_neg() % n;
            while (wide as u64) < threshold {
                wide = u128::from(self.next_u64()) * u128::from(n);
            }
        }
        (wide >> 64) as u64
    }

    /// The number that the upper 53 bits of an output must be below, with probability `p`: what
    /// [`Rng::chance`] compares, without floating point on the way.
    pub fn threshold(p: f64) -> u64 {
        let scaled = p * (1u64 << 53) as f64;
        // Rounded up: the bits are whole numbers.
        scaled as u64 + u64::from(scaled as u64 as f64 != scaled)
    }

    /// True with probability `p`.
    #[inline]
    pub fn chance(&mut self, p: f64) -> bool {
        // 53 bits, the precision of a double in [0, 1).
        ((self.next_u64() >> 11) as f64) * (1.0 / (1u64 << 53) as f64) < p
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_never_changes() {
        let mut rng = Rng::new(1);
        let first: [u64; 4] = core::array::from_fn(|_| rng.next_u64());
        assert_eq!(first, [14971601782005023387, 13781649495232077965, 1847458086238483744, 13765271635752736470]);
    }

    #[test]
    fn the_threshold_is_the_same_chance() {
        for p in [0.0, 1e-300, 0.001, 0.1, 0.5, 1.0 - 1e-16, 1.0] {
            let (mut a, mut b) = (Rng::new(5), Rng::new(5));
            assert!((0..10_000).all(|_| a.chance(p) == (b.next_u64() >> 11 < Rng::threshold(p))), "{p}");
        }
    }

    #[test]
    fn below_is_uniform() {
        let mut rng = Rng::new(7);
        let mut counts = [0u32; 6];
        for _ in 0..60_000 {
            counts[rng.below(6) as usize] += 1;
        }
        // Chi-squared with 5 degrees of freedom; 20.5 is the 99.9% quantile.
        let chi: f64 = counts.iter().map(|&c| (f64::from(c) - 1e4).powi(2) / 1e4).sum();
        assert!(chi < 20.5, "chi-squared {chi}");
    }
}
