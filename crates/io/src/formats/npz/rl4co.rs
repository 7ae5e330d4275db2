//! RL4CO's layout: the depot in an array of its own, no solutions.

use super::archive::{Archive, Entry};
use super::npy::Kind;
use crate::{Array, Format, RawInstance, ReadError, WriteError};

/// The prize that a tour must collect where visits are optional; RL4CO does not store it.
const QUOTA: f64 = 1.0;

/// Reads all instances.
pub(super) fn decode(mut archive: Archive<'_>) -> Result<Vec<RawInstance>, ReadError> {
    let all = match archive.take("cost_matrix")? {
        Some(matrices) => {
            let instances = archive.instances("cost_matrix", &matrices)?;
            let mut all = vec![RawInstance::default(); instances];
            for (raw, matrix) in all.iter_mut().zip(archive.split("cost_matrix", matrices, instances)?) {
                raw.insert("matrix", matrix);
            }
            all
        }
        None => decode_nodes(&mut archive)?,
    };
    match archive.rest().first() {
        Some(name) => {
            let known = "locs, depot, demand, capacity, prize, max_length, penalty, deterministic_prize or cost_matrix";
            Err(archive.wrong(name, known, "a part of another problem"))
        }
        None => Ok(all),
    }
}

fn decode_nodes(archive: &mut Archive<'_>) -> Result<Vec<RawInstance>, ReadError> {
    let locs = archive.need("locs")?;
    let instances = archive.instances("locs", &locs)?;
    if locs.shape.len() != 3 || locs.shape[2] != 2 {
        return Err(archive.wrong("locs", "the shape [instances, nodes, 2]", format!("{:?}", locs.shape)));
    }
    let mut all = vec![RawInstance::default(); instances];
    let depots = match archive.take("depot")? {
        Some(depot) if depot.values.len() == 2 * instances => Some(depot.values),
        Some(depot) => {
            return Err(archive.wrong("depot", "two coordinates per instance", format!("{:?}", depot.shape)));
        }
        None => None,
    };
    let nodes = locs.shape[1] + usize::from(depots.is_some());
    for (index, part) in archive.split("locs", locs, instances)?.into_iter().enumerate() {
        let depot = depots.as_ref().map_or(&[][..], |depots| &depots[2 * index..2 * index + 2]);
        all[index].insert("coordinates", Array::table(2, [depot, &part.values[..]].concat()));
    }
    archive.take("stochastic_prize")?; // of a problem in which prizes are known only after the visit
    for (name, field) in
        [("demand", "demands"), ("prize", "prizes"), ("deterministic_prize", "prizes"), ("penalty", "penalties")]
    {
        let Some(array) = archive.take(name)? else { continue };
        for (raw, part) in all.iter_mut().zip(archive.split(name, array, instances)?) {
            let depot = if part.values.len() + 1 == nodes { &[0.0][..] } else { &[] }; // often left out
            raw.insert(field, Array::list([depot, &part.values[..]].concat()));
        }
    }
    for (name, field) in [("capacity", "capacity"), ("max_length", "limit")] {
        let Some(array) = archive.take(name)? else { continue };
        for (raw, value) in all.iter_mut().zip(archive.per_instance(name, array, instances)?) {
            raw.insert(field, Array::scalar(value));
        }
    }
    for raw in &mut all {
        undo_division(raw);
        if raw.has("penalties") {
            raw.insert("quota", Array::scalar(QUOTA));
        }
    }
    Ok(all)
}

/// Restores integer demands that are stored as fractions of the capacity, so that sums are exact. Without a capacity it
/// is 1.
fn undo_division(raw: &mut RawInstance) {
    let Some(mut demands) = raw.take("demands") else { return };
    match raw.get("capacity").and_then(|capacity| capacity.values.first().copied()) {
        None => raw.insert("capacity", Array::scalar(1.0)),
        Some(capacity) => {
            let scaled: Vec<f64> = demands.values.iter().map(|demand| demand * capacity).collect();
            let fractions = demands.values.iter().any(|demand| demand.fract() != 0.0);
            let shares = demands.values.iter().all(|demand| (0.0..=1.0).contains(demand));
            if fractions && shares && scaled.iter().all(|demand| (demand - demand.round()).abs() < 1e-4) {
                demands.values = scaled.into_iter().map(f64::round).collect();
            }
        }
    }
    raw.insert("demands", demands);
}

/// Writes all instances, which must be of one size.
pub(super) fn encode(mut all: Vec<RawInstance>) -> Result<Vec<(String, Entry)>, WriteError> {
    super::same_size(&all, Format::NpzRl4co)?;
    for raw in all.iter_mut().filter(|raw| raw.get("quota").is_some_and(|quota| quota.values == [QUOTA])) {
        raw.take("quota");
    }
    let first = all[0].clone();
    let with_depot = first.has("demands") || first.has("prizes");
    let mut parts: Vec<(&str, Vec<Array>)> = Vec::new();
    for (field, name) in [
        ("coordinates", "locs"),
        ("matrix", "cost_matrix"),
        ("demands", "demand"),
        ("prizes", if first.has("penalties") { "deterministic_prize" } else { "prize" }),
        ("penalties", "penalty"),
        ("capacity", "capacity"),
        ("limit", "max_length"),
    ] {
        if !first.has(field) {
            continue;
        }
        let mut arrays = Vec::new();
        for raw in &mut all {
            arrays.push(crate::write::take(raw, field, Format::NpzRl4co, Format::Npz)?);
        }
        if field == "prizes" || field == "penalties" {
            arrays.iter().try_for_each(|prizes| super::super::only_idle_depot(&prizes.values, Format::NpzRl4co))?;
        }
        if with_depot && !arrays[0].shape.is_empty() {
            let width = arrays[0].shape.get(1).copied().unwrap_or(1);
            let depots = arrays.iter_mut().map(|array| {
                array.shape[0] -= 1;
                Array::list(array.values.drain(..width).collect())
            });
            let depots = depots.collect();
            if field == "coordinates" {
                parts.push(("depot", depots));
            }
        }
        parts.push((name, arrays));
    }
    all.iter().try_for_each(|raw| crate::write::all_written(Format::NpzRl4co, raw, Format::Npz))?;
    let entry =
        |(name, arrays): (&str, Vec<Array>)| (name.to_string(), Entry::Numbers(super::stacked(arrays), Kind::Float64));
    Ok(parts.into_iter().map(entry).collect())
}
