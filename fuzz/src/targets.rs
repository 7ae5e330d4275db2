//! What is read, with valid inputs to begin with.

use std::path::{Path, PathBuf};

use anyhow::Context;
use bqnco::io::Format;
use bqnco::net::{Config, Device, Network, Precision, Provenance, import_pytorch, pytorch_sizes};
use bqnco::problems::Tsp;
use bqnco::{GeneratedSet, Instance, Labeller, ProblemName, Reader, Recipe, Solution, journal, write_all};
use bqnco_server::{Limits, refusal};
use serde_json::{Value, json};

/// Reads an input, and tells what it says of it.
pub type Read = dyn Fn(&[u8]) -> String;

/// A reader with valid inputs.
pub struct Target {
    pub name: String,
    pub seeds: Vec<Vec<u8>>,
    pub read: Box<Read>,
}

/// All targets; `scratch` is for readers that need a file.
pub fn all(scratch: &Path) -> anyhow::Result<Vec<Target>> {
    let labelled = labelled()?;
    let mut targets: Vec<Target> = Format::ALL.iter().filter_map(|&format| instances(format, &labelled)).collect();
    targets.extend(labelled.iter().filter_map(|(first, _)| solutions(first)));
    targets.push(requests(&labelled));
    targets.push(network()?);
    targets.push(state()?);
    targets.push(pytorch(scratch.join("checkpoint.pt")));
    targets.push(journals(scratch.join("journal"))?);
    targets.push(recipes()?);
    Ok(targets)
}

/// Two small instances of every problem, with solutions where there is an expert.
fn labelled() -> anyhow::Result<Vec<(Instance, Vec<Instance>)>> {
    let of = |&problem: &ProblemName| -> anyhow::Result<(Instance, Vec<Instance>)> {
        let set = GeneratedSet::new(problem, 5, 2);
        let plain = || set.instances(0..2);
        let all = Labeller::new().rounds(2).label(&set, 0..2, None, &mut |_, _| ()).or_else(|_| plain())?;
        Ok((all[0].clone(), all))
    };
    ProblemName::ALL.iter().map(of).collect()
}

/// Files of instances in a format.
fn instances(format: Format, labelled: &[(Instance, Vec<Instance>)]) -> Option<Target> {
    let one = labelled.iter().filter_map(|(first, _)| first.to_bytes(format).ok());
    let many = labelled.iter().filter_map(|(_, all)| write_all(all, format).ok());
    let seeds: Vec<_> = one.chain(many).filter(|bytes| bytes.len() < 1 << 15).collect();
    let read = |bytes: &[u8]| match Reader::default().parse("damaged", bytes) {
        Err(error) => error.to_string(),
        Ok(all) => {
            let judged = all.iter().take(4).filter_map(|one| Some((one, one.solution()?)));
            let verdicts = judged.map(|(one, solution)| format!("{}: {:?}", one.problem(), solution.check().is_ok()));
            verdicts.collect::<Vec<_>>().join(" ")
        }
    };
    (!seeds.is_empty()).then(|| Target { name: format!("instances-{format}"), seeds, read: Box::new(read) })
}

/// Files of solutions of an instance, in all formats that can hold them.
fn solutions(instance: &Instance) -> Option<Target> {
    let solution = instance.solution()?;
    let seeds: Vec<_> = Format::ALL.iter().filter_map(|&format| solution.to_bytes(format).ok()).collect();
    let (name, instance) = (format!("solutions-{}", instance.problem()), instance.clone());
    let read = move |bytes: &[u8]| match instance.parse_solution("damaged", bytes) {
        Err(error) => error.to_string(),
        Ok(solution) => verdict(&solution),
    };
    (!seeds.is_empty()).then(|| Target { name, seeds, read: Box::new(read) })
}

fn verdict(solution: &Solution) -> String {
    solution.check().map_or_else(|reason| reason.to_string(), |()| "feasible".into())
}

/// Bodies of requests to the server.
fn requests(labelled: &[(Instance, Vec<Instance>)]) -> Target {
    let files = labelled.iter().filter_map(|(first, _)| first.to_bytes(Format::Json).ok());
    let seeds = files.flat_map(|file| {
        let instance: Value = serde_json::from_slice(&file).unwrap_or_default();
        let options = json!({ "search": "beam16", "seconds": 0.5, "seed": 7, "name": "a.tsp", "candidates": 3 });
        let text = String::from_utf8_lossy(&file).into_owned();
        let bodies = [
            json!({ "instance": instance, "options": options, "solution": [0, 1, 2] }),
            json!({ "instance": text, "options": { "model": "tsp", "search": "greedy" } }),
        ];
        bodies.map(|body| body.to_string().into_bytes()).into_iter().chain([file])
    });
    let read = |bytes: &[u8]| refusal(bytes, &Limits::default()).unwrap_or_default();
    Target { name: "requests".into(), seeds: seeds.collect(), read: Box::new(read) }
}

/// Checkpoints: the length of the weights, the weights, the description. They are also read with the checksum that the
/// damaged weights have.
fn network() -> anyhow::Result<Target> {
    let network = Network::new(Config { n_layers: 1, ..Config::tiny::<Tsp>() }, 1, &Device::flex())?;
    let provenance = Provenance::from([("seed".to_string(), "1".to_string())]);
    let seed = |precision| -> anyhow::Result<Vec<u8>> {
        let (weights, config) = network.to_bytes(precision, &provenance)?;
        Ok([&(weights.len() as u32).to_le_bytes()[..], &weights, &config].concat())
    };
    let read = |bytes: &[u8]| {
        let (length, rest) = bytes.split_first_chunk::<4>().unwrap_or((&[0; 4], bytes));
        let (weights, config) = rest.split_at((u32::from_le_bytes(*length) as usize).min(rest.len()));
        let mut outcome = load(weights, config);
        if let Ok(mut description) = serde_json::from_slice::<Value>(config)
            && description.is_object()
        {
            description["checksum"] = format!("crc32:{:08x}", crc32fast::hash(weights)).into();
            outcome += &load(weights, description.to_string().as_bytes());
        }
        outcome
    };
    let seeds = vec![seed(Precision::Half)?, seed(Precision::Single)?];
    Ok(Target { name: "checkpoint".into(), seeds, read: Box::new(read) })
}

fn load(weights: &[u8], config: &[u8]) -> String {
    Network::from_bytes(weights, config, &Device::flex()).map_or_else(|error| error.to_string(), |_| "whole".into())
}

/// Saved states of training, also with the checksum that the damaged bytes have.
fn state() -> anyhow::Result<Target> {
    let scratch = tempfile::tempdir()?;
    let recipe = tiny_recipe().parse::<Recipe>()?;
    recipe.train(&bqnco::TrainOptions::new(scratch.path()), &mut |_| ())?;
    let seed = std::fs::read(scratch.path().join("state.bin")).context("a state")?;
    let read = |bytes: &[u8]| {
        let body = &bytes[..bytes.len().saturating_sub(4)];
        let repaired = [body, &crc32fast::hash(body).to_le_bytes()].concat();
        let verdict = |bytes: &[u8]| bqnco::train::check_state(bytes).err().unwrap_or_default();
        verdict(bytes) + &verdict(&repaired)
    };
    Ok(Target { name: "state".into(), seeds: vec![seed], read: Box::new(read) })
}

/// Checkpoints of PyTorch.
fn pytorch(path: PathBuf) -> Target {
    let text = |word: &str| [&b"X"[..], &(word.len() as u32).to_le_bytes(), word.as_bytes()].concat();
    let tensor = |name: &str, rows: u8, columns: u8| {
        let storage = [&b"(X\x07\x00\x00\x00storagectorch\nFloatStorage\n"[..], &text("0"), &text("cpu"), b"K\x40tQ"];
        let shape = [b'(', b'K', rows, b'K', columns, b't', b'(', b'K', columns, b'K', 1, b't'];
        let rest = b"\x89ccollections\nOrderedDict\n)RtR";
        let head = b"ctorch._utils\n_rebuild_tensor_v2\n(";
        [&text(name)[..], head, &storage.concat(), b"K\x00", &shape, rest, b"s"].concat()
    };
    let tensors = [tensor("input_emb.weight", 4, 2), tensor("scores_projection.weight", 1, 4)].concat();
    let pickle = [&b"\x80\x02}"[..], &text("net"), b"}", &tensors, b"s."].concat();
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for (name, bytes) in [("a/data.pkl", &pickle[..]), ("a/version", b"3\n"), ("a/data/0", &[0; 256])] {
        zip.start_file(name, options).expect("a short name");
        std::io::Write::write_all(&mut zip, bytes).expect("memory grows");
    }
    let seed = zip.finish().expect("memory grows").into_inner();
    let read = move |bytes: &[u8]| {
        std::fs::write(&path, bytes).expect("the scratch folder");
        let sizes = pytorch_sizes(&path).map_or_else(|error| error.to_string(), |sizes| format!("{sizes:?}"));
        let network = import_pytorch(&path, "tsp", &[0, 1], &Device::flex());
        sizes + &network.map_or_else(|error| error.to_string(), |_| "whole".into())
    };
    Target { name: "pytorch".into(), seeds: vec![seed], read: Box::new(read) }
}

/// Journals of labels.
fn journals(path: PathBuf) -> anyhow::Result<Target> {
    type Entry = (u64, Vec<usize>);
    let settings = json!({ "seed": 1 });
    let (mut journal, _) = journal::Journal::open::<Entry>(&path, &settings)?;
    for k in 0..3 {
        journal.append::<Entry>(&(k, vec![2, 0, 1]))?;
    }
    drop(journal);
    let seed = std::fs::read(&path)?;
    let read = move |bytes: &[u8]| {
        std::fs::write(&path, bytes).expect("the scratch folder");
        let entries = journal::read::<Entry>(&path, &settings);
        entries.map_or_else(|error| error.to_string(), |entries| format!("{} entries", entries.len()))
    };
    let old = b"{\"seed\":1}\n[0,[1,0]]\n[1,[1,0]]\n".to_vec();
    Ok(Target { name: "journal".into(), seeds: vec![seed, old], read: Box::new(read) })
}

fn tiny_recipe() -> &'static str {
    "problem = \"tsp\"\nnetwork = { preset = \"tiny\", n_layers = 1, dim = 16, dim_ff = 16 }\n\
     training = { steps = 2, batch = 2 }\ndata = { size = 5, count = 2, seed = 1 }\n\
     validation = { size = 5, count = 2, seed = 2 }\n"
}

/// Recipes, as far as they are checked before any work.
fn recipes() -> anyhow::Result<Target> {
    let full = tiny_recipe().parse::<Recipe>()?.resolved()?.to_toml()?;
    let read = |bytes: &[u8]| {
        let recipe = String::from_utf8_lossy(bytes).parse::<Recipe>().and_then(|recipe| recipe.resolved());
        recipe.map_or_else(|error| error.to_string(), |_| "a recipe".into())
    };
    let seeds = vec![tiny_recipe().into(), full.into_bytes()];
    Ok(Target { name: "recipe".into(), seeds, read: Box::new(read) })
}
