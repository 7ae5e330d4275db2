//! The members of a JSON object, without building their values: an instance may be large.

use std::collections::BTreeMap;

use serde::de::{DeserializeOwned, IgnoredAny};

/// The values of an object by key, as they are written; `None` if the bytes are not one JSON object.
pub fn members(bytes: &[u8]) -> Option<BTreeMap<String, &[u8]>> {
    let mut members = BTreeMap::new();
    let mut rest = after(bytes, b'{')?;
    if let Some(end) = after(rest, b'}') {
        return end.trim_ascii().is_empty().then_some(members);
    }
    loop {
        let (key, more) = value::<String>(rest)?;
        let before = after(more, b':')?.trim_ascii_start();
        let (_, more) = value::<IgnoredAny>(before)?;
        members.insert(key, before[..before.len() - more.len()].trim_ascii_end());
        match after(more, b',') {
            Some(next) => rest = next,
            None => return after(more, b'}').filter(|end| end.trim_ascii().is_empty()).map(|_| members),
        }
    }
}

/// What follows a mark, after blanks.
fn after(bytes: &[u8], mark: u8) -> Option<&[u8]> {
    bytes.trim_ascii_start().strip_prefix(&[mark])
}

/// The value at the beginning, and what follows it.
fn value<T: DeserializeOwned>(bytes: &[u8]) -> Option<(T, &[u8])> {
    let mut values = serde_json::Deserializer::from_slice(bytes).into_iter::<T>();
    let first = values.next()?.ok()?;
    Some((first, &bytes[values.byte_offset()..]))
}

/// A JSON string, if the value is one.
pub fn text(value: &[u8]) -> Option<String> {
    serde_json::from_slice(value).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_as_they_are_written() {
        let json = br#" { "a" : [1, {"b": "}"}] , "c":1.50,"d": "x\"y" } "#;
        let found = members(json).expect("an object");
        assert_eq!(found["a"], br#"[1, {"b": "}"}]"#);
        assert_eq!((found["c"], found["d"], found.len()), (&b"1.50"[..], &br#""x\"y""#[..], 3));
        assert_eq!(text(found["d"]).as_deref(), Some("x\"y"));
        assert_eq!(members(b"{}").map(|found| found.len()), Some(0));
        for other in ["[1]", "{", r#"{"a"}"#, r#"{"a": 1} x"#, r#"{"a": 1,}"#, r#"{"a": nope}"#, ""] {
            assert!(members(other.as_bytes()).is_none(), "{other}");
        }
    }
}
