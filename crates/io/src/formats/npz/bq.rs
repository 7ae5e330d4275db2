//! The layout of the BQ-NCO paper's scripts. Routing problems repeat the first node at the end. A set for training is
//! reordered: nodes or items stand in the order of the solution, so that the solution needs no array of its own.

use super::archive::{Archive, Entry};
use super::npy::Kind;
use crate::problems::node;
use crate::{Array, Fields, Format, ReadError, WriteError};

/// Reads all instances.
pub(super) fn decode(mut archive: Archive<'_>) -> Result<Vec<Fields>, ReadError> {
    if archive.has("coords") { decode_routes(&mut archive) } else { decode_items(&mut archive) }
}

fn decode_routes(archive: &mut Archive<'_>) -> Result<Vec<Fields>, ReadError> {
    let coords = archive.need("coords")?;
    let instances = archive.instances("coords", &coords)?;
    let nodes = match coords.shape[..] {
        [_, nodes, 2] if nodes > 1 => nodes, // the last is the first again
        _ => return Err(archive.wrong("coords", "the shape [instances, nodes + 1, 2]", format!("{:?}", coords.shape))),
    };
    let mut all = vec![Fields::default(); instances];
    for (fields, part) in all.iter_mut().zip(archive.split("coords", coords, instances)?) {
        let [places @ .., _, _] = &part.values[..] else { continue };
        fields.insert("coordinates", Array::table(2, places.to_vec()));
    }
    for (name, field) in [("demands", "demands"), ("values", "prizes")] {
        let Some(array) = archive.take(name)? else { continue };
        if array.shape != [instances, nodes] {
            let expected = format!("the shape [{instances}, {nodes}]");
            return Err(archive.wrong(name, expected, format!("{:?}", array.shape)));
        }
        for (fields, part) in all.iter_mut().zip(archive.split(name, array, instances)?) {
            fields.insert(field, Array::list(part.values[..nodes - 1].to_vec()));
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
        for (fields, flags) in all.iter_mut().zip(archive.split("via_depots", flags, instances)?) {
            fields.solution = Some(routes(&flags.values));
        }
    } else if all[0].has("prizes") {
        read_lengths(archive, &mut all, nodes - 1)?;
    } else if reordered && !all[0].has("demands") {
        all.iter_mut().for_each(|fields| fields.solution = Some((0..nodes - 1).collect()));
    }
    Ok(all)
}

fn decode_items(archive: &mut Archive<'_>) -> Result<Vec<Fields>, ReadError> {
    let weights = archive.need("weights")?;
    let instances = archive.instances("weights", &weights)?;
    let items = weights.values.len() / instances;
    let mut all = vec![Fields::default(); instances];
    let values = archive.need("values")?;
    for (name, array) in [("weights", weights), ("values", values)] {
        for (fields, part) in all.iter_mut().zip(archive.split(name, array, instances)?) {
            fields.insert(name, part);
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
    all: &mut [Fields],
    name: &str,
    field: Option<&str>,
) -> Result<(), ReadError> {
    let Some(array) = archive.take(name)? else { return Ok(()) };
    let values = archive.per_instance(name, array, all.len())?;
    for (fields, value) in all.iter_mut().zip(values) {
        match field {
            Some(field) => fields.insert(field, Array::scalar(value)),
            None => fields.cost = Some(value).filter(|cost| !cost.is_nan()),
        }
    }
    Ok(())
}

/// `solution_lengths`: so many of the first nodes or items are the solution; -1 where there is none.
fn read_lengths(archive: &mut Archive<'_>, all: &mut [Fields], most: usize) -> Result<(), ReadError> {
    let Some(array) = archive.take("solution_lengths")? else { return Ok(()) };
    let lengths = archive.per_instance("solution_lengths", array, all.len())?;
    for (fields, length) in all.iter_mut().zip(lengths) {
        let Some(length) = node(length).filter(|&length| length <= most) else {
            if length < 0.0 {
                continue;
            }
            return Err(archive.wrong("solution_lengths", format!("at most {most}"), format!("{length}")));
        };
        fields.solution = Some((0..length).collect());
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

/// Writes all instances, which must be of one size; reordered if all of them have a solution.
pub(super) fn encode(mut all: Vec<Fields>) -> Result<Vec<(String, Entry)>, WriteError> {
    let reorder = all.iter().all(|fields| fields.solution.is_some());
    let orders = super::same_size(&all, Format::NpzBq)?;
    let orders: Vec<Vec<usize>> =
        all.iter().map(|fields| if reorder { order(fields, orders) } else { (0..orders).collect() }).collect();
    let routing = all[0].has("coordinates");
    let mut entries = Vec::new();
    let numbers = |array, kind| Entry::Numbers(array, kind);
    let lists = [
        ("coordinates", "coords"),
        ("demands", "demands"),
        ("prizes", "values"),
        ("values", "values"),
        ("weights", "weights"),
    ];
    for (field, name) in lists.into_iter().filter(|(field, _)| all[0].has(field)).collect::<Vec<_>>() {
        let mut parts = Vec::new();
        for (fields, order) in all.iter_mut().zip(&orders) {
            let array = crate::write::take(fields, field, Format::NpzBq, Format::Npz)?;
            parts.push(reordered(&array, order, routing));
        }
        entries.push((name.to_string(), numbers(super::stacked(parts), Kind::Float64)));
    }
    for (field, name) in [("capacity", "capacities"), ("limit", "upper_bounds")] {
        if all[0].has(field) {
            let values = all.iter_mut().map(|fields| {
                crate::write::take(fields, field, Format::NpzBq, Format::Npz).map(|array| array.values[0])
            });
            entries.push((name.to_string(), numbers(Array::list(values.collect::<Result<_, _>>()?), Kind::Float64)));
        }
    }
    all.iter().try_for_each(|fields| crate::write::all_written(Format::NpzBq, fields, Format::Npz))?;
    entries.extend(solutions(&all, &entries, reorder));
    Ok(entries)
}

/// What the scripts store about solutions: of a reordered set where they end, of others what they cost.
fn solutions(all: &[Fields], entries: &[(String, Entry)], reorder: bool) -> Vec<(String, Entry)> {
    let has = |name: &str| entries.iter().any(|(known, _)| known == name);
    let numbers = |name: &str, values: Vec<f64>, kind| (name.to_string(), Entry::Numbers(Array::list(values), kind));
    let mut more =
        vec![("reorder".to_string(), Entry::Numbers(Array::scalar(f64::from(u8::from(reorder))), Kind::Bool))];
    let ordered = has("coords") && !has("values"); // tsp and cvrp: all nodes are visited
    if !reorder {
        let name = if ordered {
            "tour_lens"
        } else if has("coords") {
            "collected_rewards"
        } else {
            "optimal_values"
        };
        more.push(numbers(name, all.iter().map(|fields| fields.cost.unwrap_or(f64::NAN)).collect(), Kind::Float64));
    } else if !ordered {
        let lengths = all.iter().map(|fields| fields.solution.as_ref().map_or(-1.0, |numbers| numbers.len() as f64));
        more.push(numbers("solution_lengths", lengths.collect(), Kind::Int64));
    } else if has("demands") {
        let flags = all.iter().map(|fields| via_depots(fields.solution.as_deref().unwrap_or_default())).collect();
        more.push(("via_depots".to_string(), Entry::Numbers(super::stacked(flags), Kind::Float64)));
    }
    more
}

/// All nodes or items: first those of the solution in its order, then the others. A depot stays first.
fn order(fields: &Fields, size: usize) -> Vec<usize> {
    let depot = fields.has("demands");
    let mut seen = vec![false; size];
    let visited = fields.solution.iter().flatten().copied().filter(|&number| !depot || number != 0);
    let all = depot.then_some(0).into_iter().chain(visited).chain(0..size);
    all.filter(|&number| number < size && !std::mem::replace(&mut seen[number], true)).collect()
}

/// Rows in another order, with the first repeated at the end where the nodes form a tour.
fn reordered(array: &Array, order: &[usize], closed: bool) -> Array {
    let width = array.values.len() / order.len().max(1);
    let rows = order.iter().chain(order.first().filter(|_| closed));
    let values: Vec<f64> = rows.flat_map(|&row| &array.values[row * width..(row + 1) * width]).copied().collect();
    if array.shape.len() == 1 { Array::list(values) } else { Array::table(width, values) }
}

/// One flag per node: the depot's is 1 in the scripts, a customer's says that it is reached through the depot.
fn via_depots(solution: &[usize]) -> Array {
    let mut flags = vec![1.0];
    let routes = solution.split(|&number| number == 0).filter(|route| !route.is_empty());
    for (route, customers) in routes.enumerate() {
        flags.extend((0..customers.len()).map(|position| f64::from(u8::from(route > 0 && position == 0))));
    }
    flags.push(0.0);
    Array::list(flags)
}
