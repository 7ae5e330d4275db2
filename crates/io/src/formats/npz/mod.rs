//! Datasets as numpy archives: this project's layout, that of the BQ-NCO paper's scripts, and RL4CO's.

mod archive;
mod bq;
mod npy;
mod ours;
mod rl4co;

use archive::Archive;

use crate::{Array, Format, Place, RawInstance, ReadError, Source, WriteError};

/// The layout, recognised by the names of the arrays.
pub(crate) fn detect(source: &Source) -> Result<Format, ReadError> {
    let names = archive::names(source)?;
    let has = |name: &str| names.iter().any(|known| known == name);
    Ok(if has("coords") || (has("weights") && has("capacities")) {
        Format::NpzBq
    } else if has("locs") || has("cost_matrix") {
        Format::NpzRl4co
    } else {
        Format::Npz
    })
}

/// Reads all instances.
pub(crate) fn decode(source: &Source, format: Format) -> Result<Vec<RawInstance>, ReadError> {
    let archive = Archive::read(source)?;
    let mut all = match format {
        Format::NpzBq => bq::decode(archive)?,
        Format::NpzRl4co => rl4co::decode(archive)?,
        _ => ours::decode(archive)?,
    };
    all.iter_mut().enumerate().for_each(|(index, raw)| raw.place = Place::Instance(index + 1));
    Ok(all)
}

/// Writes all instances.
pub(crate) fn encode(all: Vec<RawInstance>, format: Format) -> Result<Vec<u8>, WriteError> {
    let arrays = match format {
        Format::NpzBq => bq::encode(all)?,
        Format::NpzRl4co => rl4co::encode(all)?,
        _ => ours::encode(all)?,
    };
    Ok(archive::write(arrays))
}

/// The common number of nodes or items, for layouts that require equal sizes. Distances must not be rounded.
fn same_size(all: &[RawInstance], format: Format) -> Result<usize, WriteError> {
    let unsupported = |what: &str| WriteError::Unsupported { format, what: what.to_string(), instead: Format::Npz };
    let sizes = all.iter().map(|raw| {
        let sized = ["coordinates", "matrix", "values"].iter().find_map(|name| raw.get(name));
        sized.map_or(0, |array| array.shape[0])
    });
    let mut sizes = sizes.collect::<Vec<_>>();
    sizes.dedup();
    all.iter().try_for_each(|raw| super::only_exact(raw, format))?;
    match sizes[..] {
        [] => Err(unsupported("no instances")),
        [size] => Ok(size),
        _ => Err(unsupported("instances of different sizes")),
    }
}

/// Arrays of one shape stacked along a new first axis.
fn stacked(parts: Vec<Array>) -> Array {
    let inner = parts.first().map_or(Vec::new(), |part| part.shape.clone());
    let shape = std::iter::once(parts.len()).chain(inner).collect();
    Array { shape, values: parts.into_iter().flat_map(|part| part.values).collect() }
}
