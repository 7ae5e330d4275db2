//! The layout of the BQ-NCO paper's scripts. Routing problems repeat the first node at the end. Training sets are
//! reordered: nodes or items are in the order of the solution, so that the solution needs no array of its own.

use super::archive::{Archive, Entry};
use super::npy::Kind;
use crate::raw_instance::as_index;
use crate::{Array, Format, RawInstance, ReadError, WriteError};

/// Reads all instances.
pub(super) fn decode(mut archive: Archive<'_>) -> Result<Vec<RawInstance>, ReadError> {
    if archive.has("coords") { decode_routes(&mut archive) } else { decode_items(&mut archive) }
}

fn decode_routes(archive: &mut Archive<'_>) -> Result<Vec<RawInstance>, ReadError> {
    let coords = archive.need("coords")?;
    let instances = archive.instances("coords", &coords)?;
    let nodes = match coords.shape[..] {
        [_, nodes, 2] if nodes > 1 => nodes, // the last repeats the first
        _ => return Err(archive.wrong("coords", "the shape [instances, nodes + 1, 2]", format!("{:?}", coords.shape))),
    };
    let mut all = vec![RawInstance::default(); instances];
    for (raw, part) in all.iter_mut().zip(archive.split("coords", coords, instances)?) {
        let [places @ .., _, _] = &part.values[..] else { continue };
        raw.insert("coordinates", Array::table(2, places.to_vec()));
    }
    for (name, field) in [("demands", "demands"), ("values", "prizes")] {
        let Some(array) = archive.take(name)? else { continue };
        if array.shape != [instances, nodes] {
            let expected = format!("the shape [{instances}, {nodes}]");
            return Err(archive.wrong(name, expected, format!("{:?}", array.shape)));
        }
        for (raw, part) in all.iter_mut().zip(archive.split(name, array, instances)?) {
            raw.insert(field, Array::list(part.values[..nodes - 1].to_vec()));
        }
    }
    for (name, field) in [
        ("capacities", Some("capacity")),
        ("upper_bounds", Some("limit")),
        ("tour_lens", None),
        ("collected_rewards", None),
    ] {
        read_numbers(archive, &mut all, name, field)?;
    }
    let reordered = archive.take("reorder")?.is_some_and(|flag| flag.values.first() == Some(&1.0));
    if let Some(flags) = archive.take("via_depots")? {
        for (raw, flags) in all.iter_mut().zip(archive.split("via_depots", flags, instances)?) {
            raw.solution = Some(routes(&flags.values));
        }
    } else if all[0].has("prizes") {
        read_lengths(archive, &mut all, nodes - 1)?;
    } else if reordered && !all[0].has("demands") {
        all.iter_mut().for_each(|raw| raw.solution = Some((0..nodes - 1).collect()));
    }
    Ok(all)
}

fn decode_items(archive: &mut Archive<'_>) -> Result<Vec<RawInstance>, ReadError> {
    let weights = archive.need("weights")?;
    let instances = archive.instances("weights", &weights)?;
    let items = weights.values.len() / instances;
    let mut all = vec![RawInstance::default(); instances];
    let values = archive.need("values")?;
    for (name, array) in [("weights", weights), ("values", values)] {
        for (raw, part) in all.iter_mut().zip(archive.split(name, array, instances)?) {
            raw.insert(name, part);
        }
    }
    read_numbers(archive, &mut all, "capacities", Some("capacity"))?;
    read_numbers(archive, &mut all, "optimal_values", None)?;
    read_lengths(archive, &mut all, items)?;
    Ok(all)
}

/// One number per instance, into a field or the cost. NaN means that there is none.
fn read_numbers(
    archive: &mut Archive<'_>,
    all: &mut [RawInstance],
    name: &str,
    field: Option<&str>,
) -> Result<(), ReadError> {
    let Some(array) = archive.take(name)? else { return Ok(()) };
    let values = archive.per_instance(name, array, all.len())?;
    for (raw, value) in all.iter_mut().zip(values) {
        match field {
            Some(field) => raw.insert(field, Array::scalar(value)),
            None => raw.cost = Some(value).filter(|cost| !cost.is_nan()),
        }
    }
    Ok(())
}

/// `solution_lengths`: number of leading nodes or items that form the solution; -1 if there is none.
fn read_lengths(archive: &mut Archive<'_>, all: &mut [RawInstance], most: usize) -> Result<(), ReadError> {
    let Some(array) = archive.take("solution_lengths")? else { return Ok(()) };
    let lengths = archive.per_instance("solution_lengths", array, all.len())?;
    for (raw, length) in all.iter_mut().zip(lengths) {
        let Some(length) = as_index(length).filter(|&length| length <= most) else {
            if length < 0.0 {
                continue;
            }
            return Err(archive.wrong("solution_lengths", format!("at most {most}"), format!("{length}")));
        };
        raw.solution = Some((0..length).collect());
    }
    Ok(())
}

/// Customers in the order of the nodes, with a 0 before each that is reached through the depot.
fn routes(flags: &[f64]) -> Vec<usize> {
    let mut solution = Vec::new();
    let customers = flags.get(1..flags.len().saturating_sub(1)).unwrap_or_default(); // without the depot at both ends
    for (index, &flag) in customers.iter().enumerate() {
        if flag != 0.0 && index > 0 {
            solution.push(0);
        }
        solution.push(index + 1);
    }
    solution
}

/// Lists that are stored in the order of the nodes or items, and numbers per instance.
const LISTS: [(&str, &str); 5] = [
    ("coordinates", "coords"),
    ("demands", "demands"),
    ("prizes", "values"),
    ("values", "values"),
    ("weights", "weights"),
];
const NUMBERS: [(&str, &str); 2] = [("capacity", "capacities"), ("limit", "upper_bounds")];

/// Writes all instances, which must be of one size; reordered if all of them have a solution.
pub(super) fn encode(mut all: Vec<RawInstance>) -> Result<Vec<(String, Entry)>, WriteError> {
    let size = super::same_size(&all, Format::NpzBq)?;
    let reorder = all.iter().all(|raw| raw.solution.is_some());
    let mut entries = if reorder { solutions(&all, size) } else { vec![costs(&all)] };
    entries.push(("reorder".to_string(), Entry::Numbers(Array::scalar(f64::from(u8::from(reorder))), Kind::Bool)));
    let identity: Vec<usize> = (0..size).collect();
    let orders: Vec<_> = all.iter().map(|raw| if reorder { order(raw, size) } else { identity.clone() }).collect();
    let closed = all[0].has("coordinates");
    for (field, name) in LISTS.into_iter().chain(NUMBERS) {
        if !all[0].has(field) {
            continue;
        }
        let mut parts = Vec::new();
        for (raw, order) in all.iter_mut().zip(&orders) {
            let array = crate::write::take(raw, field, Format::NpzBq, Format::Npz)?;
            parts.push(if array.shape.is_empty() { array } else { reordered(&array, order, closed) });
        }
        entries.push((name.to_string(), Entry::Numbers(super::stacked(parts), Kind::Float64)));
    }
    all.iter().try_for_each(|raw| crate::write::all_written(Format::NpzBq, raw, Format::Npz))?;
    Ok(entries)
}

/// What the scripts store about the solutions of a test set.
fn costs(all: &[RawInstance]) -> (String, Entry) {
    let name = match (all[0].has("coordinates"), all[0].has("prizes")) {
        (true, false) => "tour_lens",
        (true, true) => "collected_rewards",
        (false, _) => "optimal_values",
    };
    let costs = all.iter().map(|raw| raw.cost.unwrap_or(f64::NAN)).collect();
    (name.to_string(), Entry::Numbers(Array::list(costs), Kind::Float64))
}

/// What the scripts store about the solutions of a training set: where routes end, or the length of the solution.
fn solutions(all: &[RawInstance], size: usize) -> Vec<(String, Entry)> {
    let stacked = |part: &dyn Fn(&RawInstance) -> Array, kind| {
        Entry::Numbers(super::stacked(all.iter().map(part).collect()), kind)
    };
    if all[0].has("demands") {
        return vec![
            ("via_depots".to_string(), stacked(&|raw| via_depots(raw, size), Kind::Float64)),
            ("remaining_capacities".to_string(), stacked(&|raw| remaining(raw, size), Kind::Float64)),
        ];
    }
    if all[0].has("coordinates") && !all[0].has("prizes") {
        return Vec::new(); // a tour visits all nodes
    }
    let length = |raw: &RawInstance| Array::scalar(raw.solution.as_ref().map_or(-1.0, |numbers| numbers.len() as f64));
    vec![("solution_lengths".to_string(), stacked(&length, Kind::Int64))]
}

/// All nodes or items: first those of the solution in its order, then the others. A depot stays first.
fn order(raw: &RawInstance, size: usize) -> Vec<usize> {
    let depot = raw.has("demands");
    let mut seen = vec![false; size];
    let visited = raw.solution.iter().flatten().copied().filter(|&number| !depot || number != 0);
    let all = depot.then_some(0).into_iter().chain(visited).chain(0..size);
    all.filter(|&number| number < size && !std::mem::replace(&mut seen[number], true)).collect()
}

/// Rows in another order; the first is repeated at the end if the nodes form a tour.
fn reordered(array: &Array, order: &[usize], closed: bool) -> Array {
    let width = array.values.len() / order.len().max(1);
    let rows = order.iter().chain(order.first().filter(|_| closed));
    let values: Vec<f64> = rows.flat_map(|&row| &array.values[row * width..(row + 1) * width]).copied().collect();
    if array.shape.len() == 1 { Array::list(values) } else { Array::table(width, values) }
}

/// Customers in the order of the visit, and whether each but the first is reached through the depot.
fn visits(raw: &RawInstance) -> impl Iterator<Item = (usize, bool)> {
    let numbers = raw.solution.as_deref().unwrap_or_default();
    let routes = numbers.split(|&number| number == 0).filter(|route| !route.is_empty()).enumerate();
    routes.flat_map(|(route, customers)| {
        customers.iter().enumerate().map(move |(position, &customer)| (customer, route > 0 && position == 0))
    })
}

/// One flag per node, 1 for the depot at the start: `[size + 1]`.
fn via_depots(raw: &RawInstance, size: usize) -> Array {
    let mut flags = vec![0.0; size + 1];
    flags[0] = 1.0;
    for (flag, (_, via_depot)) in flags[1..].iter_mut().zip(visits(raw)) {
        *flag = f64::from(u8::from(via_depot));
    }
    Array::list(flags)
}

/// Capacity left after each node, the full capacity at the depot: `[size + 1]`.
fn remaining(raw: &RawInstance, size: usize) -> Array {
    let capacity = raw.get("capacity").and_then(|array| array.values.first()).copied().unwrap_or(0.0);
    let demand = |customer: usize| raw.get("demands").and_then(|array| array.values.get(customer)).copied();
    let mut left = vec![capacity; size + 1];
    for (position, (customer, via_depot)) in visits(raw).enumerate().take(size - 1) {
        let before = if via_depot { capacity } else { left[position] };
        left[position + 1] = before - demand(customer).unwrap_or(0.0);
    }
    Array::list(left)
}
