//! The report as one page: no scripts, nothing from elsewhere, light or dark as the reader likes.

use bqnco::plot::escaped;

use super::{Cell, Document, Section, Table};

const STYLE: &str = include_str!("style.css");

/// The whole page.
pub(super) fn render(document: &Document) -> String {
    let title = escaped(&document.title);
    let lead: String = document.lead.iter().map(|sentence| format!("<p>{}</p>\n", escaped(sentence))).collect();
    let links: Vec<String> = (document.sections.iter().enumerate())
        .map(|(k, section)| format!("<a href=\"#s{k}\">{}</a>", escaped(&section.title)))
        .collect();
    let sections: String =
        document.sections.iter().enumerate().map(|(k, section)| render_section(k, section)).collect();
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n\
         <h1>{title}</h1>\n{lead}<nav>{}</nav>\n{sections}</main>\n</body>\n</html>\n",
        links.join(" ")
    )
}

fn render_section(k: usize, section: &Section) -> String {
    let mut html = format!("<section id=\"s{k}\">\n<h2>{}</h2>\n", escaped(&section.title));
    for paragraph in &section.text {
        html += &format!("<p>{}</p>\n", escaped(paragraph));
    }
    for table in &section.tables {
        html += &render_table(table);
    }
    if !section.pictures.is_empty() {
        html += "<div class=\"pictures\">\n";
        for picture in &section.pictures {
            html += &format!("<figure>{}</figure>\n", inline(&picture.to_svg()));
        }
        html += "</div>\n";
    }
    if !section.list.is_empty() {
        let items: String = section.list.iter().map(|item| format!("<li>{}</li>\n", escaped(item))).collect();
        html += &format!("<ul>\n{items}</ul>\n");
    }
    html + "</section>\n"
}

fn render_table(table: &Table) -> String {
    let words: Vec<bool> = (0..table.head.len()).map(|column| table.holds_words(column)).collect();
    let rows: String = table.rows.iter().map(|cells| render_row(cells, "td", &words)).collect();
    format!(
        "<p class=\"caption\">{}</p>\n<div class=\"table\"><table>\n<thead>\n{}</thead>\n<tbody>\n{rows}</tbody>\n</table></div>\n",
        escaped(&table.caption),
        render_row(&table.head, "th", &words)
    )
}

fn render_row(cells: &[Cell], tag: &str, words: &[bool]) -> String {
    let all_published = cells.first().is_some_and(|cell| cell.published);
    let mut html = "<tr>".to_string();
    for (k, cell) in cells.iter().enumerate() {
        let tag = if k == 0 { "th" } else { tag };
        let published = if cell.published || all_published { "published " } else { "" };
        let text = if words[k] { "text" } else { "" };
        html += &format!("<{tag} class=\"{published}{text}\">{}</{tag}>", escaped(&cell.text));
    }
    html + "</tr>\n"
}

/// A picture as a part of the page.
fn inline(svg: &str) -> &str {
    svg.find("<svg").map_or(svg, |start| &svg[start..])
}
