"""Solutions on axes of matplotlib."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from bqnco._bqnco import Solution


def plot(solution: Solution, ax: Any = None) -> Any:
    """Draws a solution on axes: as lines where there are coordinates, else as the library's picture."""
    import matplotlib.pyplot as plt

    if ax is None:
        _, ax = plt.subplots()
    fields = solution.instance.fields
    places = fields.get("coordinates", fields.get("places"))
    if places is None or places.shape[1] != 2:
        ax.imshow(plt.imread(io.BytesIO(solution.png(1600))))
        ax.set_axis_off()
        return ax
    if hasattr(solution, "routes"):
        paths = [np.concatenate([[0], route, [0]]) for route in solution.routes]
    else:
        ends: Any = [] if "destination" in fields else solution.tour[:1]
        paths = [np.concatenate([solution.tour, ends]).astype(int)]
    for path in paths:
        ax.plot(places[path, 0], places[path, 1], linewidth=1.2)
    ax.scatter(places[:, 0], places[:, 1], s=8, color="black", zorder=3)
    ax.scatter(*places[paths[0][0] if paths else 0], s=40, marker="s", color="tab:red", zorder=4)
    ax.set_aspect("equal")
    ax.set_title(f"{solution.instance.name}: {solution.objective} {solution.value:.6g}")
    return ax
