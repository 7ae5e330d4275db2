//! Tours on the map.

use bqnco_plot::{Color, Draw, Form, Map, Picture, Style, Swatch};

use super::{Instance, Tsp};
use crate::draw::{mark, verdict};
use crate::path::PathInstance;

impl Draw for Tsp {
    /// Nodes, the path as one line, and its ends. Nodes outside the path are pale.
    fn draw(instance: &Instance, solution: Option<&[usize]>) -> Picture {
        let places = instance.geometry().map();
        let closed = instance.origin() == instance.destination();
        let (picture, map) = Map::around(places);
        let kind = if closed { "TSP" } else { "Path-TSP" };
        let mut picture = picture.title(format!("{kind}, {} nodes", places.len()));

        let mut visited = vec![solution.is_none(); places.len()];
        if let Some(given) = solution {
            let steps: Vec<usize> = given.iter().copied().filter(|&node| node < places.len()).collect();
            let path = instance.visited(&steps);
            path.iter().for_each(|&node| visited[node] = true);
            let line = path.iter().map(|&node| map.place(places[node])).collect();
            let style = Style::line(Color::BLUE, map.line());
            picture.draw("tour", Form::Lines(vec![line]), style);
            picture.explain(Swatch::Line(Style::line(Color::BLUE, 1.8)), if closed { "tour" } else { "path" });
            picture = picture.caption(verdict::<Tsp>(instance, given, &steps, ""));
        }
        for (class, wanted, color) in [("left out", false, Color::GREY), ("nodes", true, Color::INK)] {
            let nodes = (0..places.len()).filter(|&node| visited[node] == wanted);
            let places: Vec<_> = nodes.map(|node| map.place(places[node])).collect();
            if !places.is_empty() {
                let style = Style::fill(color).opacity(if wanted { 1.0 } else { 0.5 });
                picture.draw(class, Form::Dots { places, radius: map.radius() }, style);
                picture.explain(Swatch::Dot(style), class);
            }
        }
        if !closed {
            mark(&mut picture, &map, "destination", places[instance.destination()], Color::INK);
        }
        mark(&mut picture, &map, "origin", places[instance.origin()], Color::VERMILION);
        picture
    }

    fn places(instance: &Instance) -> Option<&[[f64; 2]]> {
        Some(instance.geometry().map())
    }
}
