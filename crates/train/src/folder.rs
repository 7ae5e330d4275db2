//! The folder of a run: the state to resume from, and the checkpoints.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use bqnco_net::{Network, Precision, Provenance, verify};
use serde::{Deserialize, Serialize};

use crate::TrainError;
use crate::optimizer::Moments;

/// The folder of a run.
pub struct Folder {
    path: PathBuf,
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
    /// Sum of the losses since the last row of the metrics, so that rows do not depend on interruptions.
    #[serde(default)]
    pub loss: f64,
    /// How many losses these are.
    #[serde(default)]
    pub losses: u64,
}

impl Progress {
    pub(crate) fn count(&mut self, loss: f32) {
        self.loss += f64::from(loss);
        self.losses += 1;
    }

    /// The mean loss since the last row of the metrics; starts a new row.
    pub(crate) fn mean_loss(&mut self) -> f64 {
        let mean = self.loss / self.losses.max(1) as f64;
        (self.loss, self.losses) = (0.0, 0);
        mean
    }
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
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, TrainError> {
        let path = path.into();
        bqnco_files::create_folder(&path).map_err(|source| TrainError::File { path: path.clone(), source })?;
        Ok(Folder { path })
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

    /// Writes a file of the run, durably.
    ///
    /// # Errors
    /// What the system says; the old file is then untouched.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<(), TrainError> {
        let path = self.path.join(name);
        bqnco_files::replace(&path, bytes).map_err(|source| TrainError::File { path, source })
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
        bqnco_files::remove(&path).map_err(|source| TrainError::File { path, source })
    }

    /// Removes what sessions that were killed have left half written in the checkpoints. Only for the process that has
    /// locked the folder.
    ///
    /// # Errors
    /// What the system says.
    pub fn clear(&self) -> Result<(), TrainError> {
        [self.best(), self.last()].into_iter().filter(|path| path.is_dir()).try_for_each(|path| {
            bqnco_files::remove_leftovers(&path).map_err(|source| TrainError::File { path, source })
        })
    }

    /// Whether the best checkpoint is there. A damaged one is an error: a network that took days is not forgotten
    /// without a word.
    pub(crate) fn has_best(&self) -> Result<bool, TrainError> {
        let folder = self.best();
        if !folder.exists() {
            return Ok(false);
        }
        verify(&folder).map_err(|why| TrainError::LostBest { folder, why }).map(|()| true)
    }

    /// Checks that both checkpoints are whole, before a run is called finished.
    pub(crate) fn verify(&self) -> Result<(), TrainError> {
        Ok([self.last(), self.best()].iter().try_for_each(|folder| verify(folder))?)
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

/// Checks that these are the bytes of a saved state, `state.bin` of a run's folder.
///
/// # Errors
/// What is wrong with them.
pub fn check_state(bytes: &[u8]) -> Result<(), String> {
    State::from_bytes(bytes).map(|_| ())
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

    /// CRC-32 of all of it.
    pub(crate) fn checksum(&self) -> u32 {
        crc32fast::hash(&self.to_bytes())
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
            let bytes = size.checked_mul(4).ok_or("a part is larger than any memory")?;
            let (part, rest) = body.split_at_checked(bytes).ok_or("a part is missing")?;
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
    fn half_written_files_of_checkpoints_are_removed() {
        let scratch = tempfile::tempdir().expect("a folder");
        let folder = Folder::open(scratch.path()).expect("a folder");
        folder.clear().expect("no checkpoints yet");
        fs::create_dir(folder.best()).expect("a folder");
        for name in [".bqnco-77-0.tmp", "model.safetensors"] {
            fs::write(folder.best().join(name), "").expect("written");
        }
        folder.clear().expect("removed");
        assert_eq!(fs::read_dir(folder.best()).expect("a folder").count(), 1);
    }

    #[test]
    fn a_state_survives_and_damage_is_seen() {
        let progress = Progress { step: 7, best: Some(0.1 + 0.2), seconds: 1.5, loss: 0.7, losses: 3 };
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
