//! Identifiers that nobody can guess.

/// 128 random bits in hexadecimal.
pub(crate) fn new() -> String {
    let mut bytes = [0; 16];
    // Without randomness of the system no id is safe to give out.
    getrandom::fill(&mut bytes).expect("the system has random numbers");
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Whether a client's text can be an id: no other text reaches a store.
pub(crate) fn is_one(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_differ_and_are_known() {
        let (one, other) = (new(), new());
        assert!(one != other && is_one(&one) && is_one(&other));
        for text in ["", "0123", "\0", "z123456789abcdef0123456789abcdef"] {
            assert!(!is_one(text), "{text:?}");
        }
    }
}
