//! The structure of a TSPLIB file: headers and sections, with their lines.

use std::collections::HashMap;

use super::keywords::is_read;
use crate::text::{number, quoted};
use crate::{Place, ReadError, Source};

/// Headers and sections in the order of the file.
pub(crate) struct TsplibDocument<'a> {
    source: &'a Source,
    headers: Vec<Header<'a>>,
    sections: Vec<Section<'a>>,
}

/// `KEY : value`.
#[derive(Clone, Copy)]
pub(crate) struct Header<'a> {
    pub key: &'a str,
    pub value: &'a str,
    pub line: usize,
}

/// `SOME_SECTION` and the lines below it.
#[derive(Clone, Copy)]
pub(crate) struct Section<'a> {
    pub key: &'a str,
    body: &'a str,
    pub line: usize, // of the keyword
}

/// The word before a colon or a blank, if it begins with a letter.
fn keyword(line: &str) -> Option<&str> {
    let word = line.split([':', ' ', '\t', '\r', '\n']).next()?;
    word.starts_with(|c: char| c.is_ascii_alphabetic()).then_some(word)
}

/// Whether the first line that is not blank begins with a TSPLIB keyword.
pub(crate) fn sniff(text: &str) -> bool {
    let first = text.lines().map(str::trim_start).find(|line| !line.is_empty());
    first.and_then(keyword).is_some_and(is_read)
}

impl<'a> TsplibDocument<'a> {
    /// Splits a text into headers and sections, of any keywords.
    pub fn new(source: &'a Source, text: &'a str) -> Result<Self, ReadError> {
        let document = Self::split(source, text)?;
        let headers = document.headers.iter().map(|header| (header.key, header.line));
        let sections = document.sections.iter().map(|section| (section.key, section.line));
        let mut seen = HashMap::new();
        for (key, line) in headers.chain(sections).filter(|(key, _)| !key.eq_ignore_ascii_case("COMMENT")) {
            if let Some(first) = seen.insert(key.to_ascii_uppercase(), line) {
                let expected = format!("`{key}` only once, as in line {first}");
                return Err(source.syntax(Place::Line(line), expected, "it again"));
            }
        }
        Ok(document)
    }

    fn split(source: &'a Source, text: &'a str) -> Result<Self, ReadError> {
        let mut document = TsplibDocument { source, headers: Vec::new(), sections: Vec::new() };
        let mut open: Option<(&str, usize, usize)> = None; // key, line, start of the body
        let mut offset = 0;
        for (index, raw) in text.split_inclusive('\n').enumerate() {
            let (start, line, content) = (offset, index + 1, raw.trim());
            offset += raw.len();
            let Some(key) = keyword(content) else {
                if open.is_none() && !content.is_empty() {
                    return Err(source.syntax(Place::Line(line), "a keyword of TSPLIB", quoted(content)));
                }
                continue;
            };
            if let Some((key, line, body)) = open.take() {
                document.sections.push(Section { key, line, body: &text[body..start] });
            }
            if key.eq_ignore_ascii_case("EOF") {
                return Ok(document);
            }
            if key.len() > "_SECTION".len() && key.to_ascii_uppercase().ends_with("_SECTION") {
                open = Some((key, line, offset));
            } else {
                let value = content[key.len()..].trim_start_matches([':', ' ', '\t']);
                document.headers.push(Header { key, value, line });
            }
        }
        if let Some((key, line, body)) = open {
            document.sections.push(Section { key, line, body: &text[body..] });
        }
        Ok(document)
    }

    /// The file.
    pub fn source(&self) -> &'a Source {
        self.source
    }

    /// The header with this key; of several comments the first.
    pub fn header(&self, key: &str) -> Option<Header<'a>> {
        self.headers.iter().find(|header| header.key.eq_ignore_ascii_case(key)).copied()
    }

    /// All values of a header.
    pub fn values(&self, key: &str) -> impl Iterator<Item = &'a str> {
        self.headers.iter().filter(move |header| header.key.eq_ignore_ascii_case(key)).map(|header| header.value)
    }

    /// The section with this key.
    pub fn section(&self, key: &str) -> Option<Section<'a>> {
        self.sections.iter().find(|section| section.key.eq_ignore_ascii_case(key)).copied()
    }

    /// All headers, in the order of the file.
    pub fn headers(&self) -> impl Iterator<Item = &Header<'a>> {
        self.headers.iter()
    }

    /// All sections, in the order of the file.
    pub fn sections(&self) -> impl Iterator<Item = &Section<'a>> {
        self.sections.iter()
    }

    /// A required header.
    pub fn needed(&self, key: &'static str) -> Result<Header<'a>, ReadError> {
        self.header(key).ok_or_else(|| self.missing(key))
    }

    /// A required section.
    pub fn needed_section(&self, key: &'static str) -> Result<Section<'a>, ReadError> {
        self.section(key).ok_or_else(|| self.missing(key))
    }

    fn missing(&self, key: &'static str) -> ReadError {
        self.source.syntax(Place::File, format!("the keyword {key}"), "none")
    }

    /// The number in a header.
    pub fn number(&self, header: Header<'a>) -> Result<f64, ReadError> {
        let word = header.value.split_whitespace().next().unwrap_or("");
        number(word).ok_or_else(|| {
            self.source.syntax(Place::Line(header.line), format!("a number for {}", header.key), quoted(header.value))
        })
    }

    /// `DIMENSION`, if the file is large enough for that many nodes.
    pub fn dimension(&self) -> Result<usize, ReadError> {
        let header = self.needed("DIMENSION")?;
        let bytes = self.source.bytes().len();
        let value = self.number(header)?;
        let place = Place::Line(header.line);
        match crate::raw_instance::as_index(value) {
            Some(nodes) if nodes > 0 && nodes <= bytes => Ok(nodes),
            Some(nodes) if nodes > 0 => Err(self.source.syntax(
                place,
                format!("a DIMENSION that fits a file of {bytes} bytes"),
                quoted(header.value),
            )),
            _ => Err(self.source.syntax(place, "a whole number above 0 for DIMENSION", quoted(header.value))),
        }
    }
}

impl<'a> Section<'a> {
    /// The lines that are not blank, with their numbers.
    pub fn lines(&self) -> impl Iterator<Item = (usize, &'a str)> + use<'a> {
        let first = self.line + 1;
        let lines = self.body.lines().enumerate().map(move |(index, line)| (first + index, line.trim()));
        lines.filter(|(_, line)| !line.is_empty())
    }

    /// The words, with their lines.
    pub fn words(&self) -> impl Iterator<Item = (usize, &'a str)> + use<'a> {
        self.lines().flat_map(|(line, content)| content.split_whitespace().map(move |word| (line, word)))
    }

    /// Bytes below the keyword.
    pub fn bytes(&self) -> usize {
        self.body.len()
    }

    /// Node numbers up to -1 or the end, unchanged.
    pub fn nodes_until_minus_one(&self, source: &Source) -> Result<Vec<usize>, ReadError> {
        let mut nodes = Vec::new();
        for (line, word) in self.words() {
            match word {
                "-1" => break,
                _ => nodes.push(word.parse::<usize>().map_err(|_| {
                    source.syntax(Place::Line(line), format!("a node number in {}", self.key), quoted(word))
                })?),
            }
        }
        Ok(nodes)
    }
}
