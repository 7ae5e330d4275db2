//! Damage to bytes: flipped, cut, repeated, joined with others, with extreme numbers.

use std::io::{Cursor, Read, Write};

use rand::{Rng, RngExt};

/// Numbers and words that readers stumble over.
const EXTREMES: [&str; 24] = [
    "999999999999",
    "-1",
    "0",
    "-0",
    "1e308",
    "-1e308",
    "nan",
    "inf",
    "18446744073709551615",
    "18446744073709551616",
    "9223372036854775807",
    "1e-320",
    "0.5",
    "2",
    "65536",
    "4294967295",
    "4294967296",
    "",
    "1e999",
    "0x10",
    "null",
    "[]",
    "{}",
    "\u{feff}",
];

/// Bytes that mean something in some format.
const MARKS: &[u8] = b" \n\r,:;\t[]{}()-.0#\"'=\\\x00\xff\x80\x94]qhe.";

/// Damages an input in one to four places; archives mostly inside, where no checksum gives it away.
pub fn damage(input: &mut Vec<u8>, other: &[u8], rng: &mut impl Rng) {
    if input.starts_with(b"PK")
        && rng.random_bool(0.8)
        && let Some(repacked) = damage_inside(input, other, rng)
    {
        *input = repacked;
        return;
    }
    for _ in 0..rng.random_range(1..=4) {
        damage_once(input, other, rng);
    }
}

fn damage_once(bytes: &mut Vec<u8>, other: &[u8], rng: &mut impl Rng) {
    if bytes.is_empty() {
        bytes.extend(other);
        return;
    }
    let at = rng.random_range(0..bytes.len());
    let end = (at + rng.random_range(1..16)).min(bytes.len());
    match rng.random_range(0..11) {
        0 => bytes[at] ^= 1 << rng.random_range(0..8),
        1 => bytes.insert(at, rng.random()),
        2 => drop(bytes.drain(at..end)),
        3 => {
            let copy = bytes[at..end].to_vec();
            bytes.splice(at..at, copy);
        }
        4 => bytes.truncate(at),
        5 | 6 => replace_number(bytes, at, EXTREMES[rng.random_range(0..EXTREMES.len())]),
        7 => bytes[at] = MARKS[rng.random_range(0..MARKS.len())],
        8 => {
            let times = 1 << rng.random_range(1..10);
            let copies = bytes[at..end].repeat(times);
            bytes.splice(at..end, copies);
        }
        9 if !other.is_empty() => {
            let from = rng.random_range(0..other.len());
            let to = (from + rng.random_range(1..200)).min(other.len());
            bytes.splice(at..end, other[from..to].iter().copied());
        }
        _ => {
            let word = rng.random::<u64>() >> rng.random_range(0..64);
            let width = [1, 2, 4, 8][rng.random_range(0..4)].min(bytes.len() - at);
            bytes[at..at + width].copy_from_slice(&word.to_le_bytes()[..width]);
        }
    }
}

/// Replaces the first run of digits from a place on.
fn replace_number(bytes: &mut Vec<u8>, from: usize, number: &str) {
    let Some(start) = bytes[from..].iter().position(u8::is_ascii_digit).map(|offset| from + offset) else { return };
    let length = bytes[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    bytes.splice(start..start + length, number.bytes());
}

/// Damages one file of an archive and packs all again.
fn damage_inside(archive: &[u8], other: &[u8], rng: &mut impl Rng) -> Option<Vec<u8>> {
    const MOST: u64 = 1 << 20;
    let mut old = zip::ZipArchive::new(Cursor::new(archive)).ok()?;
    let mut new = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let unlucky = rng.random_range(0..old.len().max(1));
    for index in 0..old.len() {
        let file = old.by_index(index).ok()?;
        let name = file.name().ok()?.to_string();
        let mut bytes = Vec::new();
        file.take(MOST).read_to_end(&mut bytes).ok()?;
        if index == unlucky {
            damage_once(&mut bytes, other, rng);
        }
        let method =
            if rng.random_bool(0.5) { zip::CompressionMethod::Stored } else { zip::CompressionMethod::Deflated };
        new.start_file(name, zip::write::SimpleFileOptions::default().compression_method(method)).ok()?;
        new.write_all(&bytes).ok()?;
    }
    Some(new.finish().ok()?.into_inner())
}
