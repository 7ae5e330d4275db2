"""Ctrl-C: the search ends soon, with the best solution so far. The signal is that of a person's key."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from typing import Callable

import numpy as np
import pytest

import bqnco

if not hasattr(signal, "pthread_kill"):
    pytest.skip("signals of POSIX", allow_module_level=True)


@pytest.fixture(autouse=True)
def interruptible() -> Iterator[None]:
    """Python leaves SIGINT ignored where the shell has started it so, as in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupt_at_first(work: Callable[[Callable[[object], None]], object]) -> float:
    """Interrupts the main thread after the first improvement; returns the seconds from there to the end."""
    sent: list[float] = []

    def interrupt(_: object) -> None:
        if not sent:
            sent.append(time.monotonic())
            threading.Thread(target=lambda: signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)).start()

    work(interrupt)
    return time.monotonic() - sent[0]


def test_the_exception_has_the_solution(random: np.random.Generator) -> None:
    instance = bqnco.tsp(random.random((200, 2)))
    caught: list[KeyboardInterrupt] = []

    def work(interrupt: Callable[[object], None]) -> None:
        with pytest.raises(KeyboardInterrupt) as raised:
            bqnco.solve(instance, time_limit=60, on_improvement=interrupt)
        caught.append(raised.value)

    seconds = interrupt_at_first(work)
    assert caught[0].solution.is_feasible
    assert seconds < 5, "the machine may be busy; benchmarks/python.md has the time"


def test_the_solution_is_returned_on_request(random: np.random.Generator) -> None:
    instance = bqnco.tsp(random.random((200, 2)))
    found: list[bqnco.Solution] = []
    interrupt_at_first(
        lambda interrupt: found.append(
            bqnco.solve(instance, time_limit=60, on_improvement=interrupt, return_on_interrupt=True)
        )
    )
    assert found[0].is_feasible and found[0].cut_short


def test_of_a_batch_the_solved_part_is_kept(random: np.random.Generator) -> None:
    places = random.random((50, 60, 2))

    def work(interrupt: Callable[[object], None]) -> None:
        with pytest.raises(KeyboardInterrupt) as raised:
            bqnco.solve_batch(places, "expert", time_limit=30, threads=1, on_improvement=interrupt)
        assert len(raised.value.solutions) == 1

    interrupt_at_first(work)


def test_labels_and_rollouts_end_too() -> None:
    def slow(batch: bqnco.Batch) -> np.ndarray:
        if not sent:
            sent.append(True)
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        return np.zeros(batch.mask.shape)

    sent: list[bool] = []
    instances = bqnco.generate("tsp", size=10, count=2, expert=False)
    with pytest.raises(KeyboardInterrupt):
        bqnco.rollout(instances, slow)
    assert len(bqnco.rollout(instances, slow)) == 2, "the next call is not affected"
