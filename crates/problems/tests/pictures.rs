//! What is in the pictures, and that nothing breaks them.

use std::sync::Arc;

use bqnco_core::{Generate, GreedyHeuristic, Subproblem, random, rollout};
use bqnco_plot::{Draw, Picture};
use bqnco_problems::{Atsp, Cvrp, Geometry, Knapsack, Metric, Op, Pctsp, Tsp, atsp, cvrp, knapsack, op, pctsp, tsp};
use resvg::tiny_skia::Pixmap;
use roxmltree::{Document, Node};

/// A random instance and the solution of the greedy heuristic.
fn solved<P: Generate>(size: usize) -> (Arc<P::Instance>, Vec<P::Step>) {
    let instance = Arc::new(P::generate(size, &mut random(1, &[size as u64])));
    let solutions =
        rollout::solve::<P>(&GreedyHeuristic, std::slice::from_ref(&instance), &rollout::Options::default());
    (instance, solutions.expect("a policy without weights does not fail").remove(0).steps)
}

fn parsed(svg: &str) -> Document<'_> {
    Document::parse(svg).expect("a picture is well-formed XML")
}

fn of_class<'a>(document: &'a Document, class: &str) -> Vec<Node<'a, 'a>> {
    document.descendants().filter(|node| node.attribute("class") == Some(class)).collect()
}

/// Circles in all groups of a class.
fn circles(document: &Document, class: &str) -> usize {
    of_class(document, class).iter().map(|group| group.children().filter(Node::is_element).count()).sum()
}

fn dots(document: &Document, class: &str) -> usize {
    let paths = of_class(document, class);
    paths.iter().filter_map(|path| path.attribute("d")).map(|d| d.matches("h0").count()).sum()
}

fn text(picture: &Picture, class: &str) -> String {
    let svg = picture.to_svg();
    let document = parsed(&svg);
    of_class(&document, class)[0].text().unwrap_or_default().to_string()
}

fn height(document: &Document) -> f64 {
    document.root_element().attribute("height").and_then(|height| height.parse().ok()).expect("a page has a height")
}

/// Well-formed, finite, on the page, and renderable.
fn is_sound(picture: &Picture) {
    let svg = picture.to_svg();
    let document = parsed(&svg);
    let page = height(&document);
    for attribute in document.descendants().flat_map(|node| node.attributes()) {
        let value = attribute.value();
        assert!(!value.contains("NaN") && !value.contains("inf"), "{value}");
        let limit = match attribute.name() {
            "x" | "cx" => 800.0,
            "y" | "cy" => page,
            _ => continue,
        };
        let place: f64 = value.parse().expect("a number");
        assert!((0.0..=limit).contains(&place), "{} = {value} is beyond the page", attribute.name());
    }
    assert!(picture.to_png(80).is_ok());
}

#[test]
fn a_tour_is_one_path_and_its_nodes_another() {
    let (instance, tour) = solved::<Tsp>(100);
    let picture = Tsp::draw(&instance, Some(&tour));
    is_sound(&picture);
    let svg = picture.to_svg();
    let document = parsed(&svg);
    assert_eq!((of_class(&document, "tour").len(), of_class(&document, "nodes").len()), (1, 1));
    assert_eq!(dots(&document, "nodes"), 100);
    let line = of_class(&document, "tour")[0].attribute("d").unwrap();
    let moves = line.split_once('l').unwrap().1.split(' ');
    let moves: Vec<f64> = moves.map(|number| number.parse().unwrap()).collect();
    assert_eq!(moves.len(), 2 * 100);
    for axis in 0..2 {
        let total: f64 = moves.iter().skip(axis).step_by(2).sum();
        assert!(total.abs() < 1e-9, "the tour is closed");
    }
    assert_eq!(text(&picture, "title"), "TSP, 100 nodes");
}

#[test]
fn large_tours_stay_small_files() {
    let nodes = 18_512u32;
    let place = |k: u32| [f64::from(k * 7_919 % nodes), f64::from(k * 10_007 % nodes)];
    let instance =
        tsp::Instance::tour(Geometry::planar((0..nodes).map(place).collect(), Metric::Euc2d).unwrap()).unwrap();
    let svg = Tsp::draw(&instance, Some(&(1..nodes as usize).collect::<Vec<_>>())).to_svg();
    assert!(svg.len() < 700_000, "{} bytes", svg.len());
    assert_eq!(dots(&parsed(&svg), "nodes"), nodes as usize);
}

#[test]
fn the_matrix_is_covered_once_and_every_leg_is_marked() {
    let (instance, tour) = solved::<Atsp>(30);
    let picture = Atsp::draw(&instance, Some(&tour));
    is_sound(&picture);
    let svg = picture.to_svg();
    let document = parsed(&svg);
    assert_eq!(of_class(&document, "leg").len(), 30);
    let paths = of_class(&document, "matrix")[0].children().filter_map(|path| path.attribute("d"));
    let runs = paths.flat_map(|d| d.split('M').skip(1)).map(|run| run.split_once('h').unwrap().1);
    assert_eq!(runs.map(|run| run.parse::<usize>().unwrap()).sum::<usize>(), 30 * 30);
}

#[test]
fn every_route_and_every_customer_is_drawn() {
    let (instance, solution) = solved::<Cvrp>(100);
    let picture = Cvrp::draw(&instance, Some(&solution));
    is_sound(&picture);
    let svg = picture.to_svg();
    let document = parsed(&svg);
    let routes = cvrp::routes(&solution).len();
    assert!(routes > 5);
    assert_eq!((of_class(&document, "route").len(), of_class(&document, "legs").len()), (routes, routes));
    assert_eq!((circles(&document, "customers"), circles(&document, "left out")), (100, 0));
    assert!(text(&picture, "caption").ends_with(&format!("{routes} routes")));
}

#[test]
fn visited_nodes_and_packed_items_are_told_from_the_others() {
    let (instance, route) = solved::<Op>(100);
    let picture = Op::draw(&instance, Some(&route));
    is_sound(&picture);
    let svg = picture.to_svg();
    let document = parsed(&svg);
    assert_eq!((circles(&document, "visited"), circles(&document, "not visited")), (route.len(), 100 - route.len()));
    assert!(text(&picture, "caption").ends_with(" of 4"));

    let (instance, items) = solved::<Knapsack>(200);
    let picture = Knapsack::draw(&instance, Some(&items));
    is_sound(&picture);
    let svg = picture.to_svg();
    let document = parsed(&svg);
    assert_eq!((circles(&document, "packed"), circles(&document, "left out")), (items.len(), 200 - items.len()));
    assert_eq!(of_class(&document, "break").len(), 1);
}

#[test]
fn tails_show_where_they_start_and_end() {
    fn marked<P: Draw + Generate>(classes: &[&str]) {
        let (instance, steps) = solved::<P>(30);
        let mut state = Subproblem::<P>::whole(instance);
        steps[..2].iter().for_each(|&step| _ = state.take(step));
        let svg = P::draw(&P::extract(state.instance(), state.tail()), None).to_svg();
        let document = parsed(&svg);
        classes.iter().for_each(|class| assert_eq!(of_class(&document, class).len(), 1, "{class}"));
    }
    marked::<Tsp>(&["origin", "destination"]);
    marked::<Op>(&["origin", "destination"]);
    marked::<Cvrp>(&["origin", "depot"]);
    marked::<Pctsp>(&["origin", "depot"]);
}

#[test]
fn degenerate_instances_are_drawn() {
    let places = [vec![[3.0, 3.0]; 5], vec![[0.0, 0.0], [1.0, 0.0]], vec![[-1e18, -1e18], [1e18, 1e18]]];
    for points in places {
        let (nodes, geometry) = (points.len(), Geometry::planar(points, Metric::Exact).unwrap());
        let rest: Vec<usize> = (1..nodes).collect();
        is_sound(&Tsp::draw(&tsp::Instance::tour(geometry.clone()).unwrap(), Some(&rest)));
        is_sound(&Tsp::draw(&tsp::Instance::path(geometry.clone(), 0, 1).unwrap(), None));
        let free = cvrp::Instance::new(geometry.clone(), vec![0.0; nodes], 1.0).unwrap();
        is_sound(&Cvrp::draw(&free, Some(&cvrp::from_routes(std::slice::from_ref(&rest)))));
        is_sound(&Op::draw(&op::Instance::new(geometry, vec![0.0; nodes], 1.0).unwrap(), Some(&rest)));
        is_sound(&Atsp::draw(&atsp::Instance::tour(nodes, vec![0.0; nodes * nodes]).unwrap(), Some(&rest)));
    }
    for (value, weight, capacity) in [(1.0, 1.0, 1.0), (0.0, 0.0, 0.0), (5.0, 7.0, 0.0), (1e18, 1e18, 1e18)] {
        let instance = knapsack::Instance::new(vec![value; 3], vec![weight; 3], capacity).unwrap();
        is_sound(&Knapsack::draw(&instance, Some(&[0])));
        is_sound(&Knapsack::draw(&instance, Some(&[0, 1, 2])));
        is_sound(&Knapsack::draw(&knapsack::Instance::new(vec![value], vec![weight], capacity).unwrap(), None));
    }
}

#[test]
fn bad_solutions_are_drawn_and_called_bad() {
    fn all<P: Draw + Generate>(bad: &[Vec<P::Step>]) {
        let instance = P::generate(20, &mut random(2, &[]));
        for solution in bad {
            let picture = P::draw(&instance, Some(solution));
            is_sound(&picture);
            let caption = text(&picture, "caption");
            assert!(caption.starts_with("not a solution: "), "{}: {caption}", P::NAME);
        }
    }
    let lists = [vec![99], vec![3, 3], vec![0, usize::MAX, 4, 4, 4], (0..60).collect()];
    all::<Tsp>(&lists);
    all::<Tsp>(&[vec![], vec![5]]);
    all::<Atsp>(&lists);
    all::<Atsp>(&[vec![], vec![5]]);
    all::<Op>(&lists);
    all::<Pctsp>(&lists.clone().map(pctsp::from_visits));
    all::<Pctsp>(&[vec![], pctsp::from_visits([5]), vec![pctsp::Step::Return; 2]]);
    all::<Knapsack>(&lists);
    let routes = |list: &Vec<usize>| list.iter().map(|&customer| cvrp::Step { customer, via_depot: true }).collect();
    all::<Cvrp>(&lists.iter().map(routes).collect::<Vec<_>>());
    all::<Cvrp>(&[vec![], cvrp::from_routes(&[(1..=20).collect()])]);
}

#[test]
fn any_text_is_escaped() {
    let (instance, _) = solved::<Tsp>(5);
    let picture = Tsp::draw(&instance, None).title("<&\"'> \u{1}\nNürnberg Łódź").caption("");
    assert_eq!(text(&picture, "title"), "<&\"'> \u{FFFD} Nürnberg Łódź");
    is_sound(&picture);
    is_sound(&picture.title("W".repeat(5_000)));
}

#[test]
fn pngs_have_the_size_asked_for_and_readable_letters() {
    let (instance, tour) = solved::<Tsp>(20);
    let picture = Tsp::draw(&instance, Some(&tour)).title("Hamburg");
    let pixels = |picture: &Picture| Pixmap::decode_png(&picture.to_png(400).unwrap()).unwrap();
    let image = pixels(&picture);
    let svg = picture.to_svg();
    assert_eq!((image.width(), f64::from(image.height())), (400, (height(&parsed(&svg)) / 2.0).ceil()));
    // The title is the only dark thing in the first 20 rows.
    let dark = |image: &Pixmap| image.pixels()[..400 * 20].iter().filter(|pixel| pixel.red() < 100).count();
    assert!(dark(&image) > 20, "{} dark pixels", dark(&image));
    assert_eq!(dark(&pixels(&picture.clone().title(""))), 0);
    assert!(picture.to_png(0).is_err() && picture.to_png(1_000_000).is_err());
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let draw = || {
        let (instance, solution) = solved::<Cvrp>(60);
        Cvrp::draw(&instance, Some(&solution))
    };
    assert_eq!(draw().to_svg(), draw().to_svg());
    assert_eq!(draw().to_png(300).unwrap(), draw().to_png(300).unwrap());
}
