//! The transformer layer as one Burn operation on the CPU.
//!
//! The kernels are those of [`bqnco_kernels`]; here is the glue: tensors to slices and back, the cache of packed
//! weights, and the node of the autodiff graph. The operation is reached through Burn's backend extension, so gradients
//! flow through it as through any other operation. [`Layer::plain`] is the same layer for all other devices.

use std::sync::{Arc, Mutex};

use bqnco_kernels::simd::LANES;
use bqnco_kernels::{
    Costs, LayerPass, LayerSizes, LayerWeights, PackedWeights, ProductPrecision, SavedActivations, recycle,
};
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

/// The parameters of a layer on one backend.
#[derive(Clone, Debug, ExtensionType)]
pub struct LayerTensors<B: Backend> {
    qkv: FloatTensor<B>,
    out: FloatTensor<B>,
    out_bias: FloatTensor<B>,
    up: FloatTensor<B>,
    up_bias: FloatTensor<B>,
    down: FloatTensor<B>,
    down_bias: FloatTensor<B>,
    residual_params: FloatTensor<B>,
    cost_weights: FloatTensor<B>,
}

/// Costs between tokens on one backend.
#[derive(Clone, Debug, ExtensionType)]
pub enum CostTensor<B: Backend> {
    /// No costs.
    None,
    /// Coordinates: `[batch, tokens, 2]`.
    Planar(FloatTensor<B>),
    /// Cost matrices: `[batch, channels, tokens, tokens]`.
    Matrix(FloatTensor<B>),
}

/// The arguments of the operation that are not tensors.
#[derive(Clone, Debug)]
pub struct Arguments {
    sizes: LayerSizes,
    lengths: Arc<[usize]>,
    precision: ProductPrecision,
    cache: PackedCache,
}

/// The packed weights of a layer, kept between calls until the weights change.
#[derive(Clone, Debug, Default)]
pub struct PackedCache(Arc<Mutex<Option<CacheEntry>>>);

/// Packed weights and the tensors they were packed from. While these are held, no other code can change them in place or reuse
/// their memory, so equal addresses mean equal weights.
#[derive(Clone, Debug)]
struct CacheEntry {
    sources: [FloatTensor<Flex>; 4],
    precision: ProductPrecision,
    packed: Arc<PackedWeights>,
}

impl PackedCache {
    fn packed(&self, tensors: &LayerTensors<Flex>, arguments: &Arguments) -> Arc<PackedWeights> {
        let precision = arguments.precision;
        let sources = [&tensors.qkv, &tensors.out, &tensors.up, &tensors.down];
        let mut entry = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(entry) = &*entry {
            let same = |(a, b): (&FloatTensor<Flex>, &FloatTensor<Flex>)| a.bytes().as_ptr() == b.bytes().as_ptr();
            if entry.precision == precision && entry.sources.iter().zip(sources).all(same) {
                return Arc::clone(&entry.packed);
            }
        }
        let packed = Arc::new(PackedWeights::new(&tensors.slices(), &arguments.sizes, precision));
        *entry = Some(CacheEntry { sources: sources.map(Clone::clone), precision, packed: Arc::clone(&packed) });
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
        arguments: Arguments,
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

/// Whether the operation supports this layer on this device.
pub(crate) fn is_supported(stream: &Tensor<3>, layer: &Layer) -> bool {
    let [dim, dim_ff] = layer.feed_forward.up.val().dims();
    let is_vector_multiple = |size: usize| size.is_multiple_of(LANES);
    is_vector_multiple(dim) && is_vector_multiple(dim_ff) && stream.dtype() == DType::F32 && on_cpu(&stream.device())
}

/// Whether tensors of this device are in memory that the kernels can use.
pub(crate) fn on_cpu(device: &burn::tensor::Device) -> bool {
    match device.clone().inner().as_dispatch() {
        DispatchDevice::Flex(_) => true,
        #[allow(unreachable_patterns)] // for builds in which the CPU is the only device
        _ => false,
    }
}

/// Applies the operation to the stream `[batch, tokens, dim]`.
pub(crate) fn forward(stream: Tensor<3>, layer: &Layer, cache: &PackedCache, context: &Context) -> Tensor<3> {
    let [dim, dim_ff] = layer.feed_forward.up.val().dims();
    let shape = layer.shape();
    let cost_weights = layer.cost_weights.as_ref().map(|weights| weights.val());
    let channels = layer.channels();
    let arguments = Arguments {
        sizes: LayerSizes { dim, dim_ff, n_heads: shape.n_heads, channels, residual: shape.residual.into() },
        lengths: context.lengths.clone(),
        precision: context.precision,
        cache: cache.clone(),
    };
    let costs = match &context.costs {
        BatchCosts::Planar(coordinates) if channels > 0 => CostTensor::Planar(coordinates.clone().into_dispatch()),
        BatchCosts::Matrix(matrices) if channels > 0 => CostTensor::Matrix(matrices.clone().into_dispatch()),
        _ => CostTensor::None,
    };
    let weights = LayerTensors {
        qkv: layer.qkv.val().into_dispatch(),
        out: layer.out.val().into_dispatch(),
        out_bias: layer.out_bias.val().into_dispatch(),
        up: layer.feed_forward.up.val().into_dispatch(),
        up_bias: layer.feed_forward.up_bias.val().into_dispatch(),
        down: layer.feed_forward.down.val().into_dispatch(),
        down_bias: layer.feed_forward.down_bias.val().into_dispatch(),
        residual_params: layer.residual_params.val().into_dispatch(),
        cost_weights: cost_weights.unwrap_or_else(|| Tensor::zeros([1], &stream.device())).into_dispatch(),
    };
    Tensor::from_dispatch(<Dispatch as FusedLayer>::encoder_layer(stream.into_dispatch(), weights, costs, arguments))
}

impl FusedLayer for Flex {
    fn encoder_layer(
        stream: FloatTensor<Self>,
        weights: LayerTensors<Self>,
        costs: CostTensor<Self>,
        arguments: Arguments,
    ) -> FloatTensor<Self> {
        let (weights, costs, mut stream) = (weights.contiguous(), costs.contiguous(), contiguous(stream));
        let packed = arguments.cache.packed(&weights, &arguments);
        arguments.pass(&weights, &costs, &packed, &stream).infer(stream.storage_mut());
        stream
    }
}

impl<C: CheckpointStrategy> FusedLayer for Autodiff<Flex, C> {
    fn encoder_layer(
        stream: FloatTensor<Self>,
        weights: LayerTensors<Self>,
        costs: CostTensor<Self>,
        arguments: Arguments,
    ) -> FloatTensor<Self> {
        let w = &weights;
        let parameters = [&w.qkv, &w.out, &w.out_bias, &w.up, &w.up_bias, &w.down, &w.down_bias, &w.residual_params];
        let [a, b, c, d, e, f, g, h] = parameters.map(|tensor| tensor.node());
        let nodes = [stream.node(), a, b, c, d, e, f, g, h, weights.cost_weights.node()];
        let (stream, weights, costs) = (stream.into_primitive(), weights.inner(), costs.inner());
        match LayerBackward.prepare::<C>(nodes).compute_bound().stateful() {
            OpsKind::UnTracked(prep) => prep.finish(Flex::encoder_layer(stream, weights, costs, arguments)),
            OpsKind::Tracked(prep) => {
                let before = contiguous(stream);
                let (weights, costs) = (weights.contiguous(), costs.contiguous());
                let packed = PackedWeights::new(&weights.slices(), &arguments.sizes, ProductPrecision::F32);
                let (after, saved) = arguments.pass(&weights, &costs, &packed, &before).train(before.storage());
                let after = tensor(after, &before);
                let state = State { before, weights, costs, arguments, saved: Arc::new(saved) };
                prep.finish(state, after)
            }
        }
    }
}

/// The operation in the autodiff graph.
#[derive(Debug)]
struct LayerBackward;

/// What the backward pass needs.
#[derive(Clone, Debug)]
struct State {
    before: FloatTensor<Flex>,
    weights: LayerTensors<Flex>,
    costs: CostTensor<Flex>,
    arguments: Arguments,
    saved: Arc<SavedActivations>,
}

impl Backward<Flex, 10> for LayerBackward {
    type State = State;

    fn backward(self, ops: Ops<State, 10>, grads: &mut Gradients, _: &mut Checkpointer) {
        let d_after = contiguous(grads.consume::<Flex>(&ops.node));
        let State { before, weights, costs, arguments, saved } = ops.state;
        let unused = PackedWeights::default();
        let pass = arguments.pass(&weights, &costs, &unused, &before);
        let (d_before, mut d_weights) = pass.backward(before.storage(), &saved, d_after.storage());
        // Without costs, the layer has one unused cost weight as a placeholder.
        d_weights.cost_weights.resize(weights.cost_weights.shape().num_elements(), 0.0);
        let w = &weights;
        let results = [
            (&before, d_before),
            (&w.qkv, d_weights.qkv),
            (&w.out, d_weights.out),
            (&w.out_bias, d_weights.out_bias),
            (&w.up, d_weights.up),
            (&w.up_bias, d_weights.up_bias),
            (&w.down, d_weights.down),
            (&w.down_bias, d_weights.down_bias),
            (&w.residual_params, d_weights.residual_params),
            (&w.cost_weights, d_weights.cost_weights),
        ];
        for (node, (like, gradient)) in ops.parents.into_iter().zip(results) {
            if let Some(node) = node {
                grads.register::<Flex>(node.id, tensor(gradient, like));
            }
        }
        recycle_tensor(before);
        recycle_tensor(d_after);
    }
}

impl Arguments {
    fn pass<'a>(
        &'a self,
        weights: &'a LayerTensors<Flex>,
        costs: &'a CostTensor<Flex>,
        packed: &'a PackedWeights,
        stream: &FloatTensor<Flex>,
    ) -> LayerPass<'a> {
        LayerPass {
            sizes: self.sizes,
            weights: weights.slices(),
            packed,
            lengths: &self.lengths,
            padded: stream.shape()[1],
            costs: match costs {
                CostTensor::None => Costs::None,
                CostTensor::Planar(coordinates) => Costs::Planar(coordinates.storage()),
                CostTensor::Matrix(matrices) => Costs::Matrix(matrices.storage()),
            },
        }
    }
}

/// A tensor of these values in the shape of another tensor.
fn tensor(values: Vec<f32>, like: &FloatTensor<Flex>) -> FloatTensor<Flex> {
    Flex::float_from_data(TensorData::new(values, like.shape()), &Default::default())
}

/// Recycles the memory of a tensor that has no other owner.
fn recycle_tensor(tensor: FloatTensor<Flex>) {
    if tensor.is_unique()
        && let Ok(values) = tensor.into_data().try_into_vec()
    {
        recycle(values);
    }
}

/// The tensor with a storage that holds exactly its values, row-major.
fn contiguous(tensor: FloatTensor<Flex>) -> FloatTensor<Flex> {
    let exact = tensor.is_contiguous() && tensor.bytes().len() == tensor.shape().num_elements() * size_of::<f32>();
    if exact { tensor } else { tensor.to_contiguous() }
}

impl LayerTensors<Flex> {
    fn contiguous(self) -> Self {
        self.map(contiguous)
    }

    fn slices(&self) -> LayerWeights<'_> {
        LayerWeights {
            qkv: self.qkv.storage(),
            out: self.out.storage(),
            out_bias: self.out_bias.storage(),
            up: self.up.storage(),
            up_bias: self.up_bias.storage(),
            down: self.down.storage(),
            down_bias: self.down_bias.storage(),
            residual_params: self.residual_params.storage(),
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
            residual_params: f(self.residual_params),
            cost_weights: f(self.cost_weights),
        }
    }
}

impl<B: Backend> CostTensor<B> {
    fn map<A: Backend>(self, f: impl Fn(FloatTensor<B>) -> FloatTensor<A>) -> CostTensor<A> {
        match self {
            CostTensor::None => CostTensor::None,
            CostTensor::Planar(coordinates) => CostTensor::Planar(f(coordinates)),
            CostTensor::Matrix(matrices) => CostTensor::Matrix(f(matrices)),
        }
    }
}

impl CostTensor<Flex> {
    fn contiguous(self) -> Self {
        self.map(contiguous)
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
