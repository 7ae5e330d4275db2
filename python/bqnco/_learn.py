"""Data, training samples, training and networks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, Callable, Optional, Union, overload

import numpy as np

from bqnco import _bqnco
from bqnco._batch import Batch
from bqnco._bqnco import Instance, Model
from bqnco._check import perhaps_real, perhaps_whole, text, texts, whole
from bqnco._instances import as_instances, as_solution, write
from bqnco._progress import Progress

if TYPE_CHECKING:
    from pathlib import Path

    import numpy.typing as npt


class Dataset(Sequence[Instance]):
    """Instances of one problem and size: a sequence of them, and stacked arrays by name.

    >>> import bqnco
    >>> data = bqnco.generate("cvrp", size=10, count=3, seed=1)
    >>> data["coordinates"].shape, data["demands"].shape, data["capacity"].shape, data.costs.shape
    ((3, 11, 2), (3, 11), (3,), (3,))
    >>> bool(data[0].solution.cost == data.costs[0])
    True
    """

    def __init__(self, instances: Sequence[Instance]) -> None:
        self._instances = list(instances)

    @overload
    def __getitem__(self, key: int) -> Instance: ...

    @overload
    def __getitem__(self, key: slice) -> Dataset: ...

    @overload
    def __getitem__(self, key: str) -> npt.NDArray[np.float64]: ...

    def __getitem__(self, key: Union[int, slice, str]) -> Union[Instance, Dataset, npt.NDArray[np.float64]]:
        if isinstance(key, str):
            return np.stack([np.asarray(one.fields[key]) for one in self._instances])
        return Dataset(self._instances[key]) if isinstance(key, slice) else self._instances[key]

    def __len__(self) -> int:
        return len(self._instances)

    @property
    def arrays(self) -> dict[str, npt.NDArray[np.float64]]:
        """All numbers of the instances by name, stacked: depot first where there is one."""
        fields = [one.fields for one in self._instances]
        return {name: np.stack([np.asarray(one[name]) for one in fields]) for name in (fields[0] if fields else ())}

    @property
    def solutions(self) -> npt.NDArray[np.int64]:
        """The solutions' numbers, shape (count, longest), padded with -1."""
        numbers: list[Any] = [[] if one.solution is None else one.solution.numbers for one in self._instances]
        padded = np.full((len(numbers), max(map(len, numbers), default=0)), -1, np.int64)
        for row, one in zip(padded, numbers):
            row[: len(one)] = one
        return padded

    @property
    def costs(self) -> npt.NDArray[np.float64]:
        """The solutions' costs, as they are minimised; NaN where there is no solution."""
        return np.array([np.nan if one.solution is None else one.solution.cost for one in self._instances])

    def write(self, path: Union[str, PathLike[str]], *, format: Optional[str] = None) -> None:
        """Writes all instances with their solutions; see ``bqnco.write``."""
        write(path, self._instances, format=format)

    def __repr__(self) -> str:
        first = self._instances[0] if self._instances else None
        return f"<{len(self)} instances{f' of {first.problem}, {first.size} {first.unit}' if first else ''}>"


def generate(
    problem: str,
    size: int,
    count: int,
    seed: int = 0,
    expert: bool = True,
    *,
    varied: bool = False,
    rounds: Optional[int] = None,
    progress: bool = False,
) -> Dataset:
    """Random instances of the distributions of the paper, with near-optimal solutions by the classical solver.

    Instance k depends on the seed and k only. ``varied`` draws the capacity of CVRPs from a wide range; ``rounds`` is the
    effort per solution. Uses all cores.

    >>> import bqnco
    >>> data = bqnco.generate("tsp", size=20, count=2, seed=7)
    >>> data["coordinates"].shape, data.solutions.shape
    ((2, 20, 2), (2, 20))
    """
    with Progress(count, "solved", progress) as bar:
        arguments = {
            "size": whole("size", size),
            "count": whole("count", count),
            "seed": whole("seed", seed),
            "varied": bool(varied),
            "expert": bool(expert),
            "rounds": perhaps_whole("rounds", rounds),
            "on_progress": bar.at if progress else None,
        }
        return Dataset(_bqnco.generate(problem, arguments))


class Subproblems:
    """An endless sequence of training batches; see ``subproblems``."""

    def __init__(self, tails: _bqnco.Tails) -> None:
        self._tails = tails

    def __getitem__(self, number: int) -> Batch:
        return self._tails.batch(whole("the number of a batch", number))

    def __iter__(self) -> Iterator[Batch]:
        number = 0
        while True:
            yield self._tails.batch(number)
            number += 1


def subproblems(
    instances: Any,
    solutions: Optional[Sequence[Any]] = None,
    seed: int = 0,
    *,
    batch: int = 256,
    frame: str = "instance",
    shortlist: Optional[int] = None,
    shortest: int = 2,
    augment: bool = False,
) -> Subproblems:
    """Batches of (observation, mask, target) on the way along solutions: those that ``train`` learns from.

    Args:
        instances: of one problem, with solutions of their own or the given ones.
        solutions: one per instance: ``Solution`` objects, their numbers (as in ``Dataset.solutions``) or their routes.
        seed: batch k depends on the seed and k only.
        batch: tails per batch.
        frame, shortlist: how a policy sees tails; see ``rollout``.
        shortest: fewest steps left in a tail.
        augment: whether maps are turned and mirrored at random.

    >>> import bqnco
    >>> batches = bqnco.subproblems(bqnco.generate("tsp", size=10, count=4), batch=16)
    >>> first = batches[0]
    >>> bool((first.targets[~first.mask] == 0).all()), first.targets.sum(axis=1).tolist() == [1.0] * 16
    (True, True)
    """
    listed = as_instances(instances)
    if solutions is not None:
        if len(solutions) != len(listed):
            raise ValueError(f"{len(solutions)} solutions for {len(listed)} instances")
        listed = [one.with_solution(as_solution(one, solution)) for one, solution in zip(listed, solutions)]
    arguments = {
        "batch": whole("batch", batch),
        "seed": whole("seed", seed),
        "shortest": whole("shortest", shortest),
        "augment": bool(augment),
        "frame": text("frame", frame),
        "shortlist": perhaps_whole("shortlist", shortlist),
    }
    return Subproblems(_bqnco.Tails(listed, arguments))


def load_model(name_or_folder: Union[str, PathLike[str]]) -> Model:
    """A built-in network (``models()`` has the names), or that of a folder with model.safetensors and config.json.

    >>> import bqnco
    >>> model = bqnco.load_model("tsp")
    >>> data = bqnco.generate("tsp", size=10, count=2)
    >>> batch = bqnco.subproblems(data, batch=4, frame=model.frame, shortlist=model.shortlist)[0]
    >>> model.scores(batch).shape == batch.mask.shape
    True
    """
    return Model(fspath(name_or_folder))


def models() -> list[str]:
    """Names of the built-in networks."""
    return _bqnco.models()


@dataclass(frozen=True)
class Training:
    """How a training run ended."""

    #: The run's folder, with the checkpoints ``best`` and ``last``.
    folder: Path
    #: Updates made.
    step: int
    #: Whether that was all of them; if not, the same call resumes the run.
    finished: bool
    #: The smallest gap on the validation set, in percent.
    best_gap: Optional[float]
    #: The metrics by name: step, samples, loss, rate, gap, seconds, samples_per_second.
    metrics: dict[str, npt.NDArray[np.float64]]

    @property
    def model(self) -> Model:
        """The best network."""
        return load_model(self.folder / "best")


def train(
    recipe: Union[str, PathLike[str], Mapping[str, Any]],
    folder: Union[str, PathLike[str]],
    *,
    changes: Union[Sequence[str], Mapping[str, Any]] = (),
    callback: Optional[Callable[[dict[str, Any]], object]] = None,
    time_limit: Optional[float] = None,
    progress: bool = False,
) -> Training:
    """Trains a network by imitation, or resumes the run in the folder.

    Args:
        recipe: a TOML file, or its tables as a dict.
        folder: of the run. Ctrl-C saves and raises KeyboardInterrupt; the same call goes on.
        changes: of a file: ["training.steps=100"] or {"training.steps": 100}.
        callback: called with every event as a dict: ``event`` is "metrics" (with step, loss, gap, ...), "labelled" (done,
            total), "resumed", ...
        time_limit: in seconds; saves and stops then.

    >>> import bqnco, tempfile
    >>> recipe = {
    ...     "problem": "tsp",
    ...     "data": {"size": 6, "count": 4, "seed": 1},
    ...     "validation": {"size": 6, "count": 2, "seed": 2},
    ...     "network": {"preset": "tiny"},
    ...     "training": {"steps": 2, "batch": 4},
    ... }
    >>> run = bqnco.train(recipe, tempfile.mkdtemp())
    >>> run.finished, run.metrics["step"].tolist(), run.model.problem
    (True, [2.0], 'tsp')
    """
    import json
    from pathlib import Path

    if isinstance(changes, Mapping):
        changes = [f"{key}={value}" for key, value in changes.items()]
    if isinstance(recipe, Mapping):
        if changes:
            raise ValueError("changes are for recipes in files: change the dict itself")
        source: dict[str, Any] = {"path": None, "json": json.dumps(recipe)}
    else:
        source = {"path": fspath(recipe), "json": None}
    with Progress(None, "steps", progress) as bar:

        def told(message: str) -> None:
            event = json.loads(message)
            if event["event"] == "metrics":
                bar.at(event["step"], text=f"loss {event['loss']:.4g}")
            if callback is not None:
                callback(event)

        wants = told if progress or callback is not None else None
        limit = perhaps_real("time_limit", time_limit)
        arguments = {"changes": texts("changes", changes), "time_limit": limit, "on_event": wants}
        outcome = json.loads(_bqnco.train(source, fspath(folder), arguments))
    rows = outcome["rows"]
    numbers = {name: np.array([np.nan if row[name] is None else row[name] for row in rows], float) for name in _METRICS}
    return Training(Path(folder), outcome["step"], outcome["finished"], outcome["best_gap"], numbers)


_METRICS = ["step", "samples", "loss", "rate", "gap", "seconds", "samples_per_second"]
