"""Scores and gradients of small networks, computed by PyTorch from the paper's description.

Writes one safetensors file per network beside this script: `weights.*`, `inputs`, `costs`, `scores`, `gradients.*`.
The loss is the cross-entropy of slot 1 of every observation. `authors_*` imitate the checkpoints of the paper's authors. Run: python reference.py (needs torch, safetensors).
"""

import os

import torch
import torch.nn.functional as F
from safetensors.torch import save_file

BATCH, TOKENS, DIM, FF, HEADS, LAYERS = 2, 7, 16, 16, 2, 2
LATENTS, LATENT = 4, 8


def weight(*shape, scale=None):
    scale = shape[0] ** -0.5 if scale is None else scale
    return (torch.randn(*shape) * scale).requires_grad_()


def ends(features, kinds):
    return {
        "ends.embed": weight(features, DIM),
        "ends.embed_bias": weight(DIM, scale=0.3),
        "ends.roles": weight(2, DIM),
        "ends.head": weight(DIM, kinds),
        "ends.head_bias": weight(kinds, scale=0.3),
    }


def layer(name, residual, channels):
    w = {
        "qkv": weight(DIM, 3 * DIM),
        "out": weight(DIM, DIM),
        "out_bias": weight(DIM, scale=0.3),
        "up": weight(DIM, FF),
        "up_bias": weight(FF, scale=0.3),
        "down": weight(FF, DIM),
        "down_bias": weight(DIM, scale=0.3),
        "joints": weight(2 if residual == "rezero" else 2 * DIM, scale=0.7),
    }
    if channels:
        w["cost_weights"] = weight(HEADS * channels, scale=2.0)
    return {f"{name}.{key}": value for key, value in w.items()}


def embed(w, inputs):
    x = F.linear(inputs[..., :-2], w["ends.embed"].T, w["ends.embed_bias"])
    return x + inputs[..., -2:-1] * w["ends.roles"][0] + inputs[..., -1:] * w["ends.roles"][1]


def heads(x, n):  # [batch, tokens, dim] -> [batch, heads, tokens, dim / heads]
    return x.unflatten(-1, (n, -1)).transpose(1, 2)


def attention(q, k, v, bias=None, n=HEADS):
    return F.scaled_dot_product_attention(heads(q, n), heads(k, n), heads(v, n), attn_mask=bias).transpose(1, 2).flatten(2)


def transformer_layer(w, name, x, residual, costs):
    p = {key.removeprefix(name + "."): value for key, value in w.items() if key.startswith(name + ".")}
    if residual == "rezero":
        norms, alphas = [lambda t: t] * 2, p["joints"]
    else:
        gains = p["joints"].view(2, DIM)
        norms, alphas = [lambda t, g=g: F.rms_norm(t, (DIM,), g, eps=1e-6) for g in gains], (1.0, 1.0)
    bias = None
    if "cost_weights" in p:
        bias = torch.einsum("hc,bcij->bhij", p["cost_weights"].view(HEADS, -1), costs)
    q, k, v = (norms[0](x) @ p["qkv"]).chunk(3, dim=-1)
    x = x + alphas[0] * F.linear(attention(q, k, v, bias), p["out"].T, p["out_bias"])
    hidden = F.relu(F.linear(norms[1](x), p["up"].T, p["up_bias"]))
    return x + alphas[1] * F.linear(hidden, p["down"].T, p["down_bias"])


def score(w, x):
    return F.linear(x, w["ends.head"].T, w["ends.head_bias"])


def transformer(features, kinds, residual="rezero", channels=0, graph=False, layers=LAYERS):
    w = ends(features, kinds)
    for k in range(layers):
        w |= layer(f"layers.{k}", residual, channels)
        if graph:
            w |= {f"convolutions.{k}.weights": weight(3 * DIM, DIM), f"convolutions.{k}.bias": weight(DIM, scale=0.3),
                  f"convolutions.{k}.alpha": weight(1, scale=0.5)}
    if residual == "prenorm":
        w["last_gain"] = weight(DIM, scale=0.7)

    def forward(inputs, costs):
        x = embed(w, inputs)
        if graph:
            z = (costs - costs.mean(-1, keepdim=True)) / (costs.std(-1, keepdim=True, correction=0) + 1e-6)
            outgoing, incoming = torch.softmax(-z, -1).unbind(1)
        for k in range(layers):
            if graph:
                around = torch.cat([outgoing @ x, incoming @ x, x], -1)
                mixed = F.relu(F.linear(around, w[f"convolutions.{k}.weights"].T, w[f"convolutions.{k}.bias"]))
                x = x + w[f"convolutions.{k}.alpha"] * mixed
            x = transformer_layer(w, f"layers.{k}", x, residual, costs)
        return score(w, F.rms_norm(x, (DIM,), w["last_gain"], eps=1e-6) if residual == "prenorm" else x)

    return w, forward


def perceiver(features, kinds):
    w = ends(features, kinds) | {"latents": weight(LATENTS, LATENT)}
    for name, source, dim in [("read", DIM, LATENT), ("write", LATENT, DIM)] + [
        (f"layers.{k}", LATENT, LATENT) for k in range(LAYERS)
    ]:
        w |= {
            f"{name}.query": weight(dim, source),
            f"{name}.key_value": weight(source, 2 * source),
            f"{name}.out": weight(source, dim),
            f"{name}.out_bias": weight(dim, scale=0.3),
            f"{name}.up": weight(dim, FF),
            f"{name}.up_bias": weight(FF, scale=0.3),
            f"{name}.down": weight(FF, dim),
            f"{name}.down_bias": weight(dim, scale=0.3),
        }
        for norm, size in [("source_norm", source), ("stream_norm", dim), ("up_norm", dim)]:
            w |= {f"{name}.{norm}.gain": weight(size, scale=0.7), f"{name}.{norm}.bias": weight(size, scale=0.3)}

    def cross(name, source, x):
        p = {key.removeprefix(name + "."): value for key, value in w.items() if key.startswith(name + ".")}
        norm = lambda t, n: F.layer_norm(t, t.shape[-1:], p[n + ".gain"], p[n + ".bias"])
        k, v = (norm(source, "source_norm") @ p["key_value"]).chunk(2, dim=-1)
        q = norm(x, "stream_norm") @ p["query"]
        x = x + F.linear(attention(q, k, v), p["out"].T, p["out_bias"])
        hidden = F.relu(F.linear(norm(x, "up_norm"), p["up"].T, p["up_bias"]))
        return x + F.linear(hidden, p["down"].T, p["down_bias"])

    def forward(inputs, _):
        tokens = embed(w, inputs)
        state = cross("read", tokens, w["latents"].expand(BATCH, -1, -1))
        for k in range(LAYERS):
            state = cross(f"layers.{k}", state, state)
        return score(w, cross("write", state, tokens))

    return w, forward


def authors_attention(w, name, source, x, scaled):
    """Attention as the authors' checkpoints store it: heads first, scores from keys to queries."""
    p = {key.removeprefix(name + ".attn."): value for key, value in w.items() if key.startswith(name + ".attn.")}
    keys = torch.einsum("bmp,hpe->hbme", source, p["lambda1"]) + p["bias_lambda"][:, None, None]
    queries = torch.einsum("bnq,hqe->hbne", x, p["lambda2"])
    scores = keys @ queries.transpose(-1, -2) * (keys.shape[-1] ** -0.5 if scaled else 1.0)
    weights = scores.softmax(-2)  # over the keys
    mixed = weights.transpose(-1, -2) @ torch.einsum("bmp,hpe->hbme", source, p["theta1"]) + p["bias_theta"][:, None, None]
    return torch.einsum("hbne,hqe->bnq", mixed, p["theta2"])


def authors_layer(w, name, source, dim):
    head = source // HEADS
    for part, size in [("lambda1", source), ("lambda2", dim), ("theta1", source), ("theta2", dim)]:
        w[f"{name}.attn.{part}"] = weight(HEADS, size, head, scale=0.3)
    for part in ["bias_lambda", "bias_theta"]:
        w[f"{name}.attn.{part}"] = weight(HEADS, head, scale=0.3)
    w |= {f"{name}.linear1.weight": weight(FF, dim), f"{name}.linear1.bias": weight(FF, scale=0.3)}
    w |= {f"{name}.linear2.weight": weight(dim, FF), f"{name}.linear2.bias": weight(dim, scale=0.3)}


def authors(name, features, kinds, latent):
    w = {"input_emb.weight": weight(DIM, features), "input_emb.bias": weight(DIM), "begin_end_tokens.weight": weight(2, DIM),
         "scores_projection.weight": weight(kinds, DIM), "scores_projection.bias": weight(kinds, scale=0.3)}
    inputs = torch.rand(BATCH, TOKENS, features)
    tokens = F.linear(inputs, w["input_emb.weight"], w["input_emb.bias"])
    roles = torch.zeros(BATCH, TOKENS, DIM)
    roles[:, 0], roles[:, -1] = w["begin_end_tokens.weight"]
    tokens = tokens + roles
    feed = lambda layer, x: F.linear(F.relu(F.linear(x, w[layer + ".linear1.weight"], w[layer + ".linear1.bias"])),
                                     w[layer + ".linear2.weight"], w[layer + ".linear2.bias"])
    if latent:
        w["latent_array"] = weight(1, LATENTS, LATENT)

        def cross(layer, source, x):
            authors_layer(w, layer, source.shape[-1], x.shape[-1])
            for k, size in [(1, source.shape[-1]), (2, x.shape[-1]), (3, x.shape[-1])]:
                w[f"{layer}.layer_norm{k}.weight"], w[f"{layer}.layer_norm{k}.bias"] = weight(size, scale=0.7), weight(size)
            norm = lambda t, k: F.layer_norm(t, t.shape[-1:], w[f"{layer}.layer_norm{k}.weight"], w[f"{layer}.layer_norm{k}.bias"])
            x = x + authors_attention(w, layer, norm(source, 1), norm(x, 2), True)
            return x + feed(layer, norm(x, 3))

        state = cross("encoder", tokens, w["latent_array"].expand(BATCH, -1, -1))
        state = cross("layers.0", state, state)
        x = cross("decoder", state, tokens)
    else:
        authors_layer(w, "encoder.0", DIM, DIM)
        w["encoder.0.res_norm1.alpha"], w["encoder.0.res_norm2.alpha"] = torch.tensor(0.4), torch.tensor(-0.7)
        x = tokens + 0.4 * authors_attention(w, "encoder.0", tokens, tokens, False)
        x = x - 0.7 * feed("encoder.0", x)
    scores = F.linear(x, w["scores_projection.weight"], w["scores_projection.bias"])
    folder = os.path.dirname(os.path.abspath(__file__))
    net = {key: value.detach().clone() for key, value in w.items()}
    torch.save({"net": net, "optimizer": None, "current_iter": 0, "other": None}, os.path.join(folder, name + ".best"))
    save_file({"inputs": inputs, "scores": scores.detach().contiguous()}, os.path.join(folder, name + ".safetensors"))


def write(name, features, kinds, channels, network):
    w, forward = network
    features = torch.rand(BATCH, TOKENS, features)
    roles = torch.zeros(BATCH, TOKENS, 2)
    roles[:, 0, 0] = roles[:, -1, 1] = 1.0
    inputs = torch.cat([features, roles], -1)
    costs = torch.zeros(BATCH, 0, TOKENS, TOKENS)
    if channels == 1:  # distances of the first two features
        costs = (features[:, :, None, :2] - features[:, None, :, :2]).square().sum(-1).sqrt()[:, None]
    elif channels == 2:
        matrix = torch.rand(BATCH, TOKENS, TOKENS)
        costs = torch.stack([matrix, matrix.transpose(1, 2)], 1)
    scores = forward(inputs, costs)
    slots = scores.flatten(1)
    F.cross_entropy(slots, torch.ones(BATCH, dtype=torch.long)).backward()
    tensors = {"inputs": inputs, "costs": costs, "scores": scores.detach()}
    tensors |= {"weights." + key: value.detach() for key, value in w.items()}
    tensors |= {"gradients." + key: torch.zeros_like(value) if value.grad is None else value.grad for key, value in w.items()}
    tensors = {key: value.contiguous() for key, value in tensors.items()}
    save_file(tensors, os.path.join(os.path.dirname(os.path.abspath(__file__)), name + ".safetensors"))


torch.manual_seed(4)
write("transformer", 4, 2, 0, transformer(4, 2))
write("modern", 2, 1, 1, transformer(2, 1, "prenorm", 1))
write("edges", 1, 1, 2, transformer(1, 1, "prenorm", 2, layers=1))
write("gcn", 1, 1, 2, transformer(1, 1, graph=True, layers=1))
write("perceiver", 3, 1, 0, perceiver(3, 1))
authors("authors_transformer", 3, 2, False)
authors("authors_perceiver", 2, 1, True)
