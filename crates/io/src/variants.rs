//! Names of problems that are not built in: other names of those that are, and variants with further constraints, for
//! which a problem without these must not be suggested.

use crate::text::did_you_mean;

/// Other names of problems.
const ALIASES: [(&str, &str); 3] = [("kp", "knapsack"), ("vrp", "cvrp"), ("orienteering", "op")];

/// Variants and what they add.
const VARIANTS: [(&str, &str); 33] = [
    ("vrptw", "time windows"),
    ("cvrptw", "time windows"),
    ("tsptw", "time windows"),
    ("optw", "time windows"),
    ("pdptw", "pickups and deliveries in time windows"),
    ("vrpb", "backhauls"),
    ("vrpbtw", "backhauls and time windows"),
    ("vrppd", "pickups and deliveries"),
    ("vrpspd", "pickups and deliveries"),
    ("pdtsp", "pickups and deliveries"),
    ("pdp", "pickups and deliveries"),
    ("1-pdtsp", "pickups and deliveries"),
    ("m-pdtsp", "pickups and deliveries"),
    ("ovrp", "routes that do not return"),
    ("gvrp", "groups of nodes of which one is visited"),
    ("gtsp", "groups of nodes of which one is visited"),
    ("hfvrp", "vehicles of several kinds"),
    ("hvrp", "vehicles of several kinds"),
    ("dcvrp", "a limit on the length of routes"),
    ("dvrp", "a limit on the length of routes"),
    ("mdvrp", "several depots"),
    ("sdvrp", "split deliveries"),
    ("pvrp", "several days"),
    ("acvrp", "asymmetric distances"),
    ("ccvrp", "arrival times"),
    ("trp", "arrival times"),
    ("mtsp", "several salesmen"),
    ("top", "several routes"),
    ("ctsp", "nodes that belong to certain salesmen"),
    ("tspdl", "draft limits"),
    ("sop", "precedences"),
    ("hcp", "a graph with missing edges"),
    ("mkp", "several knapsacks"),
];

/// What a variant adds; empty if that is not known, nothing if the name is none of a variant.
pub(crate) fn meaning(name: &str) -> Option<&'static str> {
    let name = name.to_ascii_lowercase();
    if let Some((_, meaning)) = VARIANTS.iter().find(|(variant, _)| *variant == name) {
        return Some(meaning);
    }
    // Most variants extend the name of their problem.
    let extends = |problem: &str| name.contains(problem) && name.len() > problem.len();
    let is_problem = ["atsp", "cvrp", "pctsp"].contains(&name.as_str());
    (!is_problem && (extends("tsp") || extends("vrp"))).then_some("")
}

/// What an unknown name of a problem may mean, in parentheses: a problem with another name, a variant that is not
/// supported, or a misspelt one. Empty if it is like nothing.
pub fn problem_hint<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let alias = ALIASES.iter().find(|(alias, _)| alias.eq_ignore_ascii_case(name));
    match (alias, meaning(name)) {
        (Some((_, problem)), _) => format!(" (did you mean `{problem}`?)"),
        (None, Some("")) => " (a variant that is not supported)".to_string(),
        (None, Some(meaning)) => format!(" ({meaning}: not supported)"),
        (None, None) => did_you_mean(name, known),
    }
}
