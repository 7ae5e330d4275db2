//! A network that learns, with the heads that only training uses.

use bqnco_net::{Config, Network};
use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::tensor::activation::log_softmax;
use burn::tensor::{Device, Tensor, TensorData};

use crate::Training;
use crate::batch::Lesson;
use crate::loss::cross_entropy;

/// A network and the heads that only training uses.
#[derive(Module, Debug)]
pub(crate) struct Learner {
    pub network: Network,
    pub heads: Heads,
}

/// Heads of the auxiliary losses. They start at zero and are no part of checkpoints.
#[derive(Module, Debug)]
pub(crate) struct Heads {
    /// How well a token follows another: `query * successor * key`, `[dim, dim]`.
    successor: Option<Param<Tensor<2>>>,
    /// How well a token stands before the destination: `[dim, 1]`.
    last: Option<Param<Tensor<2>>>,
}

/// The loss of a lesson.
pub(crate) struct Loss {
    /// Of imitation alone, `[1]`: what is reported.
    pub imitation: Tensor<1>,
    /// With the auxiliary losses, `[1]`: what is made smaller.
    pub total: Tensor<1>,
}

impl Heads {
    pub fn new(training: &Training, config: &Config, device: &Device) -> Self {
        let zeros = |weight: f64, shape: [usize; 2]| {
            (weight > 0.0).then(|| Param::from_tensor(Tensor::zeros(shape, device).require_grad()))
        };
        Heads {
            successor: zeros(training.auxiliary, [config.dim, config.dim]),
            last: zeros(training.second_target, [config.dim, 1]),
        }
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Bytes(Vec::new());
        self.visit(&mut bytes);
        bytes.0
    }

    /// The same heads with the numbers of [`Heads::to_bytes`]; none if there are too few or too many.
    pub fn with_bytes(self, bytes: &[u8]) -> Option<Self> {
        let (numbers, rest) = bytes.as_chunks::<4>();
        let numbers: Vec<f32> = numbers.iter().map(|&number| f32::from_le_bytes(number)).collect();
        let mut filler = Filler { numbers: &numbers, complete: rest.is_empty() };
        let heads = self.map(&mut filler);
        (filler.complete && filler.numbers.is_empty()).then_some(heads)
    }
}

impl Learner {
    pub fn loss(&self, lesson: &Lesson, training: &Training) -> Loss {
        let encoded = self.network.encode(&lesson.batch); // [batch, tokens, dim]
        let imitation = cross_entropy(self.network.head(encoded.clone()), lesson);
        let mut total = imitation.clone();
        if let (Some(paths), Some(head)) = (&lesson.paths, &self.heads.successor) {
            let [batch, _, dim] = encoded.dims();
            let query = encoded.clone().matmul(head.val().unsqueeze());
            let scores = query.matmul(encoded.clone().transpose()) * (dim as f64).powf(-0.5);
            let scores = scores + paths.padding.clone().unsqueeze_dim(1); // [batch, from, to]
            let loss = -(log_softmax(scores, 2) * paths.successors.clone()).sum() / batch as f32;
            total = total + loss * training.auxiliary;
        }
        if let (Some(paths), Some(head)) = (&lesson.paths, &self.heads.last) {
            let [batch, tokens, _] = encoded.dims();
            let scores = encoded.matmul(head.val().unsqueeze()).reshape([batch, tokens]) + paths.padding.clone();
            let loss = -(log_softmax(scores, 1) * paths.last.clone()).sum() / batch as f32;
            total = total + loss * training.second_target;
        }
        Loss { imitation, total }
    }
}

/// All numbers, little-endian, in the order of a visit.
struct Bytes(Vec<u8>);

impl ModuleVisitor for Bytes {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let data = param.val().into_data_as::<f32>();
        self.0.extend(data.as_slice::<f32>().expect("f32 as asked for").iter().flat_map(|x| x.to_le_bytes()));
    }
}

struct Filler<'a> {
    numbers: &'a [f32],
    complete: bool,
}

impl ModuleMapper for Filler<'_> {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let shape = param.val().dims();
        let Some((mine, others)) = self.numbers.split_at_checked(shape.iter().product()) else {
            self.complete = false;
            return param;
        };
        self.numbers = others;
        param.map(|old| {
            let new = Tensor::from_data(TensorData::new(mine.to_vec(), shape), &old.device());
            new.set_require_grad(old.is_require_grad())
        })
    }
}
