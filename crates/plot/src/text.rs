//! Formatted numbers, and the width of text.

/// A number for captions: integers in full, others to four significant digits or one decimal, whichever is more.
pub fn number(value: f64) -> String {
    if value == 0.0 {
        return "0".into(); // also -0
    }
    let magnitude = value.abs();
    if !(1e-4..1e15).contains(&magnitude) {
        return if value.is_finite() { format!("{value:.3e}") } else { value.to_string() };
    }
    let decimals = (3 - magnitude.log10().floor() as i32).max(1) as usize;
    trim(format!("{value:.decimals$}"))
}

/// Without trailing zeros of a decimal fraction.
pub(crate) fn trim(decimal: String) -> String {
    if decimal.contains('.') { decimal.trim_end_matches('0').trim_end_matches('.').into() } else { decimal }
}

/// Approximate width of a text (rather too large), by classes of letters of Roboto and Arial.
pub(crate) fn width(text: &str, size: f64) -> f64 {
    let em = |letter: char| match letter {
        'i' | 'j' | 'l' | 'I' | '\'' | '|' | '.' | ',' | ':' | ';' | '!' | ' ' | '[' | ']' => 0.27,
        'f' | 't' | 'r' | '(' | ')' | '-' | '"' | '{' | '}' => 0.36,
        'm' | 'M' | 'W' | '@' | '%' | 'w' => 0.88,
        'A'..='Z' => 0.66,
        '\0'..='\u{52F}' => 0.56,
        _ => 1.0,
    };
    size * text.chars().map(em).sum::<f64>()
}

/// The text and its font size: reduced down to three quarters and then truncated if it would be too wide.
pub(crate) fn fit(text: &str, size: f64, room: f64) -> (String, f64) {
    let fitting = size * (room / width(text, size).max(1.0)).min(1.0);
    let smallest = 0.75 * size;
    if fitting >= smallest {
        return (text.into(), fitting);
    }
    let mut short = String::new();
    for letter in text.chars() {
        if width(&short, smallest) + 2.0 * smallest > room {
            break;
        }
        short.push(letter);
    }
    (format!("{}…", short.trim_end()), smallest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_short_and_never_lose_an_integer() {
        let cases = [(7544.0, "7544"), (645_238.0, "645238"), (7.84213, "7.842"), (-0.0, "0"), (12_345.678, "12345.7")];
        for (value, text) in cases {
            assert_eq!(number(value), text);
        }
        assert_eq!(number(0.000_012_34), "1.234e-5");
        assert_eq!(number(f64::INFINITY), "inf");
        assert_eq!(number(999.99999), "1000");
    }

    #[test]
    fn long_texts_shrink_and_then_are_cut() {
        assert_eq!(fit("short", 20.0, 700.0), ("short".into(), 20.0));
        let (text, size) = fit(&"a".repeat(70), 20.0, 700.0);
        assert!(text.len() == 70 && size < 20.0);
        let (text, size) = fit(&"a".repeat(700), 20.0, 700.0);
        assert!(text.ends_with('…') && width(&text, size) <= 700.0);
    }
}
