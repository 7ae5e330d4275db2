"""Data, training samples, training and networks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, Callable, Optional, Union, overload

import numpy as np

from bqnco import _bqnco
from bqnco._batch import Batch
from bqnco._bqnco import Instance, Model
from bqnco._check import path, perhaps_callable, perhaps_real, perhaps_whole, text, texts, whole
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

    def __init__(self, instances: Any) -> None:
        self._instances = as_instances(instances)

    @overload
    def __getitem__(self, key: int) -> Instance: ...

    @overload
    def __getitem__(self, key: slice) -> Dataset: ...

    @overload
    def __getitem__(self, key: str) -> npt.NDArray[np.float64]: ...

    def __getitem__(self, key: Union[int, slice, str]) -> Union[Instance, Dataset, npt.NDArray[np.float64]]:
        if isinstance(key, str):
            fields = [one.fields for one in self._instances]
            names = list(fields[0]) if fields else []
            if key not in names:
                raise KeyError(f"no array '{key}'; there are {names}")
            return np.stack([np.asarray(one[key]) for one in fields])
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
    distribution: str = "uniform",
    varied: bool = False,
    rounds: Optional[int] = None,
    progress: bool = False,
) -> Dataset:
    """Random instances, by default of the distributions of the paper, with near-optimal solutions by the classical solver.

    Instance k depends on the seed and k only. ``expert=False`` leaves the solutions out. ``distribution`` spreads the places:
    uniform, clustered, mixed, grid, boards, ring or any. ``varied`` draws what users choose freely from a wide range:
    depots, demands, capacities, prizes, limits, quotas, penalties, kinds of asymmetry. ``rounds`` is the effort per solution. Uses all cores;
    ``progress`` shows how far it is.

    >>> import bqnco
    >>> data = bqnco.generate("tsp", size=20, count=2, seed=7)
    >>> data["coordinates"].shape, data.solutions.shape
    ((2, 20, 2), (2, 20))
    """
    arguments: dict[str, Any] = {
        "size": whole("size", size),
        "count": whole("count", count),
        "seed": whole("seed", seed),
        "distribution": text("distribution", distribution),
        "varied": bool(varied),
        "expert": bool(expert),
        "rounds": perhaps_whole("rounds", rounds),
    }
    with Progress(arguments["count"], "solved", progress) as bar:
        arguments["on_progress"] = bar.at if progress else None
        return Dataset(_bqnco.generate(text("problem", problem), arguments))


class Subproblems:
    """An endless sequence of training batches; see ``subproblems``. It can be pickled, for the processes of a DataLoader."""

    def __init__(self, instances: list[Instance], arguments: dict[str, Any]) -> None:
        self._given = instances, arguments
        self._tails = _bqnco.Tails(instances, arguments)

    def __reduce__(self) -> tuple[Any, ...]:
        return Subproblems, self._given

    def __getitem__(self, number: int) -> Batch:
        return self._tails.batch(whole("the number of a batch", number))

    def __iter__(self) -> Iterator[Batch]:
        number = 0
        while True:
            yield self._tails.batch(number)
            number += 1


def subproblems(
    instances: Any,
    solutions: Optional[Iterable[Any]] = None,
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
        solutions = list(solutions)
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
    return Subproblems(listed, arguments)


def load_model(name_or_folder: Union[str, PathLike[str]]) -> Model:
    """A built-in network (``models()`` has the names), or that of a folder with model.safetensors and config.json.

    >>> import bqnco
    >>> model = bqnco.load_model("tsp")
    >>> data = bqnco.generate("tsp", size=10, count=2)
    >>> batch = bqnco.subproblems(data, batch=4, frame=model.frame, shortlist=model.shortlist)[0]
    >>> model.scores(batch).shape == batch.mask.shape
    True
    """
    return Model(path("name_or_folder", name_or_folder))


def models() -> list[str]:
    """Names of the built-in networks.

    >>> import bqnco
    >>> "tsp" in bqnco.models()
    True
    """
    return _bqnco.models()


@dataclass(frozen=True)
class Training:
    """How a training run ended.

    Attributes:
        folder: of the run, with the checkpoints ``best`` and ``last``.
        step: updates made.
        finished: whether that was all of them; if not, the same call resumes the run.
        best_gap: the smallest gap on the validation set, in percent.
        metrics: arrays by name: step, samples, loss, rate, gap, seconds, samples_per_second.
    """

    folder: Path
    step: int
    finished: bool
    best_gap: Optional[float]
    metrics: dict[str, npt.NDArray[np.float64]]

    @property
    def model(self) -> Model:
        """The best network."""
        return load_model(self.folder / "best")


def train(
    recipe: Union[str, PathLike[str], Mapping[str, Any]],
    folder: Union[str, PathLike[str], None] = None,
    *,
    changes: Union[Sequence[str], Mapping[str, Any]] = (),
    callback: Optional[Callable[[dict[str, Any]], object]] = None,
    time_limit: Optional[float] = None,
    progress: bool = False,
) -> Training:
    """Trains a network by imitation, or resumes the run in the folder.

    Args:
        recipe: a TOML file, or its tables as a dict.
        folder: of the run; of a file, by default ``runs`` and the recipe's name, as in the command. Ctrl-C saves and raises
            KeyboardInterrupt; the same call goes on.
        changes: of a file: ["training.steps=100"] or {"training.steps": 100}.
        callback: called with every event as a dict: ``event`` is "metrics" (with step, loss, gap, ...), "labelled" (done,
            total), "resumed", ...
        time_limit: in seconds; saves and stops then.
        progress: shows steps and loss, with tqdm if it is installed.

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

    perhaps_callable("callback", callback)
    if isinstance(changes, Mapping):
        changes = [f"{key}={value}" for key, value in changes.items()]
    if isinstance(recipe, Mapping):
        if changes:
            raise ValueError("changes are for recipes in files: change the dict itself")
        if folder is None:
            raise TypeError("missing argument: 'folder', as the recipe is no file whose name it could have")
        source: dict[str, Any] = {"path": None, "json": json.dumps(recipe, default=_plain)}
    else:
        source = {"path": path("recipe", recipe), "json": None}
        folder = Path("runs", Path(source["path"]).stem) if folder is None else folder
    place = path("folder", folder)
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
        outcome = json.loads(_bqnco.train(source, place, arguments))
    rows = outcome["rows"]
    numbers = {name: np.array([np.nan if row[name] is None else row[name] for row in rows], float) for name in _METRICS}
    return Training(Path(place), outcome["step"], outcome["finished"], outcome["best_gap"], numbers)


def _plain(value: Any) -> Any:
    """What a recipe's dict may have beside what JSON has: numbers of numpy, paths."""
    return value.item() if isinstance(value, np.generic) else path("a recipe's value", value)


_METRICS = ["step", "samples", "loss", "rate", "gap", "seconds", "samples_per_second"]
