"""The BQ-MDP as environments of gymnasium: a state is a tail subproblem, an action the slot of a step.

Importing this module registers ``bqnco/tsp-v0``, ``bqnco/cvrp-v0``, ... for every problem:

>>> import gymnasium, bqnco.envs
>>> env = gymnasium.make("bqnco/cvrp-v0", size=20)
>>> observation, info = env.reset(seed=1)
>>> terminated, length = False, 0.0
>>> while not terminated:
...     action = env.action_space.sample(mask=info["action_mask"])  # any allowed step
...     observation, reward, terminated, truncated, info = env.step(action)
...     length -= reward
>>> bool(abs(info["solution"].cost - length) < 1e-9)
True

``gymnasium.make_vec("bqnco/cvrp-v0", num_envs=1000, size=20)`` steps a thousand instances in Rust.
``gymnasium.make("bqnco.envs:bqnco/cvrp-v0")`` needs no import of this module.
"""

from __future__ import annotations

import secrets
from typing import Any, Optional

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from bqnco import PROBLEMS, Batch, Instance, SettingsError, Solution, _arrays, generate
from bqnco._bqnco import Environments
from bqnco._check import real, text, whole
from bqnco._instances import as_instances

Observation = dict[str, Any]

#: Features and costs are finite, and of the order of 1.
_LARGEST = float(np.finfo(np.float32).max)


class Env(gymnasium.Env[Observation, np.int64]):
    """One construction at a time, of random instances or of given ones.

    The observation is a dict: ``features`` (tokens, features), ``origin`` and ``destination`` (tokens; the number of
    tokens where there is none), ``length`` (tokens that are not padding), ``action_mask`` (slots), and ``costs`` (tokens,
    tokens) for problems that are given by costs. ``info["action_mask"]`` is the mask, too, as ``action_space.sample`` takes
    it; at the end ``info["solution"]`` is the solution. The reward of a step is the decrease of the cost. An action that is
    not allowed changes nothing, is rewarded with ``invalid_reward`` and told by ``info["invalid"]``.

    Args:
        problem: "tsp", "cvrp", ...; by default that of the instances, or "tsp".
        size: of random instances.
        instances: are taken in turn instead of random ones; as in ``solve_batch``.
        frame: of the features: "instance", "subproblem" or "origin".
    """

    metadata: dict[str, Any] = {"render_modes": []}

    def __init__(
        self,
        problem: Optional[str] = None,
        size: int = 20,
        *,
        instances: Any = None,
        frame: str = "instance",
        invalid_reward: float = -1.0,
        render_mode: Optional[str] = None,
    ) -> None:
        self._states = _States(problem, size, 1, instances, frame)
        self.observation_space = self._states.observation_space
        self.action_space = self._states.action_space
        self.invalid_reward = real("invalid_reward", invalid_reward)
        self.render_mode = render_mode

    def reset(
        self, *, seed: Optional[int] = None, options: Optional[dict[str, Any]] = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Starts with the next instance; ``options={"instance": instance}`` starts with a given one."""
        super().reset(seed=seed)
        if seed is not None:
            self._states.seed(seed)
        self._states.restart([0], _instance_of(options))
        batch = self._states.environments.observe()
        return self._seen(batch), {"action_mask": batch.mask[0].view(np.int8)}

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Takes the step of a slot."""
        rewards, finished, allowed = self._states.step([action])
        batch = self._states.environments.observe()
        info: dict[str, Any] = {"action_mask": batch.mask[0].view(np.int8)}
        reward = float(rewards[0])
        if not allowed[0]:
            reward, info["invalid"] = self.invalid_reward, True
        if finished[0]:
            info["solution"] = self._states.environments.solution(0)
        return self._seen(batch), reward, bool(finished[0]), False, info

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """The mask as booleans, as MaskablePPO of sb3-contrib asks for it."""
        masks: npt.NDArray[np.bool_] = self._states.environments.observe().mask
        return masks.reshape(-1)  # of the only construction

    def _seen(self, batch: Batch) -> Observation:
        return {name: array[0] for name, array in self._states.arrays(batch).items()}


class VectorEnv(gymnasium.vector.VectorEnv[Observation, npt.NDArray[np.int64], npt.NDArray[Any]]):
    """Many constructions in lockstep, stepped and observed in Rust on all cores.

    Observations, rewards and masks are those of ``Env`` with a first axis more. A construction that has ended starts anew,
    with another instance, in the next step, whose action is ignored (gymnasium's ``AutoresetMode.NEXT_STEP``).
    ``info["action_mask"]`` has all masks, ``info["cost"]`` the costs of solutions that were completed in this step (NaN
    for others).
    """

    metadata: dict[str, Any] = {"autoreset_mode": AutoresetMode.NEXT_STEP}

    def __init__(
        self,
        problem: Optional[str] = None,
        size: int = 20,
        num_envs: int = 1,
        *,
        instances: Any = None,
        frame: str = "instance",
        invalid_reward: float = -1.0,
        render_mode: Optional[str] = None,
    ) -> None:
        self._states = _States(problem, size, num_envs, instances, frame)
        self.num_envs = num_envs
        self.invalid_reward = real("invalid_reward", invalid_reward)
        self.render_mode = render_mode
        self.single_observation_space = self._states.observation_space
        self.single_action_space = self._states.action_space
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._ended = np.zeros(num_envs, bool)

    def reset(
        self, *, seed: Any = None, options: Optional[dict[str, Any]] = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Starts all constructions anew; ``options={"instance": instance}`` starts all with a given one. Of a list of seeds
        the first one counts: it gives all instances."""
        first = seed if np.ndim(seed) == 0 else next(iter(seed), None)
        if first is not None:
            self._states.seed(first)
        self._states.restart(list(range(self.num_envs)), _instance_of(options))
        self._ended[:] = False
        batch = self._states.environments.observe()
        return self._states.arrays(batch), {"action_mask": batch.mask.view(np.int8)}

    def step(
        self, actions: npt.NDArray[np.int64]
    ) -> tuple[Observation, npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any], dict[str, Any]]:
        """Takes one step of every construction."""
        before = self._ended
        # The actions of ended constructions have no effect: these start anew afterwards.
        rewards, finished, allowed = self._states.step(actions)
        invalid = ~(allowed | before)
        rewards[invalid] = self.invalid_reward
        if before.any():
            self._states.restart(np.flatnonzero(before).tolist(), None)
            finished[before] = False
        self._ended = finished.copy()
        batch = self._states.environments.observe()
        info: dict[str, Any] = {"action_mask": batch.mask.view(np.int8), "invalid": invalid}
        if finished.any():
            info["cost"] = self._states.environments.costs()
        return self._states.arrays(batch), rewards, finished, np.zeros(self.num_envs, bool), info

    def solution(self, index: int) -> Solution:
        """The solution of a construction that has just ended."""
        solution = self._states.environments.solution(whole("index", index, 0, self.num_envs - 1))
        if solution is None:
            raise ValueError(f"the construction of environment {index} has not ended")
        return solution


class _States:
    """The states of some environments, and where their next instances come from."""

    def __init__(self, problem: Optional[str], size: int, count: int, instances: Any, frame: str) -> None:
        size, count = whole("size", size, 1), whole("num_envs", count, 1)
        self.size, self.given = size, None if instances is None else _one_problem(problem, as_instances(instances))
        # Without a seed, environments differ; instance `_next` of the seed is the next one.
        self._seed, self._next = secrets.randbits(63), 0
        if self.given is not None:
            # The largest first: all others fit its arrays.
            first = max(self.given, key=lambda one: one.size)
            initial = [first] + [self.given[k % len(self.given)] for k in range(1, count)]
        else:
            initial = list(generate("tsp" if problem is None else problem, size, count, expert=False))
        self.environments = Environments(initial, text("frame", frame))
        batch = self.environments.observe()
        self.tokens, width = batch.features.shape[1:]
        slots = batch.mask.shape[1]
        self.costs = batch.costs is not None
        token = spaces.Discrete(self.tokens + 1)
        parts: dict[str, spaces.Space[Any]] = {
            "features": spaces.Box(-_LARGEST, _LARGEST, (self.tokens, width), np.float32),
            "origin": token,
            "destination": token,
            "length": token,
            "action_mask": spaces.MultiBinary(slots),
        }
        if self.costs:
            parts["costs"] = spaces.Box(-_LARGEST, _LARGEST, (self.tokens, self.tokens), np.float32)
        self.observation_space = spaces.Dict(parts)
        self.action_space = spaces.Discrete(slots)

    def seed(self, seed: int) -> None:
        self._seed, self._next = whole("seed", seed), 0

    def step(self, actions: Any) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
        """Rewards, whether constructions have ended, whether actions were allowed."""
        slots = np.asarray(actions)
        if slots.dtype.kind not in "iu":
            raise TypeError(f"actions must be integers, found {slots.dtype}")
        return self.environments.step(_arrays.packed(slots, np.int64))

    def restart(self, indices: list[int], instance: Optional[Instance]) -> None:
        if instance is not None:
            self.environments.restart(indices, [instance] * len(indices))
        elif self.given is not None:
            taken = [self.given[(self._next + k) % len(self.given)] for k in range(len(indices))]
            self.environments.restart(indices, taken)
        else:
            self.environments.renew(indices, self.size, self._seed, self._next)
        self._next += len(indices)

    def arrays(self, batch: Batch) -> Observation:
        def token(tokens: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
            return np.where(tokens < 0, self.tokens, tokens)

        arrays: Observation = {
            "features": batch.features,
            "origin": token(batch.origins),
            "destination": token(batch.destinations),
            "length": batch.lengths,
            "action_mask": batch.mask.view(np.int8),
        }
        if self.costs:
            empty = (len(batch), self.tokens, self.tokens)
            arrays["costs"] = np.zeros(empty, np.float32) if batch.costs is None else batch.costs
        return arrays


def _one_problem(problem: Optional[str], instances: list[Instance]) -> list[Instance]:
    """The instances, if all are of this problem, or of one problem, and can be constructed step by step."""
    if not instances:
        raise ValueError("instances is empty; leave it out for random ones")
    problem = instances[0].problem if problem is None else problem
    for index, one in enumerate(instances):
        if one.problem != problem:
            raise ValueError(f"instances[{index}] is an instance of {one.problem}, expected {problem}")
        _constructible(one)
    return instances


def _constructible(instance: Instance) -> Instance:
    if instance.problem == "cvrp" and "vehicles" in instance.fields:  # solutions would have too many routes, and no cost
        raise SettingsError(f"{instance.name} limits the number of vehicles, which a construction step by step cannot keep")
    return instance


def _instance_of(options: Optional[dict[str, Any]]) -> Optional[Instance]:
    """The instance that the options of a reset give, if they do."""
    unknown = sorted(set(options or {}) - {"instance"})
    if unknown:
        raise ValueError(f"options has '{unknown[0]}'; only 'instance' is known")
    given = (options or {}).get("instance")
    if given is None:
        return None
    if not isinstance(given, Instance):
        raise TypeError(f"options['instance'] must be a bqnco.Instance, found {type(given).__name__}")
    return _constructible(given)


def register_all() -> None:
    """Registers ``bqnco/PROBLEM-v0`` for every problem."""
    for problem in PROBLEMS:
        name = f"bqnco/{problem}-v0"
        if name not in gymnasium.registry:
            gymnasium.register(
                id=name,
                entry_point="bqnco.envs:Env",
                vector_entry_point="bqnco.envs:VectorEnv",
                kwargs={"problem": problem},
            )


register_all()
