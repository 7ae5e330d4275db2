//! The keywords of TSPLIB and its relatives. What is neither read nor known to be harmless is refused: it may be a
//! constraint, and a solution of the problem without it would look like one of the problem in the file.

use super::document::TsplibDocument;
use crate::text::did_you_mean;
use crate::{Place, ReadError};

/// Keywords that are read, in instances or tours.
const READ: [&str; 21] = [
    "NAME",
    "TYPE",
    "COMMENT",
    "DIMENSION",
    "CAPACITY",
    "VEHICLES",
    "COST_LIMIT",
    "EDGE_WEIGHT_TYPE",
    "EDGE_WEIGHT_FORMAT",
    "NODE_COORD_SECTION",
    "DEPOT_SECTION",
    "DEMAND_SECTION",
    "NODE_SCORE_SECTION",
    "EDGE_WEIGHT_SECTION",
    "DISPLAY_DATA_SECTION",
    "FIXED_EDGES_SECTION",
    "TOUR_SECTION",
    "NODE_SEQUENCE_SECTION",
    "ROUTE_SCORE",
    "ROUTE_COST",
    "EOF",
];

/// Keywords that do not change the problem.
const SKIPPED: [&str; 16] = [
    "NODE_COORD_TYPE",
    "DISPLAY_DATA",
    "DISPLAY_DATA_TYPE",
    "TSPSOL", // OPLib: the length of the best tour, of which COST_LIMIT is a share
    "BEST_KNOWN",
    "BEST_KNOWN_VALUE",
    "BEST_KNOWN_COST",
    "BKS",
    "OPTIMUM",
    "OPTIMAL_VALUE",
    "AUTHOR",
    "SOURCE",
    "DATE",
    "DESCRIPTION",
    "REFERENCE",
    "URL",
];

/// Keywords of TSPLIB95, LKH-3, VRPLIB and PyVRP that are not supported, and what they stand for.
const UNSUPPORTED: [(&str, &str); 43] = [
    ("SALESMEN", "several salesmen"),
    ("EXTERNAL_SALESMEN", "several salesmen"),
    ("DISTANCE", "a limit on the length of routes"),
    ("VEHICLES_MAX_DISTANCE", "a limit on the length of routes"),
    ("VEHICLES_MAX_DISTANCE_SECTION", "a limit on the length of routes"),
    ("VEHICLES_MAX_DURATION", "a limit on the duration of routes"),
    ("VEHICLES_MAX_DURATION_SECTION", "a limit on the duration of routes"),
    ("VEHICLES_FIXED_COST", "costs of vehicles"),
    ("VEHICLES_FIXED_COST_SECTION", "costs of vehicles"),
    ("VEHICLES_UNIT_DISTANCE_COST_SECTION", "costs of vehicles"),
    ("VEHICLES_ALLOWED_CLIENTS_SECTION", "vehicles that serve some customers only"),
    ("VEHICLES_DEPOT_SECTION", "several depots"),
    ("VEHICLES_RELOAD_DEPOT_SECTION", "vehicles that reload"),
    ("VEHICLES_MAX_RELOADS", "vehicles that reload"),
    ("CAPACITY_SECTION", "vehicles of several capacities"),
    ("DEMAND_DIMENSION", "demands of several goods"),
    ("SERVICE_TIME", "service times"),
    ("SERVICE_TIME_SECTION", "service times"),
    ("STANDTIME_SECTION", "service times"),
    ("TIME_WINDOW_SECTION", "time windows"),
    ("RELEASE_TIME_SECTION", "release times"),
    ("BACKHAUL_SECTION", "backhauls"),
    ("LINEHAUL_SECTION", "backhauls"),
    ("PICKUP_SECTION", "pickups and deliveries"),
    ("PICKUP_AND_DELIVERY_SECTION", "pickups and deliveries"),
    ("PRIZE_SECTION", "prizes; those of an OP are in NODE_SCORE_SECTION"),
    ("PENALTY_SECTION", "penalties"),
    ("REQUIRED_NODES_SECTION", "nodes that may be left out"),
    ("MUTUALLY_EXCLUSIVE_GROUP_SECTION", "groups of nodes of which one is visited"),
    ("GTSP_SETS", "groups of nodes of which one is visited"),
    ("GTSP_SET_SECTION", "groups of nodes of which one is visited"),
    ("GVRP_SETS", "groups of nodes of which one is visited"),
    ("GVRP_SET_SECTION", "groups of nodes of which one is visited"),
    ("CTSP_SET_SECTION", "nodes that belong to certain salesmen"),
    ("CLUSTER_SECTION", "clusters of nodes"),
    ("PRECEDENCE", "precedences"),
    ("PRECEDENCE_SECTION", "precedences"),
    ("DRAFT_LIMIT_SECTION", "draft limits"),
    ("RISK_THRESHOLD", "a limit on the risk of routes"),
    ("GRID_SIZE", "distances on a grid"),
    ("SCALE", "scaled distances"),
    ("EDGE_DATA_FORMAT", "a graph with missing edges"),
    ("EDGE_DATA_SECTION", "a graph with missing edges"),
];

/// Whether a word is a keyword that is read.
pub(super) fn is_read(word: &str) -> bool {
    READ.iter().any(|known| known.eq_ignore_ascii_case(word))
}

/// The keyword nearest to a word, as a question.
pub(crate) fn hint(word: &str) -> String {
    did_you_mean(word, READ.into_iter().chain(SKIPPED))
}

/// Refuses an instance with keywords that are not known to be harmless.
pub(super) fn check(document: &TsplibDocument<'_>) -> Result<(), ReadError> {
    let headers = document.headers().map(|header| (header.key, header.line, "line"));
    let sections = document.sections().map(|section| (section.key, section.line, "section"));
    for (key, line, part) in headers.chain(sections) {
        if let Some((reason, correct)) = reason(key) {
            let advice = format!("{correct}delete the {part} to solve without it");
            return Err(document.source().refused(Place::Line(line), reason, advice));
        }
    }
    check_vehicles(document)
}

/// Only vehicles that serve demands can be limited.
fn check_vehicles(document: &TsplibDocument<'_>) -> Result<(), ReadError> {
    match document.header("VEHICLES") {
        Some(header) if document.section("DEMAND_SECTION").is_none() => {
            let reason = format!("`{}` (a limit on the number of vehicles) is supported for cvrp only", header.key);
            let advice = "delete the line to solve without it";
            Err(document.source().refused(Place::Line(header.line), reason, advice))
        }
        _ => Ok(()),
    }
}

/// Why a keyword is refused, and what could be corrected; nothing if it is read or skipped.
fn reason(key: &str) -> Option<(String, &'static str)> {
    if is_read(key) || SKIPPED.iter().any(|known| known.eq_ignore_ascii_case(key)) {
        return None;
    }
    if let Some((_, meaning)) = UNSUPPORTED.iter().find(|(known, _)| known.eq_ignore_ascii_case(key)) {
        return Some((format!("`{key}` ({meaning}) is not supported"), ""));
    }
    let hint = hint(key);
    let correct = if hint.is_empty() { "make it a COMMENT, or " } else { "correct it, or " };
    Some((format!("`{key}` is no known keyword{hint}"), correct))
}
