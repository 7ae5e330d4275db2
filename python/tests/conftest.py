"""What tests share. A test that needs a library that is not installed is skipped by name: ``./test.sh`` counts it."""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from typing import Any, Union

import numpy as np
import pytest

import bqnco

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def depot40() -> bqnco.Instance:
    return bqnco.read(ROOT / "data/examples/depot40.vrp")


@pytest.fixture
def random() -> np.random.Generator:
    return np.random.default_rng(1)


def needed(name: str) -> Any:
    """A library that a test needs. Without it the test is skipped, but not in CI."""
    return importlib.import_module(name) if os.environ.get("CI") == "true" else pytest.importorskip(name)


def tell_skipped(report: Union[pytest.TestReport, pytest.CollectReport]) -> None:
    """Tells ``./test.sh`` what was skipped."""
    told = os.environ.get("BQNCO_SKIPPED")
    if report.skipped and told:
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        with open(told, "a") as file:
            file.write(f"python\t{report.nodeid}\t{reason.removeprefix('Skipped: ')}\n")


pytest_runtest_logreport = pytest_collectreport = tell_skipped
