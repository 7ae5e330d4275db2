"""Ctrl-C: the search ends soon, with the best solution so far. The signal is that of a person's key."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Callable

import numpy as np
import pytest

import bqnco
from bqnco._progress import Progress

if not hasattr(signal, "pthread_kill"):
    pytest.skip("signals of POSIX", allow_module_level=True)


@pytest.fixture(autouse=True)
def interruptible() -> Iterator[None]:
    """Python leaves SIGINT ignored where the shell has started it so, as in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupt() -> None:
    """Ctrl-C, as it reaches the main thread."""
    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)


def interrupt_at_first(work: Callable[[Callable[[object], None]], object]) -> float:
    """Interrupts the main thread after the first improvement; returns the seconds from there to the end."""
    sent: list[float] = []

    def improved(_: object) -> None:
        if not sent:
            sent.append(time.monotonic())
            threading.Thread(target=interrupt).start()

    work(improved)
    return time.monotonic() - sent[0]


def test_the_exception_has_the_solution(random: np.random.Generator) -> None:
    instance = bqnco.tsp(random.random((200, 2)))
    caught: list[KeyboardInterrupt] = []

    def work(improved: Callable[[object], None]) -> None:
        with pytest.raises(KeyboardInterrupt) as raised:
            bqnco.solve(instance, time_limit=60, on_improvement=improved)
        caught.append(raised.value)

    seconds = interrupt_at_first(work)
    assert caught[0].solution.is_feasible
    assert seconds < 5, "the machine may be busy; benchmarks/python.md has the time"


def test_the_solution_is_returned_on_request(random: np.random.Generator) -> None:
    instance = bqnco.tsp(random.random((200, 2)))
    found: list[bqnco.Solution] = []
    interrupt_at_first(
        lambda improved: found.append(
            bqnco.solve(instance, time_limit=60, on_improvement=improved, return_on_interrupt=True)
        )
    )
    assert found[0].is_feasible and found[0].cut_short


def test_of_a_batch_the_solved_part_is_kept(random: np.random.Generator) -> None:
    places = random.random((50, 60, 2))

    def work(improved: Callable[[object], None]) -> None:
        with pytest.raises(KeyboardInterrupt) as raised:
            bqnco.solve_batch(places, "expert", time_limit=30, threads=1, on_improvement=improved)
        assert len(raised.value.solutions) == 1

    interrupt_at_first(work)


def test_labels_end_too(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[threading.Thread] = []

    def at(*_: object) -> None:
        if not begun:
            begun.append(threading.Thread(target=interrupt))
            begun[0].start()

    monkeypatch.setattr(Progress, "at", at)
    with pytest.raises(KeyboardInterrupt):
        bqnco.generate("cvrp", size=100, count=10_000, progress=True)


def test_training_is_saved(tmp_path: Path) -> None:
    begun: list[threading.Thread] = []

    def told(event: dict) -> None:
        if event["event"] == "metrics" and not begun:
            begun.append(threading.Thread(target=interrupt))
            begun[0].start()

    recipe = {
        "problem": "tsp",
        "data": {"size": 6, "count": 4, "seed": 1},
        "validation": {"size": 6, "count": 2, "seed": 2},
        "network": {"preset": "tiny"},
        "training": {"steps": 1_000_000, "batch": 4, "report_every": 1},
    }
    with pytest.raises(KeyboardInterrupt):
        bqnco.train(recipe, tmp_path / "run", callback=told)
    events: list[dict] = []
    again = bqnco.train(recipe, tmp_path / "run", callback=events.append, time_limit=0.1)
    (resumed,) = [event["step"] for event in events if event["event"] == "resumed"]
    assert 0 < resumed < again.step and not again.finished


def test_a_rollout_ends_in_the_middle_of_the_policy() -> None:
    def slow(batch: bqnco.Batch) -> np.ndarray:
        if not sent:
            sent.append(True)
            interrupt()
        return np.zeros(batch.mask.shape)

    sent: list[bool] = []
    instances = bqnco.generate("tsp", size=10, count=2, expert=False)
    with pytest.raises(KeyboardInterrupt):
        bqnco.rollout(instances, slow)
    assert len(bqnco.rollout(instances, slow)) == 2, "the next call is not affected"
