//! What pictures of several problems share.

use bqnco_core::Problem;
use bqnco_plot::{Area, Color, Form, Map, Picture, Style, Swatch, number};

/// The caption: the objective of what is drawn and, if `given` is infeasible, the reason.
pub(crate) fn verdict<P: Problem>(instance: &P::Instance, given: &[P::Step], drawn: &[P::Step], more: &str) -> String {
    let (name, sign) = P::OBJECTIVE;
    let figures = format!("{name} {}{more}", number(sign * P::cost(instance, drawn)));
    match P::check(instance, given) {
        Ok(()) => figures,
        Err(reason) => format!("not a solution: {reason} (drawn: {figures})"),
    }
}

/// A square on the map, explained in the legend: a depot, or an end of a path.
pub(crate) fn mark(picture: &mut Picture, map: &Map, name: &'static str, place: [f64; 2], color: Color) {
    let style = Style::fill(color).outlined(Color::WHITE, 1.2);
    let half = (1.4 * map.radius()).clamp(4.5, 6.0);
    picture.draw(name, Form::Rectangle(Area::square(map.place(place), half)), style);
    picture.explain(Swatch::Square(style), name);
}

/// Circles on the map, the largest first so that none hides another.
pub(crate) fn circles(map: &Map, places: &[[f64; 2]], radii: &[f64], nodes: impl Iterator<Item = usize>) -> Form {
    let mut circles: Vec<_> = nodes.map(|node| (map.place(places[node]), radii[node])).collect();
    circles.sort_by(|a, b| b.1.total_cmp(&a.1));
    Form::Circles(circles)
}

/// Nodes that a solution leaves out.
pub(crate) fn hollow() -> Style {
    Style::fill(Color::WHITE).outlined(Color(150, 158, 166), 1.0)
}
