//! This project's layout: one array per field, the instance along the first axis, shorter instances padded with zeros.
//!
//! `sizes[B]` is the number of nodes or items of each instance, `solutions[B, longest]` with `solution_sizes[B]` (-1: none)
//! holds the solutions, `costs[B]` (NaN: none) the objectives, `names[B]`, `metrics[B]` and `problem[1]` are strings.

use super::archive::{Archive, Entry};
use super::npy::Kind;
use crate::raw_instance::as_index;
use crate::{Array, Format, Metric, Place, RawInstance, ReadError, WriteError};

/// Reads all instances.
pub(super) fn decode(mut archive: Archive<'_>) -> Result<Vec<RawInstance>, ReadError> {
    let problem = archive.take_strings("problem")?.and_then(|mut words| words.pop());
    let names = archive.take_strings("names")?;
    let metrics = archive.take_strings("metrics")?;
    let sizes = archive.take("sizes")?;
    let solutions = archive.take("solutions")?;
    let solution_sizes = archive.take("solution_sizes")?;
    let costs = archive.take("costs")?;
    let mut arrays = Vec::new();
    for name in archive.rest() {
        let array = archive.need(&name)?;
        arrays.push((name, array));
    }
    let Some((name, first)) = arrays.iter().max_by_key(|(_, array)| array.shape.len()) else {
        return Err(archive.source.syntax(Place::File, "arrays with instances", "none"));
    };
    let instances = archive.instances(name, first)?;
    let mut all = vec![RawInstance { problem, ..RawInstance::default() }; instances];
    let sizes = sizes.map(|sizes| archive.per_instance("sizes", sizes, instances)).transpose()?;
    for (name, array) in arrays {
        for (index, part) in archive.split(&name, array, instances)?.into_iter().enumerate() {
            let part = match &sizes {
                Some(sizes) if !part.shape.is_empty() => cut(&archive, &name, part, sizes[index])?,
                _ => part,
            };
            all[index].insert(name.clone(), part);
        }
    }
    if let Some(costs) = costs {
        let costs = archive.per_instance("costs", costs, instances)?;
        all.iter_mut().zip(costs).for_each(|(raw, cost)| raw.cost = Some(cost).filter(|cost| !cost.is_nan()));
    }
    read_words(&archive, &mut all, names, metrics)?;
    read_solutions(&archive, &mut all, solutions, solution_sizes)?;
    Ok(all)
}

/// The first `size` rows of a padded array; of a matrix also the first `size` columns.
fn cut(archive: &Archive<'_>, name: &str, array: Array, size: f64) -> Result<Array, ReadError> {
    let axes = if name == "matrix" { 2 } else { 1 };
    let size = as_index(size).filter(|size| array.shape.iter().take(axes).all(|axis| size <= axis));
    let Some(size) = size else {
        return Err(archive.wrong("sizes", format!("sizes within the shape {:?} of {name}", array.shape), "another"));
    };
    let row = array.shape[1..].iter().product::<usize>();
    if axes == 1 || array.shape.len() == 1 {
        let shape = std::iter::once(size).chain(array.shape[1..].iter().copied()).collect();
        return Ok(Array { shape, values: array.values[..size * row].to_vec() });
    }
    let values = array.values.chunks(row.max(1)).take(size).flat_map(|row| &row[..size]).copied().collect();
    Ok(Array { shape: vec![size, size], values })
}

fn read_words(
    archive: &Archive<'_>,
    all: &mut [RawInstance],
    names: Option<Vec<String>>,
    metrics: Option<Vec<String>>,
) -> Result<(), ReadError> {
    for (array, words) in [("names", &names), ("metrics", &metrics)] {
        let found = words.as_ref().map_or(all.len(), Vec::len);
        if found != all.len() && !(array == "metrics" && found == 1) {
            return Err(archive.wrong(array, format!("{} strings", all.len()), format!("{found}")));
        }
    }
    for (index, raw) in all.iter_mut().enumerate() {
        raw.name = names.as_ref().map(|names| names[index].clone());
        if let Some(metrics) = &metrics {
            let word = metrics.get(index).unwrap_or(&metrics[0]);
            let place = Place::Array("metrics".to_string());
            raw.metric = if word.is_empty() { None } else { Some(super::super::metric(archive.source, place, word)?) };
        }
    }
    Ok(())
}

fn read_solutions(
    archive: &Archive<'_>,
    all: &mut [RawInstance],
    solutions: Option<Array>,
    sizes: Option<Array>,
) -> Result<(), ReadError> {
    let Some(solutions) = solutions else { return Ok(()) };
    let sizes = sizes.map(|sizes| archive.per_instance("solution_sizes", sizes, all.len())).transpose()?;
    let rows = archive.split("solutions", solutions, all.len())?;
    for (index, (raw, row)) in all.iter_mut().zip(rows).enumerate() {
        let size = sizes.as_ref().map_or(row.values.len() as f64, |sizes| sizes[index]);
        if size < 0.0 {
            continue;
        }
        let numbers = as_index(size).and_then(|size| row.values.get(..size));
        let numbers = numbers.ok_or_else(|| {
            archive.wrong("solution_sizes", format!("at most {}", row.values.len()), format!("{size}"))
        })?;
        let solution = numbers.iter().map(|&number| {
            as_index(number).ok_or_else(|| archive.wrong("solutions", "numbers from 0", format!("{number}")))
        });
        raw.solution = Some(solution.collect::<Result<_, _>>()?);
    }
    Ok(())
}

/// Writes all instances; they must have the same fields.
pub(super) fn encode(all: Vec<RawInstance>) -> Result<Vec<(String, Entry)>, WriteError> {
    let unsupported = |what: &str| {
        Err(WriteError::Unsupported { format: Format::Npz, what: what.to_string(), instead: Format::JsonLines })
    };
    let Some(first) = all.first() else { return unsupported("no instances") };
    let names: Vec<String> = first.names().map(str::to_string).collect();
    if all.iter().any(|raw| !raw.names().eq(names.iter().map(String::as_str))) {
        return unsupported("instances with different fields");
    }
    let mut entries = vec![("problem".to_string(), Entry::Strings(first.problem.iter().cloned().collect()))];
    let words = |word: fn(&RawInstance) -> String| Entry::Strings(all.iter().map(word).collect());
    entries.push(("names".to_string(), words(|raw| raw.name.clone().unwrap_or_default())));
    entries.push(("metrics".to_string(), words(|raw| raw.metric.map_or("", Metric::name).to_string())));
    let mut sizes: Option<Vec<f64>> = None;
    for name in &names {
        let parts: Vec<&Array> = all.iter().filter_map(|raw| raw.get(name)).collect();
        if parts.iter().any(|part| part.shape.len() != parts[0].shape.len()) {
            return unsupported("instances with arrays of different rank");
        }
        if name != "matrix" && parts.iter().any(|part| part.shape.get(1) != parts[0].shape.get(1)) {
            return unsupported("instances with different numbers of coordinates per node");
        }
        if !parts[0].shape.is_empty() {
            sizes = Some(parts.iter().map(|part| part.shape[0] as f64).collect());
        }
        entries.push((name.clone(), Entry::Numbers(padded(&parts), Kind::Float64)));
    }
    if let Some(sizes) = sizes {
        entries.push(("sizes".to_string(), Entry::Numbers(Array::list(sizes), Kind::Int64)));
    }
    if all.iter().any(|raw| raw.cost.is_some()) {
        let costs = all.iter().map(|raw| raw.cost.unwrap_or(f64::NAN)).collect();
        entries.push(("costs".to_string(), Entry::Numbers(Array::list(costs), Kind::Float64)));
    }
    if all.iter().any(|raw| raw.solution.is_some()) {
        entries.extend(solution_entries(&all));
    }
    Ok(entries)
}

fn solution_entries(all: &[RawInstance]) -> [(String, Entry); 2] {
    let lists = all.iter().map(|raw| {
        let numbers = raw.solution.iter().flatten();
        Array::list(numbers.map(|&number| number as f64).collect())
    });
    let lists: Vec<Array> = lists.collect();
    let sizes = all.iter().map(|raw| raw.solution.as_ref().map_or(-1.0, |numbers| numbers.len() as f64));
    [
        ("solutions".to_string(), Entry::Numbers(padded(&lists.iter().collect::<Vec<_>>()), Kind::Int64)),
        ("solution_sizes".to_string(), Entry::Numbers(Array::list(sizes.collect()), Kind::Int64)),
    ]
}

/// Arrays of one rank (at most 2) stacked along a new first axis, padded with zeros.
fn padded(parts: &[&Array]) -> Array {
    let axis = |k: usize| parts.iter().filter_map(|part| part.shape.get(k)).copied().max();
    let (rows, columns) = (axis(0).unwrap_or(1), axis(1).unwrap_or(1));
    let mut values = vec![0.0; parts.len() * rows * columns];
    for (index, part) in parts.iter().enumerate() {
        let width = part.shape.get(1).copied().unwrap_or(1).max(1);
        for (row, numbers) in part.values.chunks(width).enumerate() {
            let start = (index * rows + row) * columns;
            values[start..start + numbers.len()].copy_from_slice(numbers);
        }
    }
    let inner = [axis(0), axis(1)].into_iter().flatten();
    Array { shape: std::iter::once(parts.len()).chain(inner).collect(), values }
}
