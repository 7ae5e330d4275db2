//! Solutions as plain lists of numbers: a tour, or routes separated by 0, the depot. They are read only.

use super::RawSolution;
use crate::{Format, Place, ReadError, Source};

/// Whether a text consists of integers from 0.
pub(crate) fn sniff(text: &str) -> bool {
    let mut numbers = text.split_whitespace().peekable();
    numbers.peek().is_some() && numbers.all(|word| word.parse::<u32>().is_ok())
}

/// Reads a list as a solution of a problem whose solutions usually have this format, with so many nodes.
pub(crate) fn decode(source: &Source, native: Format, dimension: usize) -> Result<RawSolution, ReadError> {
    let text = source.text();
    let numbers: Vec<usize> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let wrong = |expected: String, found: String| Err(source.syntax(Place::File, expected, found));
    let (has_first, has_last) = (numbers.contains(&0), numbers.contains(&dimension));
    let numbers = match native {
        Format::Sol if has_first => numbers,
        Format::Sol => {
            return wrong("customers from 1 with a 0, the depot, between the routes".into(), "no 0".into());
        }
        Format::Tour if has_first != has_last => {
            let first = usize::from(has_last); // the number of the first node
            numbers.into_iter().map(|node| node - first).collect()
        }
        Format::Tour if has_first => {
            return wrong(
                format!("nodes from 0 to {} or from 1 to {dimension}", dimension - 1),
                format!("0 and {dimension}"),
            );
        }
        Format::Tour => {
            let found = format!("neither 0 nor {dimension}, so that it is not clear which they are");
            return wrong(format!("nodes from 0 to {} or from 1 to {dimension}", dimension - 1), found);
        }
        _ => return wrong(format!("{dimension} zeros and ones, one per item"), "other numbers".into()),
    };
    Ok(RawSolution { problem: None, numbers: Some(numbers), claimed: None, size: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, native: Format, dimension: usize) -> Result<Vec<usize>, String> {
        let solution = decode(&Source::new("list.txt", text), native, dimension).map_err(|error| error.to_string())?;
        Ok(solution.numbers.unwrap_or_default())
    }

    #[test]
    fn tours_count_from_zero_or_from_one() {
        assert_eq!(read("2 0 1\n", Format::Tour, 3), Ok(vec![2, 0, 1]));
        assert_eq!(read("3\n1\n2\n3\n", Format::Tour, 3), Ok(vec![2, 0, 1, 2]));
        for (text, found) in [("0 3 1", "found 0 and 3"), ("1 2", "found neither 0 nor 3")] {
            let error = read(text, Format::Tour, 3).expect_err("ambiguous");
            assert!(error.contains("expected nodes from 0 to 2 or from 1 to 3") && error.contains(found), "{error}");
        }
    }

    #[test]
    fn routes_are_separated_by_the_depot() {
        assert_eq!(read("0 1 2 0\n0 3 0", Format::Sol, 4), Ok(vec![0, 1, 2, 0, 0, 3, 0]));
        let error = read("1 2 3", Format::Sol, 4).expect_err("where do routes end?");
        assert!(error.contains("expected customers from 1 with a 0, the depot, between the routes"), "{error}");
    }

    #[test]
    fn other_texts_are_no_lists() {
        for text in ["", " \n", "1 2.5 3", "-1 2", "0,1\n1,0\n", "Route #1: 2"] {
            assert!(!sniff(text), "{text}");
        }
        assert!(sniff("1 2\n3\t4\r\n"));
    }
}
