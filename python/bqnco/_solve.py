"""Solving, and rollouts of policies."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike, fspath
from typing import Any, Callable, Iterable, Optional, Union

from bqnco import _bqnco
from bqnco._batch import Policy, policy_name
from bqnco._bqnco import Instance, Model, Solution
from bqnco._check import perhaps_callable, perhaps_real, perhaps_whole, real, text, whole
from bqnco._instances import as_instances, as_solution
from bqnco._progress import Progress

ModelLike = Union[str, "PathLike[str]", Model]

#: The library's `Search::WIDEST`: constructions of an instance at once.
_WIDEST = 10_000


@dataclass(frozen=True)
class Improvement:
    """A better solution than before, while the search goes on.

    Attributes:
        index: the instance's place in a batch.
        value: the objective with its usual sign.
        seconds: since the work began.
        solution: the solution.
    """

    index: int
    value: float
    seconds: float
    solution: Solution


@dataclass(frozen=True)
class Greedy:
    """The step with the best score, one construction per instance; ``symmetries``: one per symmetry of the map."""

    symmetries: bool = False


@dataclass(frozen=True)
class Sample:
    """The best of ``count`` random constructions; scores are divided by the temperature, ``top_k`` cuts the tail."""

    count: int = 16
    temperature: float = 1.0
    top_k: Optional[int] = None


@dataclass(frozen=True)
class Beam:
    """Beam search: the ``width`` most probable partial solutions are kept; the cheapest solution counts."""

    width: int = 16


@dataclass(frozen=True)
class Reconstruct:
    """A greedy construction, then parts of the solution are removed and rebuilt, ``rounds`` times or until the time
    limit; a part has at most ``segment`` steps."""

    rounds: Optional[int] = None
    segment: int = 100


Decoding = Union[Greedy, Sample, Beam, Reconstruct]


def solve(
    instance: Instance,
    search: Union[str, Decoding] = "auto",
    *,
    time_limit: Optional[float] = 5,
    seed: int = 0,
    threads: Optional[int] = None,
    model: Optional[ModelLike] = None,
    start: Union[Solution, Iterable[Any], None] = None,
    on_improvement: Optional[Callable[[Improvement], object]] = None,
    preset: str = "balanced",
    progress: bool = False,
    return_on_interrupt: bool = False,
) -> Solution:
    """Solves an instance and returns the best solution found.

    Args:
        instance: from ``read``, ``tsp``, ``cvrp``, ...
        search: "auto" (the classical solver on all cores), "expert" (on one), "greedy", "beam16", "sample64",
            "reconstruct" or "hybrid" (networks), optionally with candidates per step: "beam16:50"; or ``Beam(16)``, ...
        time_limit: in seconds; None: until more effort is unlikely to help. Equal seeds then give equal solutions.
        seed: source of all random choices.
        threads: all cores by default.
        model: a network by name or folder, or from ``load_model``; "auto" then means "reconstruct".
        start: a solution to begin with: its numbers, its routes, or a ``Solution``.
        on_improvement: called with every ``Improvement``, on the thread that called ``solve``; a slow one misses those
            that are outdated. An exception in it ends the search.
        preset: the effort without a time limit: "fast", "balanced" or "quality".
        progress: shows improvements as they come, with tqdm if it is installed.
        return_on_interrupt: Ctrl-C returns the best solution so far. By default KeyboardInterrupt is raised, with the
            solution as its attribute ``solution``.

    Raises:
        InstanceError, SettingsError, ModelError: with a sentence that says what to do. All are also ValueErrors.

    >>> import bqnco
    >>> instance = bqnco.tsp([[0, 0], [3, 0], [3, 4], [0, 4], [1, 1]])
    >>> solution = bqnco.solve(instance, time_limit=1)
    >>> solution.tour.shape, solution.is_feasible, round(solution.gap(14), 1)
    ((5,), True, 4.1)
    """
    if not isinstance(instance, Instance):
        found = f"found {type(instance).__name__}; bqnco.tsp, bqnco.cvrp, ... and bqnco.read make one"
        raise TypeError(f"expected a bqnco.Instance, {found}; bqnco.solve_batch solves several")
    perhaps_callable("on_improvement", on_improvement)
    settings = _search_with(model, search, preset)
    begin = None if start is None else as_solution(instance, start)
    with Progress(None, instance.name, progress) as bar:
        count = 0

        def improved(index: int, value: float, seconds: float, solution: Solution) -> None:
            nonlocal count
            count += 1
            if progress:
                bar.at(count, text=f"improvements, {solution.objective} {value:.6g} after {seconds:.1f} s")
            if on_improvement is not None:
                on_improvement(Improvement(index, value, seconds, solution))

        arguments = _arguments(time_limit, seed, threads, return_on_interrupt)
        arguments["start"] = begin
        arguments["on_improvement"] = improved if progress or on_improvement is not None else None
        solutions = _bqnco.solve([instance], settings, arguments)
    if not solutions:
        raise KeyboardInterrupt  # before there was a solution to return
    return solutions[0]


def solve_batch(
    instances: Any,
    search: Union[str, Decoding] = "auto",
    *,
    time_limit: Optional[float] = None,
    seed: int = 0,
    threads: Optional[int] = None,
    model: Optional[ModelLike] = None,
    on_improvement: Optional[Callable[[Improvement], object]] = None,
    preset: str = "balanced",
    progress: bool = False,
    return_on_interrupt: bool = False,
) -> list[Solution]:
    """Solves many instances on all cores; solutions are in their order.

    ``instances`` is a list of instances, also of different problems, or an array of shape (count, n, 2) with the
    coordinates of TSPs; those of different sizes are a list of arrays. ``time_limit`` is per instance. After Ctrl-C with
    ``return_on_interrupt`` the list has the solutions that were found, which may be fewer; KeyboardInterrupt, and the error
    of an instance that cannot be solved, have them as ``solutions``. Otherwise as ``solve``.

    >>> import bqnco, numpy as np
    >>> solutions = bqnco.solve_batch(np.random.default_rng(1).random((3, 10, 2)), preset="fast")
    >>> [len(solution.tour) for solution in solutions]
    [10, 10, 10]
    """
    perhaps_callable("on_improvement", on_improvement)
    listed, settings = as_instances(instances), _search_with(model, search, preset)
    with Progress(len(listed), "solved", progress) as bar:

        def improved(index: int, value: float, seconds: float, solution: Solution) -> None:
            assert on_improvement is not None
            on_improvement(Improvement(index, value, seconds, solution))

        arguments = _arguments(time_limit, seed, threads, return_on_interrupt)
        arguments["on_improvement"] = None if on_improvement is None else improved
        arguments["on_finished"] = bar.at if progress else None
        return _bqnco.solve(listed, settings, arguments)


def rollout(
    instances: Any,
    policy: Union[Policy, ModelLike, None] = None,
    decoding: Decoding = Greedy(),
    *,
    shortlist: Union[int, str, None] = None,
    frame: Optional[str] = None,
    time_limit: Optional[float] = None,
    seed: int = 0,
    threads: Optional[int] = None,
    progress: bool = False,
) -> list[Solution]:
    """Lets a policy build solutions, one per instance.

    Args:
        instances: as in ``solve_batch``.
        policy: a callable from a ``Batch`` to scores of shape (batch, slots), numpy or PyTorch, unnormalised
            log-probabilities; a network (name, folder, ``load_model``); "heuristic" or "uniform"; None: the problem's
            built-in network. A callable is called on the thread that called ``rollout``.
        decoding: ``Greedy()``, ``Sample(64)``, ``Beam(16)`` or ``Reconstruct(rounds=10)``.
        shortlist: candidates per step that a policy sees, or "all". By default the policy's attribute ``shortlist``,
            or what the network was trained with; otherwise all.
        frame: the frame of reference in which a callable sees states: "instance" (coordinates of the instance, scaled
            into the unit square), "subproblem" (every tail is scaled) or "origin" (moved and rotated as well). By default
            the policy's attribute ``frame``, or "instance".
        time_limit: in seconds per instance; ``Reconstruct`` goes on until then, others are cut short.
        seed: source of all random choices.
        threads: all cores by default.
        progress: shows how many instances are done, with tqdm if it is installed.

    A policy that raises ends the rollout with its exception; NaN at an allowed slot raises PolicyError.

    >>> import bqnco, numpy as np
    >>> def nearest(batch):
    ...     here = batch.features[np.arange(len(batch)), batch.origins][:, None]
    ...     return -np.linalg.norm(batch.features - here, axis=2)
    >>> instances = bqnco.generate("tsp", size=10, count=2, seed=3, expert=False)
    >>> ours = bqnco.rollout(instances, nearest)
    >>> [one.cost for one in ours] == [one.cost for one in bqnco.rollout(instances, "heuristic")]
    True
    """
    if not isinstance(decoding, (Greedy, Sample, Beam, Reconstruct)):
        raise TypeError(f"decoding must be one such as bqnco.Beam(16), found {type(decoding).__name__}")
    listed, settings = as_instances(instances), _search(decoding, policy, "balanced")
    if shortlist is None and callable(policy):
        shortlist = getattr(policy, "shortlist", None)
    settings["shortlist"] = None if shortlist is None else str(shortlist)
    if frame is not None:
        settings["frame"] = text("frame", frame)
    with Progress(len(listed), "built", progress) as bar:
        arguments = _arguments(time_limit, seed, threads, False)
        arguments["on_finished"] = bar.at if progress else None
        return _bqnco.solve(listed, settings, arguments)


def _search_with(model: Optional[ModelLike], search: Union[str, Decoding], preset: str) -> dict[str, Any]:
    """A search with a network, if one is given: "auto" then rebuilds with it."""
    if callable(model):
        raise TypeError("model must be a network, found a callable: bqnco.rollout takes callables")
    return _search("reconstruct" if search == "auto" and model is not None else search, model, preset)


def _search(search: Union[str, Decoding], policy: Any, preset: str) -> dict[str, Any]:
    """The keyword arguments of a search, as the compiled part takes them."""
    if isinstance(policy, PathLike):
        policy = fspath(policy)
    if not (policy is None or callable(policy) or isinstance(policy, (str, Model))):
        raise TypeError(f"expected a network, its name or folder, or a callable; found {type(policy).__name__}")
    settings: dict[str, Any] = {
        "preset": text("preset", preset),
        "policy": policy,
        "policy_name": policy_name(policy),
        "frame": text("frame", getattr(policy, "frame", "instance")),
        "shortlist": None,
        "symmetries": False,
        "temperature": 1.0,
        "top_k": None,
        "rounds": None,
        "segment": None,
    }
    if isinstance(search, Greedy):
        settings.update(search="greedy", symmetries=bool(search.symmetries))
    elif isinstance(search, Sample):
        count, top_k = whole("count", search.count, 1, _WIDEST), perhaps_whole("top_k", search.top_k, 1)
        settings.update(search=f"sample{count}", temperature=real("temperature", search.temperature), top_k=top_k)
    elif isinstance(search, Beam):
        settings.update(search=f"beam{whole('width', search.width, 1, _WIDEST)}")
    elif isinstance(search, Reconstruct):
        rounds, segment = perhaps_whole("rounds", search.rounds), whole("segment", search.segment)
        settings.update(search="reconstruct", rounds=rounds, segment=segment)
    elif isinstance(search, str):
        settings.update(search=search)
    else:
        raise TypeError(f"search must be a name or a decoding such as bqnco.Beam(16), found {type(search).__name__}")
    return settings


def _arguments(
    time_limit: Optional[float], seed: int, threads: Optional[int], return_on_interrupt: bool
) -> dict[str, Any]:
    """The other keyword arguments of a call, without callbacks."""
    return {
        "time_limit": perhaps_real("time_limit", time_limit),
        "seed": whole("seed", seed),
        "threads": perhaps_whole("threads", threads),
        "start": None,
        "on_improvement": None,
        "on_finished": None,
        "return_on_interrupt": bool(return_on_interrupt),
    }
