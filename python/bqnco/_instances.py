"""Instances from files and from arrays."""

from __future__ import annotations

from os import PathLike
from typing import IO, TYPE_CHECKING, Any, Iterable, Optional, Union

import numpy as np

from bqnco import _arrays, _bqnco
from bqnco._bqnco import Instance, Solution
from bqnco._check import path as path_of
from bqnco._check import perhaps_text, text
from bqnco._errors import InstanceError

if TYPE_CHECKING:
    import numpy.typing as npt

Source = Union[str, "PathLike[str]", bytes, bytearray, memoryview, "IO[Any]"]


def read(source: Source, *, problem: Optional[str] = None, metric: Optional[str] = None) -> Instance:
    """Reads the only instance of a file: its path, its content as bytes, or the open file. Format and problem are detected
    from the content.

    ``problem`` is used instead of the detected one; ``metric`` overrides the rounding of Euclidean distances
    ("EXACT_2D", "EUC_2D", "CEIL_2D").

    >>> import bqnco
    >>> bqnco.read(b"x,y\\n0,0\\n1,1\\n1,0\\n0,1\\n")
    <tsp 'bytes', 4 nodes>
    """
    source = _path_or_bytes(source)
    instances = read_all(source, problem=problem, metric=metric)
    if len(instances) != 1:
        name = "bytes" if isinstance(source, bytes) else source
        raise InstanceError(f"{name}: expected one instance, found {len(instances)}; bqnco.read_all reads several")
    return instances[0]


def read_all(source: Source, *, problem: Optional[str] = None, metric: Optional[str] = None) -> list[Instance]:
    """Reads all instances of a file, as ``read`` does: npz files of this project, RL4CO and the paper's authors, pickles of
    Kool et al., JSON lines, ...

    >>> import bqnco
    >>> [one.size for one in bqnco.read_all(b'{"coordinates":[[0,0],[1,1]]}\\n{"coordinates":[[0,0],[1,1],[2,0]]}')]
    [2, 3]
    """
    return _bqnco.read(_path_or_bytes(source), perhaps_text("problem", problem), perhaps_text("metric", metric))


def _path_or_bytes(source: Any) -> Union[str, bytes]:
    if isinstance(source, (bytes, bytearray, memoryview)):
        return bytes(source)
    if hasattr(source, "read"):
        content = source.read()
        return content.encode() if isinstance(content, str) else bytes(content)
    path = path_of("source", source)
    if "\n" in path:  # as a path it would fail with all of its text as the sentence
        raise ValueError("source is a text of several lines: give a path, or the content of a file as bytes")
    return path


def write(path: Union[str, PathLike[str]], instances: Any, *, format: Optional[str] = None) -> None:
    """Writes instances, with their solutions where the format has a place for them; ``instances`` as in ``solve_batch``.

    ``format`` is that of the extension unless it is named: "tsplib", "csv", "json", "jsonl", "npz", "npz-bq" (the
    paper's authors), "npz-rl4co" (RL4CO), "pkl" (Kool et al.), "lines", ...

    >>> import bqnco, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     bqnco.write(f"{folder}/two.npz", bqnco.generate("tsp", size=5, count=2))
    ...     [one.solution.is_feasible for one in bqnco.read_all(f"{folder}/two.npz")]
    [True, True]
    """
    _bqnco.write(path_of("path", path), as_instances(instances), perhaps_text("format", format))


def tsp(coords: Any = None, *, matrix: Any = None, metric: Optional[str] = None, name: Optional[str] = None) -> Instance:
    """A tour through all nodes, given by coordinates of shape (n, 2) or a symmetric matrix of distances (n, n).

    Distances are Euclidean and not rounded, unless a ``metric`` of TSPLIB says otherwise ("EUC_2D", ...).

    >>> import bqnco
    >>> square = bqnco.tsp([[0, 0], [1, 1], [1, 0], [0, 1]])
    >>> bqnco.solve(square, time_limit=1).cost
    4.0
    """
    return _made("tsp", {"coordinates": coords, "matrix": matrix}, metric, name)


def atsp(matrix: Any, *, name: Optional[str] = None) -> Instance:
    """A tour whose costs depend on the direction: a matrix of shape (n, n), from row to column.

    >>> import bqnco
    >>> bqnco.solve(bqnco.atsp([[0, 1, 9], [9, 0, 1], [1, 9, 0]])).tour
    array([0, 1, 2])
    """
    return _made("atsp", {"matrix": matrix}, None, name)


def cvrp(
    depot: Any = None,
    coords: Any = None,
    demands: Any = None,
    capacity: Any = None,
    *,
    matrix: Any = None,
    vehicles: Optional[int] = None,
    metric: Optional[str] = None,
    name: Optional[str] = None,
) -> Instance:
    """Routes from a depot that serve all customers within the vehicles' capacity.

    ``depot`` has shape (2,), ``coords`` (n, 2), ``demands`` (n,). Instead of depot and coords a symmetric ``matrix`` of
    distances of shape (n + 1, n + 1) may be given, with the depot first. ``vehicles`` is the largest number of routes.

    >>> import bqnco
    >>> instance = bqnco.cvrp(depot=[0, 0], coords=[[1, 0], [2, 0], [0, 1]], demands=[1, 1, 2], capacity=2)
    >>> bqnco.solve(instance, time_limit=1).cost
    6.0
    """
    places = _from_depot(depot, coords, matrix)
    demands = _per_customer("demands", demands, places)
    fields = {"demands": demands, "capacity": _needed("capacity", capacity), "vehicles": vehicles}
    return _made("cvrp", {**places, **fields}, metric, name)


def op(
    depot: Any = None,
    coords: Any = None,
    prizes: Any = None,
    limit: Any = None,
    *,
    matrix: Any = None,
    metric: Optional[str] = None,
    name: Optional[str] = None,
) -> Instance:
    """A closed route from the depot of at most ``limit`` length that collects as much prize as possible.

    ``depot`` has shape (2,), ``coords`` (n, 2), ``prizes`` (n,); or a symmetric ``matrix`` (n + 1, n + 1), depot first.

    >>> import bqnco
    >>> instance = bqnco.op(depot=[0, 0], coords=[[1, 0], [5, 0]], prizes=[3, 9], limit=4)
    >>> solution = bqnco.solve(instance, time_limit=1)
    >>> solution.value, solution.cost  # the prize, and what is minimised
    (3.0, -3.0)
    """
    places = _from_depot(depot, coords, matrix)
    fields = {"prizes": _per_customer("prizes", prizes, places), "limit": _needed("limit", limit)}
    return _made("op", {**places, **fields}, metric, name)


def pctsp(
    depot: Any = None,
    coords: Any = None,
    prizes: Any = None,
    penalties: Any = None,
    quota: Any = None,
    *,
    matrix: Any = None,
    metric: Optional[str] = None,
    name: Optional[str] = None,
) -> Instance:
    """A tour from the depot that collects a quota of prizes; every node that is not visited costs its penalty.

    ``depot`` has shape (2,), ``coords`` (n, 2), ``prizes`` and ``penalties`` (n,); or a symmetric ``matrix``
    (n + 1, n + 1), depot first.

    >>> import bqnco
    >>> instance = bqnco.pctsp([0, 0], [[1, 0], [9, 0]], prizes=[1, 1], penalties=[5, 0.5], quota=1)
    >>> bqnco.solve(instance, time_limit=1).cost  # there and back, and the penalty of the other
    2.5
    """
    places = _from_depot(depot, coords, matrix)
    fields = {
        "prizes": _per_customer("prizes", prizes, places),
        "penalties": _per_customer("penalties", penalties, places),
        "quota": _needed("quota", quota),
    }
    return _made("pctsp", {**places, **fields}, metric, name)


def knapsack(values: Any, weights: Any, capacity: Any, *, name: Optional[str] = None) -> Instance:
    """The items of greatest total value whose weights fit the capacity; ``values`` and ``weights`` have shape (n,).

    >>> import bqnco
    >>> bqnco.solve(bqnco.knapsack([3, 4, 5], [2, 3, 4], 5)).items
    array([0, 1])
    """
    return _made("knapsack", {"values": values, "weights": weights, "capacity": capacity}, None, name)


def instance(
    problem: str, *, metric: Optional[str] = None, name: Optional[str] = None, **fields: Any
) -> Instance:
    """An instance of any problem from named arrays, as JSON files have them: the inverse of ``Instance.fields``.

    >>> import bqnco
    >>> one = bqnco.generate("cvrp", size=5, count=1, expert=False)[0]
    >>> bqnco.instance(one.problem, metric=one.metric, **one.fields).size
    5
    """
    return _made(problem, fields, metric, name)


def as_instances(instances: Any) -> list[Instance]:
    """A list of instances from instances and coordinates of TSPs; the latter may be one array (count, n, 2)."""
    if isinstance(instances, Instance):
        return [instances]
    if hasattr(instances, "__array__") and str(getattr(instances, "dtype", "")) != "object":
        instances = _array("instances", instances, None)
        if instances.ndim != 3 or instances.shape[2] != 2:
            shape = f"found {instances.shape}; make other instances with bqnco.atsp, bqnco.cvrp, ..."
            raise ValueError(f"an array of instances must have the shape (count, n, 2), coordinates of TSPs; {shape}")
    try:
        listed = list(instances)
    except TypeError:
        found = type(instances).__name__
        raise TypeError(f"expected instances, or coordinates of shape (count, n, 2); found {found}") from None
    return [_as_instance(one, index) for index, one in enumerate(listed)]


def _as_instance(one: Any, index: int) -> Instance:
    if isinstance(one, Instance):
        return one
    if not (isinstance(one, (list, tuple)) or hasattr(one, "__array__")):
        raise TypeError(f"instances[{index}] is a {type(one).__name__}; expected a bqnco.Instance, or coordinates of a TSP")
    try:
        return tsp(one, name=f"tsp-{index}")
    except ValueError as error:  # which of a thousand?
        raise type(error)(f"instances[{index}]: {error}") from None


def as_solution(instance: Instance, given: Any) -> Solution:
    """A solution from one, or from its numbers: a list or an array, or a list of routes."""
    if isinstance(given, Solution):
        return given
    if not hasattr(given, "__iter__"):
        raise TypeError(f"a solution is a bqnco.Solution, its numbers or its routes, found {type(given).__name__}")
    numbers = [one.tolist() if hasattr(one, "tolist") else one for one in given]
    while numbers and numbers[-1] == -1:  # padding, as in Dataset.solutions
        numbers.pop()
    return instance.solution_from(numbers)


def restored(content: bytes) -> Instance:
    """For pickle."""
    return read(content)


def restored_solution(instance: Instance, numbers: Iterable[int]) -> Solution:
    """For pickle."""
    return instance.solution_from(list(numbers))


def _needed(name: str, value: Any) -> Any:
    if value is None:
        raise TypeError(f"missing argument: '{name}'")
    return value


def _from_depot(depot: Any, coords: Any, matrix: Any) -> dict[str, Any]:
    if matrix is not None:
        if depot is not None or coords is not None:
            raise ValueError("give either depot and coords or a matrix, not both")
        return {"matrix": matrix}
    first, rest = _array("depot", _needed("depot", depot), 1), _array("coords", _needed("coords", coords), 2)
    if first.shape != (2,):
        raise ValueError(f"depot must have the shape (2,), found {first.shape}")
    if rest.shape[1:] != (2,):
        raise ValueError(f"coords must have the shape (n, 2), found {rest.shape}")
    return {"coordinates": np.concatenate([first[None], rest])}


def _per_customer(name: str, value: Any, places: dict[str, Any]) -> npt.NDArray[np.float64]:
    """One number per customer, after the depot's zero."""
    numbers = _array(name, _needed(name, value), 1)
    ((field, nodes),) = places.items()
    customers = max(len(_array(field, nodes, 2)) - 1, 0)
    if len(numbers) != customers:  # the library counts the depot, too, of which the caller knows nothing
        raise ValueError(f"{name} must have the shape ({customers},), one number per customer, found {numbers.shape}")
    return np.concatenate([[0.0], numbers])


def _made(problem: str, fields: dict[str, Any], metric: Optional[str], name: Optional[str]) -> Instance:
    arrays = {field: _array(field, value, None) for field, value in fields.items() if value is not None}
    given = [(field, list(array.shape), _arrays.packed(array, np.float64)) for field, array in arrays.items()]
    return _bqnco.instance(text("problem", problem), given, perhaps_text("metric", metric), perhaps_text("name", name))


def _array(name: str, value: Any, axes: Optional[int]) -> npt.NDArray[np.float64]:
    """Numbers as an array of float64."""
    if hasattr(value, "detach"):  # a PyTorch tensor
        value = value.detach().cpu()
    try:
        array = np.asarray(value)
    except ValueError as error:  # rows of different lengths
        raise ValueError(f"{name} must be an array of numbers: {error}") from None
    if array.dtype.kind not in "fiub":
        raise ValueError(f"{name} must be an array of numbers, found type {array.dtype}")
    if np.ma.is_masked(value):
        raise ValueError(f"{name} has masked numbers: fill or remove them")
    if axes is not None and array.ndim != axes:
        raise ValueError(f"{name} must have {axes} {'axis' if axes == 1 else 'axes'}, found the shape {array.shape}")
    return np.asarray(array, dtype=np.float64)
