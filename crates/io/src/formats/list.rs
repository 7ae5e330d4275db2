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
    let (has_zero, has_last) = (numbers.contains(&0), numbers.contains(&dimension));
    let numbers = match native {
        Format::Sol if has_zero => numbers,
        Format::Sol => {
            return wrong("customers from 1 with a 0, the depot, between the routes".into(), "no 0".into());
        }
        Format::Tour if has_zero && has_last => {
            return wrong(
                format!("nodes from 0 to {} or from 1 to {dimension}", dimension - 1),
                format!("0 and {dimension}"),
            );
        }
        Format::Tour if has_zero => numbers,
        // Every tour visits the first node or depot, so that without a 0 it has the number 1.
        Format::Tour if has_last || numbers.contains(&1) => numbers.into_iter().map(|node| node - 1).collect(),
        Format::Tour => {
            let found = "neither; add it, so that it is clear from where nodes count";
            return wrong("the number of the first node or depot, 0 or 1".into(), found.into());
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
        let error = read("0 3 1", Format::Tour, 3).expect_err("from 0 or from 1?");
        assert!(error.contains("expected nodes from 0 to 2 or from 1 to 3, found 0 and 3"), "{error}");
    }

    #[test]
    fn tours_through_some_nodes_start_at_the_first() {
        assert_eq!(read("0 7 4 0\n", Format::Tour, 10), Ok(vec![0, 7, 4, 0]));
        assert_eq!(read("1 8 5\n", Format::Tour, 10), Ok(vec![0, 7, 4]));
        assert_eq!(read("8 5 10 1\n", Format::Tour, 10), Ok(vec![7, 4, 9, 0]));
        let error = read("8 5", Format::Tour, 10).expect_err("from 0 or from 1?");
        assert!(
            error.contains("expected the number of the first node or depot, 0 or 1, found neither; add"),
            "{error}"
        );
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
