"""Solving, and rollouts of policies."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from typing import Any, Callable, Optional, Sequence, Union

from bqnco import _bqnco
from bqnco._batch import Policy, policy_name
from bqnco._bqnco import Instance, Model, Solution
from bqnco._check import perhaps_real, perhaps_whole, real, whole
from bqnco._instances import as_instances
from bqnco._progress import Progress

ModelLike = Union[str, "PathLike[str]", Model]


@dataclass(frozen=True)
class Improvement:
    """A better solution than before, while the search goes on."""

    #: The instance's place in a batch.
    index: int
    #: The objective with its usual sign.
    value: float
    #: Since the work began.
    seconds: float
    #: The solution.
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
    start: Union[Solution, Sequence[int], Sequence[Sequence[int]], None] = None,
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
        on_improvement: called with every ``Improvement``, on the thread that called ``solve``. An exception in it ends
            the search.
        preset: the effort without a time limit: "fast", "balanced" or "quality".
        progress: shows improvements as they come.
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
        raise TypeError(f"expected a bqnco.Instance, found {type(instance).__name__}; bqnco.solve_batch solves several")
    if search == "auto" and model is not None:
        search = "reconstruct"
    begin = start if start is None or isinstance(start, Solution) else instance.solution_from(_plain(start))
    with Progress(None, instance.name, progress) as bar:
        count = 0

        def improved(index: int, value: float, seconds: float, solution: Solution) -> None:
            nonlocal count
            count += 1
            if progress:
                bar.at(count, text=f"improvements, {solution.objective} {value:.6g} after {seconds:.1f} s")
            if on_improvement is not None:
                on_improvement(Improvement(index, value, seconds, solution))

        wants = progress or on_improvement is not None
        arguments = _arguments(time_limit, seed, threads, begin, improved if wants else None, None)
        answers, raised = _bqnco.solve([instance], _search(search, model, preset), arguments)
    answer = answers[0]
    if raised is not None:
        _attach(raised, solution=answer if isinstance(answer, Solution) else None)
        if not (return_on_interrupt and isinstance(raised, KeyboardInterrupt) and isinstance(answer, Solution)):
            raise raised
    return _solution(answer)


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
    coordinates of TSPs. ``time_limit`` is per instance. After Ctrl-C with ``return_on_interrupt`` the list has the
    solutions that were found, which may be fewer; KeyboardInterrupt has them as ``solutions``. Otherwise as ``solve``.

    >>> import bqnco, numpy as np
    >>> solutions = bqnco.solve_batch(np.random.default_rng(1).random((3, 10, 2)), preset="fast")
    >>> [len(solution.tour) for solution in solutions]
    [10, 10, 10]
    """
    listed = as_instances(instances)
    if search == "auto" and model is not None:
        search = "reconstruct"
    with Progress(len(listed), "solved", progress) as bar:

        def improved(index: int, value: float, seconds: float, solution: Solution) -> None:
            assert on_improvement is not None
            on_improvement(Improvement(index, value, seconds, solution))

        finished = bar.at if progress else None
        arguments = _arguments(time_limit, seed, threads, None, improved if on_improvement else None, finished)
        answers, raised = _bqnco.solve(listed, _search(search, model, preset), arguments)
    if raised is not None:
        solved = [answer for answer in answers if isinstance(answer, Solution)]
        _attach(raised, solutions=solved)
        if not (return_on_interrupt and isinstance(raised, KeyboardInterrupt)):
            raise raised
        return solved
    return [_solution(answer) for answer in answers]


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
    listed = as_instances(instances)
    settings = _search(decoding, policy, "balanced")
    settings["shortlist"] = _shortlist(policy, shortlist)
    if frame is not None:
        settings["frame"] = frame
    with Progress(len(listed), "built", progress) as bar:
        arguments = _arguments(time_limit, seed, threads, None, None, bar.at if progress else None)
        answers, raised = _bqnco.solve(listed, settings, arguments)
    if raised is not None:
        raise raised
    return [_solution(answer) for answer in answers]


def _search(search: Union[str, Decoding], policy: Any, preset: str) -> dict[str, Any]:
    """The keyword arguments of a search, as the compiled part takes them."""
    if policy is not None and not callable(policy) and not isinstance(policy, Model):
        policy = str(policy)
    settings: dict[str, Any] = {
        "preset": preset,
        "policy": policy,
        "policy_name": policy_name(policy),
        "frame": getattr(policy, "frame", "instance"),
        "shortlist": None,
        "symmetries": False,
        "temperature": 1.0,
        "top_k": None,
        "rounds": None,
        "segment": None,
    }
    if isinstance(search, Greedy):
        settings.update(search="greedy", symmetries=search.symmetries)
    elif isinstance(search, Sample):
        top_k = perhaps_whole("top_k", search.top_k, 1)
        settings.update(search=f"sample{search.count}", temperature=real("temperature", search.temperature), top_k=top_k)
    elif isinstance(search, Beam):
        settings.update(search=f"beam{search.width}")
    elif isinstance(search, Reconstruct):
        rounds, segment = perhaps_whole("rounds", search.rounds), whole("segment", search.segment)
        settings.update(search="reconstruct", rounds=rounds, segment=segment)
    elif isinstance(search, str):
        settings.update(search=search)
    else:
        raise TypeError(f"search must be a name or a decoding such as bqnco.Beam(16), found {type(search).__name__}")
    return settings


def _shortlist(policy: Any, given: Union[int, str, None]) -> Optional[str]:
    if given is None and callable(policy):
        given = getattr(policy, "shortlist", None)
    return None if given is None else str(given)


def _arguments(
    time_limit: Optional[float],
    seed: int,
    threads: Optional[int],
    start: Optional[Solution],
    on_improvement: Optional[Callable[..., None]],
    on_finished: Optional[Callable[..., None]],
) -> dict[str, Any]:
    return {
        "time_limit": perhaps_real("time_limit", time_limit),
        "seed": whole("seed", seed),
        "threads": perhaps_whole("threads", threads, 1),
        "start": start,
        "on_improvement": on_improvement,
        "on_finished": on_finished,
    }


def _plain(numbers: Any) -> Any:
    """Arrays as lists of integers."""
    if hasattr(numbers, "tolist"):
        return numbers.tolist()
    return [_plain(one) if hasattr(one, "__len__") else int(one) for one in numbers]


def _attach(raised: BaseException, **attributes: object) -> None:
    for name, value in attributes.items():
        try:
            setattr(raised, name, value)
        except AttributeError:  # an exception of the caller's that takes no attributes
            pass


def _solution(answer: Union[Solution, Exception, None]) -> Solution:
    if isinstance(answer, Solution):
        return answer
    raise answer if isinstance(answer, Exception) else RuntimeError("the instance was not solved")
