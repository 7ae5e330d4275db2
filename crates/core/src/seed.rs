//! Random sources that depend on a seed and a place only, never on threads or time.

use rand::SeedableRng;

/// The random generator used everywhere: small, fast, and with the same stream on every machine.
pub type Random = rand_pcg::Pcg64Mcg;

/// An independent generator for each place (say, instance 3, sample 5) under one seed.
pub fn random(seed: u64, place: &[u64]) -> Random {
    // SplitMix64's finaliser over the words: any change of any word changes everything.
    let mut state = seed;
    for word in place {
        state = mix(state ^ mix(word.wrapping_add(0x9E37_79B9_7F4A_7C15)));
    }
    Random::seed_from_u64(mix(state))
}

fn mix(mut word: u64) -> u64 {
    word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ (word >> 31)
}
