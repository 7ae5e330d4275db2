"""Routing and packing problems: classical solvers, BQ-NCO networks, environments and training data.

>>> import bqnco
>>> instance = bqnco.tsp([[0, 0], [1, 1], [1, 0], [0, 1]])
>>> bqnco.solve(instance, time_limit=1).cost
4.0

Instances: ``tsp``, ``atsp``, ``cvrp``, ``op``, ``pctsp``, ``knapsack``, ``instance``; ``read``, ``read_all``, ``write``.
Solve: ``solve``, ``solve_batch``.
Learn: ``generate``, ``subproblems``, ``train``, ``load_model``, ``models``.
Plug in a policy: ``rollout`` with ``Greedy``, ``Sample``, ``Beam`` or ``Reconstruct``; ``eval``.
Environments: ``import bqnco.envs``, then ``gymnasium.make("bqnco/cvrp-v0", size=20)``.
Other libraries (vrplib, networkx, PyVRP): ``bqnco.interop``.
Errors: all are ``bqnco.Error``; most are ValueErrors, too.
"""

import importlib as _importlib
import typing as _typing

from bqnco._batch import Batch as Batch
from bqnco._batch import Policy as Policy
from bqnco._bqnco import PROBLEMS as PROBLEMS
from bqnco._bqnco import Instance as Instance
from bqnco._bqnco import Model as Model
from bqnco._bqnco import Solution as Solution
from bqnco._bqnco import __version__ as __version__
from bqnco._errors import Error as Error
from bqnco._errors import InfeasibleError as InfeasibleError
from bqnco._errors import InstanceError as InstanceError
from bqnco._errors import ModelError as ModelError
from bqnco._errors import PolicyError as PolicyError
from bqnco._errors import SettingsError as SettingsError
from bqnco._evaluate import Evaluation as Evaluation
from bqnco._evaluate import eval as eval
from bqnco._instances import atsp as atsp
from bqnco._instances import cvrp as cvrp
from bqnco._instances import instance as instance
from bqnco._instances import knapsack as knapsack
from bqnco._instances import op as op
from bqnco._instances import pctsp as pctsp
from bqnco._instances import read as read
from bqnco._instances import read_all as read_all
from bqnco._instances import tsp as tsp
from bqnco._instances import write as write
from bqnco._learn import Dataset as Dataset
from bqnco._learn import Subproblems as Subproblems
from bqnco._learn import Training as Training
from bqnco._learn import generate as generate
from bqnco._learn import load_model as load_model
from bqnco._learn import models as models
from bqnco._learn import subproblems as subproblems
from bqnco._learn import train as train
from bqnco._solve import Beam as Beam
from bqnco._solve import Greedy as Greedy
from bqnco._solve import Improvement as Improvement
from bqnco._solve import Reconstruct as Reconstruct
from bqnco._solve import Sample as Sample
from bqnco._solve import rollout as rollout
from bqnco._solve import solve as solve
from bqnco._solve import solve_batch as solve_batch

if _typing.TYPE_CHECKING:
    from bqnco import envs as envs
    from bqnco import interop as interop
else:

    def __getattr__(name: str) -> object:
        """The modules that few need, or that need gymnasium, at their first use: ``import bqnco`` stays fast."""
        if name in ("envs", "interop"):
            return _importlib.import_module(f"bqnco.{name}")
        raise AttributeError(f"module 'bqnco' has no attribute '{name}'")


# `eval` is left out, so that `from bqnco import *` does not replace the built-in function.
__all__ = [name for name in dir() if not name.startswith("_") and name != "eval"]
