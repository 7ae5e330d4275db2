//! Series, gaps and axes of charts.

use bqnco_plot::{Chart, Scale};
use roxmltree::Document;

fn paths(svg: &str, class: &str) -> Vec<String> {
    let document = Document::parse(svg).expect("a chart is well-formed XML");
    let nodes = document.descendants().filter(|node| node.attribute("class") == Some(class));
    nodes.filter_map(|node| node.attribute("d")).map(String::from).collect()
}

#[test]
fn every_series_is_drawn_and_named() {
    let chart = Chart::new("Loss").caption("two runs").x("samples", Scale::Log).y("loss", Scale::Linear);
    let chart = chart.line("a < b", vec![[1.0, 3.0], [10.0, 2.0]]).scatter("measured", vec![[5.0, 2.5]; 3]);
    let svg = chart.draw().to_svg();
    let series = paths(&svg, "series");
    assert_eq!(series.len(), 2);
    assert_eq!(series[1].matches("h0").count(), 3);
    for word in ["Loss", "two runs", "samples", "loss", "a &lt; b", "measured"] {
        assert!(svg.contains(&format!(">{word}</text>")), "{word}");
    }
}

#[test]
fn points_without_a_place_break_the_line() {
    let values = [1.0, 2.0, f64::NAN, 3.0, 4.0, -1.0, 5.0, f64::INFINITY, 6.0, 7.0];
    let points = values.iter().enumerate().map(|(k, &y)| [k as f64, y]).collect();
    let svg = Chart::new("").y("", Scale::Log).line("", points).draw().to_svg();
    assert_eq!(paths(&svg, "series")[0].matches('M').count(), 4, "two, two, one and two points");
    assert_eq!(paths(&svg, "marks")[0].matches("h0").count(), 7);
}

#[test]
fn equal_ratios_are_equally_far_apart_on_a_log_axis() {
    let chart = Chart::new("").x("", Scale::Log).scatter("", vec![[1.0, 0.0], [10.0, 0.0], [100.0, 0.0]]);
    let dots = paths(&chart.draw().to_svg(), "series").remove(0);
    let x: Vec<f64> = dots.split('M').skip(1).map(|dot| dot.split_once(' ').unwrap().0.parse().unwrap()).collect();
    assert!(x[1] > x[0] && ((x[1] - x[0]) - (x[2] - x[1])).abs() < 0.02, "{x:?}");
}

#[test]
fn any_chart_can_be_rendered() {
    let odd = [f64::NAN, f64::NEG_INFINITY, f64::MAX, -f64::MAX, 0.0, 5e-324];
    let points: Vec<[f64; 2]> = odd.iter().flat_map(|&x| odd.iter().map(move |&y| [x, y])).collect();
    for scale in [Scale::Linear, Scale::Log] {
        for count in [0, 1, points.len()] {
            let chart = Chart::new("").x("", scale).y("", scale);
            let picture = chart.line("", points[..count].to_vec()).scatter("", points[..count].to_vec()).draw();
            assert!(!picture.to_svg().contains("NaN"));
            assert!(picture.to_png(100).is_ok());
        }
    }
}
