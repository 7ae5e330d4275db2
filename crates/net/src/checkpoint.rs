//! Networks on disk: a folder with `model.safetensors` and `config.json`.
//!
//! The two files are one unit. A new description is stored beside the old one first, then the weights are replaced, then the
//! description takes its place; each of these is atomic and durable. The description has the checksum of its weights, so at
//! every moment exactly one of the stored descriptions fits the weights, and readers find it.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::tensor::{Device, Tensor, TensorData, f16};
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};
use serde::{Deserialize, Serialize};

use crate::{Config, NetError, Network};

/// File of the weights in the folder of a checkpoint.
pub const WEIGHTS: &str = "model.safetensors";
/// File of the description in the folder of a checkpoint.
pub const CONFIG: &str = "config.json";
/// File of the description of weights that are just being replaced.
const NEXT_CONFIG: &str = "config.json.next";
/// Version of the format; other versions are refused.
pub const VERSION: u32 = 1;

/// Number format of the weights on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// f32: lossless.
    Single,
    /// f16: half the size, scores change in the third decimal.
    Half,
}

/// `config.json`: what is known of a network without its weights.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Description {
    format: String,
    version: u32,
    /// The shape of the network.
    pub config: Config,
    /// CRC-32 of the file of the weights.
    pub checksum: String,
    /// Where the weights come from.
    pub provenance: Provenance,
}

/// Where weights come from, as free text by key: recipe, samples, date, gap.
pub type Provenance = BTreeMap<String, String>;

const FORMAT: &str = "bqnco-network";

impl Network {
    /// Writes the network into a folder, which is created if necessary. Whenever this is interrupted, the folder holds the
    /// old network or the new one.
    ///
    /// # Errors
    /// When a weight is not finite, a file cannot be written, or is not what was written.
    pub fn save(&self, folder: &Path, precision: Precision, provenance: &Provenance) -> Result<(), NetError> {
        let (weights, config) = self.to_bytes(precision, provenance)?;
        let at = |path: &Path| {
            let path = path.to_path_buf();
            move |source| NetError::File { path, source }
        };
        let [weights_path, config_path, next] = [WEIGHTS, CONFIG, NEXT_CONFIG].map(|name| folder.join(name));
        bqnco_files::create_folder(folder).map_err(at(folder))?;
        finish_save(folder)?;
        bqnco_files::replace(&next, &config).map_err(at(&next))?;
        bqnco_files::replace(&weights_path, &weights).map_err(at(&weights_path))?;
        bqnco_files::rename(&next, &config_path).map_err(at(&config_path))?;
        if (&weights, &config) != (&read(folder, WEIGHTS)?, &read(folder, CONFIG)?) {
            return Err(bad(WEIGHTS, "is not what was written: the disk or another process changed it".to_string()))
                .map_err(within(folder));
        }
        Ok(())
    }

    /// Reads a network from a folder.
    ///
    /// # Errors
    /// When a file is missing, damaged, of another version or not a checkpoint.
    pub fn load(folder: &Path, device: &Device) -> Result<(Self, Provenance), NetError> {
        let (weights, config) = read_unit(folder)?;
        Self::from_bytes(&weights, &config, device).map_err(within(folder))
    }

    /// The contents of [`WEIGHTS`] and [`CONFIG`].
    ///
    /// # Errors
    /// When a weight is not finite: the kernels may turn NaN into ordinary numbers, and [`Network::load`] refuses it.
    pub fn to_bytes(&self, precision: Precision, provenance: &Provenance) -> Result<(Vec<u8>, Vec<u8>), NetError> {
        let collector = self.collect(precision);
        if let Some(tensor) = collector.not_finite {
            return Err(NetError::NotFinite { tensor });
        }
        let views: Result<Vec<_>, _> = collector.tensors.iter().map(Stored::view).collect();
        let weights = views
            .and_then(|views| safetensors::serialize(views, None))
            .map_err(|error| bad(WEIGHTS, format!("cannot be written: {error}")))?;
        let description = Description {
            format: FORMAT.to_string(),
            version: VERSION,
            config: self.config().clone(),
            checksum: checksum(&weights),
            provenance: provenance.clone(),
        };
        let config = serde_json::to_vec_pretty(&description)
            .map_err(|error| bad(CONFIG, format!("cannot be written: {error}")))?;
        Ok((weights, config))
    }

    /// The network whose files have these contents.
    ///
    /// # Errors
    /// When they are damaged, of another version or not a checkpoint.
    pub fn from_bytes(weights: &[u8], config: &[u8], device: &Device) -> Result<(Self, Provenance), NetError> {
        let description = Description::from_bytes(config)?;
        description.check(weights)?;
        if 2 * description.config.min_parameters() > weights.len() as u128 {
            return Err(bad(CONFIG, format!("describes a larger network than {WEIGHTS} has numbers for")));
        }
        let network = Network::new(description.config, 0, device).map_err(|error| bad(CONFIG, error.to_string()))?;
        Ok((network.with_weights(weights)?, description.provenance))
    }

    /// The same network with the tensors of a safetensors file.
    ///
    /// # Errors
    /// When it is not such a file or its tensors are not those of the network.
    pub fn with_weights(self, weights: &[u8]) -> Result<Self, NetError> {
        let tensors = SafeTensors::deserialize(weights)
            .map_err(|error| bad(WEIGHTS, format!("not a safetensors file: {error}")))?;
        let mut stored = HashMap::new();
        for (name, view) in tensors.tensors() {
            let numbers = decode(&view).ok_or_else(|| {
                bad(WEIGHTS, format!("tensor {name} has numbers of type {:?}; expected F32 or F16", view.dtype()))
            })?;
            stored.insert(name, (view.shape().to_vec(), numbers));
        }
        self.with_tensors(stored, WEIGHTS)
    }

    /// All tensors.
    pub fn tensors(&self) -> Tensors {
        let numbers = |bytes: &[u8]| bytes.as_chunks::<4>().0.iter().map(|&b| f32::from_le_bytes(b)).collect();
        let collected = self.collect(Precision::Single).tensors;
        collected.into_iter().map(|stored| (stored.name, (stored.shape, numbers(&stored.bytes)))).collect()
    }

    fn collect(&self, precision: Precision) -> Collector {
        let mut collector = Collector { precision, path: Vec::new(), tensors: Vec::new(), not_finite: None };
        self.visit(&mut collector);
        collector
    }

    /// The same network with these tensors.
    ///
    /// # Errors
    /// When a tensor is missing, unknown, not finite or of another shape; `file` is named as the source.
    pub fn with_tensors(self, stored: Tensors, file: &str) -> Result<Self, NetError> {
        let mut filler = Filler { stored, path: Vec::new(), problem: None };
        let network = self.map(&mut filler);
        let surplus =
            filler.stored.keys().next().map(|name| format!("tensor {name} belongs to no part of the network"));
        match filler.problem.or(surplus) {
            Some(reason) => Err(bad(file, reason)),
            None => Ok(network),
        }
    }
}

/// Shapes and values of tensors by parameter name, as in the file of the weights.
pub type Tensors = HashMap<String, (Vec<usize>, Vec<f32>)>;

impl Description {
    /// From a network's folder.
    ///
    /// # Errors
    /// When the file is missing, damaged, of another version or not a checkpoint.
    pub fn load(folder: &Path) -> Result<Self, NetError> {
        let config = read_unit(folder).map_or_else(|_| read(folder, CONFIG), |(_, config)| Ok(config))?;
        Self::from_bytes(&config).map_err(within(folder))
    }

    /// Checks that these are its weights.
    fn check(&self, weights: &[u8]) -> Result<(), NetError> {
        let (found, expected) = (checksum(weights), &self.checksum);
        if found != *expected {
            let reason = format!("damaged or not the file {CONFIG} speaks of: checksum {found}, expected {expected}");
            return Err(bad(WEIGHTS, reason));
        }
        Ok(())
    }

    /// From the content of [`CONFIG`].
    ///
    /// # Errors
    /// When it is damaged, of another version or not a checkpoint.
    pub fn from_bytes(config: &[u8]) -> Result<Self, NetError> {
        #[derive(Deserialize)]
        struct Header {
            format: String,
            version: u32,
        }
        let header: Header = serde_json::from_slice(config)
            .map_err(|error| bad(CONFIG, format!("not the description of a {FORMAT}: {error}")))?;
        if header.format != FORMAT || header.version != VERSION {
            let reason = format!("{} version {}; expected {FORMAT} version {VERSION}", header.format, header.version);
            return Err(bad(CONFIG, reason));
        }
        serde_json::from_slice(config).map_err(|error| bad(CONFIG, error.to_string()))
    }
}

/// Checks that a folder holds a whole network, without making one of it.
///
/// # Errors
/// When a file is missing, damaged, of another version or not a checkpoint.
pub fn verify(folder: &Path) -> Result<(), NetError> {
    let (weights, config) = read_unit(folder)?;
    Description::from_bytes(&config).and_then(|description| description.check(&weights)).map_err(within(folder))
}

/// The contents of [`WEIGHTS`] and of the description that fits them. If none does, those of [`CONFIG`].
fn read_unit(folder: &Path) -> Result<(Vec<u8>, Vec<u8>), NetError> {
    const ATTEMPTS: usize = 20; // another process may replace the files between two reads
    for _ in 0..ATTEMPTS {
        let weights = read(folder, WEIGHTS)?;
        if let Some((_, config)) = fitting(folder, &weights) {
            return Ok((weights, config));
        }
        if read(folder, WEIGHTS)? == weights {
            break; // nobody is writing
        }
    }
    Ok((read(folder, WEIGHTS)?, read(folder, CONFIG)?))
}

/// The stored description that fits the weights, after the name of its file.
fn fitting(folder: &Path, weights: &[u8]) -> Option<(&'static str, Vec<u8>)> {
    let fits = |config: &[u8]| Description::from_bytes(config).is_ok_and(|known| known.check(weights).is_ok());
    // The first one again: another process may have put the second in its place between two looks.
    [CONFIG, NEXT_CONFIG, CONFIG].into_iter().find_map(|name| {
        let config = read(folder, name).ok().filter(|config| fits(config))?;
        Some((name, config))
    })
}

/// Finishes a save that was interrupted after its weights: only the description beside the old one fits them, and the
/// next save would replace it before it replaces the weights.
fn finish_save(folder: &Path) -> Result<(), NetError> {
    let [config, next] = [CONFIG, NEXT_CONFIG].map(|name| folder.join(name));
    if !next.exists() {
        return Ok(());
    }
    let Ok(weights) = read(folder, WEIGHTS) else { return Ok(()) };
    match fitting(folder, &weights) {
        Some((NEXT_CONFIG, _)) => {
            bqnco_files::rename(&next, &config).map_err(|source| NetError::File { path: config, source })
        }
        _ => Ok(()),
    }
}

fn read(folder: &Path, name: &str) -> Result<Vec<u8>, NetError> {
    let path = folder.join(name);
    fs::read(&path).map_err(|source| NetError::File { path, source })
}

/// Names the folder of a bad file.
fn within(folder: &Path) -> impl FnOnce(NetError) -> NetError {
    move |error| match error {
        NetError::BadCheckpoint { file, reason } => {
            NetError::BadCheckpoint { file: folder.join(file).display().to_string(), reason }
        }
        other => other,
    }
}

fn bad(file: &str, reason: String) -> NetError {
    NetError::BadCheckpoint { file: file.to_string(), reason }
}

fn checksum(bytes: &[u8]) -> String {
    format!("crc32:{:08x}", crc32fast::hash(bytes))
}

fn decode(view: &TensorView<'_>) -> Option<Vec<f32>> {
    let bytes = view.data();
    match view.dtype() {
        Dtype::F32 => Some(bytes.as_chunks::<4>().0.iter().map(|&b| f32::from_le_bytes(b)).collect()),
        Dtype::F16 => Some(bytes.as_chunks::<2>().0.iter().map(|&b| f16::from_le_bytes(b).to_f32()).collect()),
        _ => None,
    }
}

struct Stored {
    name: String,
    shape: Vec<usize>,
    dtype: Dtype,
    bytes: Vec<u8>,
}

impl Stored {
    fn view(&self) -> Result<(&str, TensorView<'_>), safetensors::SafeTensorError> {
        Ok((&self.name, TensorView::new(self.dtype, self.shape.clone(), &self.bytes)?))
    }
}

/// A parameter name: the names of the fields in the file, joined by dots, without variants of enums. The weights of a
/// feed-forward block are named as if they were the layer's own.
fn name(path: &[(String, bool)]) -> String {
    let fields = path.iter().filter(|(field, is_variant)| !is_variant && field != "feed_forward");
    fields.map(|(field, _)| name_in_file(field)).collect::<Vec<_>>().join(".")
}

/// Two fields have other names in files of version 1.
fn name_in_file(field: &str) -> &str {
    match field {
        "embed_and_head" => "ends",
        "residual_params" => "joints",
        _ => field,
    }
}

struct Collector {
    precision: Precision,
    path: Vec<(String, bool)>,
    tensors: Vec<Stored>,
    not_finite: Option<String>, // the first tensor with such numbers
}

impl ModuleVisitor for Collector {
    fn enter_module(&mut self, name: &str, container: &str) {
        self.path.push((name.to_string(), container.starts_with("Enum:")));
    }

    fn exit_module(&mut self, _: &str, _: &str) {
        self.path.pop();
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let data = param.val().into_data_as::<f32>();
        let numbers = data.as_slice::<f32>().expect("f32 as asked for");
        let (dtype, bytes) = match self.precision {
            Precision::Single => (Dtype::F32, numbers.iter().flat_map(|x| x.to_le_bytes()).collect()),
            Precision::Half => (Dtype::F16, numbers.iter().flat_map(|&x| f16::from_f32(x).to_le_bytes()).collect()),
        };
        let is_finite = |&x: &f32| match self.precision {
            Precision::Single => x.is_finite(),
            Precision::Half => f16::from_f32(x).is_finite(),
        };
        let name = name(&self.path);
        if !numbers.iter().all(is_finite) {
            self.not_finite.get_or_insert_with(|| name.clone());
        }
        self.tensors.push(Stored { name, shape: param.val().dims().to_vec(), dtype, bytes });
    }
}

struct Filler {
    stored: Tensors,
    path: Vec<(String, bool)>,
    problem: Option<String>,
}

impl ModuleMapper for Filler {
    fn enter_module(&mut self, name: &str, container: &str) {
        self.path.push((name.to_string(), container.starts_with("Enum:")));
    }

    fn exit_module(&mut self, _: &str, _: &str) {
        self.path.pop();
    }

    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let name = name(&self.path);
        let expected = param.val().dims();
        match self.stored.remove(&name) {
            Some((shape, numbers)) if shape == expected => {
                let finite = numbers.iter().all(|x| x.is_finite());
                if !finite {
                    self.problem.get_or_insert(format!("tensor {name} holds numbers that are not finite"));
                }
                param.map(|old| {
                    let new = Tensor::from_data(TensorData::new(numbers, expected), &old.device());
                    new.set_require_grad(old.is_require_grad())
                })
            }
            Some((shape, _)) => {
                self.problem.get_or_insert(format!("tensor {name} has shape {shape:?}; expected {expected:?}"));
                param
            }
            None => {
                self.problem.get_or_insert(format!("tensor {name} is missing"));
                param
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The description of some bytes as if they were weights.
    fn description(weights: &[u8]) -> Vec<u8> {
        let description = Description {
            format: FORMAT.to_string(),
            version: VERSION,
            config: Config::tiny::<bqnco_problems::Tsp>(),
            checksum: checksum(weights),
            provenance: Provenance::new(),
        };
        serde_json::to_vec(&description).expect("JSON")
    }

    /// The weights are new, and their description is beside the old one. The next save begins with its own description.
    #[test]
    fn two_interrupted_saves_leave_a_whole_network() {
        let folder = std::env::temp_dir().join(format!("bqnco-two-saves-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let write = |name: &str, bytes: &[u8]| fs::write(folder.join(name), bytes).expect("written");
        write(CONFIG, &description(b"old"));
        write(WEIGHTS, b"new");
        write(NEXT_CONFIG, &description(b"new"));
        finish_save(&folder).expect("finished");
        assert!(!folder.join(NEXT_CONFIG).exists());
        write(NEXT_CONFIG, &description(b"newest"));
        verify(&folder).expect("the second of three networks");
        finish_save(&folder).expect("nothing to finish");
        verify(&folder).expect("the second of three networks");
        fs::remove_dir_all(folder).expect("removed");
    }
}
