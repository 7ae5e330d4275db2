//! Datasets with one instance per text line: DIFUSCO and LEHD (`x y ... output tour`), LEHD and GOAL
//! (`depot,..,customer,..`, `depot,..,node,..`, `capacity,..,value,..`).

use crate::text::{did_you_mean, number, push_numbers, quoted};
use crate::{Array, Format, Place, RawInstance, ReadError, Source, WriteError};

/// Whether the first line that is not blank is such an instance: a key and a number, or three numbers and more.
pub(crate) fn sniff(text: &str) -> bool {
    let Some(first) = text.lines().map(str::trim).find(|line| !line.is_empty()) else { return false };
    if let Some((key, rest)) = first.split_once(',') {
        let value = rest.split(',').next().unwrap_or("");
        return ["depot", "capacity"].contains(&key.trim()) && number(value.trim()).is_some();
    }
    let numbers = first.split_whitespace().take(3).filter(|word| number(word).is_some()).count();
    numbers == 3 && !is_matrix(text)
}

/// Whether as many rows as numbers in the first one have the same number on the diagonal: no coordinates do.
pub(crate) fn is_matrix(text: &str) -> bool {
    let mut rows = text.lines().filter(|line| !line.trim().is_empty()).map(str::split_whitespace);
    let Some(first) = rows.next() else { return false };
    let (diagonal, columns) = (first.clone().next().and_then(number), first.count());
    let mut row = 0;
    let is_square = rows.all(|mut words| {
        row += 1;
        row < columns && words.nth(row).and_then(number) == diagonal
    });
    is_square && row + 1 == columns
}

/// Reads all lines.
pub(crate) fn decode(source: &Source) -> Result<Vec<RawInstance>, ReadError> {
    let text = source.text();
    let instances = text.lines().filter(|line| !line.trim().is_empty()).count();
    if instances > source.most_instances() {
        return Err(source.too_many_instances(instances));
    }
    let lines = text.lines().enumerate().map(|(index, line)| (Place::Line(index + 1), line.trim()));
    let lines = lines.filter(|(_, line)| !line.is_empty());
    lines
        .map(|(place, line)| {
            let mut raw =
                if line.contains(',') { keyed(source, &place, line)? } else { tour_line(source, &place, line)? };
            raw.place = place;
            Ok(raw)
        })
        .collect()
}

/// `x y x y ... output 1 5 3 1`: coordinates and, after `output`, nodes from 1.
fn tour_line(source: &Source, place: &Place, line: &str) -> Result<RawInstance, ReadError> {
    let (places, tour) = match line.split_once("output") {
        Some((places, tour)) => (places, Some(tour)),
        None => (line, None),
    };
    let coordinates = numbers(source, place, places.split_whitespace())?;
    if !coordinates.len().is_multiple_of(2) {
        let found = format!("{} numbers", coordinates.len());
        return Err(source.syntax(place.clone(), "pairs of coordinates", found));
    }
    let solution = tour.map(|tour| indices(source, place, tour.split_whitespace(), 1)).transpose()?;
    let mut raw = RawInstance { solution, ..RawInstance::default() };
    raw.insert("coordinates", Array::table(2, coordinates));
    Ok(raw)
}

fn numbers<'a>(source: &Source, place: &Place, words: impl Iterator<Item = &'a str>) -> Result<Vec<f64>, ReadError> {
    words.map(|word| number(word).ok_or_else(|| source.syntax(place.clone(), "a number", quoted(word)))).collect()
}

/// Node numbers that count from `first`, as indices from 0. Integers may be written with a fraction of zero.
fn indices<'a>(
    source: &Source,
    place: &Place,
    words: impl Iterator<Item = &'a str>,
    first: usize,
) -> Result<Vec<usize>, ReadError> {
    let index = |word: &str| crate::raw_instance::as_index(number(word)?)?.checked_sub(first);
    let expected = || format!("a number from {first}");
    words.map(|word| index(word).ok_or_else(|| source.syntax(place.clone(), expected(), quoted(word)))).collect()
}

const KEYS: [&str; 13] = [
    "depot",
    "customer",
    "node",
    "capacity",
    "demand",
    "cost",
    "node_flag",
    "prize",
    "max_length",
    "score",
    "value",
    "weight",
    "optimum",
];

/// Parts of a keyed line that are joined into fields.
#[derive(Default)]
struct Parts {
    depot: Vec<f64>,
    others: Vec<f64>,
    per_node: Option<(&'static str, Vec<f64>)>, // without the depot
}

/// `key,number,number,...,key,number,...`.
fn keyed(source: &Source, place: &Place, line: &str) -> Result<RawInstance, ReadError> {
    let mut raw = RawInstance::default();
    let mut parts = Parts::default();
    let mut words = line.split(',').map(str::trim).peekable();
    while let Some(key) = words.next() {
        if key.is_empty() && words.peek().is_none() {
            break; // a comma at the end of the line
        }
        let run = std::iter::from_fn(|| words.next_if(|word| number(word).is_some())).collect::<Vec<_>>();
        let values = || numbers(source, place, run.iter().copied());
        let single = || match run[..] {
            [word] => numbers(source, place, [word].into_iter()).map(|values| values[0]),
            _ => Err(source.syntax(place.clone(), format!("one number after {key}"), format!("{}", run.len()))),
        };
        match key {
            "depot" => parts.depot = values()?,
            "customer" | "node" => parts.others = values()?,
            "demand" => parts.per_node = Some(("demands", values()?)),
            "prize" => parts.per_node = Some(("prizes", values()?)),
            "value" => raw.insert("values", Array::list(values()?)),
            "weight" => raw.insert("weights", Array::list(values()?)),
            "capacity" => raw.insert("capacity", Array::scalar(single()?)),
            "max_length" => raw.insert("limit", Array::scalar(single()?)),
            "cost" | "score" | "optimum" => raw.cost = Some(single()?),
            "node_flag" => raw.solution = Some(flagged(source, place, &run)?),
            _ => {
                let expected = format!("one of the keys {}", KEYS.join(", "));
                let found = quoted(key) + &did_you_mean(key, KEYS);
                return Err(source.syntax(place.clone(), expected, found));
            }
        }
    }
    parts.join(source, place, &mut raw)?;
    Ok(raw)
}

impl Parts {
    /// The depot is the first node; its demand or prize is zero.
    fn join(self, source: &Source, place: &Place, raw: &mut RawInstance) -> Result<(), ReadError> {
        if let Some((name, values)) = self.per_node {
            raw.insert(name, Array::list([0.0].into_iter().chain(values).collect()));
        }
        if self.depot.is_empty() && self.others.is_empty() {
            return Ok(());
        }
        if self.depot.len() != 2 || !self.others.len().is_multiple_of(2) {
            let found = format!("{} and {} numbers", self.depot.len(), self.others.len());
            return Err(source.syntax(place.clone(), "two coordinates for the depot and for each node", found));
        }
        raw.insert("coordinates", Array::table(2, [self.depot, self.others].concat()));
        Ok(())
    }
}

/// `c1,..,cn,f1,..,fn`: customers in the order of the visit, then a 1 for each that is reached from the depot.
fn flagged(source: &Source, place: &Place, run: &[&str]) -> Result<Vec<usize>, ReadError> {
    let numbers = indices(source, place, run.iter().copied(), 0)?;
    if !numbers.len().is_multiple_of(2) {
        let found = format!("{} numbers", numbers.len());
        return Err(source.syntax(place.clone(), "as many flags as customers after node_flag", found));
    }
    let (customers, flags) = numbers.split_at(numbers.len() / 2);
    let mut solution = Vec::with_capacity(numbers.len());
    for (&customer, &flag) in customers.iter().zip(flags) {
        if flag != 0 && !solution.is_empty() {
            solution.push(0);
        }
        solution.push(customer);
    }
    Ok(solution)
}

/// Writes one line per instance.
pub(crate) fn encode(all: Vec<RawInstance>) -> Result<Vec<u8>, WriteError> {
    let mut text = String::new();
    for raw in all {
        super::only_exact(&raw, Format::Lines)?;
        push_line(&mut text, raw)?;
        text.push('\n');
    }
    Ok(text.into_bytes())
}

fn push_line(text: &mut String, mut raw: RawInstance) -> Result<(), WriteError> {
    if raw.has("values") {
        for (key, name) in [("capacity", "capacity"), ("value", "values"), ("weight", "weights")] {
            push_key(text, key, &take(&mut raw, name)?);
        }
        push_cost(text, "optimum", raw.cost);
    } else if raw.has("demands") {
        push_nodes(text, "customer", &take(&mut raw, "coordinates")?);
        push_key(text, "capacity", &take(&mut raw, "capacity")?);
        push_key(text, "demand", &take(&mut raw, "demands")?[1..]);
        push_cost(text, "cost", raw.cost);
        if let Some(solution) = &raw.solution {
            push_key(text, "node_flag", &with_flags(solution));
        }
    } else if raw.has("prizes") {
        push_nodes(text, "node", &take(&mut raw, "coordinates")?);
        let prizes = take(&mut raw, "prizes")?;
        super::only_idle_depot(&prizes, Format::Lines)?;
        push_key(text, "prize", &prizes[1..]);
        push_key(text, "max_length", &take(&mut raw, "limit")?);
        push_cost(text, "score", raw.cost);
    } else {
        push_numbers(text, " ", take(&mut raw, "coordinates")?);
        if let Some(solution) = &raw.solution {
            text.push_str(" output ");
            push_numbers(text, " ", solution.iter().chain(solution.first()).map(|&node| (node + 1) as f64));
        }
    }
    crate::write::all_written(Format::Lines, &raw, Format::JsonLines)
}

fn take(raw: &mut RawInstance, name: &str) -> Result<Vec<f64>, WriteError> {
    crate::write::take(raw, name, Format::Lines, Format::JsonLines).map(|array| array.values)
}

fn push_key(text: &mut String, key: &str, values: &[f64]) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push(',');
    }
    text.push_str(key);
    text.push(',');
    push_numbers(text, ",", values.iter().copied());
}

fn push_nodes(text: &mut String, key: &str, coordinates: &[f64]) {
    let (depot, others) = coordinates.split_at(2.min(coordinates.len()));
    push_key(text, "depot", depot);
    push_key(text, key, others);
}

fn push_cost(text: &mut String, key: &str, cost: Option<f64>) {
    if let Some(cost) = cost {
        push_key(text, key, &[cost]);
    }
}

/// The inverse of [`flagged`]. The first customer is reached from the depot too.
fn with_flags(solution: &[usize]) -> Vec<f64> {
    let mut customers = Vec::new();
    let mut flags = Vec::new();
    for route in solution.split(|&number| number == 0) {
        for (position, &customer) in route.iter().enumerate() {
            customers.push(customer as f64);
            flags.push(if position == 0 { 1.0 } else { 0.0 });
        }
    }
    [customers, flags].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_square_with_a_diagonal_is_a_matrix() {
        assert!(!sniff("0 2 9 4\n1 0 6 3\n\n15 7 0 2\n1 2 3 0\n"));
        assert!(!sniff("0\t2\t9\n1\t0\t6\n15\t7\t0\n"));
        assert!(sniff("0 2 9 4\n1 0 6 3\n15 7 0 2\n"), "three instances");
        assert!(sniff("0 2 9 4\n1 0 6 3\n15 7 1 2\n1 2 3 0\n"), "four instances");
        assert!(sniff("0 2 9 4 output 1 2 1\n"));
    }
}
