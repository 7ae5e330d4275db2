//! Knapsack items as text: kplib's `.kp` and the older `n capacity` files.

use super::{RawSolution, Size};
use crate::text::{number, push_number, push_numbers, quoted};
use crate::{Array, Format, Place, RawInstance, ReadError, Source, WriteError};

/// Words with their lines.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().flat_map(|(index, line)| line.split_whitespace().map(move |word| (index + 1, word)))
}

/// `kp` if `n` is on a line of its own, `kp-text` if it is on the same line as the capacity.
///
/// Two numbers may also be coordinates. Then `n` must match the number of rows, up to one too few or too many, so that a
/// truncated file is not mistaken for a map. With the extension `kp` any count is accepted, with `csv` only an exact one.
pub(crate) fn sniff(text: &str, extension: &str) -> Option<Format> {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let head: Vec<_> = lines.next()?.split_whitespace().collect();
    let named = extension.eq_ignore_ascii_case("kp") && number(head[0]).is_some();
    let items = head[0].parse::<u32>().ok().filter(|&items| items > 0).map(|items| items as usize);
    match (&head[..], items) {
        ([_], Some(_)) => {
            let numbers = lines.next().is_some_and(|line| line.split_whitespace().all(|word| number(word).is_some()));
            (named || numbers).then_some(Format::Kp)
        }
        ([_, capacity], Some(items)) if number(capacity).is_some() => {
            let count = words(text).count();
            let fits = count == 2 * items + 2 || count == 3 * items + 2; // with zeros and ones
            let nearly = lines.count().abs_diff(items) == 1 && !extension.eq_ignore_ascii_case("csv");
            (fits || nearly || named).then_some(Format::KpText)
        }
        _ => named.then_some(Format::Kp),
    }
}

/// Reads items and, if present, the line of zeros and ones after them.
pub(crate) fn decode(source: &Source) -> Result<Vec<RawInstance>, ReadError> {
    let text = source.text();
    let mut numbers = words(&text).map(|(line, word)| {
        number(word)
            .ok_or_else(|| source.syntax(Place::Line(line), "a number", quoted(word)))
            .map(|value| (line, value))
    });
    let mut next =
        |what: &str| numbers.next().unwrap_or_else(|| Err(source.syntax(Place::File, what, "the end of the file")));
    let (line, claimed) = next("the number of items")?;
    let room = source.bytes().len() / 4; // an item takes two digits and two blanks
    let Some(items) = crate::raw_instance::as_index(claimed).filter(|&items| items > 0 && items <= room) else {
        let expected = format!("a number of items from 1 to {room}, which a file of this size can hold");
        return Err(source.syntax(Place::Line(line), expected, format!("{claimed}")));
    };
    let (_, capacity) = next("the capacity")?;
    let (mut values, mut weights) = (Vec::with_capacity(items), Vec::with_capacity(items));
    for item in 1..=items {
        values.push(next(&format!("the value of item {item} of {items}"))?.1);
        weights.push(next(&format!("the weight of item {item} of {items}"))?.1);
    }
    let rest = numbers.collect::<Result<Vec<_>, _>>()?;
    let solution = if rest.is_empty() { None } else { Some(chosen(source, items, &rest)?) };
    let mut raw = RawInstance { problem: None, solution, ..RawInstance::default() };
    raw.insert("values", Array::list(values));
    raw.insert("weights", Array::list(weights));
    raw.insert("capacity", Array::scalar(capacity));
    Ok(vec![raw])
}

/// The items chosen by a list of zeros and ones.
fn chosen(source: &Source, items: usize, flags: &[(usize, f64)]) -> Result<Vec<usize>, ReadError> {
    if let Some(&(line, flag)) = flags.iter().find(|(_, flag)| *flag != 0.0 && *flag != 1.0) {
        return Err(source.syntax(Place::Line(line), "0 or 1 for each item", format!("{flag}")));
    }
    if flags.len() != items {
        let place = Place::Line(flags.first().map_or(1, |(line, _)| *line));
        return Err(source.syntax(place, format!("{items} zeros and ones, one per item"), format!("{}", flags.len())));
    }
    Ok((0..items).filter(|&item| flags[item].1 == 1.0).collect())
}

/// Whether a text consists of zeros and ones.
pub(crate) fn sniff_solution(text: &str) -> bool {
    let mut flags = words(text).peekable();
    flags.peek().is_some() && flags.all(|(_, word)| word == "0" || word == "1")
}

/// Reads zeros and ones, one per item.
pub(crate) fn decode_solution(source: &Source) -> Result<RawSolution, ReadError> {
    let text = source.text();
    let flags: Vec<_> = words(&text).map(|(line, word)| (line, if word == "1" { 1.0 } else { 0.0 })).collect();
    let (numbers, size) = (Some(chosen(source, flags.len(), &flags)?), Some(Size::ZerosAndOnes(flags.len())));
    Ok(RawSolution { problem: None, numbers, claimed: None, size })
}

/// Writes items in one of the two forms; only `kp-text` can hold a solution.
pub(crate) fn encode(mut raw: RawInstance, format: Format) -> Result<Vec<u8>, WriteError> {
    let mut take = |name| crate::write::take(&mut raw, name, format, Format::Json);
    let (values, weights, capacity) = (take("values")?, take("weights")?, take("capacity")?);
    crate::write::all_written(format, &raw, Format::Json)?;
    let mut text = values.values.len().to_string();
    text.push(if format == Format::Kp { '\n' } else { ' ' });
    push_number(&mut text, capacity.values[0]);
    text.push_str(if format == Format::Kp { "\n\n" } else { "\n" });
    for (&value, &weight) in values.values.iter().zip(&weights.values) {
        push_numbers(&mut text, " ", [value, weight]);
        text.push('\n');
    }
    if let Some(solution) = raw.solution.filter(|_| format == Format::KpText) {
        text.push_str(&zeros_and_ones(&solution, values.values.len()));
    }
    Ok(text.into_bytes())
}

/// A line with a 1 for every chosen item.
pub(crate) fn zeros_and_ones(solution: &[usize], items: usize) -> String {
    let mut flags = vec!["0"; items];
    for &item in solution {
        if let Some(flag) = flags.get_mut(item) {
            *flag = "1";
        }
    }
    flags.join(" ") + "\n"
}
