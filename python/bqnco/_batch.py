"""Batches of observations: what policies see and training loops learn from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Optional

import numpy as np

from bqnco import _arrays
from bqnco._check import whole

if TYPE_CHECKING:
    import numpy.typing as npt
    import torch


@dataclass(frozen=True, eq=False, repr=False)
class Batch:
    """Tail subproblems as arrays, padded to the same number of tokens.

    A step has a *slot*, ``token * kinds + kind``: CVRP has two kinds, directly and via the depot; other problems one.
    A policy gives every slot a score. Slots that ``mask`` does not allow are ignored.

    >>> import bqnco
    >>> instances = bqnco.generate("cvrp", size=10, count=4, seed=1)
    >>> batch = next(iter(bqnco.subproblems(instances, batch=8)))
    >>> batch.features.shape[0], batch.mask.shape == batch.targets.shape
    (8, True)

    Attributes:
        features: of tokens, float32 of shape (batch, tokens, features); padding is zero.
        mask: the allowed steps, bool of shape (batch, tokens * kinds).
        lengths: tokens without padding, int64 of shape (batch,).
        origins: the token of the current position, int64 of shape (batch,); -1 if there is none.
        destinations: the token where the construction ends, int64 of shape (batch,); -1 if there is none.
        planar: whether costs between tokens are the Euclidean distances of the first two features.
        kinds: slots per token.
        costs: from row to column, float32 of shape (batch, tokens, tokens), for problems that are given by costs.
        targets: the probabilities that an expert gives to the slots, float32 of shape (batch, tokens * kinds); None for
            a policy.
    """

    features: npt.NDArray[np.float32]
    mask: npt.NDArray[np.bool_]
    lengths: npt.NDArray[np.int64]
    origins: npt.NDArray[np.int64]
    destinations: npt.NDArray[np.int64]
    planar: bool
    kinds: int
    costs: Optional[npt.NDArray[np.float32]] = None
    targets: Optional[npt.NDArray[np.float32]] = None

    def __len__(self) -> int:
        return len(self.lengths)

    def __repr__(self) -> str:
        # All numbers would fill the screen.
        targets = "" if self.targets is None else ", with targets"
        return f"<{len(self)} tails, features {self.features.shape}, mask {self.mask.shape}{targets}>"

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
    """A batch for the compiled part: numbers as bytes, once their types and shapes have been checked."""
    if not isinstance(batch, Batch):
        raise TypeError(f"expected a bqnco.Batch, found {type(batch).__name__}; bqnco.subproblems makes batches")
    features = _numbers("features", batch.features, "fiu", None)
    if features.ndim != 3:
        raise ValueError(f"features must have the shape (batch, tokens, features), found {features.shape}")
    count, tokens, width = features.shape
    costs = None if batch.costs is None else _numbers("costs", batch.costs, "fiu", (count, tokens, tokens))
    lengths, origins, destinations = (
        _numbers(name, getattr(batch, name), "iu", (count,)) for name in ("lengths", "origins", "destinations")
    )
    if lengths.size and not 0 <= lengths.min() <= lengths.max() <= tokens:
        raise ValueError(f"lengths must be from 0 to {tokens}, the number of tokens; found {lengths.min()} to {lengths.max()}")
    return {
        "tokens": tokens,
        "width": width,
        "kinds": whole("kinds", batch.kinds, 1),
        "planar": bool(batch.planar),
        "features": _arrays.packed(features, np.float32),
        "lengths": _arrays.packed(lengths, np.int64),
        "origins": _arrays.packed(origins, np.int64),
        "destinations": _arrays.packed(destinations, np.int64),
        "costs": None if costs is None else _arrays.packed(costs, np.float32),
    }


def _numbers(name: str, value: Any, kinds: str, shape: Optional[tuple[int, ...]]) -> npt.NDArray[Any]:
    """An array whose type is of one of numpy's kinds and, unless None, of a shape."""
    array = np.asarray(value)
    if array.dtype.kind not in kinds:
        raise ValueError(f"{name} must be an array of {'integers' if kinds == 'iu' else 'numbers'}, found type {array.dtype}")
    if shape is not None and array.shape != shape:
        raise ValueError(f"{name} must have the shape {shape}, found {array.shape}")
    return array


def policy_name(policy: object) -> str:
    """What results call a policy: its own ``name``, or that of its function or class."""
    name = getattr(policy, "name", None) or getattr(policy, "__name__", None) or type(policy).__name__
    return str(name).strip("<>")
