//! The same network on another device: WebGPU, on the Vulkan driver that is installed (Mesa's software driver will do).
#![allow(clippy::unwrap_used)] // a test may panic

use std::path::Path;
use std::sync::Arc;

use bqnco_core::{Generate, Observe, Policy, Subproblem, random};
use bqnco_net::{Config, Network, Precision, Provenance, device};
use bqnco_problems::{Cvrp, Tsp};
use bqnco_testing::{Absent, skip};
use burn::tensor::activation::log_softmax;

fn has_driver() -> bool {
    let named = ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"].iter().any(|name| std::env::var_os(name).is_some());
    let folders = ["/usr/share/vulkan/icd.d", "/usr/local/share/vulkan/icd.d", "/etc/vulkan/icd.d"];
    let installed = |folder: &&str| Path::new(folder).read_dir().is_ok_and(|mut files| files.next().is_some());
    let found = named || folders.iter().any(|folder| installed(folder));
    if !found {
        skip(Absent::Program, "no Vulkan driver is installed");
    }
    found
}

fn states<P: Generate>() -> Vec<Subproblem<P>> {
    let whole = |k: u64| Subproblem::whole(Arc::new(P::generate(9 + 4 * k as usize, &mut random(k, &[]))));
    (0..3).map(whole).collect()
}

/// The same weights on the CPU and on the graphics device.
fn pair<P: Observe>() -> [Network; 2] {
    let cpu = Network::new(Config::tiny::<P>(), 3, &device("cpu").unwrap()).unwrap();
    let (weights, config) = cpu.to_bytes(Precision::Single, &Provenance::new()).unwrap();
    let (graphics, _) = Network::from_bytes(&weights, &config, &device("wgpu").unwrap()).unwrap();
    [cpu, graphics]
}

fn compare<P: Observe + Generate>() {
    let states = states::<P>();
    let states: Vec<_> = states.iter().collect();
    let [cpu, graphics] = pair::<P>().map(|network| Policy::<P>::scores(&network, &states).unwrap().concat());
    assert_eq!(cpu.len(), graphics.len());
    cpu.iter().zip(graphics).for_each(|(a, b)| assert!((a - b).abs() < 1e-4 * a.abs().max(1.0), "{a} {b}"));
}

#[test]
fn scores_equal_the_cpu_s() {
    if has_driver() {
        compare::<Tsp>();
        compare::<Cvrp>();
    }
}

#[test]
fn gradients_equal_the_cpu_s() {
    if !has_driver() {
        return;
    }
    let observations = states::<Tsp>().iter().map(|state| state.observe(Default::default())).collect::<Vec<_>>();
    let gradient = |name: &str| {
        let device = device(name).unwrap().autodiff();
        let network = Network::new(Config::tiny::<Tsp>(), 3, &device).unwrap();
        let scores = network.forward(&network.batch(&observations[..1]).unwrap());
        let tokens = scores.dims()[1];
        let gradients = (-log_softmax(scores.reshape([1, tokens]), 1).narrow(1, 1, 1).mean()).backward();
        let bqnco_net::Body::Transformer(body) = network.body() else { unreachable!() };
        body.layers[0].qkv.val().grad(&gradients).unwrap().into_data().try_to_vec::<f32>().unwrap()
    };
    let (cpu, graphics) = (gradient("cpu"), gradient("wgpu"));
    cpu.iter().zip(graphics).for_each(|(a, b)| assert!((a - b).abs() < 1e-4, "{a} {b}"));
}
