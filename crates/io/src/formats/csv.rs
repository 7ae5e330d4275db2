//! Comma-separated values: one node or item per row, or a square matrix. `# key = value` lines hold single numbers.

use super::lines::is_matrix;
use crate::text::{did_you_mean, format_number, number, one_line, push_numbers, quoted};
use crate::{Array, Field, Format, Metric, Place, RawInstance, ReadError, Shape, Source, WriteError};

/// What a column fills.
#[derive(Clone, Copy, PartialEq)]
enum Column {
    Axis(usize),        // of the coordinates in a plane or in space
    Degrees(usize),     // longitude, then latitude
    List(&'static str), // a field
    Label,              // of nodes or items, not read
}

/// Headings of columns that do not change the problem. A table saved with row numbers has a column without a heading.
const LABELS: [&str; 16] = [
    "",
    "name",
    "id",
    "label",
    "node",
    "city",
    "customer",
    "item",
    "index",
    "number",
    "no",
    "nr",
    "comment",
    "note",
    "description",
    "address",
];

/// Keys of comments that do not change the problem.
const REMARKS: [&str; 14] = [
    "comment",
    "note",
    "source",
    "author",
    "date",
    "description",
    "reference",
    "url",
    "http",
    "https",
    "license",
    "seed",
    "optimum",
    "best_known",
];

/// Headings of the coordinates.
const AXES: [&str; 3] = ["x", "y", "z"];

/// Headings of coordinates in decimal degrees, and their axes; the first two are written.
const DEGREES: [(&str, usize); 6] =
    [("longitude", 0), ("latitude", 1), ("lon", 0), ("lat", 1), ("lng", 0), ("long", 0)];

/// All headings and what their columns fill.
fn headings(fields: &[Field]) -> impl Iterator<Item = (&'static str, Column)> {
    let axes = AXES.into_iter().enumerate().map(|(axis, name)| (name, Column::Axis(axis)));
    let lists = fields.iter().flat_map(|field| field.columns.iter().map(|&name| (name, Column::List(field.name))));
    let degrees = DEGREES.into_iter().map(|(name, axis)| (name, Column::Degrees(axis)));
    axes.chain(degrees).chain(lists)
}

/// The names of the single numbers, which are given in comments.
fn numbers(fields: &[Field]) -> impl Iterator<Item = &'static str> {
    fields.iter().filter(|field| field.shape == Shape::Number).map(|field| field.name)
}

/// The separator of the first row, if the text looks like rows of cells. Any headings will do in a file named `.csv`, so
/// that unknown ones are named.
pub(crate) fn sniff(text: &str, extension: &str, fields: &[Field]) -> Option<u8> {
    let mut rows = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let first = rows.next()?;
    let separator = [b',', b';', b'\t'].into_iter().find(|&separator| first.contains(char::from(separator)));
    let separator = separator.or_else(|| first.contains(' ').then_some(b' '))?;
    let cells: Vec<_> = first.split(char::from(separator)).map(str::trim).filter(|cell| !cell.is_empty()).collect();
    let numeric = cells.iter().all(|cell| number(cell).is_some());
    let named = cells.iter().any(|cell| column(cell, fields).is_some()) || !hint(&cells, fields).is_empty();
    (cells.len() > 1 && (numeric || named || extension.eq_ignore_ascii_case("csv"))).then_some(separator)
}

/// Whether rows of zeros and ones are coordinates or a matrix rather than a solution, which has one line or one column.
pub(crate) fn is_table(text: &str) -> bool {
    let widths = text.lines().map(|line| line.split_whitespace().count()).filter(|&width| width > 0);
    let widths: Vec<usize> = widths.collect();
    let is_map = widths.len() > 1 && widths.iter().all(|&width| width == 2);
    is_map || widths.len() > 2 && is_matrix(text)
}

/// The column with a heading: in the singular, in the plural, or the field's name.
fn column(name: &str, fields: &[Field]) -> Option<Column> {
    let name = name.trim().trim_matches('"');
    let is = |known: &str| name.eq_ignore_ascii_case(known);
    let means = |(heading, column): &(&str, Column)| {
        is(heading) || is(&format!("{heading}s")) || matches!(column, Column::List(field) if is(field))
    };
    headings(fields).find(means).map(|(_, column)| column)
}

fn hint(cells: &[&str], fields: &[Field]) -> String {
    let long = cells.iter().filter(|cell| cell.len() > 3);
    let hints = long.map(|cell| did_you_mean(cell, headings(fields).map(|(name, _)| name)));
    hints.into_iter().find(|hint| !hint.is_empty()).unwrap_or_default()
}

/// Reads the one instance of a CSV file.
pub(crate) fn decode(source: &Source, fields: &[Field]) -> Result<Vec<RawInstance>, ReadError> {
    let text = source.text();
    let mut raw = RawInstance::default();
    for (index, line) in text.lines().enumerate() {
        if let Some(comment) = line.trim_start().strip_prefix('#') {
            read_comment(source, index + 1, comment, fields, &mut raw)?;
        }
    }
    let separator = sniff(&text, source.extension(), fields).unwrap_or(b',');
    let mut reader = csv::ReaderBuilder::new();
    reader.has_headers(false).comment(Some(b'#')).flexible(true).trim(csv::Trim::All).delimiter(separator);
    let mut rows: Vec<Row> = Vec::new();
    for record in reader.from_reader(text.as_bytes()).into_records() {
        let record = record.map_err(|error| {
            source.syntax(place(line_of(&text, error.position())), "rows of cells", error.to_string())
        })?;
        let line = line_of(&text, record.position());
        let mut cells = Vec::with_capacity(record.len()); // no room for more: millions of rows may have a cell each
        cells.extend(record.iter().filter(|cell| separator != b' ' || !cell.is_empty()).map(Cell::new));
        if cells.iter().any(|cell| !cell.is_empty()) {
            rows.push((line, cells));
        }
    }
    if has_labels(&rows) {
        rows.remove(0);
        rows.iter_mut().for_each(|(_, cells)| drop(cells.remove(0)));
    }
    let Some((line, first)) = rows.first() else {
        return Err(source.syntax(Place::File, "rows of numbers", "none"));
    };
    if first.iter().all(|cell| cell.number().is_some()) {
        headerless(source, &rows, &mut raw)?;
    } else {
        let columns = read_header(source, &place(*line), first, fields)?;
        with_header(source, &columns, &rows[1..], &mut raw)?;
    }
    Ok(vec![raw])
}

/// Whether the rows are a matrix with the names of the nodes above and beside it. Two columns would be coordinates.
fn has_labels(rows: &[Row]) -> bool {
    let Some(((_, head), rows)) = rows.split_first() else { return false };
    let beside = rows.iter().filter_map(|(_, cells)| cells.first());
    let is_head = head.iter().any(|label| label.number().is_none());
    head.len() > 3 && is_head && head[1..].iter().eq(beside)
}

/// The line of a record, whose position is that of the comments and blank lines before it; 0 if it is not known.
fn line_of(text: &str, position: Option<&csv::Position>) -> usize {
    let Some(position) = position else { return 0 };
    let rest = text.get(position.byte() as usize..).unwrap_or_default();
    let before = rest.lines().take_while(|line| line.trim().is_empty() || line.starts_with('#')).count();
    position.line() as usize + before
}

fn place(line: usize) -> Place {
    if line == 0 { Place::File } else { Place::Line(line) }
}

/// A cell. Most are numbers, which need a fraction of the memory of their text.
#[derive(Clone, Debug, PartialEq)]
enum Cell {
    Number(f64),
    Text(String),
}

impl Cell {
    fn new(text: &str) -> Self {
        number(text).map_or_else(|| Cell::Text(text.to_string()), Cell::Number)
    }

    fn number(&self) -> Option<f64> {
        match self {
            Cell::Number(number) => Some(*number),
            Cell::Text(_) => None,
        }
    }

    fn is_empty(&self) -> bool {
        matches!(self, Cell::Text(text) if text.is_empty())
    }

    fn text(&self) -> String {
        match self {
            Cell::Number(number) => format_number(*number),
            Cell::Text(text) => text.clone(),
        }
    }
}

/// `key = value` or `key: value` with a key of one word; other comments are skipped.
fn read_comment(
    source: &Source,
    line: usize,
    comment: &str,
    fields: &[Field],
    raw: &mut RawInstance,
) -> Result<(), ReadError> {
    let Some((key, value)) = comment.split_once(['=', ':']) else { return Ok(()) };
    let (key, value) = (key.trim(), value.trim());
    let place = Place::Line(line);
    let value_as_number =
        || number(value).ok_or_else(|| source.syntax(place.clone(), format!("a number for {key}"), quoted(value)));
    match key {
        "problem" => raw.problem = Some(value.to_string()),
        "name" => raw.name = Some(value.to_string()),
        "cost" => raw.cost = Some(value_as_number()?),
        "metric" => raw.metric = Some(super::metric(source, place, value)?),
        _ if numbers(fields).any(|name| name == key) => raw.insert(key, Array::scalar(value_as_number()?)),
        _ if is_remark(key) => {}
        _ => return Err(unknown_key(source, place, key, fields)),
    }
    Ok(())
}

/// Whether a comment is prose, or says nothing about the problem.
fn is_remark(key: &str) -> bool {
    let is_word = key.starts_with(char::is_alphabetic) && !key.contains(char::is_whitespace);
    !is_word || REMARKS.iter().any(|remark| remark.eq_ignore_ascii_case(key))
}

fn unknown_key(source: &Source, place: Place, key: &str, fields: &[Field]) -> ReadError {
    let known: Vec<_> = ["problem", "name", "metric", "cost"].into_iter().chain(numbers(fields)).collect();
    let reason = format!("{} is no known key{}", quoted(key), did_you_mean(key, known.iter().copied()));
    let advice = format!("known are {}; delete the line to solve without it", known.join(", "));
    source.refused(place, reason, advice)
}

fn read_header(source: &Source, place: &Place, names: &[Cell], fields: &[Field]) -> Result<Vec<Column>, ReadError> {
    let names: Vec<String> = names.iter().map(Cell::text).collect();
    let columns = names.iter().map(|name| match column(name, fields) {
        Some(column) => Ok(column),
        None if LABELS.iter().any(|label| label.eq_ignore_ascii_case(name)) => Ok(Column::Label),
        None => Err(unknown_column(source, place.clone(), name, fields)),
    });
    let columns = columns.collect::<Result<Vec<_>, _>>()?;
    let repeated = (1..columns.len()).find(|&k| columns[k] != Column::Label && columns[..k].contains(&columns[k]));
    if let Some(k) = repeated {
        return Err(source.syntax(place.clone(), "each column once", quoted(&names[k]) + " a second time"));
    }
    Ok(columns)
}

fn unknown_column(source: &Source, place: Place, name: &str, fields: &[Field]) -> ReadError {
    let known: Vec<_> = headings(fields).map(|(name, _)| name).collect();
    let hint = match name.len() {
        0..=3 => String::new(),
        _ => did_you_mean(name, known.iter().copied()),
    };
    let advice = format!("known are {}, and name or id; delete the column to solve without it", known.join(", "));
    source.refused(place, format!("{} is no known column{hint}", quoted(name)), advice)
}

/// A line, and its cells.
type Row = (usize, Vec<Cell>);

fn with_header(source: &Source, columns: &[Column], rows: &[Row], raw: &mut RawInstance) -> Result<(), ReadError> {
    let axes = count_axes(source, columns)?;
    if columns.iter().any(|column| matches!(column, Column::Degrees(_))) {
        match raw.metric.replace(Metric::GreatCircle) {
            None | Some(Metric::GreatCircle) => {}
            Some(other) => {
                let found = format!("metric {}", other.name());
                return Err(source.syntax(Place::File, "metric GREAT_CIRCLE for longitude and latitude", found));
            }
        }
    }
    let mut coordinates = vec![0.0; rows.len() * axes];
    let mut lists: Vec<(&str, Vec<f64>)> = Vec::new();
    for (k, &column) in columns.iter().enumerate() {
        let cells = rows.iter().map(|(line, cells)| cell(source, *line, cells.get(k)));
        match column {
            Column::Label => {}
            Column::List(name) => lists.push((name, cells.collect::<Result<_, _>>()?)),
            Column::Axis(axis) | Column::Degrees(axis) => cells.enumerate().try_for_each(|(row, cell)| {
                coordinates[row * axes + axis] = cell?;
                Ok::<_, ReadError>(())
            })?,
        }
    }
    if axes > 0 {
        raw.insert("coordinates", Array::table(axes, coordinates));
    }
    lists.into_iter().for_each(|(name, values)| raw.insert(name, Array::list(values)));
    Ok(())
}

/// The number of coordinates per node: none, x and y, x, y and z, or longitude and latitude.
fn count_axes(source: &Source, columns: &[Column]) -> Result<usize, ReadError> {
    let planar = columns.iter().filter(|column| matches!(column, Column::Axis(_))).count();
    let degrees = columns.iter().filter(|column| matches!(column, Column::Degrees(_))).count();
    let gap = columns.iter().any(|column| matches!(column, Column::Axis(axis) if *axis >= planar));
    match (planar, degrees) {
        (_, 0) if !gap => Ok(planar),
        (0, 2) => Ok(2),
        _ => {
            let expected = "the columns x and y, or x, y and z, or longitude and latitude";
            Err(source.syntax(Place::File, expected, "some of them"))
        }
    }
}

/// Two columns are coordinates, a square with more columns is a matrix.
fn headerless(source: &Source, rows: &[Row], raw: &mut RawInstance) -> Result<(), ReadError> {
    let columns = rows[0].1.len();
    let mut values = Vec::new();
    for (line, cells) in rows {
        if cells.len() != columns {
            let expected = format!("{columns} numbers, as in the first row");
            return Err(source.syntax(place(*line), expected, format!("{}", cells.len())));
        }
        for text in cells {
            values.push(cell(source, *line, Some(text))?);
        }
    }
    let name = match columns {
        2 => "coordinates",
        _ if columns == rows.len() => "matrix",
        _ => {
            let expected = "a header (x,y or value,weight ...), two columns of coordinates or a square matrix";
            return Err(source.syntax(Place::File, expected, format!("{} rows of {columns} numbers", rows.len())));
        }
    };
    raw.insert(name, Array::table(columns, values));
    Ok(())
}

fn cell(source: &Source, line: usize, cell: Option<&Cell>) -> Result<f64, ReadError> {
    let found = cell.and_then(Cell::number);
    found.ok_or_else(|| source.syntax(place(line), "a number", quoted(&cell.map(Cell::text).unwrap_or_default())))
}

/// Writes the one instance of a CSV file.
pub(crate) fn encode(mut raw: RawInstance, fields: &[Field]) -> Result<Vec<u8>, WriteError> {
    let mut text = String::new();
    let mut comment = |key: &str, value: &str| text.push_str(&format!("# {key} = {value}\n"));
    comment("problem", raw.problem.as_deref().unwrap_or_default());
    comment("name", &one_line(raw.name.as_deref().unwrap_or_default()));
    if raw.has("coordinates") {
        comment("metric", raw.metric.unwrap_or(Metric::Exact).name());
    }
    for key in numbers(fields) {
        if let Some(array) = raw.take(key) {
            comment(key, &format_number(array.values[0]));
        }
    }
    if let Some(cost) = raw.cost {
        comment("cost", &format_number(cost));
    }
    match raw.take("matrix") {
        Some(matrix) if matrix.shape[1] < 3 => {
            let what = "a matrix of two nodes, which looks like coordinates,".to_string();
            return Err(WriteError::Unsupported { format: Format::Csv, what, instead: Format::Json });
        }
        Some(matrix) => {
            raw.take("places"); // fitted again when the file is read
            if let Some(name) = raw.names().next() {
                let what = format!("a matrix beside `{name}`");
                return Err(WriteError::Unsupported { format: Format::Csv, what, instead: Format::Json });
            }
            push_rows(&mut text, &[(matrix.shape[1], matrix.values)]);
        }
        None => push_columns(&mut text, &mut raw, fields),
    }
    crate::write::all_written(Format::Csv, &raw, Format::Json)?;
    Ok(text.into_bytes())
}

fn push_columns(text: &mut String, raw: &mut RawInstance, fields: &[Field]) {
    let mut names = Vec::new();
    let mut columns = Vec::new();
    if let Some(Array { shape, values }) = raw.take("coordinates") {
        match raw.metric {
            Some(Metric::GreatCircle) => names.extend(DEGREES[..2].iter().map(|(name, _)| name)),
            _ => names.extend(&AXES[..shape[1].min(3)]),
        }
        columns.push((shape[1], values));
    }
    for field in fields {
        if let Some(&heading) = field.columns.first()
            && let Some(array) = raw.take(field.name)
        {
            names.push(heading);
            columns.push((1, array.values));
        }
    }
    text.push_str(&names.join(","));
    text.push('\n');
    push_rows(text, &columns);
}

/// Tables of given widths, side by side.
fn push_rows(text: &mut String, tables: &[(usize, Vec<f64>)]) {
    let rows = tables.first().map_or(0, |(width, values)| values.len() / width);
    for row in 0..rows {
        let cells = tables.iter().flat_map(|(width, values)| &values[row * width..(row + 1) * width]);
        push_numbers(text, ",", cells.copied());
        text.push('\n');
    }
}
