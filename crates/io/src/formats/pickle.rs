//! Kool's pickled datasets: lists of lists and tuples of numbers. Only the operations that such data need are supported;
//! nothing is ever executed.

mod machine;

use machine::{Machine, Value};

use crate::write::all_written;
use crate::{Array, Field, Format, Place, RawInstance, ReadError, Recogniser, Source, WriteError};

/// Whether bytes are a pickle of protocol 2 or later.
pub(crate) fn sniff(bytes: &[u8]) -> bool {
    matches!(bytes, [0x80, 2..=5, ..])
}

/// Reads all instances. TSP: `[n][2]`; VRP: `(depot, locs, demand, capacity)`; OP: `(depot, locs, prize, max_length)`.
/// The last two have the same structure: if only demands or only prizes are fields of the problems, those are meant;
/// otherwise the type of the numbers decides (demands are integers), then the file's name.
pub(crate) fn decode(source: &Source, problems: &[Recogniser]) -> Result<Vec<RawInstance>, ReadError> {
    let wrong = |place, expected: &str, found: &str| source.syntax(place, expected, found);
    let machine = Machine::run(source.bytes())
        .map_err(|found| wrong(Place::File, "a pickle of lists, tuples and numbers", &found))?;
    let instances =
        machine.list(machine.result()).ok_or_else(|| wrong(Place::File, "a list of instances", "a single number"))?;
    let [demands, prizes] =
        [Field::DEMANDS, Field::PRIZES].map(|field| problems.iter().any(|problem| problem.has(field.name)));
    if instances.len() > source.most_instances() {
        return Err(source.too_many_instances(instances.len()));
    }
    let mut budget = source.bytes().len(); // numbers; bounds what lists that are referenced repeatedly expand to
    let read = |(index, &value): (usize, &Value)| {
        let place = Place::Instance(index + 1);
        let read = instance(&machine, value, &mut budget, |whole| {
            if demands != prizes { demands } else { whole || source.name().to_ascii_lowercase().contains("vrp") }
        });
        let mut raw = read.ok_or_else(|| {
            let expected = "[[x, y], ...] or (depot, locs, demand or prize, capacity or max_length)";
            wrong(place.clone(), expected, "something else")
        })?;
        raw.place = place;
        Ok(raw)
    };
    instances.iter().enumerate().map(read).collect()
}

fn instance(
    machine: &Machine,
    value: Value,
    budget: &mut usize,
    is_demand: impl FnOnce(bool) -> bool,
) -> Option<RawInstance> {
    let parts = machine.list(value)?;
    let mut raw = RawInstance::default();
    let [depot, nodes, third, last] = parts else {
        raw.insert("coordinates", Array::table(2, places(machine, value, budget)?));
        return Some(raw);
    };
    let Some((last, _)) = machine.number(*last) else {
        raw.insert("coordinates", Array::table(2, places(machine, value, budget)?)); // four nodes
        return Some(raw);
    };
    let mut coordinates = pair(machine, *depot)?.to_vec();
    coordinates.extend(places(machine, *nodes, budget)?);
    let mut numbers = vec![0.0]; // the depot's
    let mut whole = true;
    for &number in machine.list(*third)? {
        let (number, is_int) = machine.number(number)?;
        *budget = budget.checked_sub(1)?;
        numbers.push(number);
        whole &= is_int;
    }
    let (list, single) = if is_demand(whole) { ("demands", "capacity") } else { ("prizes", "limit") };
    raw.insert("coordinates", Array::table(2, coordinates));
    raw.insert(list, Array::list(numbers));
    raw.insert(single, Array::scalar(last));
    Some(raw)
}

fn places(machine: &Machine, value: Value, budget: &mut usize) -> Option<Vec<f64>> {
    let nodes = machine.list(value)?;
    *budget = budget.checked_sub(2 * nodes.len())?;
    let pairs = nodes.iter().map(|&node| pair(machine, node)).collect::<Option<Vec<_>>>()?;
    Some(pairs.into_flattened())
}

fn pair(machine: &Machine, value: Value) -> Option<[f64; 2]> {
    let &[x, y] = machine.list(value)? else { return None };
    Some([machine.number(x)?.0, machine.number(y)?.0])
}

/// Writes all instances, in protocol 2.
pub(crate) fn encode(all: Vec<RawInstance>) -> Result<Vec<u8>, WriteError> {
    let mut bytes = vec![0x80, 2, b']', b'('];
    for mut raw in all {
        super::only_exact(&raw, Format::Pickle)?;
        let take = |raw: &mut RawInstance, name| crate::write::take(raw, name, Format::Pickle, Format::Npz);
        let coordinates = take(&mut raw, "coordinates")?.values;
        let parts = if raw.has("demands") {
            Some((take(&mut raw, "demands")?, take(&mut raw, "capacity")?, true))
        } else if raw.has("prizes") {
            let prizes = take(&mut raw, "prizes")?;
            super::only_idle_depot(&prizes.values, Format::Pickle)?;
            Some((prizes, take(&mut raw, "limit")?, false))
        } else {
            None
        };
        all_written(Format::Pickle, &raw, Format::Npz)?;
        match parts {
            None => push_places(&mut bytes, &coordinates),
            Some((list, single, whole)) => {
                bytes.push(b'(');
                let (depot, nodes) = coordinates.split_at(2.min(coordinates.len()));
                push_list(&mut bytes, depot.iter().map(|&x| (x, false)));
                push_places(&mut bytes, nodes);
                push_list(&mut bytes, list.values.iter().skip(1).map(|&number| (number, whole)));
                push_number(&mut bytes, single.values[0], whole);
                bytes.push(b't');
            }
        }
    }
    bytes.extend(b"e.");
    Ok(bytes)
}

fn push_places(bytes: &mut Vec<u8>, coordinates: &[f64]) {
    bytes.extend(b"](");
    for place in coordinates.chunks(2) {
        push_list(bytes, place.iter().map(|&x| (x, false)));
    }
    bytes.push(b'e');
}

fn push_list(bytes: &mut Vec<u8>, numbers: impl Iterator<Item = (f64, bool)>) {
    bytes.extend(b"](");
    numbers.for_each(|(number, whole)| push_number(bytes, number, whole));
    bytes.push(b'e');
}

/// As an int if `whole` and exact, else as a float.
fn push_number(bytes: &mut Vec<u8>, number: f64, whole: bool) {
    let int = number as i32;
    if whole && f64::from(int).to_bits() == number.to_bits() {
        bytes.push(b'J');
        bytes.extend(int.to_le_bytes());
    } else {
        bytes.push(b'G');
        bytes.extend(number.to_be_bytes());
    }
}
