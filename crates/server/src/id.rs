//! Identifiers that nobody can guess.

/// 128 random bits in hexadecimal.
pub(crate) fn new() -> String {
    let mut bytes = [0; 16];
    // Without randomness of the system no id is safe to give out.
    getrandom::fill(&mut bytes).expect("the system has random numbers");
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
