"""Data, samples, networks, training."""

from __future__ import annotations

import itertools
import pickle
from pathlib import Path

import numpy as np
import pytest

import bqnco


def test_arrays_describe_the_instances() -> None:
    data = bqnco.generate("tsp", size=8, count=5, seed=2)
    places, tours = data["coordinates"], data.solutions
    closed = np.take_along_axis(places, np.concatenate([tours, tours[:, :1]], axis=1)[..., None], axis=1)
    assert np.linalg.norm(np.diff(closed, axis=1), axis=2).sum(axis=1) == pytest.approx(data.costs)
    assert len(data[1:3]) == 2 and data[1].name == "tsp8-2-1"
    same = bqnco.generate("tsp", size=8, count=5, seed=2, expert=False)
    assert (same["coordinates"] == places).all() and np.isnan(same.costs).all()


def test_places_and_parameters_are_spread_as_wanted() -> None:
    rings = bqnco.generate("cvrp", size=50, count=20, expert=False, distribution="ring", varied=True)
    places = np.concatenate([one.fields["coordinates"][1:] for one in rings])
    assert (np.linalg.norm(places - 0.5, axis=1) > 0.04).all()
    assert len({float(one.fields["capacity"]) for one in rings}) > 10


def test_labelled_data_go_through_files(tmp_path: Path) -> None:
    data = bqnco.generate("cvrp", size=6, count=3, seed=2)
    data.write(tmp_path / "a.npz")
    assert bqnco.Dataset(bqnco.read_all(tmp_path / "a.npz")).costs.tolist() == data.costs.tolist()


@pytest.mark.parametrize("problem", ["tsp", "atsp", "cvrp", "op", "knapsack"])
def test_targets_are_the_experts_steps(problem: str) -> None:
    data = bqnco.generate(problem, size=8, count=4, seed=1)
    batches = bqnco.subproblems(data, batch=32, seed=5)
    batch = batches[3]
    assert (batch.targets[~batch.mask] == 0).all()
    assert batch.targets.sum(axis=1) == pytest.approx(np.ones(32))
    assert (batch.lengths == (~batch.padding).sum(axis=1)).all()
    again = bqnco.subproblems(data, [one.solution for one in data], batch=32, seed=5)[3]
    assert (again.features == batch.features).all() and (again.targets == batch.targets).all()
    padded = bqnco.subproblems(data, data.solutions, batch=32, seed=5)[3]
    assert (padded.targets == batch.targets).all()
    assert not np.array_equal(bqnco.subproblems(data, batch=32, seed=6)[3].features, batch.features)


@pytest.mark.parametrize("problem", ["tsp", "cvrp", "knapsack"])
def test_batches_are_the_same_in_another_process(problem: str) -> None:
    """A DataLoader with the start method spawn pickles what it loads from; the fork that it would do is refused."""
    data = bqnco.generate(problem, size=8, count=4, seed=1)
    batches = bqnco.subproblems(data, batch=16, seed=5)
    pairs = zip(batches, pickle.loads(pickle.dumps(batches)))
    for ours, theirs in itertools.islice(pairs, 3):
        assert (ours.features == theirs.features).all() and (ours.targets == theirs.targets).all()


def test_a_batch_tells_its_sizes() -> None:
    batch = bqnco.subproblems(bqnco.generate("tsp", size=6, count=2), batch=4, shortest=6)[0]
    assert repr(batch) == "<4 tails, features (4, 7, 2), mask (4, 7), with targets>"


def test_solutions_may_be_routes() -> None:
    data = bqnco.generate("cvrp", size=8, count=2, seed=1)
    routes = [one.solution.routes for one in data]
    batches = [bqnco.subproblems(data, given, batch=8)[0] for given in (None, routes)]
    assert (batches[0].targets == batches[1].targets).all()


def test_a_tail_of_a_tour_leads_to_the_next_node() -> None:
    """The expert's next node is recognised by its coordinates."""
    (instance,) = bqnco.generate("tsp", size=9, count=1, seed=4)
    places, tour = instance.fields["coordinates"].astype(np.float32), instance.solution.tour
    batch = bqnco.subproblems([instance], batch=64)[0]
    for features, target, origin in zip(batch.features, batch.targets, batch.origins):
        here = int(np.abs(places - features[origin]).sum(axis=1).argmin())
        to = int(np.abs(places - features[target.argmax()]).sum(axis=1).argmin())
        at = tour.tolist().index(here)
        assert to in (tour[(at + 1) % 9], tour[at - 1]), "tours are walked in both directions"


def test_a_network_knows_the_experts_steps() -> None:
    model = bqnco.load_model("tsp")
    assert (model.problem, model.name) == ("tsp", "tsp") and model.parameters > 10_000 and "TSP" in model.card
    data = bqnco.generate("tsp", size=20, count=8, seed=9)
    batch = bqnco.subproblems(data, batch=128, frame=model.frame, shortlist=model.shortlist)[0]
    scores = np.where(batch.mask, model.scores(batch), -np.inf)
    hits = batch.targets[np.arange(128), scores.argmax(axis=1)]
    assert hits.mean() > 0.8, "four of five steps"
    with pytest.raises(bqnco.ModelError, match="features"):
        bqnco.load_model("knapsack").scores(batch)


def test_a_network_scores_alike_inside_and_outside() -> None:
    """Its greedy rollout is that of a callable that asks it."""
    model = bqnco.load_model("cvrp")
    data = bqnco.generate("cvrp", size=10, count=3, expert=False)

    def policy(batch: bqnco.Batch) -> np.ndarray:
        return model.scores(batch)

    ours = bqnco.rollout(data, policy, bqnco.Beam(3), frame=model.frame, shortlist=model.shortlist or "all")
    theirs = bqnco.rollout(data, model, bqnco.Beam(3))
    assert [one.numbers.tolist() for one in ours] == [one.numbers.tolist() for one in theirs]
    assert ours[0].found_by == "policy, beam 3"


def test_a_recipe_has_a_folder_and_numbers_of_numpy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder is that of the command: runs/ and the recipe's name."""
    monkeypatch.chdir(tmp_path)
    bqnco.generate("tsp", size=6, count=np.int64(4), seed=1).write("labels.npz")
    (tmp_path / "small.toml").write_text(
        'problem = "tsp"\ndata = { size = 6, count = 4, seed = 1 }\nvalidation = { size = 6, count = 2, seed = 2 }\n'
        'network = { preset = "tiny" }\ntraining = { batch = 4, steps = 1 }\n'
    )
    assert bqnco.train("small.toml").folder == Path("runs/small") and (tmp_path / "runs/small/best").is_dir()
    recipe = {
        "problem": "tsp",
        "data": {"files": [tmp_path / "labels.npz"]},
        "validation": {"size": np.int64(6), "count": 2, "seed": 2},
        "network": {"preset": "tiny"},
        "training": {"steps": np.int32(1), "batch": 4},
    }
    assert bqnco.train(recipe, tmp_path / "run").step == 1


def test_training_reports_stops_and_resumes(tmp_path: Path) -> None:
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(
        'problem = "tsp"\ndata = { size = 6, count = 4, seed = 1 }\nvalidation = { size = 6, count = 2, seed = 2 }\n'
        'network = { preset = "tiny" }\ntraining = { batch = 4, steps = 4, report_every = 2, validate_every = 2 }\n'
    )
    events: list[dict] = []
    run = bqnco.train(recipe, tmp_path / "run", callback=events.append)
    assert run.finished and run.step == 4 and run.metrics["step"].tolist() == [2, 4]
    assert {"making data", "labelled", "metrics"} <= {event["event"] for event in events}
    assert bqnco.rollout(np.random.default_rng(1).random((2, 6, 2)), run.model)[0].is_feasible
    longer = bqnco.train(recipe, tmp_path / "run", changes={"training.steps": 6})
    assert longer.step == 6

    def stop(event: dict) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        bqnco.train(recipe, tmp_path / "other", callback=stop)
