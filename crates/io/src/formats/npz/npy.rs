//! One numpy array: header and numbers of a `.npy` file (format versions 1 to 3).

use crate::Array;

/// What an array holds.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Content {
    /// Numbers of any type, as doubles.
    Numbers(Array),
    /// Strings, all axes flattened.
    Strings(Vec<String>),
}

/// How an array is stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    Float64,
    Int64,
    Bool,
}

const MAGIC: &[u8] = b"\x93NUMPY";

/// How many items an array has.
pub(super) struct Items {
    pub count: usize,
    pub width: usize, // bytes per item
    pub kind: ItemKind,
}

/// What the items of an array are.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum ItemKind {
    Number,
    String,
}

/// What an array holds, by its header and its length; errors are what was expected and what was found.
pub(super) fn items(bytes: &[u8]) -> Result<Items, (String, String)> {
    let header = Header::read(bytes)?;
    let count = header.shape.iter().try_fold(1_usize, |product, &axis| product.checked_mul(axis));
    let size = count.and_then(|count| count.checked_mul(header.width));
    match count.filter(|_| size == Some(header.data.len())) {
        Some(count) => {
            let kind = if header.kind == b'U' { ItemKind::String } else { ItemKind::Number };
            Ok(Items { count, width: header.width, kind })
        }
        None => {
            let expected = format!("{:?} items of {} bytes each", header.shape, header.width);
            Err((expected, format!("{} bytes", header.data.len())))
        }
    }
}

/// Reads an array; errors are what was expected and what was found.
pub(super) fn read(bytes: &[u8]) -> Result<Content, (String, String)> {
    items(bytes)?;
    let header = Header::read(bytes)?;
    if header.kind == b'U' {
        return Ok(Content::Strings(
            header.data.chunks_exact(header.width).map(|item| string(item, header.big)).collect(),
        ));
    }
    let number = number_reader(header.kind, header.width).ok_or_else(|| {
        ("numbers or strings".to_string(), format!("the type {}{}", char::from(header.kind), header.width))
    })?;
    let values = header.data.chunks_exact(header.width).map(|item| {
        let mut little = [0; 8];
        little[..item.len()].copy_from_slice(item);
        if header.big {
            little[..item.len()].reverse();
        }
        number(little)
    });
    let values = values.collect();
    let values = if header.fortran { to_row_major(&header.shape, values) } else { values };
    Ok(Content::Numbers(Array { shape: header.shape, values }))
}

/// From little-endian bytes, padded with zeros, to a double.
fn number_reader(kind: u8, width: usize) -> Option<fn([u8; 8]) -> f64> {
    fn four(b: [u8; 8]) -> [u8; 4] {
        [b[0], b[1], b[2], b[3]]
    }
    Some(match (kind, width) {
        (b'f', 8) => f64::from_le_bytes,
        (b'f', 4) => |b| f64::from(f32::from_le_bytes(four(b))),
        (b'f', 2) => |b| half(u16::from_le_bytes([b[0], b[1]])),
        (b'i', 8) => |b| i64::from_le_bytes(b) as f64,
        (b'i', 4) => |b| f64::from(i32::from_le_bytes(four(b))),
        (b'i', 2) => |b| f64::from(i16::from_le_bytes([b[0], b[1]])),
        (b'i', 1) => |b| f64::from(b[0] as i8),
        (b'u', 1..=8) if width.is_power_of_two() => |b| u64::from_le_bytes(b) as f64,
        (b'b', 1) => |b| f64::from(u8::from(b[0] != 0)),
        _ => return None,
    })
}

/// IEEE 754 half precision.
fn half(bits: u16) -> f64 {
    let (sign, exponent, fraction) = (bits >> 15, i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    let size = match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1.0 + fraction / 1024.0) * 2f64.powi(exponent - 15),
    };
    if sign == 1 { -size } else { size }
}

/// UCS-4 with zeros at the end.
fn string(item: &[u8], big: bool) -> String {
    let code = |unit: &[u8]| {
        let unit = [unit[0], unit[1], unit[2], unit[3]];
        if big { u32::from_be_bytes(unit) } else { u32::from_le_bytes(unit) }
    };
    let text: String = item.chunks_exact(4).map(|unit| char::from_u32(code(unit)).unwrap_or('?')).collect();
    text.trim_end_matches('\0').to_string()
}

/// From column-major to row-major order.
fn to_row_major(shape: &[usize], values: Vec<f64>) -> Vec<f64> {
    let mut strides = Vec::with_capacity(shape.len());
    let mut stride = 1;
    for axis in shape {
        strides.push(stride);
        stride *= axis;
    }
    let mut index = vec![0; shape.len()];
    let mut sorted = Vec::with_capacity(values.len());
    for _ in 0..values.len() {
        sorted.push(values[index.iter().zip(&strides).map(|(i, s)| i * s).sum::<usize>()]);
        for axis in (0..shape.len()).rev() {
            index[axis] += 1;
            if index[axis] < shape[axis] {
                break;
            }
            index[axis] = 0;
        }
    }
    sorted
}

struct Header<'a> {
    kind: u8,
    width: usize, // bytes per item
    big: bool,    // big-endian
    fortran: bool,
    shape: Vec<usize>,
    data: &'a [u8],
}

impl<'a> Header<'a> {
    fn read(bytes: &'a [u8]) -> Result<Self, (String, String)> {
        let no = |expected: &str, found: &str| (expected.to_string(), found.to_string());
        let rest = bytes.strip_prefix(MAGIC).ok_or_else(|| no("a numpy array", "other bytes"))?;
        let (length, rest) = match rest {
            [1, _, a, b, rest @ ..] => (usize::from(u16::from_le_bytes([*a, *b])), rest),
            [2 | 3, _, a, b, c, d, rest @ ..] => (u32::from_le_bytes([*a, *b, *c, *d]) as usize, rest),
            _ => return Err(no("a numpy array of version 1, 2 or 3", "another version")),
        };
        let (dictionary, data) =
            rest.split_at_checked(length).ok_or_else(|| no("a whole header", "the end of the array"))?;
        let text = std::str::from_utf8(dictionary).map_err(|_| no("a header in ASCII", "other bytes"))?;
        Self::parse(text, data).ok_or_else(|| no("a header with descr, fortran_order and shape", text.trim()))
    }

    /// `{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }`
    fn parse(text: &str, data: &'a [u8]) -> Option<Self> {
        let after = |key: &str| {
            let (_, rest) = text.split_once(&format!("'{key}'"))?;
            Some(rest.trim_start().strip_prefix(':')?.trim_start())
        };
        let descr = after("descr")?.strip_prefix('\'')?.split('\'').next()?;
        let mut letters = descr.bytes();
        let (order, kind) = (letters.next()?, letters.next()?);
        let digits = descr.get(2..)?;
        let units = digits.parse::<usize>().ok().filter(|&units| units > 0 && units < 1 << 20)?;
        let fortran = match after("fortran_order")?.split([',', '}']).next()?.trim() {
            "True" => true,
            "False" => false,
            _ => return None,
        };
        let (axes, _) = after("shape")?.strip_prefix('(')?.split_once(')')?;
        let axes = axes.split(',').map(str::trim).filter(|axis| !axis.is_empty());
        let shape =
            axes.map(|axis| axis.parse().ok()).collect::<Option<Vec<usize>>>().filter(|shape| shape.len() < 32)?;
        let width = if kind == b'U' { units * 4 } else { units };
        matches!(order, b'<' | b'>' | b'|' | b'=').then_some(())?;
        (kind == b'U' || width <= 8).then_some(Header { kind, width, big: order == b'>', fortran, shape, data })
    }
}

/// A `.npy` file of numbers.
pub(super) fn write_numbers(array: &Array, kind: Kind) -> Vec<u8> {
    let descr = match kind {
        Kind::Float64 => "<f8",
        Kind::Int64 => "<i8",
        Kind::Bool => "|b1",
    };
    let mut bytes = header(descr, &array.shape);
    for &value in &array.values {
        match kind {
            Kind::Float64 => bytes.extend(value.to_le_bytes()),
            Kind::Int64 => bytes.extend((value as i64).to_le_bytes()),
            Kind::Bool => bytes.push(u8::from(value != 0.0)),
        }
    }
    bytes
}

/// A `.npy` file of strings along one axis.
pub(super) fn write_strings(strings: &[String]) -> Vec<u8> {
    let width = strings.iter().map(|text| text.chars().count()).max().unwrap_or(0).max(1);
    let mut bytes = header(&format!("<U{width}"), &[strings.len()]);
    for text in strings {
        let codes = text.chars().map(u32::from).chain(std::iter::repeat(0)).take(width);
        bytes.extend(codes.flat_map(u32::to_le_bytes));
    }
    bytes
}

/// Magic, version 1.0 and the dictionary, padded so that the numbers are aligned to 64 bytes.
fn header(descr: &str, shape: &[usize]) -> Vec<u8> {
    let axes: String = shape.iter().map(|axis| format!("{axis}, ")).collect();
    let axes = if shape.len() > 1 { axes.trim_end_matches(", ") } else { axes.trim_end() };
    let mut text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({axes}), }}");
    let length = (MAGIC.len() + 4 + text.len() + 1).next_multiple_of(64) - MAGIC.len() - 4;
    text.push_str(&" ".repeat(length - text.len() - 1));
    text.push('\n');
    let mut bytes = MAGIC.to_vec();
    bytes.extend([1, 0]);
    bytes.extend((length as u16).to_le_bytes());
    bytes.extend(text.as_bytes());
    bytes
}
