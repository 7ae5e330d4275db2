//! Import of the PyTorch checkpoints that the paper's authors published.
//!
//! Their attention has one matrix per head: keys `x lambda1`, queries `y lambda2`, values `x theta1`, output by
//! `theta2`, with a bias on keys (which the softmax cancels) and one on the outputs of the heads (which `theta2` turns
//! into a bias of the stream). Their transformer does not scale dot products, so its queries are scaled here instead.

use std::path::Path;

use burn::tensor::Device;
use pytorch_reader::{DType, PytorchReader};

use crate::{Architecture, Config, NetError, Network, Tensors};

/// Whether a file that begins like this was written by `torch.save`: a zip archive whose first member is the pickle
/// `data.pkl`, or, before PyTorch 1.6, a bare pickle that begins with a magic number.
pub fn is_pytorch(beginning: &[u8]) -> bool {
    const MEMBER: &[u8] = b"PK\x03\x04";
    const NAME_AT: usize = 30; // bytes of a member's header before its name, whose length stands at 26
    const MAGIC: &[u8] = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.";
    if !beginning.starts_with(MEMBER) || beginning.len() < NAME_AT {
        return beginning.starts_with(MAGIC);
    }
    let length = usize::from(u16::from_le_bytes([beginning[26], beginning[27]]));
    beginning[NAME_AT..].get(..length).is_some_and(|name| name.ends_with(b"/data.pkl"))
}

/// Features and scores per token of a checkpoint of the authors: they identify its problem.
///
/// # Errors
/// When the file is not such a checkpoint.
pub fn pytorch_sizes(path: &Path) -> Result<(usize, usize), NetError> {
    let source = Source::open(path)?;
    Ok((source.read("input_emb.weight", 2)?.0[1], source.read("scores_projection.weight", 2)?.0[0]))
}

/// Reads a checkpoint of the authors.
///
/// `order[k]` is the index of feature `k` of the problem among the inputs of their network; its length is the number of
/// features. The architecture and all sizes follow from the file.
///
/// # Errors
/// When the file is not such a checkpoint.
pub fn import_pytorch(path: &Path, problem: &str, order: &[usize], device: &Device) -> Result<Network, NetError> {
    let source = Source::open(path)?;
    let perceiver = source.reader.get("latent_array").is_some();
    let (config, tensors) =
        if perceiver { source.perceiver(problem, order) } else { source.transformer(problem, order) }?;
    Network::new(config, 0, device)?.with_tensors(tensors, &source.file)
}

struct Source {
    reader: PytorchReader,
    file: String,
}

/// Refuses tensors that are larger than the file: a view that repeats its numbers can be of any size.
fn check_sizes(reader: &PytorchReader, length: u64) -> Result<(), String> {
    const SHARED: u64 = 2; // tensors may share numbers, but not often
    let bytes = |shape: &[usize]| shape.iter().try_fold(8_u64, |bytes, &axis| bytes.checked_mul(axis as u64)); // at most
    let total = reader.tensors().values().try_fold(0_u64, |sum, tensor| sum.checked_add(bytes(tensor.shape())?));
    match total {
        Some(total) if total <= 2 * SHARED * length => Ok(()),
        _ => Err(format!("its tensors have more numbers than a file of {length} bytes can hold")),
    }
}

/// Shape and values.
type Array = (Vec<usize>, Vec<f32>);

fn bad(file: &str, reason: String) -> NetError {
    NetError::BadCheckpoint { file: file.to_string(), reason }
}

impl Source {
    fn open(path: &Path) -> Result<Self, NetError> {
        let file = path.display().to_string();
        let reader = PytorchReader::with_top_level_key(path, "net")
            .map_err(|error| bad(&file, format!("not a checkpoint with a dictionary 'net': {error}")))?;
        let length = std::fs::metadata(path).map_err(|source| NetError::File { path: path.into(), source })?.len();
        check_sizes(&reader, length).map_err(|reason| bad(&file, reason))?;
        Ok(Source { reader, file })
    }

    fn read(&self, name: &str, dimensions: usize) -> Result<Array, NetError> {
        let tensor = self.reader.get(name).ok_or_else(|| bad(&self.file, format!("tensor {name} is missing")))?;
        if tensor.dtype() != DType::F32 || tensor.shape().len() != dimensions {
            let reason = format!(
                "tensor {name} has type {:?} and shape {:?}; expected F32 with {dimensions} dimensions",
                tensor.dtype(),
                tensor.shape()
            );
            return Err(bad(&self.file, reason));
        }
        let bytes = tensor.read().map_err(|error| bad(&self.file, format!("tensor {name}: {error}")))?;
        let numbers = bytes.as_chunks::<4>().0.iter().map(|&b| f32::from_le_bytes(b)).collect();
        Ok((tensor.shape().to_vec(), numbers))
    }

    /// A matrix `[outputs, inputs]` as `[inputs, outputs]`.
    fn transposed(&self, name: &str) -> Result<Array, NetError> {
        let (shape, numbers) = self.read(name, 2)?;
        let (rows, columns) = (shape[0], shape[1]);
        let turned = (0..columns).flat_map(|j| (0..rows).map(move |i| (i, j))).map(|(i, j)| numbers[i * columns + j]);
        Ok((vec![columns, rows], turned.collect()))
    }

    /// A tensor `[heads, inputs, dim_head]` as `[inputs, heads * dim_head]`.
    fn by_head(&self, name: &str) -> Result<Array, NetError> {
        let (shape, numbers) = self.read(name, 3)?;
        let (heads, inputs, dim_head) = (shape[0], shape[1], shape[2]);
        let places = (0..inputs).flat_map(|i| (0..heads).flat_map(move |h| (0..dim_head).map(move |e| (i, h, e))));
        let matrix = places.map(|(i, h, e)| numbers[(h * inputs + i) * dim_head + e]).collect();
        Ok((vec![inputs, heads * dim_head], matrix))
    }

    /// `theta2` as `[heads * dim_head, dim]`, and the bias it makes of `bias_theta`.
    fn output(&self, name: &str) -> Result<(Array, Array), NetError> {
        let (shape, theta) = self.by_head(&format!("{name}.theta2"))?;
        let (dim, width) = (shape[0], shape[1]);
        let (_, bias) = self.read(&format!("{name}.bias_theta"), 2)?;
        if bias.len() != width {
            let reason = format!("{name}.bias_theta has {} numbers; expected {width}", bias.len());
            return Err(bad(&self.file, reason));
        }
        let out = (0..width).flat_map(|e| (0..dim).map(move |q| (e, q))).map(|(e, q)| theta[q * width + e]).collect();
        let out_bias = (0..dim).map(|q| (0..width).map(|e| theta[q * width + e] * bias[e]).sum()).collect();
        Ok(((vec![width, dim], out), (vec![dim], out_bias)))
    }

    /// Embedding, roles and head, which both architectures have.
    fn embed_and_head(&self, order: &[usize], tensors: &mut Tensors) -> Result<(usize, usize), NetError> {
        let (shape, embed) = self.transposed("input_emb.weight")?;
        let dim = shape[1];
        if let Some(&place) = order.iter().find(|&&place| place >= shape[0]) {
            let reason = format!("the network has {} inputs; expected one at place {place}", shape[0]);
            return Err(bad(&self.file, reason));
        }
        let rows = order.iter().flat_map(|&place| embed[place * dim..(place + 1) * dim].to_vec()).collect();
        let roles = match self.reader.get("begin_end_tokens.weight") {
            Some(_) => self.read("begin_end_tokens.weight", 2)?,
            None => (vec![2, dim], vec![0.0; 2 * dim]), // the knapsack problem has neither origin nor destination
        };
        let head = self.transposed("scores_projection.weight")?;
        let kinds = head.0[1];
        let mut put = |name: &str, numbers| tensors.insert(format!("body.ends.{name}"), numbers);
        put("embed", (vec![order.len(), dim], rows));
        put("embed_bias", self.read("input_emb.bias", 1)?);
        put("roles", roles);
        put("head", head);
        put("head_bias", self.read("scores_projection.bias", 1)?);
        Ok((dim, kinds))
    }

    fn feed_forward(&self, from: &str, to: &str, tensors: &mut Tensors) -> Result<usize, NetError> {
        let up = self.transposed(&format!("{from}.linear1.weight"))?;
        let dim_ff = up.0[1];
        tensors.insert(format!("{to}.up"), up);
        tensors.insert(format!("{to}.up_bias"), self.read(&format!("{from}.linear1.bias"), 1)?);
        tensors.insert(format!("{to}.down"), self.transposed(&format!("{from}.linear2.weight"))?);
        tensors.insert(format!("{to}.down_bias"), self.read(&format!("{from}.linear2.bias"), 1)?);
        Ok(dim_ff)
    }

    fn transformer(&self, problem: &str, order: &[usize]) -> Result<(Config, Tensors), NetError> {
        let mut tensors = Tensors::new();
        let (dim, kinds) = self.embed_and_head(order, &mut tensors)?;
        let (mut n_layers, mut n_heads, mut dim_ff) = (0, 1, 1);
        while self.reader.get(&format!("encoder.{n_layers}.attn.lambda1")).is_some() {
            let (from, to) = (format!("encoder.{n_layers}"), format!("body.layers.{n_layers}"));
            let attention = format!("{from}.attn");
            let (shape, _) = self.read(&format!("{attention}.lambda1"), 3)?;
            n_heads = shape[0];
            let scale = (shape[2] as f32).sqrt();
            let (_, queries) = self.by_head(&format!("{attention}.lambda2"))?;
            let queries: Vec<f32> = queries.iter().map(|x| x * scale).collect();
            let keys = self.by_head(&format!("{attention}.lambda1"))?.1;
            let values = self.by_head(&format!("{attention}.theta1"))?.1;
            tensors.insert(format!("{to}.qkv"), side_by_side(&[queries, keys, values], dim));
            let (out, out_bias) = self.output(&attention)?;
            tensors.insert(format!("{to}.out"), out);
            tensors.insert(format!("{to}.out_bias"), out_bias);
            dim_ff = self.feed_forward(&from, &to, &mut tensors)?;
            let alpha = |k: usize| self.read(&format!("{from}.res_norm{k}.alpha"), 0);
            tensors.insert(format!("{to}.joints"), (vec![2], [alpha(1)?.1, alpha(2)?.1].concat()));
            n_layers += 1;
        }
        let paper = Config::paper_for(problem, order.len(), kinds);
        let (n_latents, dim_latent) = (1, 1); // it has none
        Ok((Config { n_layers, n_heads, dim, dim_ff, n_latents, dim_latent, ..paper }, tensors))
    }

    fn perceiver(&self, problem: &str, order: &[usize]) -> Result<(Config, Tensors), NetError> {
        let mut tensors = Tensors::new();
        let (dim, kinds) = self.embed_and_head(order, &mut tensors)?;
        let (shape, latents) = self.read("latent_array", 3)?;
        let (n_latents, dim_latent) = (shape[1], shape[2]);
        tensors.insert("body.latents".to_string(), (vec![n_latents, dim_latent], latents));
        let n_layers = (0..).take_while(|k| self.reader.get(&format!("layers.{k}.attn.lambda1")).is_some()).count();
        let mut names = vec![("encoder".to_string(), "body.read".to_string())];
        names.push(("decoder".to_string(), "body.write".to_string()));
        names.extend((0..n_layers).map(|k| (format!("layers.{k}"), format!("body.layers.{k}"))));
        let (mut n_heads, mut dim_ff) = (1, 1);
        for (from, to) in names {
            let attention = format!("{from}.attn");
            let (shape, _) = self.read(&format!("{attention}.lambda1"), 3)?;
            n_heads = shape[0];
            let (keys, values) =
                (self.by_head(&format!("{attention}.lambda1"))?, self.by_head(&format!("{attention}.theta1"))?);
            tensors.insert(format!("{to}.query"), self.by_head(&format!("{attention}.lambda2"))?);
            tensors.insert(format!("{to}.key_value"), side_by_side(&[keys.1, values.1], keys.0[0]));
            let (out, out_bias) = self.output(&attention)?;
            tensors.insert(format!("{to}.out"), out);
            tensors.insert(format!("{to}.out_bias"), out_bias);
            for (k, norm) in [(1, "source_norm"), (2, "stream_norm"), (3, "up_norm")] {
                tensors.insert(format!("{to}.{norm}.gain"), self.read(&format!("{from}.layer_norm{k}.weight"), 1)?);
                tensors.insert(format!("{to}.{norm}.bias"), self.read(&format!("{from}.layer_norm{k}.bias"), 1)?);
            }
            dim_ff = self.feed_forward(&from, &to, &mut tensors)?;
        }
        let architecture = Architecture::Perceiver;
        let paper = Config::paper_for(problem, order.len(), kinds);
        Ok((Config { architecture, n_layers, n_heads, dim, dim_ff, n_latents, dim_latent, ..paper }, tensors))
    }
}

/// Matrices of `rows` rows, side by side.
fn side_by_side(matrices: &[Vec<f32>], rows: usize) -> Array {
    let row = |m: &Vec<f32>, i: usize| m[i * m.len() / rows..(i + 1) * m.len() / rows].to_vec();
    let numbers: Vec<f32> = (0..rows).flat_map(|i| matrices.iter().flat_map(move |m| row(m, i))).collect();
    (vec![rows, numbers.len() / rows], numbers)
}
