//! The report as Markdown, and tables for terminals.

use super::{Cell, Document, Table};

/// The whole report but for its pictures.
pub(super) fn render(document: &Document) -> String {
    let mut text = format!("# {}\n", line(&document.title));
    for sentence in &document.lead {
        text += &format!("\n{}\n", line(sentence));
    }
    for section in document.sections.iter().filter(|section| !section.tables.is_empty() || !section.list.is_empty()) {
        text += &format!("\n## {}\n", line(&section.title));
        for paragraph in &section.text {
            text += &format!("\n{}\n", line(paragraph));
        }
        for table in &section.tables {
            text += &format!("\n{}\n\n{}", line(&table.caption), piped(table));
        }
        if !section.list.is_empty() {
            text += "\n";
        }
        for item in &section.list {
            text += &format!("- {}\n", line(item));
        }
    }
    text
}

fn piped(table: &Table) -> String {
    let row = |cells: &[Cell]| {
        let cells: Vec<String> = cells.iter().map(marked).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let rule = format!("|{}\n", "---|".repeat(table.head.len()));
    let rows: String = table.rows.iter().map(|cells| row(cells)).collect();
    format!("{}{rule}{rows}", row(&table.head))
}

/// What the paper says is set in italics.
fn marked(cell: &Cell) -> String {
    let text = line(&cell.text);
    if cell.published && text != "-" && !text.is_empty() { format!("*{text}*") } else { text }
}

/// Text that stays within its line and its cell, and means nothing to Markdown.
fn line(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '|' | '*' | '<' | '[' | '\\' => safe.extend(['\\', letter]),
            letter if letter.is_control() => safe.push(' '),
            letter => safe.push(letter),
        }
    }
    safe
}

/// Columns side by side, for a terminal.
pub(super) fn aligned(table: &Table) -> String {
    let lines: Vec<&Vec<Cell>> = std::iter::once(&table.head).chain(&table.rows).collect();
    let width = |k: usize| lines.iter().map(|line| line[k].text.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..table.head.len()).map(width).collect();
    let words: Vec<bool> = (0..table.head.len()).map(|column| table.holds_words(column)).collect();
    let mut text = String::new();
    for line in lines {
        let cells = line.iter().zip(&widths).zip(&words).map(|((cell, &width), &words)| match words {
            true => format!("{:<width$}", cell.text),
            false => format!("{:>width$}", cell.text),
        });
        text += cells.collect::<Vec<_>>().join("  ").trim_end();
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_leave_their_cells() {
        let hostile = Cell { text: "a|b\n# *c* <img>".into(), published: false };
        let table = Table { caption: String::new(), head: vec![Cell::default()], rows: vec![vec![hostile]] };
        assert_eq!(piped(&table), "|  |\n|---|\n| a\\|b # \\*c\\* \\<img> |\n");
    }
}
