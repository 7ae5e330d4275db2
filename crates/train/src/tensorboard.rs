//! TensorBoard's event files: protobuf messages in checksummed records (TensorFlow's `event.proto`, `summary.proto` and
//! TFRecord framing), as far as scalars need them.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

/// An event file that is being written.
pub(crate) struct EventFile(File);

impl EventFile {
    /// A new file in a folder; `time` in seconds since 1970 is part of its name, so that each session has its own.
    pub fn create(folder: &Path, time: f64) -> io::Result<Self> {
        let name = format!("events.out.tfevents.{}.{}.bqnco", time as u64, std::process::id());
        let mut events = EventFile(File::create(folder.join(name))?);
        let mut first = double(1, time);
        first.extend(text(3, b"brain.Event:2"));
        events.record(&first)?;
        Ok(events)
    }

    /// Adds numbers by name, as of a step.
    pub fn scalars(&mut self, time: f64, step: u64, numbers: &[(&str, f64)]) -> io::Result<()> {
        let mut summary = Vec::new();
        for (tag, number) in numbers {
            let mut value = text(1, tag.as_bytes());
            value.push(2 << 3 | 5); // field 2, four bytes
            value.extend((*number as f32).to_le_bytes());
            summary.extend(text(1, &value));
        }
        let mut event = double(1, time);
        event.push(2 << 3); // field 2, varint
        event.extend(varint(step));
        event.extend(text(5, &summary));
        self.record(&event)
    }

    fn record(&mut self, data: &[u8]) -> io::Result<()> {
        let length = (data.len() as u64).to_le_bytes();
        let mut record = length.to_vec();
        record.extend(masked_crc32c(&length).to_le_bytes());
        record.extend(data);
        record.extend(masked_crc32c(data).to_le_bytes());
        self.0.write_all(&record)
    }
}

fn double(field: u8, number: f64) -> Vec<u8> {
    std::iter::once(field << 3 | 1).chain(number.to_le_bytes()).collect()
}

/// Text, bytes or a message within a message.
fn text(field: u8, bytes: &[u8]) -> Vec<u8> {
    let length = varint(bytes.len() as u64);
    std::iter::once(field << 3 | 2).chain(length).chain(bytes.iter().copied()).collect()
}

/// Seven bits per byte, lowest first.
fn varint(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number >= 128 {
        bytes.push(number as u8 | 128);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

/// CRC-32C (Castagnoli), rotated and shifted as TFRecord requires.
fn masked_crc32c(bytes: &[u8]) -> u32 {
    crc32c(bytes).rotate_right(15).wrapping_add(0xa282_ead8)
}

fn crc32c(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |mut crc: u32, &byte| {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = crc >> 1 ^ (0x82f6_3b78 & (crc & 1).wrapping_neg());
        }
        crc
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_those_of_rfc_3720() {
        assert_eq!(crc32c(&[0; 32]), 0x8a91_36aa);
        assert_eq!(crc32c(&[0xff; 32]), 0x62a8_ab43);
        assert_eq!(crc32c(&(0..32).collect::<Vec<u8>>()), 0x46dd_794e);
    }

    #[test]
    fn numbers_of_any_length_are_written() {
        assert_eq!([varint(0), varint(127)], [vec![0], vec![127]]);
        assert_eq!(varint(300), [0xac, 0x02]);
    }
}
