//! Items by weight and value.

use bqnco_plot::{Anchor, Area, Axes, Axis, Color, Draw, Form, Picture, Scale, Style, Swatch, number};

use super::{Instance, Knapsack};
use crate::draw::{hollow, verdict};
use crate::error::count;

impl Draw for Knapsack {
    /// Items as points, filled if packed; the ratio of value to weight at which the capacity is exhausted when items are
    /// packed by ratio; and the capacity used.
    fn draw(instance: &Instance, solution: Option<&[usize]>) -> Picture {
        let capacity = number(instance.capacity());
        let title = format!("Knapsack, {}, capacity {capacity}", count(instance.items(), "items"));
        let mut picture = Picture::new(540.0).title(title);
        let mut packed = vec![false; instance.items()];
        if let Some(given) = solution {
            given.iter().filter(|&&item| item < instance.items()).for_each(|&item| packed[item] = true);
            let items: Vec<usize> = (0..packed.len()).filter(|&item| packed[item]).collect();
            let weight = items.iter().map(|&item| instance.weights()[item]).sum();
            let more = format!(", {}, weight {} of {capacity}", count(items.len(), "items"), number(weight));
            picture = picture.caption(verdict::<Knapsack>(instance, given, &items, &more));
            draw_capacity(&mut picture, weight, instance.capacity());
        }
        let body = picture.body();
        let top = if solution.is_some() { 58.0 } else { 0.0 };
        let area = Area { top: body.top + top, height: body.height - top, ..body };
        let axis = |label, values: &[f64]| Axis::covering(label, Scale::Linear, values.iter().copied().chain([0.0]));
        let (x, y) = (axis("weight", instance.weights()), axis("value", instance.values()));
        let (right, highest) = (x.end(), y.end());
        let axes = Axes::draw(&mut picture, area, x, y);
        let others = if solution.is_some() { ("left out", hollow()) } else { ("item", Style::fill(Color::GREY)) };
        draw_items(&mut picture, &axes, instance, &packed, others);
        if let Some(ratio) = break_ratio(instance) {
            let end = if ratio * right <= highest { [right, ratio * right] } else { [highest / ratio, highest] };
            let line = [[0.0, 0.0], end].into_iter().filter_map(|point| axes.place(point)).collect();
            let style = Style::line(Color::VERMILION, 1.4).dashed(5.0);
            picture.draw("break", Form::Lines(vec![line]), style);
            picture.explain(Swatch::Line(style), format!("ratio of the break item, {}", number(ratio)));
        }
        picture
    }
}

fn draw_items(picture: &mut Picture, axes: &Axes, instance: &Instance, packed: &[bool], others: (&'static str, Style)) {
    let radius = (60.0 / (packed.len() as f64).sqrt()).clamp(1.6, 4.0);
    let filled = Style::fill(Color::BLUE).outlined(Color::WHITE, 0.1 * radius);
    for (wanted, (class, style)) in [(false, others), (true, ("packed", filled))] {
        let items = (0..packed.len()).filter(|&item| packed[item] == wanted);
        let places = items.filter_map(|item| axes.place([instance.weights()[item], instance.values()[item]]));
        let circles: Vec<_> = places.map(|place| (place, radius)).collect();
        if !circles.is_empty() {
            picture.draw(class, Form::Circles(circles), style);
            picture.explain(Swatch::Dot(style), class);
        }
    }
}

/// A bar for the packed weight; the part beyond the capacity is vermilion.
fn draw_capacity(picture: &mut Picture, weight: f64, capacity: f64) {
    let body = picture.body();
    let most = weight.max(capacity);
    let share = |amount: f64| if most > 0.0 && most.is_finite() { amount / most } else { 0.0 };
    let bar = Area { left: body.left, top: body.top + 18.0, width: body.width, height: 14.0 };
    let mut part = |class, from: f64, to: f64, color| {
        let area = Area { left: bar.left + from * bar.width, width: (to - from).max(0.0) * bar.width, ..bar };
        picture.draw(class, Form::Rectangle(area), Style::fill(color));
    };
    part("free", 0.0, 1.0, Color::PALE);
    part("used", 0.0, share(weight.min(capacity)), Color::BLUE);
    if weight > capacity {
        part("excess", share(capacity), share(weight), Color::VERMILION);
    }
    let used =
        if capacity > 0.0 { format!("capacity used: {:.1} %", 100.0 * weight / capacity) } else { String::new() };
    picture.write([bar.left, bar.top - 6.0], Anchor::Start, used);
}

/// The ratio of the first item that does not fit when items are packed by decreasing ratio; `None` if all fit.
///
/// Items well above it belong to almost every good solution, those well below to almost none.
fn break_ratio(instance: &Instance) -> Option<f64> {
    let (values, weights) = (instance.values(), instance.weights());
    let mut heavy: Vec<usize> = (0..instance.items()).filter(|&item| weights[item] > 0.0).collect();
    let ratio = |item: usize| values[item] / weights[item];
    heavy.sort_by(|&a, &b| ratio(b).total_cmp(&ratio(a)));
    let mut left = instance.capacity() + instance.slack();
    let first = heavy.into_iter().find(|&item| {
        left -= weights[item];
        left < 0.0
    });
    first.map(ratio).filter(|ratio| *ratio > 0.0 && ratio.is_finite())
}
