//! The weights of a module as one flat vector: what optimizers, averages, saved states and communicators work on.

use std::ops::Range;

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::optim::GradientsParams;
use burn::tensor::{Gradients, Tensor, TensorData};

/// A parameter's place in the vector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub range: Range<usize>,
    pub shape: Vec<usize>,
    /// A matrix of the layers: neither embedding nor head nor learned input.
    pub is_hidden_matrix: bool,
}

/// The places of a module's parameters.
pub(crate) fn layout<M: Module>(module: &M) -> Vec<Span> {
    let mut layout = Layout { path: Vec::new(), spans: Vec::new() };
    module.visit(&mut layout);
    layout.spans
}

/// All weights of a module.
pub(crate) fn read<M: Module>(module: &M) -> Vec<f32> {
    let mut reader = Reader { gradients: None, flat: Vec::new() };
    module.visit(&mut reader);
    reader.flat
}

/// The gradients of all weights of a module; zero where there are none.
pub(crate) fn read_gradients<M: Module>(module: &M, gradients: Gradients) -> Vec<f32> {
    let gradients = Some(GradientsParams::from_grads(gradients, module));
    let mut reader = Reader { gradients, flat: Vec::new() };
    module.visit(&mut reader);
    reader.flat
}

/// The same module with other weights, as many as it has.
pub(crate) fn write<M: Module>(module: M, flat: &[f32]) -> M {
    module.map(&mut Writer { flat })
}

struct Layout {
    path: Vec<String>,
    spans: Vec<Span>,
}

impl ModuleVisitor for Layout {
    fn enter_module(&mut self, name: &str, _: &str) {
        self.path.push(name.to_string());
    }

    fn exit_module(&mut self, _: &str, _: &str) {
        self.path.pop();
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let start = self.spans.last().map_or(0, |span| span.range.end);
        let shape = param.val().dims().to_vec();
        let outside =
            self.path.iter().any(|name| ["embed_and_head", "latents", "successor", "heads"].contains(&name.as_str()));
        let range = start..start + shape.iter().product::<usize>();
        self.spans.push(Span { range, shape, is_hidden_matrix: D == 2 && !outside });
    }
}

struct Reader {
    gradients: Option<GradientsParams>, // none: the weights themselves
    flat: Vec<f32>,
}

impl ModuleVisitor for Reader {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let numbers = match &mut self.gradients {
            None => Some(param.val()),
            Some(gradients) => gradients.remove::<D>(param.id),
        };
        let Some(numbers) = numbers else {
            let count = param.val().shape().num_elements();
            return self.flat.resize(self.flat.len() + count, 0.0);
        };
        let data = numbers.into_data_as::<f32>();
        self.flat.extend_from_slice(data.as_slice::<f32>().expect("f32 as asked for"));
    }
}

struct Writer<'a> {
    flat: &'a [f32],
}

impl ModuleMapper for Writer<'_> {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        param.map(|old| {
            let shape = old.dims();
            let (mine, others) = self.flat.split_at(shape.iter().product());
            self.flat = others;
            let new = Tensor::from_data(TensorData::new(mine.to_vec(), shape), &old.device());
            new.set_require_grad(old.is_require_grad())
        })
    }
}

#[cfg(test)]
mod tests {
    use bqnco_net::{Architecture, Config, Device, Network};
    use bqnco_problems::Atsp;

    use super::*;

    /// Embeddings, heads and latents go to AdamW, whatever the optimizer of the layers.
    #[test]
    fn only_matrices_of_layers_are_hidden() {
        let edges = Config { n_layers: 2, ..Config::edges::<Atsp>() };
        let perceiver = Config { architecture: Architecture::Perceiver, n_heads: 8, ..edges.clone() };
        // Four matrices per layer; the perceiver reads and writes with five each.
        for (config, hidden, outside) in [(edges, 2 * 4, 4), (perceiver, 2 * 4 + 2 * 5, 5)] {
            let network = Network::new(config, 0, &Device::flex()).expect("a network");
            let matrices: Vec<_> = layout(&network).into_iter().filter(|span| span.shape.len() == 2).collect();
            let found = matrices.iter().filter(|span| span.is_hidden_matrix).count();
            assert_eq!((found, matrices.len() - found), (hidden, outside));
        }
    }
}
