//! Routes on the map.

use bqnco_core::SolutionSpace;
use bqnco_plot::{Color, Draw, Form, Map, Picture, SERIES, Style, Swatch, number};

use super::{Cvrp, Instance, Step, routes};
use crate::draw::{circles, hollow, mark, verdict};
use crate::error::count;

impl Draw for Cvrp {
    /// Routes in colours, their legs to and from the depot paler, customers by demand. Unserved customers are
    /// hollow.
    fn draw(instance: &Instance, solution: Option<&[Step]>) -> Picture {
        let places = instance.geometry().map();
        let (mut picture, map) = Map::around(places);
        let radii = map.radii(instance.demands());
        let customers = count(instance.customers(), "customers");
        let title = format!("CVRP, {customers}, capacity {}", number(instance.capacity()));

        let mut served = vec![false; places.len()];
        served[0] = true;
        served[instance.origin()] = true;
        let mut driven = Vec::new();
        if let Some(given) = solution {
            let open = 1..places.len();
            let steps: Vec<Step> = given.iter().copied().filter(|step| open.contains(&step.customer)).collect();
            driven = routes(&steps);
            driven.iter().flatten().for_each(|&customer| served[customer] = true);
            draw_routes(&mut picture, &map, instance, &driven, steps.len() == Cvrp::horizon(instance));
            let more = format!(", {}", count(driven.len(), "routes"));
            picture = picture.caption(verdict::<Cvrp>(instance, given, &steps, &more));
        }
        let style = if solution.is_some() { hollow() } else { Style::fill(Color::GREY) };
        let left_out = (0..places.len()).filter(|&node| !served[node]);
        picture.draw("left out", circles(&map, places, &radii, left_out), style);
        let color = if driven.is_empty() { Color::GREY } else { SERIES[0] };
        picture.explain(
            Swatch::Dot(Style::fill(color)),
            if driven.is_empty() { "customer (area: demand)" } else { "customer (area: demand, colour: route)" },
        );
        if solution.is_some() && served.contains(&false) {
            picture.explain(Swatch::Dot(style), "not served");
        }
        mark(&mut picture, &map, "depot", places[0], Color::INK);
        if instance.origin() != 0 {
            mark(&mut picture, &map, "origin", places[instance.origin()], Color::VERMILION);
        }
        picture.title(title)
    }

    fn places(instance: &Instance) -> Option<&[[f64; 2]]> {
        Some(instance.geometry().map())
    }
}

fn draw_routes(picture: &mut Picture, map: &Map, instance: &Instance, routes: &[Vec<usize>], finished: bool) {
    let places = instance.geometry().map();
    let radii = map.radii(instance.demands());
    let on_page = |&node: &usize| map.place(places[node]);
    let colors = colors(places, routes);
    for (k, route) in routes.iter().enumerate() {
        let from = if k == 0 { instance.origin() } else { 0 };
        let home = (finished || k + 1 < routes.len()).then_some(0);
        let mut legs: Vec<Vec<usize>> = vec![vec![from, route[0]]];
        legs.extend(home.map(|depot| vec![route[route.len() - 1], depot]));
        let legs = legs.iter().map(|leg| leg.iter().map(on_page).collect()).collect();
        picture.draw("legs", Form::Lines(legs), Style::line(colors[k], 0.6 * map.line()).opacity(0.45));
    }
    for (route, &color) in routes.iter().zip(&colors) {
        let line = route.iter().map(on_page).collect();
        picture.draw("route", Form::Lines(vec![line]), Style::line(color, map.line()));
        let customers = circles(map, places, &radii, route.iter().copied());
        picture.draw("customers", customers, Style::fill(color).outlined(Color::WHITE, 0.2 * map.line()));
    }
}

/// A colour per route. There are fewer colours than routes, so each route gets the colour whose other routes are farthest
/// away.
fn colors(places: &[[f64; 2]], routes: &[Vec<usize>]) -> Vec<Color> {
    let centre = |route: &Vec<usize>| {
        let sum = |axis: usize| route.iter().map(|&node| places[node][axis] / route.len() as f64).sum::<f64>();
        [sum(0), sum(1)]
    };
    let centres: Vec<[f64; 2]> = routes.iter().map(centre).collect();
    let mut chosen: Vec<usize> = Vec::with_capacity(routes.len());
    for (k, at) in centres.iter().enumerate() {
        let mut nearest = [f64::INFINITY; SERIES.len()]; // route of each colour
        for (other, &color) in chosen.iter().enumerate() {
            let distance = (at[0] - centres[other][0]).hypot(at[1] - centres[other][1]);
            nearest[color] = nearest[color].min(distance);
        }
        // In case of a tie, start after the last one used.
        let order = (0..SERIES.len()).map(|step| (k + step) % SERIES.len());
        chosen.push(order.reduce(|a, b| if nearest[b] > nearest[a] { b } else { a }).unwrap_or(0));
    }
    chosen.into_iter().map(|color| SERIES[color]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_routes_have_ten_colours_and_neighbours_never_share_one() {
        let places: Vec<[f64; 2]> = (0..60).map(|k| [f64::from(k), 0.0]).collect();
        let routes: Vec<Vec<usize>> = (0..60).map(|node| vec![node]).collect();
        let colors = colors(&places, &routes);
        let ten = &colors[..10];
        assert!((0..10).all(|k| !ten[..k].contains(&ten[k])));
        assert!(colors.windows(5).all(|near| (0..5).all(|k| !near[..k].contains(&near[k]))));
    }
}
