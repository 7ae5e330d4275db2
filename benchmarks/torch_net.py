"""The paper's network in PyTorch, on the shapes of `bqnco bench net`; prints the same table."""

import sys
import time

import torch
import torch.nn.functional as F

LAYERS, HEADS, DIM, FF = 9, 12, 192, 512
SECONDS = float(sys.argv[1]) if len(sys.argv) > 1 else 2.0


class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out = torch.nn.Linear(DIM, 3 * DIM, bias=False), torch.nn.Linear(DIM, DIM)
        self.up, self.down = torch.nn.Linear(DIM, FF), torch.nn.Linear(FF, DIM)
        self.alphas = torch.nn.Parameter(torch.zeros(2))

    def forward(self, x):
        batch, tokens, _ = x.shape
        q, k, v = self.qkv(x).view(batch, tokens, 3, HEADS, DIM // HEADS).permute(2, 0, 3, 1, 4)
        attended = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(batch, tokens, DIM)
        x = x + self.alphas[0] * self.out(attended)
        return x + self.alphas[1] * self.down(F.relu(self.up(x)))


class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.roles = torch.nn.Linear(2, DIM), torch.nn.Parameter(torch.randn(2, DIM))
        self.layers = torch.nn.Sequential(*[Layer() for _ in range(LAYERS)])
        self.head = torch.nn.Linear(DIM, 1)

    def forward(self, features):
        x = self.embed(features)
        roles = torch.zeros_like(x)
        roles[:, 0], roles[:, -1] = self.roles[0], self.roles[1]
        return self.head(self.layers(x + roles)).squeeze(-1)


def best(work):
    start, least, runs = time.perf_counter(), float("inf"), 0
    while runs < 3 or time.perf_counter() - start < SECONDS:
        begun = time.perf_counter()
        work()
        least, runs = min(least, time.perf_counter() - begun), runs + 1
    return least


def line(work, seconds, flops):
    print(f"{work:<24} {seconds * 1e3:>10.2f} {flops / seconds * 1e-9:>10.1f}", flush=True)


def flops(batch, tokens):
    return LAYERS * batch * tokens * (2 * (4 * DIM * DIM + 2 * DIM * FF) + 4 * tokens * DIM)


print(f"{'work':<24} {'ms':>10} {'GFLOP/s':>10}   (PyTorch {torch.__version__}, {torch.get_num_threads()} threads)")
matrix = torch.rand(2048, 2048)
line("matmul 2048x2048x2048", best(lambda: matrix @ matrix), 2 * 2048**3)
network = Network()
for batch, tokens in [(1, 100), (1, 250), (16, 250), (64, 100), (128, 50)]:
    features = torch.rand(batch, tokens, 2)
    with torch.no_grad():
        line(f"forward {batch}x{tokens}", best(lambda: network(features)), flops(batch, tokens))
optimizer = torch.optim.AdamW(network.parameters(), lr=1e-4)
for batch, tokens in [(128, 50), (256, 100)]:
    features, target = torch.rand(batch, tokens, 2), torch.ones(batch, dtype=torch.long)

    def step():
        optimizer.zero_grad()
        F.cross_entropy(network(features), target).backward()
        optimizer.step()

    line(f"train step {batch}x{tokens}", best(step), 3 * flops(batch, tokens))
