//! The fused layer equals plain tensor operations, forward and backward.

use std::sync::Arc;

use bqnco_core::{Random, random};
use bqnco_kernels::ProductPrecision;
use bqnco_net::{BatchCosts, Config, Context, CostBias, Layer, Residual};
use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::tensor::{Device, Gradients, Tensor, TensorData};
use rand::RngExt;

fn config(n_heads: usize, dim_head: usize, residual: Residual, costs: CostBias) -> Config {
    let (dim, paper) = (n_heads * dim_head, Config::paper_for("any", 2, 1));
    Config { n_layers: 1, n_heads, dim, dim_ff: 48, residual, costs, ..paper }
}

fn numbers<const D: usize>(shape: [usize; D], rng: &mut Random, device: &Device) -> Tensor<D> {
    let data: Vec<f32> = (0..shape.iter().product()).map(|_| rng.random_range(-1.0..1.0)).collect();
    Tensor::from_data(TensorData::new(data, shape), device)
}

/// Random values for every parameter: new layers have alphas of zero and gains of one.
struct Shake(Random);

impl ModuleMapper for Shake {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        param.map(|old| {
            let scale = if D == 2 { (old.dims()[0] as f64).powf(-0.5) } else { 1.0 };
            (numbers(old.dims(), &mut self.0, &old.device()) * scale).require_grad()
        })
    }
}

struct Case {
    layer: Layer,
    stream: Tensor<3>,
    context: Context,
    weights: Tensor<3>, // of the outputs in the loss; zero on padding
}

fn case(config: &Config, lengths: &[usize], seed: u64) -> Case {
    let device = Device::flex().autodiff();
    let mut rng = random(seed, &[7]);
    let layer = Layer::new(config, &mut rng, &device).map(&mut Shake(random(seed, &[8])));
    let (batch, tokens) = (lengths.len(), *lengths.iter().max().unwrap());
    let costs = match (config.costs, config.costs.channels() * (1 + config.ascent)) {
        (CostBias::Unseen, _) => BatchCosts::None,
        (CostBias::Forward, 1) => BatchCosts::Planar(numbers([batch, tokens, 2], &mut rng, &device)),
        (_, channels) => BatchCosts::Matrix(numbers([batch, channels, tokens, tokens], &mut rng, &device)),
    };
    let mask: Vec<f32> =
        lengths.iter().flat_map(|&n| (0..tokens).flat_map(move |k| [f32::from(k < n)].repeat(config.dim))).collect();
    let mask = Tensor::<3>::from_data(TensorData::new(mask, [batch, tokens, config.dim]), &device);
    Case {
        layer,
        stream: numbers([batch, tokens, config.dim], &mut rng, &device),
        context: Context { lengths: Arc::from(lengths), costs, precision: ProductPrecision::F32 },
        weights: numbers([batch, tokens, config.dim], &mut rng, &device) * mask,
    }
}

struct Collect<'a>(&'a Gradients, Vec<Vec<f32>>);

impl ModuleVisitor for Collect<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let gradient = param.val().grad(self.0).expect("every parameter has a gradient");
        self.1.push(gradient.into_data().try_to_vec().unwrap());
    }
}

fn outcome(case: &Case, forward: impl Fn(&Layer, Tensor<3>, &Context) -> Tensor<3>) -> (Vec<f32>, Vec<Vec<f32>>) {
    let stream = case.stream.clone().require_grad();
    let out = forward(&case.layer, stream.clone(), &case.context) * case.weights.clone();
    let grads = out.clone().sum().backward();
    let mut collect = Collect(&grads, vec![stream.grad(&grads).unwrap().into_data().try_to_vec().unwrap()]);
    case.layer.visit(&mut collect);
    (out.into_data().try_to_vec().unwrap(), collect.1)
}

fn is_close(found: &[f32], expected: &[f32]) -> bool {
    assert_eq!(found.len(), expected.len());
    let size = expected.iter().fold(1.0_f32, |size, x| size.max(x.abs()));
    found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-4 * size)
}

/// The first gradient of a random case that is not close to the plain one; its result always must be.
fn wrong_gradient(config: &Config, lengths: &[usize], seed: u64) -> Option<usize> {
    let case = case(config, lengths, seed);
    let (fused, fused_grads) = outcome(&case, |layer, stream, context| layer.forward(stream, context));
    let (plain, plain_grads) = outcome(&case, |layer, stream, context| layer.plain(stream, context));
    assert!(is_close(&fused, &plain), "forward, {lengths:?}, {config:?}");
    fused_grads.iter().zip(&plain_grads).position(|(fused, plain)| !is_close(fused, plain))
}

#[test]
fn fused_equals_plain_on_random_shapes() {
    let mut rng = random(1, &[]);
    let mut shapes = vec![(1, 300), (70, 3), (1, 3), (33, 17), (2, 97)];
    let more = std::env::var("BQNCO_SHAPES").ok().and_then(|count| count.parse().ok()).unwrap_or(9); // for campaigns
    // Sizes by their logarithms: most shapes are small, where the edges of tiles are, and plain operations are quick.
    let mut up_to = |least: f64, most: usize| rng.random_range(least.ln()..(most as f64 + 1.0).ln()).exp() as usize;
    shapes.extend((0..more).map(|_| {
        let tokens = up_to(3.0, 300);
        (up_to(1.0, (3000 / tokens).clamp(2, 70)), tokens)
    }));
    for (k, (batch, tokens)) in shapes.into_iter().enumerate() {
        let residual = [Residual::ReZero, Residual::PreNorm][k % 2];
        let (heads, dim_head) = [(2, 8), (3, 16), (1, 32), (4, 4)][k % 4];
        let config = match k % 5 {
            0 => config(heads, dim_head, residual, CostBias::Unseen),
            1 => config(heads, dim_head, residual, CostBias::Forward),
            2 => config(heads, dim_head, residual, CostBias::BothWays),
            3 => Config { ascent: 1, ..config(heads, dim_head, residual, CostBias::Forward) },
            _ => Config { ascent: 1, ..config(heads, dim_head, residual, CostBias::BothWays) },
        };
        // Every second batch has instances of different lengths.
        let lengths: Vec<usize> =
            (0..batch).map(|b| if k % 2 == 1 && b > 0 { rng.random_range(3..=tokens) } else { tokens }).collect();
        // Once in some ten thousand cases the argument of a ReLU is so near zero that rounding decides its gradient. Then
        // other numbers must do: what is wrong with a shape is wrong with all of them.
        let wrong = |seed: u64| wrong_gradient(&config, &lengths, seed);
        let still = wrong(k as u64).and_then(|_| wrong(k as u64 + (1 << 32)));
        assert_eq!(still, None, "a gradient of {batch} x {tokens}, {config:?}");
    }
}

#[test]
fn without_gradients_the_result_is_the_same() {
    for lengths in [&[61][..], &[5, 40, 3], &[20; 40]] {
        let case = case(&config(2, 16, Residual::PreNorm, CostBias::Forward), lengths, 3);
        let (trained, _) = outcome(&case, |layer, stream, context| layer.forward(stream, context));
        let costs = match &case.context.costs {
            BatchCosts::Planar(coordinates) => BatchCosts::Planar(coordinates.clone().inner()),
            _ => unreachable!(),
        };
        let context = Context { costs, ..case.context.clone() };
        let inferred = case.layer.valid().forward(case.stream.clone().inner(), &context);
        let inferred = (inferred * case.weights.clone().inner()).into_data().try_to_vec::<f32>().unwrap();
        assert!(is_close(&inferred, &trained), "inference, {lengths:?}");
    }
}

/// Moves every parameter along a random direction.
struct Move(Random, f64);

impl ModuleMapper for Move {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        param.map(|old| {
            let direction = numbers(old.dims(), &mut self.0, &old.device());
            (old + direction * self.1).detach().require_grad()
        })
    }
}

fn dot(gradient: &[f32], direction: &[f32]) -> f64 {
    gradient.iter().zip(direction).map(|(&g, &d)| f64::from(g) * f64::from(d)).sum()
}

#[test]
fn gradients_equal_finite_differences() {
    let step = 1e-3; // small for the kinks of the ReLU, large for rounding errors
    for (k, residual) in [Residual::ReZero, Residual::PreNorm].into_iter().enumerate() {
        let case = case(&config(2, 8, residual, CostBias::Forward), &[5, 9], 11 + k as u64);
        let loss = |layer: &Layer, stream: Tensor<3>| -> f64 {
            let out = layer.forward(stream, &case.context) * case.weights.clone();
            out.into_data().try_to_vec::<f32>().unwrap().iter().map(|&x| f64::from(x)).sum()
        };
        let assert_slope = |above: f64, below: f64, expected: f64| {
            let slope = (above - below) / (2.0 * step);
            assert!((slope - expected).abs() < 5e-3 * expected.abs().max(1.0), "{slope}, expected {expected}");
        };
        let (_, grads) = outcome(&case, |layer, stream, context| layer.forward(stream, context));

        let direction = numbers(case.stream.dims(), &mut random(5, &[]), &case.stream.device());
        let along = direction.clone().into_data().try_to_vec::<f32>().unwrap();
        let moved = |by: f64| loss(&case.layer, case.stream.clone() + direction.clone() * by);
        assert_slope(moved(step), moved(-step), dot(&grads[0], &along));

        // One random source draws the directions of all parameters, in the order of their gradients.
        let source = || random(6, &[]);
        let mut directions = source();
        let expected = grads[1..].iter().map(|gradient| {
            let direction = numbers([gradient.len()], &mut directions, &case.stream.device());
            dot(gradient, &direction.into_data().try_to_vec::<f32>().unwrap())
        });
        let expected = expected.sum();
        let moved = |by: f64| loss(&case.layer.clone().map(&mut Move(source(), by)), case.stream.clone());
        assert_slope(moved(step), moved(-step), expected);
    }
}
