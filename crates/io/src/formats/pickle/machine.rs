//! Pickle's stack machine for lists, tuples and numbers. Lists are kept in an arena, so that shared ones are neither
//! copied nor freed recursively.

use std::collections::HashMap;

/// A pickled value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value {
    /// A whole number.
    Int(f64),
    /// Any number.
    Float(f64),
    /// A list or tuple: index into the arena.
    List(usize),
}

/// The machine after its run.
pub(super) struct Machine {
    lists: Vec<Vec<Value>>,
    result: Value,
}

/// The machine during its run.
#[derive(Default)]
struct Run {
    lists: Vec<Vec<Value>>,
    stack: Vec<Value>,
    marks: Vec<usize>, // heights of the stack
    memo: HashMap<u32, Value>,
    room: usize, // bytes of memory
}

// Bytes of memory per entry of the three lists, which grow by doubling.
const VALUE: usize = 32;
const LIST: usize = 48;
const MEMO: usize = 56;

impl Machine {
    /// Runs a pickle; the error says what was found.
    pub fn run(bytes: &[u8]) -> Result<Self, String> {
        let mut run = Run { room: 40 * bytes.len() + (16 << 20), ..Run::default() };
        let mut rest = bytes;
        let cut = || "the end of the file inside the pickle".to_string();
        loop {
            let (&code, after) = rest.split_first().ok_or_else(cut)?;
            if code == b'.' {
                let result = run.stack.pop().ok_or("a pickle of nothing")?;
                return Ok(Machine { lists: run.lists, result });
            }
            let width = argument(code, after).ok_or_else(|| unknown(code, bytes.len() - after.len() - 1))?;
            let (argument, next) = after.split_at_checked(width).ok_or_else(cut)?;
            run.charge(code).ok_or("more lists and references than a file of this size has data for")?;
            run.step(code, argument).ok_or("a pickle that contradicts itself")?;
            rest = next;
        }
    }

    /// The pickled value.
    pub fn result(&self) -> Value {
        self.result
    }

    /// The items of a list or tuple.
    pub fn list(&self, value: Value) -> Option<&[Value]> {
        match value {
            Value::List(index) => self.lists.get(index).map(Vec::as_slice),
            _ => None,
        }
    }

    /// A number, and whether it is an int.
    pub fn number(&self, value: Value) -> Option<(f64, bool)> {
        match value {
            Value::Int(number) => Some((number, true)),
            Value::Float(number) => Some((number, false)),
            Value::List(_) => None,
        }
    }
}

fn unknown(code: u8, offset: usize) -> String {
    match code {
        b'c' | b'R' | 0x81 | 0x92 | 0x93 => {
            format!("a Python object at byte {offset} (numpy arrays must be stored with tolist())")
        }
        b'}' | b'X' | 0x8C | b'N' => format!("a dictionary, string or None at byte {offset}"),
        _ => format!("operation {code:#04x} at byte {offset}"),
    }
}

/// The length of an operation's argument; `None` for unsupported operations.
fn argument(code: u8, after: &[u8]) -> Option<usize> {
    Some(match code {
        b']' | b')' | b'(' | b'a' | b'e' | b'l' | b't' | 0x85..=0x89 | 0x94 => 0,
        0x80 | b'q' | b'h' | b'K' => 1,
        b'M' => 2,
        b'r' | b'j' | b'J' => 4,
        b'G' | 0x95 => 8,
        0x8A => 1 + usize::from(*after.first().unwrap_or(&0)),
        _ => return None,
    })
}

impl Run {
    /// Takes the memory that an operation needs, as long as there is some.
    fn charge(&mut self, code: u8) -> Option<()> {
        let bytes = match code {
            b']' | b')' | b'l' | b't' | 0x85..=0x87 => LIST + VALUE,
            b'q' | b'r' | 0x94 => MEMO,
            b'h' | b'j' | b'K' | b'M' | b'J' | 0x88..=0x8A | b'G' | b'(' => VALUE,
            _ => 0,
        };
        self.room = self.room.checked_sub(bytes)?;
        Some(())
    }

    fn step(&mut self, code: u8, argument: &[u8]) -> Option<()> {
        match code {
            0x80 | 0x95 => {} // protocol, frame
            b']' | b')' => self.push_list(Vec::new()),
            b'(' => self.marks.push(self.stack.len()),
            b'a' => {
                let item = self.stack.pop()?;
                self.top_list()?.push(item);
            }
            b'e' => {
                let items = self.above_mark()?;
                self.top_list()?.extend(items);
            }
            b'l' | b't' => {
                let items = self.above_mark()?;
                self.push_list(items);
            }
            0x85..=0x87 => {
                let items = self.split_off(self.stack.len().checked_sub(usize::from(code - 0x84))?)?;
                self.push_list(items);
            }
            0x94 => self.remember(u32::try_from(self.memo.len()).ok()?)?,
            b'q' | b'r' => self.remember(little_endian(argument) as u32)?,
            b'h' | b'j' => self.stack.push(*self.memo.get(&(little_endian(argument) as u32))?),
            b'K' | b'M' => self.stack.push(Value::Int(little_endian(argument) as f64)),
            b'J' => self.stack.push(Value::Int(f64::from(little_endian(argument) as u32 as i32))),
            0x88 | 0x89 => self.stack.push(Value::Int(f64::from(u8::from(code == 0x88)))),
            0x8A => self.stack.push(Value::Int(long(&argument[1..])?)),
            b'G' => self.stack.push(Value::Float(f64::from_be_bytes(argument.try_into().ok()?))),
            _ => return None,
        }
        Some(())
    }

    fn push_list(&mut self, items: Vec<Value>) {
        self.stack.push(Value::List(self.lists.len()));
        self.lists.push(items);
    }

    fn top_list(&mut self) -> Option<&mut Vec<Value>> {
        match self.stack.last()? {
            Value::List(index) => self.lists.get_mut(*index),
            _ => None,
        }
    }

    fn above_mark(&mut self) -> Option<Vec<Value>> {
        let height = self.marks.pop()?;
        self.split_off(height)
    }

    fn split_off(&mut self, height: usize) -> Option<Vec<Value>> {
        (height <= self.stack.len()).then(|| self.stack.split_off(height))
    }

    fn remember(&mut self, key: u32) -> Option<()> {
        self.memo.insert(key, *self.stack.last()?);
        Some(())
    }
}

fn little_endian(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// A signed integer of up to eight bytes.
fn long(bytes: &[u8]) -> Option<f64> {
    let unused = 64 - 8 * u32::try_from(bytes.len()).ok().filter(|&length| length <= 8)?;
    Some(if unused == 64 { 0.0 } else { ((little_endian(bytes) << unused) as i64 >> unused) as f64 })
}
