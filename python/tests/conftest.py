"""What tests share. A test that needs a library that is not installed is skipped by name: ``./test.sh`` counts it."""

from __future__ import annotations

import os
from pathlib import Path

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


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Tells ``./test.sh`` what was skipped."""
    told = os.environ.get("BQNCO_SKIPPED")
    if report.skipped and told:
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        with open(told, "a") as file:
            file.write(f"python\t{report.nodeid}\t{reason.removeprefix('Skipped: ')}\n")
