//! Cost matrices in the order of the tour.

use bqnco_plot::{Anchor, Area, Color, Draw, Form, Picture, Style, Swatch, heat, number};

use super::{Atsp, Instance};
use crate::draw::verdict;
use crate::path::PathInstance;

const SIDE: f64 = 560.0; // of the matrix
const LEVELS: u8 = 16; // colours of costs; one more is for the diagonal
const CELLS: usize = 240; // per row; beyond, neighbouring nodes share a cell

impl Draw for Atsp {
    /// The cost matrix with rows and columns in the order of the tour: its legs are right of the diagonal, where a good tour
    /// gathers the cheap ones. Beside every row, the leg taken from the node compared with the cheapest one.
    fn draw(instance: &Instance, solution: Option<&[usize]>) -> Picture {
        let nodes = instance.nodes();
        let mut picture = Picture::new(SIDE + 24.0).title(format!("ATSP, {nodes} nodes"));
        let steps: Vec<usize> = solution.unwrap_or_default().iter().copied().filter(|&node| node < nodes).collect();
        let path = instance.visited(&steps);
        let order = order(nodes, if solution.is_some() { &path } else { &[] });
        let body = picture.body();
        let beside = if solution.is_some() { 18.0 } else { (body.width - SIDE) / 2.0 };
        let matrix = Area { left: body.left + beside, top: body.top + 24.0, width: SIDE, height: SIDE };

        draw_matrix(&mut picture, matrix, instance, &order);
        if let Some(given) = solution {
            draw_legs(&mut picture, matrix, instance, &order, &path);
            picture = picture.caption(verdict::<Atsp>(instance, given, &steps, ""));
        }
        let sequence = if solution.is_some() { "in the order of the tour" } else { "in the order of the instance" };
        picture.write([matrix.left, matrix.top - 8.0], Anchor::Start, format!("to node, {sequence}"));
        let (at, text) = ([matrix.left - 8.0, matrix.bottom()], "from node, in the same order".into());
        let form = Form::Text { at, anchor: Anchor::Start, size: 12.0, text, turn: -90.0 };
        picture.draw("label", form, Style::fill(Color::GREY));
        picture
    }
}

/// Every node once: those of the path where they occur first, then the others.
fn order(nodes: usize, path: &[usize]) -> Vec<usize> {
    let mut seen = vec![false; nodes];
    path.iter().copied().chain(0..nodes).filter(|&node| !std::mem::replace(&mut seen[node], true)).collect()
}

fn draw_matrix(picture: &mut Picture, area: Area, instance: &Instance, order: &[usize]) {
    let thresholds = thresholds(instance);
    let columns = order.len().min(CELLS);
    let block = |cell: usize| cell * order.len() / columns..(cell + 1) * order.len() / columns;
    let diagonal = if columns == order.len() { LEVELS } else { 0 }; // large matrices have cells with and without others
    let mut levels = Vec::with_capacity(columns * columns);
    for row in 0..columns {
        for column in 0..columns {
            let (mut sum, mut count) = (0, 0);
            for from in block(row) {
                for to in block(column).filter(|&to| to != from) {
                    let cost = instance.cost(order[from], order[to]);
                    sum += thresholds.partition_point(|&threshold| threshold < cost);
                    count += 1;
                }
            }
            let mean = sum.checked_div(count);
            levels.push(mean.map_or(diagonal, |level| level as u8));
        }
    }
    let mut palette: Vec<Color> = (0..LEVELS).map(|level| heat(f64::from(level) / f64::from(LEVELS - 1))).collect();
    let (least, most) = (thresholds[0], thresholds[thresholds.len() - 1]);
    let label =
        format!("cheap to costly, equal shares of all legs (1/16 below {}, above {})", number(least), number(most));
    picture.explain(Swatch::Colors(palette.clone()), label);
    palette.push(Color::WHITE);
    picture.draw("matrix", Form::Cells { area, columns, levels, palette }, Style::fill(Color::WHITE));
}

/// The costs that divide all legs into equal shares: colours by rank show structure whatever the spread of the costs.
fn thresholds(instance: &Instance) -> Vec<f64> {
    let nodes = instance.nodes();
    // Enough legs for sixteen shares; the stride is odd so that it meets all columns.
    let stride = (nodes * nodes / 200_000) | 1;
    let legs = (0..nodes * nodes).step_by(stride).filter(|leg| leg / nodes != leg % nodes);
    let mut costs: Vec<f64> = legs.map(|leg| instance.costs()[leg]).collect();
    costs.sort_by(f64::total_cmp);
    (1..usize::from(LEVELS)).map(|share| costs[share * costs.len() / usize::from(LEVELS)]).collect()
}

/// Bars beside the matrix: the leg that leaves each row's node, its part beyond the cheapest way out in vermilion.
fn draw_legs(picture: &mut Picture, matrix: Area, instance: &Instance, order: &[usize], path: &[usize]) {
    let nodes = order.len();
    let mut position = vec![0; nodes];
    order.iter().enumerate().for_each(|(place, &node)| position[node] = place);
    let cheapest = |from: usize| {
        let others = (0..nodes).filter(|&to| to != from);
        others.map(|to| instance.cost(from, to)).fold(f64::INFINITY, f64::min)
    };
    let legs: Vec<[usize; 2]> = path.windows(2).map(|leg| [leg[0], leg[1]]).collect();
    let costliest = legs.iter().map(|&[from, to]| instance.cost(from, to)).fold(0.0, f64::max);

    let left = matrix.right() + 14.0;
    let room = picture.body().right() - left;
    let cell = matrix.height / nodes as f64;
    let x = |cost: f64| left + if costliest > 0.0 { room * (cost / costliest).min(1.0) } else { 0.0 };
    let (mut needed, mut beyond) = (Vec::new(), Vec::new());
    for &[from, to] in &legs {
        let y = matrix.top + (position[from] as f64 + 0.5) * cell;
        let (least, cost) = (cheapest(from).min(instance.cost(from, to)), instance.cost(from, to));
        needed.push(vec![[left, y], [x(least), y]]);
        if cost > least {
            beyond.push(vec![[x(least), y], [x(cost), y]]);
        }
        if nodes <= 80 {
            let corner = [matrix.left + position[to] as f64 * cell, matrix.top + position[from] as f64 * cell];
            let ring = Area { left: corner[0], top: corner[1], width: cell, height: cell };
            picture.draw("leg", Form::Rectangle(ring), Style::line(Color::VERMILION, (0.15 * cell).clamp(1.0, 2.5)));
        }
    }
    let bar = (0.7 * cell).clamp(0.5, 16.0);
    picture.draw("needed", Form::Lines(needed), Style::line(Color::BLUE, bar));
    picture.draw("beyond", Form::Lines(beyond), Style::line(Color::VERMILION, bar));
    picture.write([left, matrix.top - 8.0], Anchor::Start, format!("leg taken, up to {}", number(costliest)));
    picture.explain(Swatch::Square(Style::fill(Color::BLUE)), "cheapest way out of the node");
    picture.explain(Swatch::Square(Style::fill(Color::VERMILION)), "paid beyond it");
}
