//! Scores and gradients equal PyTorch's, from `reference/reference.py`.

use std::collections::HashMap;
use std::sync::Arc;

use bqnco_core::{Costs, Observation};
use bqnco_kernels::ProductPrecision;
use bqnco_net::{Architecture, Batch, BatchCosts, Config, CostBias, Network, Residual, Tensors, import_pytorch};
use burn::module::{Module, ModuleVisitor, Param};
use burn::tensor::{Device, Gradients, Tensor, TensorData, activation::log_softmax};
use safetensors::SafeTensors;

fn config(features: usize, kinds: usize) -> Config {
    let paper = Config::paper_for("reference", features, kinds);
    Config { n_layers: 2, n_heads: 2, dim: 16, dim_ff: 16, n_latents: 4, dim_latent: 8, ..paper }
}

fn read(bytes: &[u8]) -> Tensors {
    let file = SafeTensors::deserialize(bytes).unwrap();
    let numbers = |bytes: &[u8]| bytes.chunks(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect();
    file.tensors().into_iter().map(|(name, t)| (name, (t.shape().to_vec(), numbers(t.data())))).collect()
}

/// The part of the tensors whose names start with a prefix, without it.
fn part(tensors: &Tensors, prefix: &str) -> Tensors {
    let named =
        |(name, t): (&String, &(Vec<usize>, Vec<f32>))| Some((name.strip_prefix(prefix)?.to_string(), t.clone()));
    tensors.iter().filter_map(named).collect()
}

fn tensor<const D: usize>(tensors: &Tensors, name: &str, device: &Device) -> Tensor<D> {
    let (shape, numbers) = tensors[name].clone();
    Tensor::from_data(TensorData::new(numbers, shape), device)
}

fn assert_close(found: &[f32], expected: &[f32], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-4 * expected.abs().max(1.0), "{what}: {found}, expected {expected}");
    }
}

struct Grads<'a> {
    grads: &'a Gradients,
    path: Vec<String>,
    found: HashMap<String, Vec<f32>>,
}

impl ModuleVisitor for Grads<'_> {
    fn enter_module(&mut self, name: &str, container: &str) {
        self.path.push(if container.starts_with("Enum:") { String::new() } else { name.to_string() });
    }
    fn exit_module(&mut self, _: &str, _: &str) {
        self.path.pop();
    }
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let name: Vec<&str> = self.path.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
        let gradient = param.val().grad(self.grads).unwrap_or_else(|| panic!("no gradient of {}", name.join(".")));
        let in_files = [("embed_and_head", "ends"), ("residual_params", "joints"), ("feed_forward.", "")];
        let name = in_files.iter().fold(name.join("."), |name, (field, in_file)| name.replace(field, in_file));
        self.found.insert(name, gradient.into_data().try_to_vec().unwrap());
    }
}

fn compare(config: Config, file: &[u8]) {
    let device = Device::flex().autodiff();
    let stored = read(file);
    let weights = part(&stored, "weights.").into_iter().map(|(name, t)| (format!("body.{name}"), t)).collect();
    let network = Network::new(config.clone(), 0, &device).unwrap().with_tensors(weights, "reference").unwrap();
    let inputs = tensor::<3>(&stored, "inputs", &device);
    let costs = match (config.costs, config.architecture) {
        (CostBias::Forward, _) => BatchCosts::Planar(inputs.clone().narrow(2, 0, 2)),
        (CostBias::BothWays, _) | (_, Architecture::GcnTransformer) => {
            BatchCosts::Matrix(tensor(&stored, "costs", &device))
        }
        _ => BatchCosts::None,
    };
    let [batch, tokens, _] = inputs.dims();
    let scores = network.forward(&Batch {
        inputs,
        costs,
        lengths: Arc::from(vec![tokens; batch]),
        precision: ProductPrecision::F32,
    });
    assert_close(&scores.to_data().try_to_vec::<f32>().unwrap(), &stored["scores"].1, "scores");

    let slots = log_softmax(scores.reshape([batch, tokens * config.kinds]), 1);
    let grads = (-slots.narrow(1, 1, 1).mean()).backward();
    let mut visitor = Grads { grads: &grads, path: Vec::new(), found: HashMap::new() };
    network.visit(&mut visitor);
    let expected = part(&stored, "gradients.");
    assert_eq!(visitor.found.len(), expected.len());
    for (name, (_, expected)) in expected {
        assert_close(&visitor.found[&format!("body.{name}")], &expected, &name);
    }
}

#[test]
fn the_transformer_equals_pytorch() {
    compare(config(4, 2), include_bytes!("reference/transformer.safetensors"));
}

#[test]
fn normed_residuals_and_distances_equal_pytorch() {
    let config = Config { residual: Residual::PreNorm, costs: CostBias::Forward, ..config(2, 1) };
    compare(config, include_bytes!("reference/modern.safetensors"));
}

#[test]
fn costs_both_ways_equal_pytorch() {
    let config = Config { residual: Residual::PreNorm, costs: CostBias::BothWays, n_layers: 1, ..config(1, 1) };
    compare(config, include_bytes!("reference/edges.safetensors"));
}

#[test]
fn the_gcn_transformer_equals_pytorch() {
    let config = Config { architecture: Architecture::GcnTransformer, n_layers: 1, ..config(1, 1) };
    compare(config, include_bytes!("reference/gcn.safetensors"));
}

#[test]
fn the_perceiver_equals_pytorch() {
    let config = Config { architecture: Architecture::Perceiver, ..config(3, 1) };
    compare(config, include_bytes!("reference/perceiver.safetensors"));
}

/// Imports a checkpoint in the authors' layout and scores its inputs.
fn import(name: &str, order: &[usize], tolerance: f32) {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference");
    let network = import_pytorch(&folder.join(format!("{name}.best")), "any", order, &Device::flex()).unwrap();
    let stored = read(&std::fs::read(folder.join(format!("{name}.safetensors"))).unwrap());
    let (shape, inputs) = &stored["inputs"];
    let (tokens, features) = (shape[1], shape[2]);
    // Our features in their order.
    let observe = |numbers: &[f32]| Observation {
        tokens,
        features: numbers.chunks(features).flat_map(|token| order.iter().map(|&place| token[place])).collect(),
        origin: Some(0),
        destination: Some(tokens - 1),
        costs: Costs::None,
    };
    let observations: Vec<Observation> = inputs.chunks(tokens * features).map(observe).collect();
    let scores = network.scores(&observations).unwrap().concat();
    for (found, expected) in scores.iter().zip(&stored["scores"].1) {
        assert!((found - expected).abs() < tolerance, "{found}, expected {expected}");
    }
}

#[test]
fn the_authors_checkpoints_give_their_scores() {
    import("authors_transformer", &[1, 0, 2], 1e-4);
    import("authors_perceiver", &[0, 1], 1e-4);
}

#[test]
fn files_that_are_no_checkpoints_are_refused() {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference/modern.safetensors");
    let error = import_pytorch(&file, "any", &[0], &Device::flex()).expect_err("refused");
    assert!(error.to_string().contains("not a checkpoint"), "{error}");
}
