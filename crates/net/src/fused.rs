//! The transformer layer as one operation on the CPU.
//!
//! Plain tensor operations spend more time on softmax, permutations and broadcasts than on the products. Here a layer
//! is a single Burn operation on the Flex backend, with a forward pass that never holds tokens x tokens numbers and a
//! backward pass written by hand. It is reached through Burn's extension mechanism, so that gradients flow through it
//! like through any other operation; [`Layer::plain`](crate::Layer::plain) is the same layer for all other devices.

use std::sync::{Arc, Mutex};

use bqnco_kernels::{Costs, LANES, Packed, Pass, Saved, Sizes, Weights, backward, pool};
use burn::backend::autodiff::checkpoint::{base::Checkpointer, strategy::CheckpointStrategy};
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::ops::FloatTensorOps;
use burn::backend::tensor::FloatTensor;
use burn::backend::{
    Autodiff, Backend, Dispatch, DispatchDevice, ExtensionType, Flex, TensorMetadata, backend_extension,
};
use burn::tensor::{DType, Tensor, TensorData};

use crate::layer::Context;
use crate::{BatchCosts, Layer, Residual};

/// A layer's parameters on one backend.
#[derive(Clone, Debug, ExtensionType)]
pub struct LayerTensors<B: Backend> {
    qkv: FloatTensor<B>,
    out: FloatTensor<B>,
    out_bias: FloatTensor<B>,
    up: FloatTensor<B>,
    up_bias: FloatTensor<B>,
    down: FloatTensor<B>,
    down_bias: FloatTensor<B>,
    joints: FloatTensor<B>,
    cost_weights: FloatTensor<B>,
}

/// Costs between tokens on one backend.
#[derive(Clone, Debug, ExtensionType)]
pub enum CostTensor<B: Backend> {
    /// None.
    None,
    /// `[batch, tokens, 2]`.
    Planar(FloatTensor<B>),
    /// `[batch, channels, tokens, tokens]`.
    Matrix(FloatTensor<B>),
}

/// What the operation must know beside tensors.
#[derive(Clone, Debug)]
pub struct Task {
    sizes: Sizes,
    lengths: Arc<[usize]>,
    cache: Cache,
}

/// Weights in the kernels' layout, kept between calls as long as the weights stay the same.
#[derive(Clone, Debug, Default)]
pub struct Cache(Arc<Mutex<Option<Kept>>>);

/// The packed weights with the tensors they were made from. Holding those means that nobody can change them in place,
/// so equal addresses mean equal numbers.
#[derive(Clone, Debug)]
struct Kept {
    sources: [FloatTensor<Flex>; 4],
    packed: Arc<Packed>,
}

impl Cache {
    fn packed(&self, tensors: &LayerTensors<Flex>, weights: &Weights<'_>, sizes: &Sizes) -> Arc<Packed> {
        let sources = [&tensors.qkv, &tensors.out, &tensors.up, &tensors.down];
        let mut kept = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(kept) = &*kept {
            let same = |(a, b): (&FloatTensor<Flex>, &FloatTensor<Flex>)| a.bytes().as_ptr() == b.bytes().as_ptr();
            if kept.sources.iter().zip(sources).all(same) {
                return Arc::clone(&kept.packed);
            }
        }
        let packed = Arc::new(Packed::new(weights, sizes));
        *kept = Some(Kept { sources: sources.map(Clone::clone), packed: Arc::clone(&packed) });
        packed
    }
}

/// The fused layer of a backend.
#[backend_extension(Flex, Autodiff)]
pub trait FusedLayer: Backend {
    /// The stream `[batch, tokens, dim]` after the layer.
    fn encoder_layer(
        stream: FloatTensor<Self>,
        #[extension_type] weights: LayerTensors<Self>,
        #[extension_type] costs: CostTensor<Self>,
        task: Task,
    ) -> FloatTensor<Self>;
}

impl From<Residual> for bqnco_kernels::Residual {
    fn from(residual: Residual) -> Self {
        match residual {
            Residual::ReZero => Self::ReZero,
            Residual::PreNorm => Self::PreNorm,
        }
    }
}

/// Whether the fused operation can take this layer on this device.
pub(crate) fn fits(stream: &Tensor<3>, layer: &Layer) -> bool {
    let [dim, dim_ff] = layer.up.val().dims();
    let whole = |size: usize| size.is_multiple_of(LANES);
    whole(dim) && whole(dim_ff) && stream.dtype() == DType::F32 && on_cpu(&stream.device())
}

fn on_cpu(device: &burn::tensor::Device) -> bool {
    match device.clone().inner().as_dispatch() {
        DispatchDevice::Flex(_) => true,
        #[allow(unreachable_patterns)] // the CPU may be the only device of a build
        _ => false,
    }
}

/// Calls the operation.
pub(crate) fn forward(stream: Tensor<3>, layer: &Layer, cache: &Cache, context: &Context) -> Tensor<3> {
    let [dim, dim_ff] = layer.up.val().dims();
    let form = layer.form();
    let cost_weights = layer.cost_weights.as_ref().map(|weights| weights.val());
    let channels = layer.channels();
    let task = Task {
        sizes: Sizes { dim, dim_ff, n_heads: form.n_heads, channels, residual: form.residual.into() },
        lengths: context.lengths.clone(),
        cache: cache.clone(),
    };
    let costs = match &context.costs {
        BatchCosts::Planar(places) if channels > 0 => CostTensor::Planar(places.clone().into_dispatch()),
        BatchCosts::Matrix(matrices) if channels > 0 => CostTensor::Matrix(matrices.clone().into_dispatch()),
        _ => CostTensor::None,
    };
    let weights = LayerTensors {
        qkv: layer.qkv.val().into_dispatch(),
        out: layer.out.val().into_dispatch(),
        out_bias: layer.out_bias.val().into_dispatch(),
        up: layer.up.val().into_dispatch(),
        up_bias: layer.up_bias.val().into_dispatch(),
        down: layer.down.val().into_dispatch(),
        down_bias: layer.down_bias.val().into_dispatch(),
        joints: layer.joints.val().into_dispatch(),
        cost_weights: cost_weights.unwrap_or_else(|| Tensor::zeros([1], &stream.device())).into_dispatch(),
    };
    Tensor::from_dispatch(<Dispatch as FusedLayer>::encoder_layer(stream.into_dispatch(), weights, costs, task))
}

impl FusedLayer for Flex {
    fn encoder_layer(
        stream: FloatTensor<Self>,
        weights: LayerTensors<Self>,
        costs: CostTensor<Self>,
        task: Task,
    ) -> FloatTensor<Self> {
        let (weights, costs, mut stream) = (weights.contiguous(), costs.contiguous(), whole(stream));
        let packed = task.cache.packed(&weights, &weights.slices(), &task.sizes);
        task.pass(&weights, &costs, &packed, &stream).infer(stream.storage_mut());
        stream
    }
}

impl<C: CheckpointStrategy> FusedLayer for Autodiff<Flex, C> {
    fn encoder_layer(
        stream: FloatTensor<Self>,
        weights: LayerTensors<Self>,
        costs: CostTensor<Self>,
        task: Task,
    ) -> FloatTensor<Self> {
        let w = &weights;
        let parameters = [&w.qkv, &w.out, &w.out_bias, &w.up, &w.up_bias, &w.down, &w.down_bias, &w.joints];
        let [a, b, c, d, e, f, g, h] = parameters.map(|tensor| tensor.node());
        let nodes = [stream.node(), a, b, c, d, e, f, g, h, weights.cost_weights.node()];
        let (stream, weights, costs) = (stream.into_primitive(), weights.inner(), costs.inner());
        match LayerBackward.prepare::<C>(nodes).compute_bound().stateful() {
            OpsKind::UnTracked(prep) => prep.finish(Flex::encoder_layer(stream, weights, costs, task)),
            OpsKind::Tracked(prep) => {
                let before = whole(stream);
                let (weights, costs) = (weights.contiguous(), costs.contiguous());
                let packed = Packed::new(&weights.slices(), &task.sizes);
                let mut after = pool::take(before.shape().num_elements());
                let saved = task.pass(&weights, &costs, &packed, &before).train(before.storage(), &mut after);
                let after = tensor(after, &before);
                let state = State { before, weights, costs, task, saved: Arc::new(saved) };
                prep.finish(state, after)
            }
        }
    }
}

/// Marks the operation in Burn's graph.
#[derive(Debug)]
struct LayerBackward;

/// What the backward pass needs.
#[derive(Clone, Debug)]
struct State {
    before: FloatTensor<Flex>,
    weights: LayerTensors<Flex>,
    costs: CostTensor<Flex>,
    task: Task,
    saved: Arc<Saved>,
}

impl Backward<Flex, 10> for LayerBackward {
    type State = State;

    fn backward(self, ops: Ops<State, 10>, grads: &mut Gradients, _: &mut Checkpointer) {
        let d_after = whole(grads.consume::<Flex>(&ops.node));
        let State { before, weights, costs, task, saved } = ops.state;
        let unused = Packed::default();
        let pass = task.pass(&weights, &costs, &unused, &before);
        let (d_before, d_weights) = backward(&pass, before.storage(), &saved, d_after.storage());
        let [d_qkv, d_out, d_out_bias, d_up, d_up_bias, d_down, d_down_bias, d_joints, mut d_costs] = d_weights.parts();
        d_costs.resize(weights.cost_weights.shape().num_elements(), 0.0); // a placeholder where costs are unseen
        let w = &weights;
        let results = [
            (&before, d_before),
            (&w.qkv, d_qkv),
            (&w.out, d_out),
            (&w.out_bias, d_out_bias),
            (&w.up, d_up),
            (&w.up_bias, d_up_bias),
            (&w.down, d_down),
            (&w.down_bias, d_down_bias),
            (&w.joints, d_joints),
            (&w.cost_weights, d_costs),
        ];
        for (node, (like, gradient)) in ops.parents.into_iter().zip(results) {
            if let Some(node) = node {
                grads.register::<Flex>(node.id, tensor(gradient, like));
            }
        }
        recycle(before);
        recycle(d_after);
    }
}

impl Task {
    fn pass<'a>(
        &'a self,
        weights: &'a LayerTensors<Flex>,
        costs: &'a CostTensor<Flex>,
        packed: &'a Packed,
        stream: &FloatTensor<Flex>,
    ) -> Pass<'a> {
        Pass {
            sizes: self.sizes,
            weights: weights.slices(),
            packed,
            lengths: &self.lengths,
            padded: stream.shape()[1],
            costs: match costs {
                CostTensor::None => Costs::None,
                CostTensor::Planar(places) => Costs::Planar(places.storage()),
                CostTensor::Matrix(matrices) => Costs::Matrix(matrices.storage()),
            },
        }
    }
}

/// Numbers in the shape of another tensor.
fn tensor(numbers: Vec<f32>, like: &FloatTensor<Flex>) -> FloatTensor<Flex> {
    Flex::float_from_data(TensorData::new(numbers, like.shape()), &Default::default())
}

/// Keeps the memory of a tensor that nobody else holds.
fn recycle(tensor: FloatTensor<Flex>) {
    if tensor.is_unique()
        && let Ok(numbers) = tensor.into_data().try_into_vec()
    {
        pool::give(numbers);
    }
}

/// A tensor whose storage is exactly its numbers, row by row.
fn whole(tensor: FloatTensor<Flex>) -> FloatTensor<Flex> {
    let exact = tensor.is_contiguous() && tensor.bytes().len() == tensor.shape().num_elements() * size_of::<f32>();
    if exact { tensor } else { tensor.to_contiguous() }
}

impl LayerTensors<Flex> {
    fn contiguous(self) -> Self {
        self.map(whole)
    }

    fn slices(&self) -> Weights<'_> {
        Weights {
            qkv: self.qkv.storage(),
            out: self.out.storage(),
            out_bias: self.out_bias.storage(),
            up: self.up.storage(),
            up_bias: self.up_bias.storage(),
            down: self.down.storage(),
            down_bias: self.down_bias.storage(),
            joints: self.joints.storage(),
            cost_weights: self.cost_weights.storage(),
        }
    }
}

impl<B: Backend> LayerTensors<B> {
    fn map<A: Backend>(self, f: impl Fn(FloatTensor<B>) -> FloatTensor<A>) -> LayerTensors<A> {
        LayerTensors {
            qkv: f(self.qkv),
            out: f(self.out),
            out_bias: f(self.out_bias),
            up: f(self.up),
            up_bias: f(self.up_bias),
            down: f(self.down),
            down_bias: f(self.down_bias),
            joints: f(self.joints),
            cost_weights: f(self.cost_weights),
        }
    }
}

impl<B: Backend> CostTensor<B> {
    fn map<A: Backend>(self, f: impl Fn(FloatTensor<B>) -> FloatTensor<A>) -> CostTensor<A> {
        match self {
            CostTensor::None => CostTensor::None,
            CostTensor::Planar(places) => CostTensor::Planar(f(places)),
            CostTensor::Matrix(matrices) => CostTensor::Matrix(f(matrices)),
        }
    }
}

impl CostTensor<Flex> {
    fn contiguous(self) -> Self {
        self.map(whole)
    }
}

impl<C: CheckpointStrategy> LayerTensors<Autodiff<Flex, C>> {
    fn inner(self) -> LayerTensors<Flex> {
        self.map(|tensor| tensor.into_primitive())
    }
}

impl<C: CheckpointStrategy> CostTensor<Autodiff<Flex, C>> {
    fn inner(self) -> CostTensor<Flex> {
        self.map(|tensor| tensor.into_primitive())
    }
}
