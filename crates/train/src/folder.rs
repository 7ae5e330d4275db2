//! The folder of a run: the state to resume from, and the checkpoints.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use bqnco_net::{Network, Precision, Provenance};
use burn::tensor::Device;
use serde::{Deserialize, Serialize};

use crate::TrainError;
use crate::optimizer::Moments;

/// Writes a file so that it is whole or untouched, whatever happens meanwhile.
pub type WriteFile = fn(&Path, &[u8]) -> io::Result<()>;

/// The folder of a run.
pub struct Folder {
    path: PathBuf,
    write: WriteFile,
}

/// Everything that the rest of a run depends on, beside its settings and examples.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct State {
    pub progress: Progress,
    pub weights: Vec<f32>,
    pub average: Vec<f32>,
    pub moments: Moments, // the optimizer's
}

/// How far a run is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Progress {
    /// Updates made; random sources depend on this number and the seed.
    pub step: u64,
    /// The best gap so far, in percent.
    pub best: Option<f64>,
    /// Time spent, over all sessions.
    pub seconds: f64,
}

#[derive(Serialize, Deserialize)]
struct Header {
    progress: Progress,
    sizes: [usize; 4],
}

const STATE: &str = "state.bin";
const MAGIC: &[u8] = b"bqnco-state 2\n";

impl Folder {
    /// Opens the folder of a run, creating it if needed.
    ///
    /// # Errors
    /// What the system says.
    pub fn open(path: impl Into<PathBuf>, write: WriteFile) -> Result<Self, TrainError> {
        let path = path.into();
        fs::create_dir_all(&path).map_err(|source| TrainError::File { path: path.clone(), source })?;
        Ok(Folder { path, write })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The checkpoint with the smallest gap.
    pub fn best(&self) -> PathBuf {
        self.path.join("best")
    }

    /// The checkpoint of the last validation.
    pub fn last(&self) -> PathBuf {
        self.path.join("last")
    }

    /// Writes a file of the run.
    ///
    /// # Errors
    /// What the system says; the old file is then untouched.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<(), TrainError> {
        let path = self.path.join(name);
        (self.write)(&path, bytes).map_err(|source| TrainError::File { path, source })
    }

    /// The contents of a file of the run, if it is there.
    pub(crate) fn read(&self, name: &str) -> Result<Option<Vec<u8>>, TrainError> {
        let path = self.path.join(name);
        match fs::read(&path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(TrainError::File { path, source }),
        }
    }

    /// Removes a file of the run, if it is there.
    pub(crate) fn remove(&self, name: &str) -> Result<(), TrainError> {
        let path = self.path.join(name);
        match fs::remove_file(&path) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => Err(TrainError::File { path, source }),
            _ => Ok(()),
        }
    }

    /// Whether the best checkpoint is there and whole.
    pub(crate) fn has_best(&self, device: &Device) -> bool {
        Network::load(&self.best(), device).is_ok()
    }

    pub(crate) fn save_network(&self, to: &Path, network: &Network, provenance: &Provenance) -> Result<(), TrainError> {
        Ok(network.save(to, Precision::Single, provenance)?)
    }

    pub(crate) fn save(&self, state: &State) -> Result<(), TrainError> {
        self.write(STATE, &state.to_bytes())
    }

    /// The last saved state, if there is one.
    pub(crate) fn load(&self) -> Result<Option<State>, TrainError> {
        let Some(bytes) = self.read(STATE)? else { return Ok(None) };
        let bad = |reason| TrainError::BadState { path: self.path.join(STATE), reason };
        State::from_bytes(&bytes).map(Some).map_err(bad)
    }
}

impl State {
    /// A line that names the format, a line of JSON with sizes, the parts, and the CRC-32 of all that.
    fn to_bytes(&self) -> Vec<u8> {
        let parts = [&self.weights, &self.average, &self.moments.first, &self.moments.second];
        let header = Header { progress: self.progress, sizes: parts.map(Vec::len) };
        let mut bytes = MAGIC.to_vec();
        bytes.extend(serde_json::to_vec(&header).expect("numbers can be written as JSON"));
        bytes.push(b'\n');
        parts.iter().for_each(|part| bytes.extend(part.iter().flat_map(|number| number.to_le_bytes())));
        let checksum = crc32fast::hash(&bytes);
        bytes.extend(checksum.to_le_bytes());
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        let rest = bytes.strip_prefix(MAGIC).ok_or("not a saved state of this version of bqnco")?;
        let (body, checksum) = rest.split_last_chunk::<4>().ok_or("the file ends too early")?;
        let (expected, found) = (u32::from_le_bytes(*checksum), crc32fast::hash(&bytes[..bytes.len() - 4]));
        if found != expected {
            return Err(format!("damaged: checksum {found:08x}, expected {expected:08x}"));
        }
        let end = body.iter().position(|&byte| byte == b'\n').ok_or("no header")?;
        let header: Header = serde_json::from_slice(&body[..end]).map_err(|error| error.to_string())?;
        let mut body = &body[end + 1..];
        let mut part = |size: usize| {
            let (part, rest) = body.split_at_checked(4 * size).ok_or("a part is missing")?;
            body = rest;
            Ok::<_, String>(part.as_chunks::<4>().0.iter().map(|&number| f32::from_le_bytes(number)).collect())
        };
        let [weights, average, first, second] = header.sizes;
        Ok(State {
            progress: header.progress,
            weights: part(weights)?,
            average: part(average)?,
            moments: Moments { first: part(first)?, second: part(second)? },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_survives_and_damage_is_seen() {
        let progress = Progress { step: 7, best: Some(0.1 + 0.2), seconds: 1.5 };
        let moments = Moments { first: vec![-0.0], second: vec![1e-30, 7.0] };
        let state = State { progress, weights: vec![10.0, 2.0, 3.5], average: vec![], moments };
        let bytes = state.to_bytes();
        assert_eq!(State::from_bytes(&bytes).as_ref(), Ok(&state));
        for k in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[k] ^= 1;
            assert!(State::from_bytes(&damaged).is_err(), "byte {k}");
            assert!(State::from_bytes(&bytes[..k]).is_err(), "cut at {k}");
        }
    }
}
