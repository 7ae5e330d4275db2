"""Batches of observations: what policies see and training loops learn from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Optional

import numpy as np

from bqnco import _arrays

if TYPE_CHECKING:
    import numpy.typing as npt
    import torch


@dataclass(frozen=True, eq=False)
class Batch:
    """Tail subproblems as arrays, padded to the same number of tokens.

    A step has a *slot*, ``token * kinds + kind``: CVRP has two kinds, directly and via the depot; other problems one.
    A policy gives every slot a score. Slots that ``mask`` does not allow are ignored.

    >>> import bqnco
    >>> instances = bqnco.generate("cvrp", size=10, count=4, seed=1)
    >>> batch = next(iter(bqnco.subproblems(instances, batch=8)))
    >>> batch.features.shape[0], batch.mask.shape == batch.targets.shape
    (8, True)
    """

    #: Token features, float32 of shape (batch, tokens, features); padding is zero.
    features: npt.NDArray[np.float32]
    #: Allowed steps, bool of shape (batch, tokens * kinds).
    mask: npt.NDArray[np.bool_]
    #: Tokens without padding, int64 of shape (batch,).
    lengths: npt.NDArray[np.int64]
    #: The token of the current position, int64 of shape (batch,); -1 if there is none.
    origins: npt.NDArray[np.int64]
    #: The token where the construction ends, int64 of shape (batch,); -1 if there is none.
    destinations: npt.NDArray[np.int64]
    #: Whether costs between tokens are the Euclidean distances of the first two features.
    planar: bool
    #: Slots per token.
    kinds: int
    #: Costs from row to column, float32 of shape (batch, tokens, tokens), for problems that are given by costs.
    costs: Optional[npt.NDArray[np.float32]] = None
    #: The probabilities that an expert gives to the slots, float32 of shape (batch, tokens * kinds).
    targets: Optional[npt.NDArray[np.float32]] = None

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def inputs(self) -> npt.NDArray[np.float32]:
        """Features with two more columns: 1 at the origin, 1 at the destination; shape (batch, tokens, features + 2)."""
        roles = np.zeros(self.features.shape[:2] + (2,), np.float32)
        for role, tokens in enumerate((self.origins, self.destinations)):
            rows = np.flatnonzero(tokens >= 0)
            roles[rows, tokens[rows], role] = 1.0
        return np.concatenate([self.features, roles], axis=2)

    @property
    def padding(self) -> npt.NDArray[np.bool_]:
        """True where a token is padding; shape (batch, tokens)."""
        tokens: npt.NDArray[np.bool_] = np.arange(self.features.shape[1])[None, :] >= self.lengths[:, None]
        return tokens

    def torch(self, device: Any = None) -> dict[str, torch.Tensor]:
        """All arrays as PyTorch tensors by name, with ``inputs`` and ``padding``; without a copy on the CPU."""
        import torch

        names = ["features", "inputs", "mask", "padding", "lengths", "origins", "destinations", "costs", "targets"]
        arrays = {name: getattr(self, name) for name in names}
        return {name: torch.from_numpy(array).to(device) for name, array in arrays.items() if array is not None}


#: A policy: from a batch to scores of shape (batch, slots), or (batch, tokens, kinds); numpy or PyTorch.
Policy = Callable[[Batch], Any]


def scores_of(policy: Policy, batch: Batch) -> bytes:
    """Calls a policy and checks what it returns: the bytes of its scores."""
    scores = policy(batch)
    if hasattr(scores, "detach"):  # a tensor, perhaps on a device and part of a graph
        scores = scores.detach().cpu().float().numpy()
    array = np.asarray(scores)
    expected = batch.mask.shape
    if array.dtype.kind not in "fiu":
        raise ValueError(f"the policy returned scores of type {array.dtype}; expected floats of shape {expected}")
    by_kind = (len(batch), expected[1] // batch.kinds, batch.kinds)
    if array.shape not in (expected, by_kind):
        raise ValueError(f"the policy returned scores of shape {array.shape}; expected {expected}")
    return _arrays.packed(array, np.float32)


def packed(batch: Batch) -> dict[str, Any]:
    """A batch for the compiled part: numbers as bytes, once their shapes have been checked."""
    features = np.asarray(batch.features)
    if features.ndim != 3:
        raise ValueError(f"features must have the shape (batch, tokens, features), found {features.shape}")
    count, tokens, width = features.shape
    costs = None if batch.costs is None else np.asarray(batch.costs)
    shapes: dict[str, tuple[int, ...]] = {"lengths": (count,), "origins": (count,), "destinations": (count,)}
    found = {name: np.shape(getattr(batch, name)) for name in shapes}
    if costs is not None:
        shapes["costs"], found["costs"] = (count, tokens, tokens), costs.shape
    for name, expected in shapes.items():
        if found[name] != expected:
            raise ValueError(f"{name} must have the shape {expected}, found {found[name]}")
    lengths = np.asarray(batch.lengths)
    if lengths.size and not 0 <= lengths.min() <= lengths.max() <= tokens:
        raise ValueError(f"lengths must be from 0 to {tokens}, the number of tokens; found {lengths.min()} to {lengths.max()}")
    return {
        "tokens": tokens,
        "width": width,
        "kinds": batch.kinds,
        "planar": batch.planar,
        "features": _arrays.packed(features, np.float32),
        "lengths": _arrays.packed(lengths, np.int64),
        "origins": _arrays.packed(batch.origins, np.int64),
        "destinations": _arrays.packed(batch.destinations, np.int64),
        "costs": None if costs is None else _arrays.packed(costs, np.float32),
    }


def policy_name(policy: object) -> str:
    """What results call a policy: its own ``name``, or that of its function or class."""
    name = getattr(policy, "name", None) or getattr(policy, "__name__", None) or type(policy).__name__
    return str(name).strip("<>")
