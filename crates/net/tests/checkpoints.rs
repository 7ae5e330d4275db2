//! Checkpoints are whole at every moment.

use std::fs;
use std::path::PathBuf;

use bqnco_net::{
    CONFIG, Config, Description, Device, NetError, Network, Precision, Provenance, Tensors, WEIGHTS, verify,
};
use bqnco_problems::Tsp;
use burn::module::{Module, ModuleMapper, Param};
use burn::tensor::Tensor;

/// A folder for a test's checkpoints.
fn scratch(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    folder
}

fn network(seed: u64) -> Network {
    Network::new(Config::tiny::<Tsp>(), seed, &Device::flex()).unwrap()
}

fn provenance(seed: u64) -> Provenance {
    Provenance::from([("seed".to_string(), seed.to_string())])
}

fn load(folder: &std::path::Path) -> (Tensors, String) {
    let (network, provenance) = Network::load(folder, &Device::flex()).unwrap();
    (network.tensors(), provenance["seed"].clone())
}

/// All states of the folder while a network replaces another: the unit is the old one or the new one.
#[test]
fn an_interrupted_save_leaves_the_old_network_or_the_new_one() {
    let folder = scratch("interrupted");
    let save = |seed: u64| network(seed).save(&folder, Precision::Single, &provenance(seed)).unwrap();
    let read = |name: &str| fs::read(folder.join(name)).unwrap();
    save(2);
    let (new_weights, new_config) = (read(WEIGHTS), read(CONFIG));
    save(1);
    let next = folder.join(format!("{CONFIG}.next"));
    assert!(!next.exists(), "a finished save leaves nothing behind");
    fs::write(&next, &new_config[..new_config.len() / 2]).unwrap();
    assert_eq!(load(&folder).1, "1", "half a description beside it");
    fs::write(&next, &new_config).unwrap();
    assert_eq!(load(&folder).1, "1", "the new description beside the old network");
    fs::write(folder.join(WEIGHTS), &new_weights).unwrap();
    assert_eq!(load(&folder), (network(2).tensors(), "2".to_string()), "new weights, and the old description");
    assert_eq!(Description::load(&folder).unwrap().provenance["seed"], "2");
    verify(&folder).unwrap();
    save(3);
    assert_eq!(load(&folder).1, "3", "the next save repairs the folder");
    fs::write(folder.join(WEIGHTS), vec![0; new_weights.len()]).unwrap();
    assert!(verify(&folder).unwrap_err().to_string().contains("damaged"));
    fs::remove_dir_all(folder).unwrap();
}

/// Sets all weights to one number.
struct Fill(f32);

impl ModuleMapper for Fill {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        param.map(|old| Tensor::full(old.dims(), self.0, &old.device()))
    }
}

#[test]
fn a_network_that_is_not_finite_is_not_saved_and_the_old_one_stays() {
    let folder = scratch("finite");
    network(1).save(&folder, Precision::Single, &provenance(1)).unwrap();
    for (number, precision) in
        [(f32::NAN, Precision::Single), (f32::INFINITY, Precision::Single), (1e6, Precision::Half)]
    {
        let spoilt = network(2).map(&mut Fill(number));
        let error = spoilt.save(&folder, precision, &provenance(2)).unwrap_err();
        assert!(matches!(&error, NetError::NotFinite { tensor } if tensor.starts_with("body.")), "{error}");
        assert_eq!(load(&folder), (network(1).tensors(), "1".to_string()), "{number}");
    }
    network(2).map(&mut Fill(1e6)).save(&folder, Precision::Single, &provenance(2)).unwrap();
    assert_eq!(load(&folder).1, "2");
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn readers_never_see_half_of_a_checkpoint() {
    let folder = scratch("readers");
    let networks = [1, 2].map(|seed| (seed, network(seed)));
    let save = |(seed, network): &(u64, Network)| network.save(&folder, Precision::Single, &provenance(*seed)).unwrap();
    save(&networks[0]);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| (0..100).for_each(|k| save(&networks[k % 2])));
        let mut reads = 0;
        while !writer.is_finished() || reads == 0 {
            let (network, provenance) = Network::load(&folder, &Device::flex()).expect("a whole checkpoint");
            assert_eq!(network.tensors().len(), networks[0].1.tensors().len());
            assert!(["1", "2"].contains(&provenance["seed"].as_str()));
            reads += 1;
        }
    });
    fs::remove_dir_all(folder).unwrap();
}
