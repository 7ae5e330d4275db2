"""Evaluations: policies and baselines on the same instances."""

from __future__ import annotations

import time
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, Optional, Sequence, Union

import numpy as np

from bqnco import _bqnco
from bqnco._batch import policy_name
from bqnco._bqnco import Model
from bqnco._check import path, perhaps_path, perhaps_real, perhaps_whole, text, texts, whole
from bqnco._progress import Progress

if TYPE_CHECKING:
    import numpy.typing as npt

#: Columns of the table: one row per instance and method. ``value`` has the usual sign of the objective.
COLUMNS = {
    "set": "set",
    "problem": "problem",
    "instance": "instance",
    "size": "size",
    "method": "method",
    "objective": "objective",
    "value": "cost",
    "reference": "reference",
    "gap": "gap",
    "seconds": "seconds",
    "cut_short": "cut_short",
}


class Evaluation:
    """The results of ``eval``: a table with a row per instance and method, and the report."""

    def __init__(self, report: _bqnco.Report) -> None:
        import json

        self._report = report
        self._results = json.loads(report.json())

    @property
    def table(self) -> dict[str, npt.NDArray[Any]]:
        """A dict of arrays of the same length; numbers that do not exist are NaN."""
        return {name: _column([row[key] for row in self._results["rows"]]) for name, key in COLUMNS.items()}

    @property
    def means(self) -> dict[tuple[str, str], float]:
        """The mean gap in percent by set and method."""
        table = self.table
        keys = sorted(set(zip(table["set"].tolist(), table["method"].tolist())))
        return {
            (one, method): float(np.mean(table["gap"][(table["set"] == one) & (table["method"] == method)]))
            for one, method in keys
        }

    @property
    def notes(self) -> list[str]:
        """What was left out and why."""
        return list(self._results["notes"])

    def to_pandas(self) -> Any:
        """The table as a DataFrame of pandas."""
        import pandas

        return pandas.DataFrame(self.table)

    def write(self, folder: Union[str, PathLike[str]]) -> None:
        """Writes report.html, report.md, results.json, results.csv and charts."""
        self._report.write(folder)

    def __repr__(self) -> str:
        return self._report.summary()

    def _repr_html_(self) -> str:
        import html

        return f"<pre>{html.escape(str(self))}</pre>"


def eval(
    suite: str,
    *,
    data: Union[str, PathLike[str], None] = None,
    policies: Optional[Sequence[Any]] = None,
    searches: Sequence[str] = (),
    baselines: Sequence[str] = ("heuristic", "constructions", "expert"),
    optima: Union[str, PathLike[str], None] = None,
    instances: Optional[int] = None,
    sizes: Sequence[int] = (),
    time_limit: Optional[float] = None,
    seed: int = 20_230,
    report: Union[str, PathLike[str], None] = None,
    progress: bool = False,
) -> Evaluation:
    """Compares policies and baselines, as ``bqnco eval`` does.

    Args:
        suite: "table1", "tsplib", "cvrplib", ... or a problem.
        data: a file or a folder of instances, for suites that need files.
        policies: networks (names, folders, ``load_model``) and callables, see ``rollout``; a pair of a name and a callable
            names it. None: the built-in networks.
        searches: around the policies: "greedy", "beam16", "reconstruct@5", ...; by default the suite's.
        baselines: of "heuristic", "constructions", "expert".
        optima: a CSV file with columns name and optimum.
        instances: how many random ones of the smallest size, how many files of each set; by default as in the paper.
        sizes: of random instances.
        time_limit: in seconds per instance, of searches that a limit ends.
        seed: of random instances; by default that of the command.
        report: a folder for the report; finished work is kept there, too, and the same call goes on. Callables are always
            evaluated anew, so they need a new folder.
        progress: shows what is being solved, with tqdm if it is installed.

    >>> import bqnco
    >>> result = bqnco.eval("tsp", sizes=[10], instances=2, policies=[], baselines=["heuristic"])
    >>> result.table["method"].tolist(), bool((result.table["gap"] >= 0).all())
    (['nearest neighbour', 'nearest neighbour'], True)
    """
    import tempfile

    if isinstance(policies, (str, Model)) or callable(policies):
        raise TypeError(f"policies must be a list, found {type(policies).__name__}")
    models, callables = [], []
    for policy in policies or []:
        name, policy = policy if isinstance(policy, tuple) else (None, policy)
        if callable(policy):
            callables.append(_contender(policy, name))
        elif name is not None:
            raise TypeError(f"'{name}' names a {type(policy).__name__}; only callables can be given names")
        elif isinstance(policy, (str, PathLike, Model)):
            models.append(policy.name if isinstance(policy, Model) else fspath(policy))
        else:
            raise TypeError(f"expected a network, its name or folder, or a callable; found {type(policy).__name__}")
    with tempfile.TemporaryDirectory() as scratch, Progress(None, "solved", progress) as bar:
        arguments = {
            "data": perhaps_path("data", data),
            "optima": perhaps_path("optima", optima),
            "searches": texts("searches", searches),
            "sizes": [whole("size", size, 1) for size in sizes],
            "instances": perhaps_whole("instances", instances, 1),
            "models": models,
            "shipped": policies is None,
            "policies": callables,
            "baselines": texts("baselines", baselines),
            "time_limit": perhaps_real("time_limit", time_limit),
            "seed": whole("seed", seed),
            "folder": scratch if report is None else path("report", report),
            "on_progress": bar.at if progress else None,
        }
        result = Evaluation(_bqnco.evaluate(text("suite", suite), arguments))
    if report is not None:
        result.write(report)
    return result


def _contender(policy: Any, name: Optional[str]) -> dict[str, Any]:
    """A callable, as the compiled part takes it."""
    shortlist = getattr(policy, "shortlist", None)
    return {
        "policy": policy,
        "name": policy_name(policy) if name is None else text("the name of a policy", name),
        "frame": text("frame", getattr(policy, "frame", "instance")),
        "shortlist": None if shortlist is None else str(shortlist),
        "version": str(time.time_ns()),  # nobody knows whether it is the same as before
    }


def _column(values: list[Any]) -> npt.NDArray[Any]:
    if any(value is None or isinstance(value, float) for value in values):
        return np.array([np.nan if value is None else value for value in values], np.float64)
    return np.array(values)
