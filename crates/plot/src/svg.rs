//! Shapes as SVG.

use std::fmt::Write;

use crate::shape::Shape;
use crate::{Anchor, Area, Color, Form, Style};

/// A document with a white background.
pub(crate) fn document<'a>([width, height]: [f64; 2], shapes: impl Iterator<Item = &'a Shape>) -> String {
    let (width, height) = (decimal(width), decimal(height));
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"Roboto, Arial, Helvetica, sans-serif\" fill=\"none\" stroke-linejoin=\"round\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
    );
    for shape in shapes {
        write_shape(&mut svg, shape).expect("writing to a string does not fail");
    }
    svg.push_str("</svg>\n");
    svg
}

fn write_shape(svg: &mut String, Shape { class, form, style }: &Shape) -> std::fmt::Result {
    match form {
        Form::Lines(lines) => {
            write!(svg, "<path class=\"{class}\"{} d=\"", attributes(style))?;
            lines.iter().for_each(|line| write_line(svg, line));
            svg.push_str("\"/>\n");
        }
        Form::Dots { places, radius } => write_dots(svg, class, places, *radius, style)?,
        Form::Circles(circles) => {
            writeln!(svg, "<g class=\"{class}\"{}>", attributes(style))?;
            for &([x, y], radius) in circles {
                writeln!(svg, "<circle cx=\"{}\" cy=\"{}\" r=\"{}\"/>", decimal(x), decimal(y), decimal(radius))?;
            }
            svg.push_str("</g>\n");
        }
        Form::Rectangle(Area { left, top, width, height }) => {
            let [x, y, width, height] = [left, top, width, height].map(|&length| decimal(length));
            let style = attributes(style);
            writeln!(
                svg,
                "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"{style}/>"
            )?;
        }
        Form::Cells { area, columns, levels, palette } => {
            write_cells(svg, class, area, *columns, levels, palette)?;
        }
        Form::Text { at: [x, y], anchor, size, text, turn } => {
            let anchor = match anchor {
                Anchor::Start => "start",
                Anchor::Middle => "middle",
                Anchor::End => "end",
            };
            let (x, y, size, style) = (decimal(*x), decimal(*y), decimal(*size), attributes(style));
            let turn = if *turn == 0.0 { String::new() } else { format!(" transform=\"rotate({turn} {x} {y})\"") };
            let text = escaped(text);
            writeln!(
                svg,
                "<text class=\"{class}\" x=\"{x}\" y=\"{y}\" font-size=\"{size}\" text-anchor=\"{anchor}\"{style}{turn}>{text}</text>"
            )?;
        }
    }
    Ok(())
}

fn attributes(style: &Style) -> String {
    let mut text = String::new();
    if let Some(color) = style.fill {
        text += &format!(" fill=\"{color}\"");
    }
    if let Some(color) = style.line {
        text += &format!(" stroke=\"{color}\" stroke-width=\"{}\"", decimal(style.width));
    }
    if style.opacity < 1.0 {
        text += &format!(" opacity=\"{}\"", decimal(style.opacity));
    }
    if style.dash > 0.0 {
        text += &format!(" stroke-dasharray=\"{}\"", decimal(style.dash));
    }
    text
}

/// One absolute point, then differences between rounded points: half the size, and errors do not add up.
fn write_line(svg: &mut String, line: &[[f64; 2]]) {
    let mut last = None;
    for point in line {
        let [x, y] = point.map(hundredths);
        match last.replace([x, y]) {
            None => *svg += &format!("M{} {}l", exact(x), exact(y)),
            Some([before_x, before_y]) => *svg += &format!("{} {} ", exact(x - before_x), exact(y - before_y)),
        }
    }
    match line.len() {
        0 => {}
        1 => *svg += "0 0", // a single point is a line of length zero
        _ => svg.truncate(svg.trim_end().len()),
    }
}

/// A disc is a line of length zero with round ends.
fn write_dots(svg: &mut String, class: &str, places: &[[f64; 2]], radius: f64, style: &Style) -> std::fmt::Result {
    let color = style.fill.unwrap_or(Color::INK);
    let style = attributes(&Style { fill: None, ..style.outlined(color, 2.0 * radius) });
    write!(svg, "<path class=\"{class}\" stroke-linecap=\"round\"{style} d=\"")?;
    for place in places {
        let [x, y] = place.map(hundredths);
        write!(svg, "M{} {}h0", exact(x), exact(y))?;
    }
    svg.push_str("\"/>\n");
    Ok(())
}

/// One path per colour; runs of equal cells are one thick line.
fn write_cells(
    svg: &mut String,
    class: &str,
    area: &Area,
    columns: usize,
    levels: &[u8],
    palette: &[Color],
) -> std::fmt::Result {
    let rows = levels.len() / columns.max(1);
    if rows == 0 {
        return Ok(());
    }
    let (x, y) = (area.left, area.top);
    let (sx, sy) = (area.width / columns as f64, area.height / rows as f64);
    writeln!(
        svg,
        "<g class=\"{class}\" shape-rendering=\"crispEdges\" transform=\"translate({} {}) scale({sx:.6} {sy:.6})\">",
        decimal(x),
        decimal(y)
    )?;
    for (level, color) in palette.iter().enumerate() {
        let mut path = String::new();
        for (row, cells) in levels.chunks_exact(columns).enumerate() {
            let mut column = 0;
            for run in cells.chunk_by(|a, b| a == b) {
                if usize::from(run[0]) == level {
                    write!(path, "M{column} {row}.5h{}", run.len())?;
                }
                column += run.len();
            }
        }
        if !path.is_empty() {
            writeln!(svg, "<path stroke=\"{color}\" d=\"{path}\"/>")?;
        }
    }
    svg.push_str("</g>\n");
    Ok(())
}

/// Hundredths of a unit: finer than any screen shows.
fn hundredths(value: f64) -> i64 {
    (value * 100.0).round() as i64 // NaN becomes 0
}

fn decimal(value: f64) -> String {
    exact(hundredths(value))
}

fn exact(hundredths: i64) -> String {
    let sign = if hundredths < 0 { "-" } else { "" };
    let (whole, rest) = (hundredths.unsigned_abs() / 100, hundredths.unsigned_abs() % 100);
    match rest {
        0 => format!("{sign}{whole}"),
        _ if rest % 10 == 0 => format!("{sign}{whole}.{}", rest / 10),
        _ => format!("{sign}{whole}.{rest:02}"),
    }
}

/// Text for XML and HTML, in elements and attributes: reserved characters escaped, those that XML forbids replaced, line
/// breaks as spaces.
pub fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '<' => safe += "&lt;",
            '>' => safe += "&gt;",
            '&' => safe += "&amp;",
            '"' => safe += "&quot;",
            '\'' => safe += "&#39;",
            '\n' | '\r' | '\t' => safe.push(' '),
            '\0'..='\u{1F}' | '\u{FFFE}' | '\u{FFFF}' => safe.push('\u{FFFD}'),
            _ => safe.push(letter),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_differences_that_add_up_to_the_rounded_points() {
        let mut svg = String::new();
        write_line(&mut svg, &[[1.0, 2.0], [1.5, 2.25], [0.333_3, -1.0]]);
        assert_eq!(svg, "M1 2l0.5 0.25 -1.17 -3.25");
    }

    #[test]
    fn decimals_have_at_most_two_places_and_no_minus_zero() {
        let cases = [(1.0, "1"), (-0.001, "0"), (0.05, "0.05"), (-12.345_6, "-12.35"), (0.5, "0.5"), (f64::NAN, "0")];
        for (value, text) in cases {
            assert_eq!(decimal(value), text);
        }
    }
}
