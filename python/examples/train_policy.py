"""A BQ-transformer in PyTorch, trained on bqnco's labels and evaluated with its beam search and baselines.

    pip install "bqnco[torch]"
    python python/examples/train_policy.py [--problem tsp] [--size 20] [--minutes 5]

The network is that of the paper in small: a transformer encoder over the tokens of a tail subproblem, whose head gives
every slot a score. It learns to take the expert's next step; nothing here knows which problem it is.
"""

import argparse
import time

import torch
from torch import nn

import bqnco


class BQTransformer(nn.Module):
    """From tails to scores. The attributes tell `rollout` and `eval` how it wants to see them."""

    frame = "origin"  # every tail is moved, rotated and scaled: the network need not learn that it may be
    name = "torch"

    def __init__(self, features: int, kinds: int, dim: int = 96, layers: int = 4, heads: int = 6) -> None:
        super().__init__()
        self.embed = nn.Linear(features + 2, dim)  # and two marks: origin, destination
        layer = nn.TransformerEncoderLayer(dim, heads, 4 * dim, 0.0, batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.head = nn.Linear(dim, kinds)

    def forward(self, batch: bqnco.Batch) -> torch.Tensor:
        tensors = batch.torch()
        tokens = self.encoder(self.embed(tensors["inputs"]), src_key_padding_mask=tensors["padding"])
        scores = self.head(tokens).flatten(1)  # [batch, tokens * kinds]
        return scores.masked_fill(~tensors["mask"], -1e9)


def train(net: BQTransformer, batches: bqnco.Subproblems, seconds: float) -> None:
    """Imitates the expert: cross entropy between its next step and the scores."""
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
    start, step, mean = time.monotonic(), 0, None
    while (spent := time.monotonic() - start) < seconds:
        batch = batches[step]
        for group in optimizer.param_groups:
            group["lr"] = 1e-3 * min(1.0, (step + 1) / 100) * (1 - spent / seconds)
        loss = nn.functional.cross_entropy(net(batch), torch.from_numpy(batch.targets))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        mean = loss.item() if mean is None else 0.98 * mean + 0.02 * loss.item()
        step += 1
        if step % 200 == 0:
            print(f"{spent:5.0f} s  step {step:5}  loss {mean:.4f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problem", default="tsp", choices=[name for name in bqnco.PROBLEMS if name != "pctsp"])
    parser.add_argument("--size", type=int, default=20)
    parser.add_argument("--count", type=int, default=5000, help="labelled instances")
    parser.add_argument("--minutes", type=float, default=5)
    options = parser.parse_args()

    torch.manual_seed(0)
    data = bqnco.generate(options.problem, options.size, options.count, seed=1, progress=True)
    batches = bqnco.subproblems(data, batch=128, frame=BQTransformer.frame)
    net = BQTransformer(batches[0].features.shape[2], batches[0].kinds)
    train(net, batches, 60 * options.minutes)

    net.eval()
    with torch.no_grad():
        result = bqnco.eval(
            options.problem,
            sizes=[options.size],
            instances=100,
            policies=[net],
            searches=["greedy", "beam16"],
            baselines=["heuristic", "constructions"],
        )
    print(result)


if __name__ == "__main__":
    main()
