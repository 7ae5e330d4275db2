//! Numbers and words of text formats.

/// A finite number.
pub(crate) fn number(token: &str) -> Option<f64> {
    token.parse::<f64>().ok().filter(|value| value.is_finite())
}

/// Writes a number so that reading restores the same bits; integers without a fraction.
pub(crate) fn push_number(text: &mut String, value: f64) {
    use std::fmt::Write;
    let size = value.abs();
    let written =
        if size != 0.0 && !(1e-5..1e16).contains(&size) { write!(text, "{value:e}") } else { write!(text, "{value}") };
    written.expect("writing to a string cannot fail");
}

/// A number as [`push_number`] writes it.
pub(crate) fn format_number(value: f64) -> String {
    let mut text = String::new();
    push_number(&mut text, value);
    text
}

/// Numbers with a separator between them.
pub(crate) fn push_numbers(text: &mut String, separator: &str, values: impl IntoIterator<Item = f64>) {
    for (position, value) in values.into_iter().enumerate() {
        if position > 0 {
            text.push_str(separator);
        }
        push_number(text, value);
    }
}

/// A name without line breaks.
pub(crate) fn one_line(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect::<String>().trim().to_string()
}

/// What was found, quoted and truncated to a readable length.
pub(crate) fn quoted(found: &str) -> String {
    const MOST: usize = 40;
    let found = found.trim();
    match found.char_indices().nth(MOST) {
        Some((end, _)) => format!("`{}...`", &found[..end]),
        None => format!("`{found}`"),
    }
}

/// ` (did you mean X?)` for a word that is close to a known one, else empty.
pub(crate) fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let allowed = if word.chars().count() > 3 { 2 } else { 1 };
    let near = known.into_iter().map(|candidate| (edits(word, candidate), candidate)).min();
    match near {
        Some((distance, candidate)) if distance <= allowed => format!(" (did you mean `{candidate}`?)"),
        _ => String::new(),
    }
}

/// Levenshtein distance, ignoring case.
fn edits(a: &str, b: &str) -> usize {
    const MOST: usize = 64; // no keyword is longer
    let letters = |word: &str| word.chars().take(MOST).map(|c| c.to_ascii_lowercase()).collect::<String>();
    strsim::levenshtein(&letters(a), &letters(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_bits() {
        for value in [0.0, -0.0, 1.0, 0.1, 1e300, 5e-324, -1.5e-7, 1e16, 123456789012345680.0, 1.0 / 3.0] {
            assert_eq!(number(&format_number(value)).map(f64::to_bits), Some(value.to_bits()), "{value}");
        }
        assert_eq!(format_number(784.0), "784");
    }

    #[test]
    fn near_words_are_suggested() {
        assert_eq!(did_you_mean("DIMENSON", ["DIMENSION", "CAPACITY"]), " (did you mean `DIMENSION`?)");
        assert_eq!(did_you_mean("COLOUR", ["DIMENSION", "CAPACITY"]), "");
    }
}
