//! CVRPLIB routes: `.sol`.

use std::fmt::Write;

use super::RawSolution;
use crate::text::{format_number, number, quoted};
use crate::{Place, ReadError, Source};

/// Whether the first line that is not blank is `Route #k: ...`.
pub(crate) fn sniff(text: &str) -> bool {
    let first = text.lines().map(str::trim).find(|line| !line.is_empty());
    first.is_some_and(|line| route(line).is_some())
}

/// What follows the colon of `Route #k: ...`.
fn route(line: &str) -> Option<&str> {
    let start = line.get(..5).filter(|word| word.eq_ignore_ascii_case("route"))?;
    let (number, customers) = line[start.len()..].split_once(':')?;
    number.trim().trim_start_matches('#').trim().parse::<u64>().ok().map(|_| customers)
}

/// Customers from 1, routes separated by 0, and the claimed cost. Lines with other words (`Time 3`) are skipped.
pub(crate) fn decode(source: &Source) -> Result<RawSolution, ReadError> {
    let mut numbers: Vec<usize> = Vec::new();
    let mut cost = None;
    for (index, line) in source.text().lines().enumerate() {
        let (place, line) = (Place::Line(index + 1), line.trim());
        if let Some(customers) = route(line) {
            if !numbers.is_empty() {
                numbers.push(0);
            }
            for word in customers.split_whitespace() {
                let customer = word.parse().ok().filter(|&customer| customer > 0);
                numbers.push(customer.ok_or_else(|| source.syntax(place.clone(), "a customer from 1", quoted(word)))?);
            }
        } else if let Some(value) = line.get(..4).filter(|word| word.eq_ignore_ascii_case("cost")).map(|_| &line[4..]) {
            let value = value.trim_matches([' ', '\t', ':', '=']);
            cost = Some(number(value).ok_or_else(|| source.syntax(place, "a number after Cost", quoted(value)))?);
        } else if line.starts_with(|c: char| !c.is_alphabetic() && c != '#') {
            return Err(source.syntax(place, "`Route #k: ...` or `Cost c`", quoted(line)));
        }
    }
    Ok(RawSolution { problem: None, numbers: Some(numbers), claimed: cost, size: None })
}

/// Writes routes separated by 0.
pub(crate) fn encode(numbers: &[usize], cost: f64) -> Vec<u8> {
    let mut text = String::new();
    let routes = numbers.split(|&number| number == 0).filter(|route| !route.is_empty());
    for (index, route) in routes.enumerate() {
        let customers: Vec<String> = route.iter().map(usize::to_string).collect();
        writeln!(text, "Route #{}: {}", index + 1, customers.join(" ")).expect("a string grows");
    }
    writeln!(text, "Cost {}", format_number(cost)).expect("a string grows");
    text.into_bytes()
}
