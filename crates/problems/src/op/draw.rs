//! Prizes on the map.

use bqnco_plot::{Color, Draw, Form, Map, Picture, Style, Swatch, number};

use super::{Instance, Op};
use crate::draw::{circles, hollow, mark, verdict};

impl Draw for Op {
    /// The route, and nodes by prize, filled if visited.
    fn draw(instance: &Instance, solution: Option<&[usize]>) -> Picture {
        let places = instance.geometry().map();
        let (origin, destination) = (instance.origin(), instance.destination());
        let closed = origin == destination;
        let (mut picture, map) = Map::around(places);
        let radii = map.radii(instance.prizes());
        let title = format!("OP, {} nodes, length limit {}", places.len(), number(instance.limit()));

        let is_end = |node: usize| node == origin || node == destination;
        let mut visited = vec![false; places.len()];
        if let Some(given) = solution {
            let steps: Vec<usize> = given.iter().copied().filter(|&node| node < places.len()).collect();
            steps.iter().for_each(|&node| visited[node] = true);
            let route = std::iter::once(origin).chain(steps.iter().copied()).chain([destination]);
            let line = route.map(|node| map.place(places[node])).collect();
            picture.draw("route", Form::Lines(vec![line]), Style::line(Color::BLUE, map.line()));
            let more = format!(", length {} of {}", number(instance.length(&steps)), number(instance.limit()));
            picture = picture.caption(verdict::<Op>(instance, given, &steps, &more));
            picture.explain(Swatch::Line(Style::line(Color::BLUE, 1.8)), "route");
        }
        let filled = Style::fill(Color::BLUE).outlined(Color::WHITE, 0.6);
        let others = if solution.is_some() { ("not visited", hollow()) } else { ("node", Style::fill(Color::GREY)) };
        for (wanted, (class, style)) in [(false, others), (true, ("visited", filled))] {
            let nodes: Vec<usize> =
                (0..places.len()).filter(|&node| visited[node] == wanted && !is_end(node)).collect();
            if !nodes.is_empty() {
                picture.draw(class, circles(&map, places, &radii, nodes.into_iter()), style);
                picture.explain(Swatch::Dot(style), format!("{class} (area: prize)"));
            }
        }
        mark(&mut picture, &map, if closed { "depot" } else { "destination" }, places[destination], Color::INK);
        if !closed {
            mark(&mut picture, &map, "origin", places[origin], Color::VERMILION);
        }
        picture.title(title)
    }

    fn places(instance: &Instance) -> Option<&[[f64; 2]]> {
        Some(instance.geometry().map())
    }
}
