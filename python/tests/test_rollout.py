"""Policies of the caller's drive every decoding."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest

import bqnco
from conftest import ROOT, needed


def nearest(batch: bqnco.Batch) -> np.ndarray:
    """The heuristic of the TSP, from what a policy sees."""
    here = batch.features[np.arange(len(batch)), batch.origins][:, None]
    return -np.linalg.norm(batch.features - here, axis=2)


@pytest.fixture
def instances() -> bqnco.Dataset:
    return bqnco.generate("tsp", size=12, count=6, seed=8, expert=False)


def test_greedy_is_the_heuristic(instances: bqnco.Dataset) -> None:
    ours = bqnco.rollout(instances, nearest)
    theirs = bqnco.rollout(instances, "heuristic")
    assert [one.tour.tolist() for one in ours] == [one.tour.tolist() for one in theirs]
    assert ours[0].found_by == "nearest"


def test_more_effort_is_no_worse(instances: bqnco.Dataset) -> None:
    def costs(decoding: object) -> np.ndarray:
        return np.array([one.cost for one in bqnco.rollout(instances, nearest, decoding)])

    greedy = costs(bqnco.Greedy())
    assert (costs(bqnco.Beam(1)) == greedy).all()
    assert costs(bqnco.Beam(16)).mean() < greedy.mean()
    assert (costs(bqnco.Reconstruct(rounds=5, segment=8)) <= greedy).all()
    assert (costs(bqnco.Greedy(symmetries=True)) <= greedy + 1e-12).all()
    sampled = costs(bqnco.Sample(8, temperature=0.1))
    assert (costs(bqnco.Sample(8, temperature=0.1)) == sampled).all(), "equal seeds"
    assert (costs(bqnco.Sample(4, temperature=2.0, top_k=1)) == greedy).all()


@pytest.mark.parametrize("decoding", [bqnco.Greedy(), bqnco.Sample(4), bqnco.Beam(4), bqnco.Reconstruct(rounds=2)], ids=str)
def test_infinite_scores_are_scores(decoding: object, instances: bqnco.Dataset) -> None:
    """As logarithms of probabilities of zero they are usual."""
    for score in (np.inf, -np.inf):
        found = bqnco.rollout(instances, lambda batch: np.full(batch.mask.shape, score), decoding)
        assert all(one.is_feasible for one in found)


def test_batches_are_large_and_on_the_callers_thread(instances: bqnco.Dataset) -> None:
    seen = []

    def policy(batch: bqnco.Batch) -> np.ndarray:
        seen.append((len(batch), threading.current_thread()))
        assert batch.features.shape[:2] == (len(batch), batch.mask.shape[1]) and batch.mask.any(axis=1).all()
        return nearest(batch)

    bqnco.rollout(instances, policy)
    assert seen[0] == (6, threading.current_thread()) and len(seen) == 11


def test_scores_by_kind_of_tensors_and_of_integers() -> None:
    data = bqnco.generate("cvrp", size=6, count=2, expert=False)

    def by_kind(batch: bqnco.Batch) -> np.ndarray:
        assert batch.kinds == 2
        return np.zeros((len(batch), batch.mask.shape[1] // 2, 2), np.int32)

    solutions = bqnco.rollout(data, by_kind)
    assert [one.numbers.tolist() for one in solutions] == [one.numbers.tolist() for one in bqnco.rollout(data, "uniform")]


def test_a_shortlist_limits_what_is_seen(instances: bqnco.Dataset) -> None:
    def tokens(**arguments: object) -> int:
        seen = []

        class Watching:
            shortlist = 5

            def __call__(self, batch: bqnco.Batch) -> np.ndarray:
                seen.append(batch.features.shape[1])
                return nearest(batch)

        bqnco.rollout(instances, Watching(), **arguments)
        return max(seen)

    assert tokens() == 7, "five candidates and both ends of the path"
    assert tokens(shortlist=3) == 5
    assert tokens(shortlist="all") == 13


def test_frames_move_the_map(instances: bqnco.Dataset) -> None:
    firsts = {}
    for frame in ("instance", "origin"):

        def policy(batch: bqnco.Batch) -> np.ndarray:
            firsts.setdefault(frame, batch.features[0, batch.origins[0]])
            return nearest(batch)

        bqnco.rollout(instances, policy, frame=frame)
    assert firsts["origin"].tolist() == [0, 0]
    assert firsts["instance"] == pytest.approx(instances["coordinates"][0, 0], abs=1e-6)


def test_a_time_limit_ends_a_slow_policy(instances: bqnco.Dataset) -> None:
    calls = 0

    def policy(batch: bqnco.Batch) -> np.ndarray:
        nonlocal calls
        calls += 1
        return nearest(batch)

    solutions = bqnco.rollout(instances[:1], policy, bqnco.Reconstruct(), time_limit=0.2)
    assert solutions[0].is_feasible and calls > 1


def test_an_evaluation_compares_a_policy_with_baselines(tmp_path: Path) -> None:
    result = bqnco.eval(
        "tsp",
        sizes=[10],
        instances=3,
        policies=[nearest, ("lazy", lambda batch: np.zeros(batch.mask.shape))],
        searches=["greedy", "beam4"],
        baselines=["heuristic"],
        report=f"{tmp_path}/report",
    )
    table = result.table
    gaps = {method: table["gap"][table["method"] == method] for method in set(table["method"])}
    assert set(gaps) == {
        "greedy (nearest)",
        "beam4 (nearest)",
        "greedy (lazy)",
        "beam4 (lazy)",
        "nearest neighbour",
    }
    assert (gaps["greedy (nearest)"] == gaps["nearest neighbour"]).all()
    assert gaps["greedy (lazy)"].mean() > gaps["greedy (nearest)"].mean() >= gaps["beam4 (nearest)"].mean() >= 0
    assert len(result.means) == 5 and "greedy (nearest)" in str(result) == repr(result)
    assert table["gap"].dtype == table["reference"].dtype == np.float64 and table["cut_short"].dtype == bool
    report = (tmp_path / "report/report.html").read_text()
    assert "<html" in report and "greedy (lazy)" in report
    assert result._repr_html_().startswith("<pre>")


def test_the_table_is_a_frame_of_pandas() -> None:
    pandas = needed("pandas")
    result = bqnco.eval("tsp", sizes=[8], instances=3, policies=[nearest], searches=["greedy"], baselines=["heuristic"])
    frame = result.to_pandas()
    assert isinstance(frame, pandas.DataFrame) and list(frame.columns) == list(result.table)
    means = frame.groupby(["set", "method"])["gap"].mean()
    assert means.to_dict() == pytest.approx(result.means)


def test_an_evaluation_of_networks_and_files(tmp_path: Path) -> None:
    bqnco.generate("cvrp", size=8, count=2, seed=3).write(f"{tmp_path}/a.npz")
    result = bqnco.eval("cvrp", data=f"{tmp_path}/a.npz", policies=["cvrp"], searches=["greedy"], baselines=[])
    assert result.table["method"].tolist() == ["greedy", "greedy"] and np.isfinite(result.table["gap"]).all()


def test_the_suite_of_tsplib_takes_a_folder_of_files() -> None:
    result = bqnco.eval("tsplib", data=ROOT / "data/examples", policies=[nearest], searches=["greedy"], baselines=["heuristic"])
    assert result.table["instance"].tolist() == ["city48", "city48"] and "left out" in result.notes[0]
    assert set(result.table["method"]) == {"greedy (nearest)", "nearest neighbour"} and result.table["gap"].min() > 0
