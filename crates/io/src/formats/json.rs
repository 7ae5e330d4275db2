//! This project's JSON: one object, an array of objects, or one object per line.

use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use crate::text::{did_you_mean, push_number, push_numbers};
use crate::{Array, Format, Metric, Place, RawInstance, ReadError, Source};

/// Whether a text can be JSON, and which of the two forms.
pub(crate) fn sniff(text: &str) -> Option<Format> {
    let text = text.trim_start();
    let mut objects = text.lines().map(str::trim).filter(|line| !line.is_empty());
    match text.as_bytes().first()? {
        b'{' if objects.next()?.ends_with('}') && objects.next().is_some() => Some(Format::JsonLines),
        b'{' => Some(Format::Json),
        b'[' if text[1..].trim_start().starts_with(['{', ']']) => Some(Format::Json),
        _ => None,
    }
}

/// Reads all objects.
pub(crate) fn decode(source: &Source) -> Result<Vec<RawInstance>, ReadError> {
    let text = source.text();
    let objects = text.bytes().filter(|&byte| byte == b'{').count();
    if objects > source.most_instances() {
        return Err(source.too_many_instances(objects));
    }
    let mut all = Vec::new();
    for entries in serde_json::Deserializer::from_str(&text).into_iter::<Entries>() {
        let entries = entries.map_err(|error| {
            let message = error.to_string();
            let found = message.split(" at line ").next().unwrap_or(&message).to_string();
            source.syntax(Place::Line(error.line()), "an instance in JSON", found)
        })?;
        all.extend(entries.0);
    }
    if all.len() > 1 {
        all.iter_mut().enumerate().for_each(|(index, raw)| raw.place = Place::Instance(index + 1));
    }
    Ok(all)
}

/// One object or an array of them.
struct Entries(Vec<RawInstance>);

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(EntriesVisitor)
    }
}

struct EntriesVisitor;

impl<'de> Visitor<'de> for EntriesVisitor {
    type Value = Entries;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object or an array of objects")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Entries, A::Error> {
        Ok(Entries(vec![read_object(map)?]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut objects: A) -> Result<Entries, A::Error> {
        let mut all = Vec::new();
        while let Some(Entries(mut one)) = objects.next_element()? {
            if one.len() != 1 {
                return Err(A::Error::custom("an array inside the array of instances"));
            }
            all.append(&mut one);
        }
        Ok(Entries(all))
    }
}

fn read_object<'de, A: MapAccess<'de>>(mut map: A) -> Result<RawInstance, A::Error> {
    let mut raw = RawInstance::default();
    while let Some(key) = map.next_key::<String>()? {
        match key.as_str() {
            "problem" => raw.problem = map.next_value()?,
            "name" => raw.name = map.next_value()?,
            "cost" => raw.cost = map.next_value()?,
            "metric" => {
                let name: String = map.next_value()?;
                let names = || Metric::ALL.into_iter().map(Metric::name);
                let metric = Metric::from_name(&name);
                let unknown =
                    || A::Error::custom(format!("the unknown metric `{name}`{}", did_you_mean(&name, names())));
                raw.metric = Some(metric.ok_or_else(unknown)?);
            }
            "solution" => raw.solution = map.next_value::<Option<Solution>>()?.map(|solution| solution.0),
            _ => {
                let array = map
                    .next_value_seed(Numbers::default())
                    .map_err(|e| A::Error::custom(format!("in `{key}`: {e}")))?;
                raw.insert(key, array);
            }
        }
    }
    Ok(raw)
}

/// Node or item numbers; lists of them (routes) are joined by 0.
struct Solution(Vec<usize>);

impl<'de> Deserialize<'de> for Solution {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(serde::Deserialize)]
        #[serde(untagged)]
        enum Entry {
            Number(usize),
            Route(Vec<usize>),
        }
        let entries = Vec::<Entry>::deserialize(deserializer)
            .map_err(|_| D::Error::custom("a `solution` that is no list of numbers from 0 or of such lists"))?;
        let mut numbers = Vec::new();
        for entry in entries {
            match entry {
                Entry::Number(number) => numbers.push(number),
                Entry::Route(route) => {
                    if !numbers.is_empty() {
                        numbers.push(0);
                    }
                    numbers.extend(route);
                }
            }
        }
        Ok(Solution(numbers))
    }
}

/// Collects a number or nested lists of numbers while they are parsed.
#[derive(Default)]
struct Numbers {
    values: Vec<f64>,
    shape: Vec<usize>,
    leaf: Option<usize>, // depth of the numbers
}

/// More axes than any field has.
const DEEPEST: usize = 3;

impl<'de> DeserializeSeed<'de> for Numbers {
    type Value = Array;

    fn deserialize<D: Deserializer<'de>>(mut self, deserializer: D) -> Result<Array, D::Error> {
        Level { numbers: &mut self, depth: 0 }.deserialize(deserializer)?;
        Ok(Array { shape: self.shape, values: self.values })
    }
}

struct Level<'a> {
    numbers: &'a mut Numbers,
    depth: usize,
}

impl<'de> DeserializeSeed<'de> for Level<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Level<'_> {
    fn number<E: Error>(self, value: f64) -> Result<(), E> {
        if *self.numbers.leaf.get_or_insert(self.depth) != self.depth || self.numbers.shape.len() > self.depth {
            return Err(E::custom("a number beside a list"));
        }
        self.numbers.values.push(value);
        Ok(())
    }
}

impl<'de> Visitor<'de> for Level<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number or lists of numbers")
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        self.number(value)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        self.number(value as f64)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        self.number(value as f64)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        self.number(f64::from(u8::from(value)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let Level { numbers, depth } = self;
        if depth >= DEEPEST || numbers.leaf.is_some_and(|leaf| leaf <= depth) {
            return Err(A::Error::custom("a list where a number should be"));
        }
        let mut length = 0;
        while list.next_element_seed(Level { numbers, depth: depth + 1 })?.is_some() {
            length += 1;
        }
        match numbers.shape.get(depth) {
            Some(&expected) if expected != length && expected != UNKNOWN => {
                Err(A::Error::custom(format!("lists of different lengths, {expected} and {length}")))
            }
            _ => {
                numbers.shape.resize(numbers.shape.len().max(depth + 1), UNKNOWN);
                numbers.shape[depth] = length;
                Ok(())
            }
        }
    }
}

/// The length of a list that has not ended yet.
const UNKNOWN: usize = usize::MAX;

/// Writes one object, or an array if there are more (or none).
pub(crate) fn encode(all: &[RawInstance]) -> Vec<u8> {
    let mut text = String::new();
    match all {
        [raw] => push_object(&mut text, raw, "\n  ", "\n"),
        _ => {
            text.push('[');
            for (index, raw) in all.iter().enumerate() {
                text.push_str(if index > 0 { ",\n" } else { "\n" });
                push_object(&mut text, raw, " ", " ");
            }
            text.push_str("\n]");
        }
    }
    text.push('\n');
    text.into_bytes()
}

/// Writes one object per line.
pub(crate) fn encode_lines(all: &[RawInstance]) -> Vec<u8> {
    let mut text = String::new();
    for raw in all {
        push_object(&mut text, raw, " ", " ");
        text.push('\n');
    }
    text.into_bytes()
}

fn push_object(text: &mut String, raw: &RawInstance, before: &str, after: &str) {
    let mut first = true;
    let mut key = |text: &mut String, key: &str| {
        text.push_str(if first { "{" } else { "," });
        text.push_str(before);
        text.push_str(&format!("{}: ", string(key)));
        first = false;
    };
    let words = [
        ("problem", raw.problem.as_deref()),
        ("name", raw.name.as_deref()),
        ("metric", raw.metric.filter(|_| raw.has("coordinates")).map(Metric::name)),
    ];
    for (name, word) in words {
        if let Some(word) = word {
            key(text, name);
            text.push_str(&string(word));
        }
    }
    for (name, array) in raw.arrays() {
        key(text, name);
        push_array(text, &array.shape, &array.values);
    }
    if let Some(solution) = &raw.solution {
        key(text, "solution");
        push_array(text, &[solution.len()], &solution.iter().map(|&node| node as f64).collect::<Vec<_>>());
    }
    if let Some(cost) = raw.cost.filter(|cost| cost.is_finite()) {
        key(text, "cost");
        push_number(text, cost);
    }
    text.push_str(if first { "{" } else { after });
    text.push('}');
}

fn string(word: &str) -> String {
    serde_json::Value::from(word).to_string()
}

fn push_array(text: &mut String, shape: &[usize], values: &[f64]) {
    match shape {
        [] => push_numbers(text, "", values.first().copied()),
        [_] => {
            text.push('[');
            push_numbers(text, ", ", values.iter().copied());
            text.push(']');
        }
        [rows, inner @ ..] => {
            text.push('[');
            for (index, row) in values.chunks((values.len() / rows.max(&1)).max(1)).enumerate() {
                text.push_str(if index > 0 { ", " } else { "" });
                push_array(text, inner, row);
            }
            text.push(']');
        }
    }
}
