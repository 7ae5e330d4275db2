//! Penalties and prizes on the map.

use bqnco_plot::{Color, Draw, Form, Map, Picture, Style, Swatch, number};

use super::{Instance, Pctsp, Step, from_visits, visits};
use crate::draw::{circles, hollow, mark, verdict};
use crate::error::count;

impl Draw for Pctsp {
    /// Nodes by prize, filled where the tour collects it, and the tour.
    fn draw(instance: &Instance, solution: Option<&[Step]>) -> Picture {
        let places = instance.geometry().map();
        let [origin, destination] = instance.ends();
        let (mut picture, map) = Map::around(places);
        let radii = map.radii(instance.prizes());
        let title = format!("PCTSP, {}, quota {}", count(places.len() - 1, "customers"), number(instance.quota()));

        let mut visited = vec![false; places.len()];
        if let Some(given) = solution {
            let tour: Vec<usize> = visits(given).into_iter().filter(|&node| node < places.len()).collect();
            tour.iter().for_each(|&node| visited[node] = true);
            let nodes = std::iter::once(origin).chain(tour.iter().copied()).chain([destination]);
            let line = nodes.map(|node| map.place(places[node])).collect();
            picture.draw("tour", Form::Lines(vec![line]), Style::line(Color::BLUE, map.line()));
            picture.explain(Swatch::Line(Style::line(Color::BLUE, 1.8)), "tour");
            let collected: f64 = tour.iter().map(|&node| instance.prizes()[node]).sum();
            let more = format!(", length {}, prize {}", number(instance.length(&tour)), number(collected));
            picture = picture.caption(verdict::<Pctsp>(instance, given, &from_visits(tour), &more));
        }
        let filled = Style::fill(Color::BLUE).outlined(Color::WHITE, 0.6);
        let others =
            if solution.is_some() { ("not visited", hollow()) } else { ("customer", Style::fill(Color::GREY)) };
        for (wanted, (class, style)) in [(false, others), (true, ("visited", filled))] {
            let is_shown = |&node: &usize| visited[node] == wanted && node != origin && node != destination;
            let nodes: Vec<usize> = (0..places.len()).filter(is_shown).collect();
            if !nodes.is_empty() {
                picture.draw(class, circles(&map, places, &radii, nodes.into_iter()), style);
                picture.explain(Swatch::Dot(style), format!("{class} (area: prize)"));
            }
        }
        mark(&mut picture, &map, "depot", places[destination], Color::INK);
        if origin != destination {
            mark(&mut picture, &map, "origin", places[origin], Color::VERMILION);
        }
        picture.title(title)
    }

    fn places(instance: &Instance) -> Option<&[[f64; 2]]> {
        Some(instance.geometry().map())
    }
}
